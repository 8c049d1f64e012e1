"""Rejudgings over the API, for ops: the same actions as on the page, and the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bouts.api.permissions import IsOperator, SignedInWithScope
from bouts.models import ApiToken
from bouts.rules import Judge
from judging import tasks
from judging.api_shapes import Score
from judging.models import RejudgedMatch, Rejudging
from judging.rejudging import actions
from judging.rejudging.choice import Choice
from judging.rejudging.report import SHOWN, Counts, counts_of, line_of, rows_of

# By the name of its code: why an action is refused, in words.
REFUSALS: dict[type[Exception], tuple[str, str]] = {
    actions.NotReady: ("not_ready", "The preview is still being made."),
    actions.Stale: ("stale", "There is another preview by now than `seen` names."),
    actions.Settled: ("settled", "It is settled already."),
}


class Rejudgings:
    """What all these views share. A token needs the scope ``rejudge``, for reading too: nothing of
    a preview is for anybody else."""

    permission_classes = (SignedInWithScope, IsOperator)
    required_scope = ApiToken.Scope.REJUDGE
    filter_backends: list = []


class RefusalSerializer(serializers.Serializer):
    """Why nothing was changed."""

    code = serializers.ChoiceField([code for code, _ in REFUSALS.values()])
    detail = serializers.CharField()


def answers(view: Callable[..., Response]) -> Callable[..., Response]:
    """Turn what is refused into 409 with its code, and an unknown rejudging into 404."""

    @wraps(view)
    def answered(*args: Any, **kwargs: Any) -> Response:
        try:
            return view(*args, **kwargs)
        except Rejudging.DoesNotExist as missing:
            raise Http404 from missing
        except tuple(REFUSALS) as refused:
            code, detail = REFUSALS[type(refused)]
            return Response({"code": code, "detail": detail}, 409)

    return answered


class ChoiceSerializer(serializers.Serializer):
    """Which matches: each field narrows the ones before; with none it is every match."""

    challenge = serializers.CharField(required=False, max_length=60)
    team = serializers.CharField(required=False, max_length=60)
    agent = serializers.CharField(required=False, max_length=200)
    match = serializers.CharField(required=False, max_length=120)
    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)
    older = serializers.BooleanField(
        required=False,
        help_text="Only what an older judge, reader, policy or challenge version has judged.",
    )


class ProposalSerializer(serializers.Serializer):
    """A rejudging to be previewed. ``reason`` is public once it is applied."""

    choice = ChoiceSerializer()
    judges = serializers.MultipleChoiceField(
        choices=[judge.value for judge in Judge],
        default=[judge.value for judge in Judge if judge is not Judge.STRATEGY],
        allow_empty=False,
    )
    to_newest = serializers.BooleanField(default=True)
    reason = serializers.CharField(max_length=500)

    def validate_choice(self, given: dict[str, Any]) -> Choice:
        values = {name: str(value) for name, value in given.items() if name != "older"}
        return Choice(**values, older=given.get("older", False))


# Figures as the page has them, a whole number each.
CountsSerializer = type(
    "CountsSerializer",
    (serializers.Serializer,),
    {
        "__doc__": Counts.__doc__,
        **{name: serializers.IntegerField() for name in Counts.__dataclass_fields__},
    },
)


class RejudgingSerializer(serializers.Serializer):
    """A rejudging. ``previewed_at`` is null while its preview is being made; give it back as
    ``seen`` when you apply. ``trouble`` says why it could not be applied."""

    rejudging = serializers.IntegerField(source="pk")
    state = serializers.ChoiceField(Rejudging.State.choices)
    choice = serializers.DictField()
    judges = serializers.ListField(child=serializers.CharField())
    to_newest = serializers.BooleanField()
    policy = serializers.CharField()
    reason = serializers.CharField()
    by = serializers.CharField(source="by.username")
    created_at = serializers.DateTimeField()
    previewed_at = serializers.DateTimeField(source="ranked_at", allow_null=True)
    settled_by = serializers.CharField(source="settled_by.username", default=None, allow_null=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    trouble = serializers.CharField(allow_blank=True)
    ranks = serializers.ListField(child=serializers.DictField(), allow_null=True)
    counts = serializers.SerializerMethodField()

    @extend_schema_field(CountsSerializer)
    def get_counts(self, rejudging: Rejudging) -> dict[str, int]:
        counts = counts_of(rejudging)
        return {name: getattr(counts, name) for name in Counts.__dataclass_fields__}


class ListedSerializer(RejudgingSerializer):
    """A rejudging in the list: its counts and ranks are at its own address."""

    ranks = None
    counts = None


class RejudgedMatchSerializer(serializers.Serializer):
    """A match of a rejudging. Figures of ``after`` count once it is applied, and not before."""

    match = serializers.CharField(source="row.match.slug")
    state = serializers.ChoiceField(RejudgedMatch.State.choices, source="row.state")
    attempts = serializers.IntegerField(source="row.attempts")
    reason = serializers.CharField(source="row.reason", allow_blank=True)
    outcome = serializers.ChoiceField(
        RejudgedMatch.Outcome.choices, source="row.outcome", allow_blank=True
    )
    changed_since = serializers.BooleanField(source="row.is_since")
    moved = Score(source="row.moved")
    before = serializers.DictField()
    after = serializers.DictField()
    moves = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    applied_revision = serializers.IntegerField(
        source="row.applied.number", default=None, allow_null=True
    )


ROWS = Rejudging.objects.select_related("by", "settled_by")


class RejudgingList(Rejudgings, generics.ListAPIView):
    """Rejudgings, the newest first."""

    serializer_class = ListedSerializer
    queryset = ROWS.defer("ranks").order_by("-pk")

    @extend_schema(request=ProposalSerializer, responses={202: RejudgingSerializer})
    def post(self, request: Request) -> Response:
        """Propose a rejudging; its own address tells how far its preview is. Nothing counts yet."""
        form = ProposalSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        try:
            rejudging = actions.propose(
                given["choice"],
                judges=[Judge(name) for name in given["judges"]],
                to_newest=given["to_newest"],
                reason=given["reason"],
                by=request.user,
            )
        except actions.NothingChosen as nothing:
            raise serializers.ValidationError({"choice": ["No match fits this."]}) from nothing
        except actions.ChallengeFrozen as frozen:
            raise serializers.ValidationError(
                {"choice": ["The challenge is frozen: nothing of it is rejudged."]}
            ) from frozen
        except actions.TellsOfHidden as tells:
            raise serializers.ValidationError(
                {"reason": ["It names or quotes a hidden test, and competitors read it."]}
            ) from tells
        tasks.ring_for_rejudging(rejudging.pk)
        return Response(RejudgingSerializer(rejudging).data, 202)


class RejudgingDetail(Rejudgings, generics.RetrieveAPIView):
    """One rejudging: how far its preview is, its counts, and the ranks it would change."""

    serializer_class = RejudgingSerializer
    queryset = ROWS
    lookup_url_kwarg = "rejudging_id"


@extend_schema(
    parameters=[
        OpenApiParameter(
            "show", str, enum=[name for name in SHOWN if name], description="Only these."
        )
    ]
)
class RejudgedMatchList(Rejudgings, generics.ListAPIView):
    """The matches of a rejudging: what failed first, then what moves most."""

    serializer_class = RejudgedMatchSerializer
    queryset = RejudgedMatch.objects.none()  # for the schema

    def list(self, request: Request, rejudging_id: int) -> Response:
        rejudging = get_object_or_404(Rejudging, pk=rejudging_id)
        page = self.paginate_queryset(rows_of(rejudging, request.query_params.get("show", "")))
        lines = [line_of(row) for row in page]
        return self.get_paginated_response(self.get_serializer(lines, many=True).data)


class ApplySerializer(serializers.Serializer):
    """Which preview was looked at: its ``previewed_at``."""

    seen = serializers.DateTimeField()


class RejudgingAction(Rejudgings, APIView):
    """What is done with a rejudging as a whole."""

    def answer(self, rejudging_id: int) -> Response:
        return Response(RejudgingSerializer(ROWS.get(pk=rejudging_id)).data)


REFUSAL = {200: RejudgingSerializer, 409: RefusalSerializer}


class RejudgingApply(RejudgingAction):
    """Let a rejudging count."""

    @extend_schema(request=ApplySerializer, responses=REFUSAL)
    @answers
    def post(self, request: Request, rejudging_id: int) -> Response:
        """Have it applied, all of it in one moment and once; look again for when that is done."""
        form = ApplySerializer(data=request.data)
        form.is_valid(raise_exception=True)
        actions.ask_to_apply(rejudging_id, seen=form.validated_data["seen"], by=request.user)
        tasks.ring_to_apply(rejudging_id)
        return self.answer(rejudging_id)


class RejudgingAnew(RejudgingAction):
    """Preview parts of a rejudging once more."""

    @extend_schema(request=None, responses=REFUSAL)
    @answers
    def post(self, request: Request, rejudging_id: int) -> Response:
        """Preview those once more that failed, were left out or changed since."""
        if actions.preview_anew(rejudging_id, by=request.user):
            tasks.ring_for_rejudging(rejudging_id)
        return self.answer(rejudging_id)


class RejudgingDrop(RejudgingAction):
    """Let nothing of a rejudging count."""

    @extend_schema(request=None, responses=REFUSAL)
    @answers
    def post(self, request: Request, rejudging_id: int) -> Response:
        """Drop it for good; its record stays."""
        actions.drop(rejudging_id, by=request.user)
        return self.answer(rejudging_id)
