"""Cases over the API, for officials. The blind rule holds here as it does on the pages."""

from __future__ import annotations

from collections.abc import Callable
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
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from adjudication import actions
from adjudication.desk import Desk
from adjudication.forms import LONGEST_REASON, QueueFilter
from adjudication.models import BlindScore, Case, CaseQuerySet, Claim, Ruling
from adjudication.queue import Row, narrowed, rows_of
from adjudication.refusals import BadDecision, Refused
from bouts.api.permissions import SignedInWithScope
from bouts.models import ApiToken

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
            return Response({"code": refusal.code, "detail": str(refusal)}, status=409)
        except BadDecision as bad:
            return Response({bad.field: [str(bad)]}, status=400)

    return answered


# The list


class RowSerializer(serializers.Serializer):
    """A case as the queue shows it. ``spread`` is there for leads only."""

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

    def get_target_at(self, row: Row) -> datetime:
        return row.case.opened_at + settings.CASE_TARGET

    def get_limit_at(self, row: Row) -> datetime:
        return row.case.opened_at + settings.CASE_LIMIT

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_holders(self, row: Row) -> list[str]:
        return [claim.reviewer.username for claim in row.claims]

    def to_representation(self, row: Row) -> dict[str, Any]:
        shown = super().to_representation(row)
        if not row.spread:
            del shown["spread"]
        return shown


COUNTS = inline_serializer(
    "CaseCounts",
    {
        **{state.value: serializers.IntegerField() for state in Case.State},
        "total": serializers.IntegerField(),
    },
)


class CaseList(Cases, generics.ListAPIView):
    """The cases that you may see, most urgent first.

    Narrow by ``state``, ``reason``, ``challenge`` (slug), ``stakes`` and ``holder`` (``me``
    or ``nobody``).
    """

    serializer_class = RowSerializer
    queryset = Case.objects.none()  # for the schema

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        at = timezone.now()
        cases, asked = _asked(request, at)
        if asked.get("state"):
            cases = cases.in_state(asked["state"], at)
        page = self.paginate_queryset(cases.in_order(at).for_list())
        rows = rows_of(page, request.user, at)
        return self.get_paginated_response(RowSerializer(rows, many=True).data)


class CaseCounts(Cases, APIView):
    """How many cases are in each of the six states, under the same filters as the list."""

    @extend_schema(responses=COUNTS)
    def get(self, request: Request) -> Response:
        at = timezone.now()
        cases, _ = _asked(request, at)
        counts = cases.counts(at)
        return Response({**counts, "total": sum(counts.values())})


def _asked(request: Request, at: datetime) -> tuple[CaseQuerySet, dict[str, Any]]:
    form = QueueFilter(request.query_params)
    if not form.is_valid():
        raise serializers.ValidationError(form.errors)
    seen = Case.objects.visible_to(request.user)
    return narrowed(seen, form.cleaned_data, request.user, at), form.cleaned_data


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
    """Claim the most urgent case that you may decide; 204 when none is left."""

    @extend_schema(request=None, responses={201: ClaimSerializer, 204: None})
    @answers
    def post(self, request: Request) -> Response:
        claim = actions.claim_next(by=request.user)
        return Response(status=204) if claim is None else _claimed(claim, 201)


class CaseClaim(Cases, APIView):
    """Claim a case."""

    @extend_schema(request=None, responses={201: ClaimSerializer})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        return _claimed(actions.claim_case(case_id, by=request.user), 201)


class CaseRenew(Cases, APIView):
    """Put the end of your lease off."""

    @extend_schema(request=None, responses=ClaimSerializer)
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        return _claimed(actions.renew(case_id, by=request.user), 200)


def _claimed(claim: Claim, status: int) -> Response:
    return Response(ClaimSerializer(claim).data, status=status)


class CaseRelease(Cases, APIView):
    """Give your claim back."""

    @extend_schema(request=None, responses={204: None})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        actions.release(case_id, by=request.user)
        return Response(status=204)


class DeclineInput(serializers.Serializer):
    reason = serializers.CharField(max_length=1_000, allow_blank=True, default="")


class CaseDecline(Cases, APIView):
    """Say no to a case for good."""

    @extend_schema(request=DeclineInput, responses={204: None})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(DeclineInput, request)
        actions.decline(case_id, by=request.user, reason=given["reason"])
        return Response(status=204)


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

    @extend_schema(request=CommitInput, responses={201: OpenApiTypes.OBJECT})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(CommitInput, request)
        actions.commit_score(
            case_id,
            by=request.user,
            levels=given.get("levels"),
            opinion=given["opinion"],
            reason=given["reason"],
        )
        return Response(_shown(request, case_id), status=201)


class RuleInput(serializers.Serializer):
    """A ruling. ``version`` is that of the case as you read it."""

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

    @extend_schema(request=RuleInput, responses={201: OpenApiTypes.OBJECT})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(RuleInput, request)
        version, replaced = given.pop("version"), given.pop("supersedes")
        score = given.pop("score")
        decision = actions.Decision(**given, score=None if score is None else Fraction(score))
        if replaced is None:
            actions.rule(case_id, decision, by=request.user, version=version)
        else:
            if not Ruling.objects.filter(pk=replaced, case=case_id).exists():
                raise Case.DoesNotExist
            actions.correct_ruling(replaced, decision, by=request.user, version=version)
        return Response(_shown(request, case_id), status=201)


class CaseTakeOver(Cases, APIView):
    """Take another reviewer's slot, as a lead."""

    @extend_schema(request=TakeOverInput, responses={201: ClaimSerializer})
    @answers
    def post(self, request: Request, case_id: int) -> Response:
        given = _valid(TakeOverInput, request)
        claim = actions.take_over(case_id, given["claim"], by=request.user, reason=given["reason"])
        return _claimed(claim, 201)


def _valid(serializer: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    form = serializer(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)
