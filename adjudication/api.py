"""Cases over the API, for officials. The blind rule holds here as it does on the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import generics, permissions, serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from adjudication import actions, drafts
from adjudication.census import census, count_of
from adjudication.desk import Desk
from adjudication.forms import ASK_AGAIN, LONGEST_REASON, QueueFilter
from adjudication.models import BlindScore, Case, CaseQuerySet, Claim, Ruling
from adjudication.queue import Row, listed, narrowed, rows_of
from adjudication.refusals import BadDecision, Refused
from adjudication.urgency import Spot, stretch
from bouts.api.permissions import SignedInWithScope
from bouts.models import ApiToken, User
from judging import tasks

# Permissions and errors


class IsOfficial(permissions.BasePermission):
    message = "Only officials work on cases."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.is_official)


class Cases:
    """What all views of cases share. Reading asks a token for ``read``, the rest for ``adjudicate``."""

    permission_classes = (SignedInWithScope, IsOfficial)
    filter_backends: list = []
    request: Request

    @property
    def required_scope(self) -> str:
        if self.request.method in permissions.SAFE_METHODS:
            return ApiToken.Scope.READ
        return ApiToken.Scope.ADJUDICATE


def answers(view: Callable[..., Response]) -> Callable[..., Response]:
    """Turn what is refused into 409 with its code, and an unknown case into 404."""

    @wraps(view)
    def answered(*args: Any, **kwargs: Any) -> Response:
        try:
            return view(*args, **kwargs)
        except Case.DoesNotExist as missing:
            raise Http404 from missing
        except Refused as refusal:
            said = {"code": refusal.code, "detail": str(refusal)}
            return Response({**said, **({"draft": refusal.draft} if refusal.draft else {})}, 409)
        except BadDecision as bad:
            return Response({bad.field: [str(bad)]}, status=400)

    return answered


REFUSAL = inline_serializer(
    "CaseRefusal",
    {
        "code": serializers.CharField(help_text="for programs, such as ``case_changed``"),
        "detail": serializers.CharField(help_text="for people"),
        "draft": serializers.DictField(
            child=serializers.CharField(),
            required=False,
            help_text="your draft of the case, with what you sent in it",
        ),
    },
)


@contextmanager
def keeping(request: Request, case_id: int, fields: Mapping[str, str]) -> Iterator[None]:
    """Keep what was written as a draft where an action refuses it, as the pages do."""
    try:
        yield
    except Refused as refusal:
        kept = actions.save_draft(
            case_id, drafts.legible(fields), by=request.user, was_refused=True
        )
        refusal.draft = kept.fields
        raise


# The list


class RowSerializer(serializers.Serializer):
    """A case as the queue shows it. ``spread`` and ``rule`` are there for leads only."""

    id = serializers.IntegerField(source="case.pk")
    case = serializers.CharField(source="case.__str__")
    reason = serializers.CharField(source="case.reason")
    blocking = serializers.BooleanField(source="case.blocking")
    stakes = serializers.CharField(source="case.stakes")
    challenge = serializers.CharField(source="case.challenge.slug")
    challenge_version = serializers.IntegerField(source="case.bundle.challenge_version.number")
    state = serializers.CharField()
    version = serializers.IntegerField(source="case.version")
    opened_at = serializers.DateTimeField(source="case.opened_at")
    target_at = serializers.SerializerMethodField()
    limit_at = serializers.SerializerMethodField()
    closed_at = serializers.DateTimeField(source="case.closed_at", allow_null=True)
    closed_reason = serializers.CharField(source="case.closed_reason")
    holders = serializers.SerializerMethodField()
    may_claim = serializers.BooleanField()
    lease_ends_at = serializers.DateTimeField(
        source="mine.expires_at", default=None, allow_null=True
    )
    spread = serializers.CharField(required=False)
    rule = serializers.CharField(required=False)

    def get_target_at(self, row: Row) -> datetime:
        return row.case.opened_at + settings.CASE_TARGET

    def get_limit_at(self, row: Row) -> datetime:
        return row.case.opened_at + settings.CASE_LIMIT

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_holders(self, row: Row) -> list[str]:
        return [claim.reviewer.username for claim in row.claims]

    def to_representation(self, row: Row) -> dict[str, Any]:
        shown = super().to_representation(row)
        for name in ("spread", "rule"):
            if not shown[name]:
                del shown[name]
        return shown


COUNTS = inline_serializer(
    "CaseCounts",
    {
        **{state.value: serializers.IntegerField() for state in Case.State},
        "total": serializers.IntegerField(),
    },
)


class Stretches(BasePagination):
    """Pages that are found by the case before them, so that the last costs what the first does."""

    page_size = 50
    most = 200

    def paginate_queryset(
        self, queryset: CaseQuerySet, request: Request, view: APIView | None = None
    ) -> list[Row]:
        at, asked = timezone.now(), _asked(request)
        cases = narrowed(queryset, asked, request.user, at)
        state = asked.get("state") or ""
        counted = census(request.user, at, asked)
        after, before = (Spot.read(request.query_params.get(way, "")) for way in WAYS)
        self.part = stretch(
            listed(cases, state, at),
            request.user,
            at,
            size=self._size(request),
            after=None if before else after,
            before=before,
        )
        self.request = request
        self.count = count_of(counted, state)
        return rows_of(self.part.cases, request.user, at)

    def _size(self, request: Request) -> int:
        asked = request.query_params.get("page_size", "")
        size = int(asked) if asked.isdecimal() and len(asked) < 6 else self.page_size
        return min(max(size, 1), self.most)

    def get_paginated_response(self, data: list[Any]) -> Response:
        return Response(
            {
                "count": self.count,
                "next": self._address("after", self.part.after),
                "previous": self._address("before", self.part.before),
                "results": data,
            }
        )

    def _address(self, way: str, spot: str) -> str | None:
        if not spot:
            return None
        here = self.request.build_absolute_uri()
        for other in WAYS:
            here = remove_query_param(here, other)
        return replace_query_param(here, way, spot)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "results"],
            "properties": {
                "count": {"type": "integer"},
                "next": address,
                "previous": address,
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        return [
            {"name": name, "in": "query", "required": False, "schema": {"type": kind}}
            for name, kind in (("after", "string"), ("before", "string"), ("page_size", "integer"))
        ]


WAYS = ("after", "before")


class CaseList(Cases, generics.ListAPIView):
    """The cases that you may see: your own first, then the most urgent.

    Narrow by ``state`` (or ``unsettled``), ``reason``, ``challenge`` (slug), ``stakes``,
    ``kind`` (``blocking`` or ``advisory``), ``holder`` (``me``, ``nobody`` or a sign-in name) and ``overdue`` (``target`` or
    ``limit``). Follow ``next``; pages have no numbers.
    """

    serializer_class = RowSerializer
    pagination_class = Stretches
    queryset = Case.objects.none()  # for the schema

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.paginate_queryset(Case.objects.visible_to(request.user))
        return self.get_paginated_response(RowSerializer(rows, many=True).data)


class CaseCounts(Cases, APIView):
    """How many cases are in each of the six states, under the same filters as the list."""

    @extend_schema(responses=COUNTS)
    def get(self, request: Request) -> Response:
        at = timezone.now()
        counted = census(request.user, at, _asked(request))
        return Response({**counted.by_state, "total": counted.total})


def _asked(request: Request) -> dict[str, Any]:
    """Return the filters of a request; a name as holder is one that a claim could have."""
    named = User.objects.filter(username=request.query_params.get("holder", ""))
    form = QueueFilter(request.query_params, holders=named)
    if not form.is_valid():
        raise serializers.ValidationError(form.errors)
    return form.cleaned_data


# One case


class CaseDetail(Cases, APIView):
    """One case: its blind half, and the rest once your own score is committed."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @answers
    def get(self, request: Request, case_id: int) -> Response:
        return Response(_shown(request, case_id))


def _shown(request: Request, case_id: int) -> dict[str, Any]:
    at = timezone.now()
    case = Case.objects.visible_to(request.user).for_page().get(pk=case_id)
    (row,) = rows_of([case], request.user, at)
    return {**RowSerializer(row).data, **Desk(case, request.user, at).as_json()}


class ClaimSerializer(serializers.Serializer):
    case = serializers.IntegerField(source="case_id")
    slot = serializers.IntegerField()
    claimed_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class CaseNext(Cases, APIView):
    """Claim the most urgent case that you may decide; 204 when none is left.

    Whoever holds as many cases as one may hold at once gets the oldest of them back.
    """

    @extend_schema(request=None, responses={201: ClaimSerializer, 204: None})
    @answers
    def post(self, request: Request) -> Response:
        claim = actions.claim_next(by=request.user)
        return Response(status=204) if claim is None else _claimed(claim, 201)


class CaseClaim(Cases, APIView):
    """Claim a case."""

    @extend_schema(request=None, responses={201: ClaimSerializer, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        return _claimed(actions.claim_case(case_id, by=request.user), 201)


class CaseRenew(Cases, APIView):
    """Put the end of your lease off."""

    @extend_schema(request=None, responses={200: ClaimSerializer, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        return _claimed(actions.renew(case_id, by=request.user), 200)


def _claimed(claim: Claim, status: int) -> Response:
    return Response(ClaimSerializer(claim).data, status=status)


class CaseRelease(Cases, APIView):
    """Give your claim back."""

    @extend_schema(request=None, responses={204: None, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        actions.release(case_id, by=request.user)
        return Response(status=204)


class DeclineInput(serializers.Serializer):
    reason = serializers.CharField(max_length=1_000, allow_blank=True, default="")


class CaseDecline(Cases, APIView):
    """Say no to a case for good."""

    @extend_schema(request=DeclineInput, responses={204: None, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(DeclineInput, request)
        actions.decline(case_id, by=request.user, reason=given["reason"])
        return Response(status=204)


class DraftInput(serializers.Serializer):
    """Names and values as in the form of the page: criteria, ``opinion`` and ``reason`` before the
    reveal; ``ruling`` (a kind, or ``adopt:`` and a seat), ``score``, ``points``,
    ``public_reason`` and ``private_note`` after it."""

    fields = serializers.DictField(
        child=serializers.CharField(
            max_length=drafts.LONGEST, allow_blank=True, trim_whitespace=False
        )
    )

    def validate_fields(self, fields: dict[str, str]) -> dict[str, str]:
        unknown = sorted(set(fields) - drafts.FIELDS)
        if unknown:
            raise serializers.ValidationError(f"There is no such field: {', '.join(unknown)}.")
        return fields


class DraftSerializer(serializers.Serializer):
    fields = serializers.DictField(child=serializers.CharField())
    saved_at = serializers.DateTimeField()


class CaseDraft(Cases, APIView):
    """Keep what you have typed so far in the place of what was kept before.

    It is kept whether or not your claim still lives, for the page as for the API, until you
    have committed or ruled. The case shows it as ``draft``.
    """

    @extend_schema(request=DraftInput, responses=DraftSerializer)
    @answers
    def put(self, request: Request, case_id: int) -> Response:
        fields = _valid(DraftInput, request)["fields"]
        return Response(DraftSerializer(actions.save_draft(case_id, fields, by=request.user)).data)


class ReasonInput(serializers.Serializer):
    reason = serializers.CharField(max_length=1_000)


class CaseEndWait(Cases, APIView):
    """Wait no longer for a panel that was asked again, as a lead or ops; the log has the reason."""

    @extend_schema(request=ReasonInput, responses={200: OpenApiTypes.OBJECT, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        actions.end_wait(case_id, by=request.user, **_valid(ReasonInput, request))
        return Response(_shown(request, case_id))


class TakeOverInput(serializers.Serializer):
    claim = serializers.IntegerField()
    reason = serializers.CharField(max_length=1_000)


class CommitInput(serializers.Serializer):
    """On the Strategy score ``levels``, on a finding ``opinion``; a reason with either."""

    levels = serializers.DictField(child=serializers.IntegerField(), required=False)
    opinion = serializers.ChoiceField(BlindScore.Opinion.choices, required=False, default="")
    reason = serializers.CharField(max_length=LONGEST_REASON)


class CaseCommit(Cases, APIView):
    """Commit your own score or opinion; the answer reveals the case."""

    @extend_schema(request=CommitInput, responses={201: OpenApiTypes.OBJECT, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(CommitInput, request)
        with keeping(request, case_id, drafts.of_commit(given)):
            actions.commit_score(
                case_id,
                by=request.user,
                levels=given.get("levels"),
                opinion=given["opinion"],
                reason=given["reason"],
            )
        return Response(_shown(request, case_id), status=201)


class RuleInput(serializers.Serializer):
    """A ruling. ``version`` is that of the case as you read it.

    ``escalate`` counts your own score as the first ruling and asks a second reviewer.
    """

    version = serializers.IntegerField()
    kind = serializers.ChoiceField(Ruling.Kind.choices)
    seat = serializers.CharField(max_length=12, allow_blank=True, default="")
    score = serializers.DecimalField(5, 2, allow_null=True, default=None)
    points = serializers.IntegerField(allow_null=True, default=None)
    public_reason = serializers.CharField(max_length=LONGEST_REASON)
    private_note = serializers.CharField(max_length=LONGEST_REASON, allow_blank=True, default="")
    supersedes = serializers.IntegerField(allow_null=True, default=None)


class CaseRule(Cases, APIView):
    """Rule on a case that you hold; with ``supersedes``, replace an earlier ruling."""

    @extend_schema(request=RuleInput, responses={201: OpenApiTypes.OBJECT, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(RuleInput, request)
        written = drafts.of_ruling(given)
        version, replaced = given.pop("version"), given.pop("supersedes")
        score = given.pop("score")
        decision = actions.Decision(**given, score=None if score is None else Fraction(score))
        with keeping(request, case_id, written):
            if replaced is None:
                actions.rule(case_id, decision, by=request.user, version=version)
            else:
                if not Ruling.objects.filter(pk=replaced, case=case_id).exists():
                    raise Case.DoesNotExist
                actions.correct_ruling(replaced, decision, by=request.user, version=version)
        return Response(_shown(request, case_id), status=201)


class AskAgainInput(serializers.Serializer):
    """``version`` is that of the case as you read it."""

    version = serializers.IntegerField()
    public_reason = serializers.CharField(max_length=LONGEST_REASON)
    private_note = serializers.CharField(max_length=LONGEST_REASON, allow_blank=True, default="")


class CaseAskAgain(Cases, APIView):
    """Have the panel asked again on a case that you hold, once; the case waits for it."""

    @extend_schema(request=AskAgainInput, responses={202: OpenApiTypes.OBJECT, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(AskAgainInput, request)
        with keeping(request, case_id, drafts.of_ruling({**given, "kind": ASK_AGAIN})):
            asked = actions.ask_again(case_id, by=request.user, **given)
        tasks.ring(asked.case.bundle_id)
        return Response(_shown(request, case_id), status=202)


class CaseTakeOver(Cases, APIView):
    """Take another reviewer's slot, as a lead."""

    @extend_schema(request=TakeOverInput, responses={201: ClaimSerializer, 409: REFUSAL})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(TakeOverInput, request)
        claim = actions.take_over(case_id, given["claim"], by=request.user, reason=given["reason"])
        return _claimed(claim, 201)


def _valid(serializer: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    form = serializer(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)
