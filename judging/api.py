"""Matches, breakdowns, challenges and boards over the API. Scores are decimal strings."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bouts.disclosure import Audience, Gate, audience_in, open_to
from bouts.models import Challenge, ChallengeVersion, Match
from bouts.rules import Disclosure, Severity, Stakes
from judging.api_shapes import Breakdown, Score
from judging.board import BEST_FIRST, BoardRow, board_of, version_of
from judging.breakdown import weights_of
from judging.filters import BoardFilter, MatchFilter
from judging.models import Scorecard, Standing, Step
from judging.scoring.policy import CURRENT, WEIGHED
from judging.sight import Sight, privately, sight_of

# Matches


# What a list shows of a match's live scorecard, without its breakdown.
_LIVE = Scorecard.objects.live().filter(match=OuterRef("pk"))
_FAILED = Step.objects.filter(
    bundle__match=OuterRef("pk"), bundle__is_live=True, state=Step.State.FAILED
)
LIVE_CARD = {
    "live_number": Subquery(_LIVE.values("number")),
    "live_status": Subquery(_LIVE.values("status")),
    "live_total": Subquery(_LIVE.values("total")),
    "live_reason": Subquery(_LIVE.filter(total=None).values("breakdown__reason")),
    "has_failed": Exists(_FAILED),
}


class MatchSerializer(serializers.Serializer):
    """A match with its total. Where that is null, ``status`` and ``reason`` say why."""

    match = serializers.CharField(source="slug")
    challenge = serializers.CharField(source="challenge.slug")
    team = serializers.CharField(source="agent.team.slug")
    agent = serializers.CharField(source="agent.name")
    version = serializers.CharField(source="agent.version")
    base_model = serializers.CharField(source="agent.base_model")
    bout = serializers.CharField(allow_blank=True)
    revision = serializers.IntegerField(source="live_number", allow_null=True)
    status = serializers.SerializerMethodField()
    total = Score(source="live_total")
    reason = serializers.SerializerMethodField()
    exclusion = serializers.ChoiceField(Match.Exclusion.choices, allow_blank=True)
    exclusion_reason = serializers.CharField(allow_blank=True)
    breakdown = serializers.HyperlinkedIdentityField(view_name="api:breakdown", lookup_field="slug")

    @extend_schema_field(serializers.ChoiceField(Scorecard.Status.choices))
    def get_status(self, match: Match) -> str:
        if match.live_status:
            return match.live_status
        return Scorecard.Status.FAILED if match.has_failed else Scorecard.Status.PENDING

    def get_reason(self, match: Match) -> str | None:
        if match.live_total is not None:
            return None
        return match.live_reason or ("step_failed" if match.has_failed else "judging")


class MatchList(generics.ListAPIView):
    """The matches that you may see, newest first."""

    serializer_class = MatchSerializer
    filterset_class = MatchFilter
    queryset = Match.objects.none()  # for the schema; see get_queryset

    def get_queryset(self) -> QuerySet[Match]:
        return (
            open_to(self.request.user)
            .annotate(**LIVE_CARD)
            .select_related("challenge", "agent__team")
            .order_by("-created_at", "-pk")
        )


class MatchDetail(generics.RetrieveAPIView):
    """One match."""

    serializer_class = MatchSerializer
    queryset = Match.objects.none()
    lookup_field = "slug"

    get_queryset = MatchList.get_queryset


class BreakdownDetail(APIView):
    """The breakdown of a match: its live scorecard, or the one of ``revision``.

    What you may not see is left out and listed under ``withheld``. Answers carry an ETag;
    one that you have already is answered with 304.
    """

    @extend_schema(
        parameters=[OpenApiParameter("revision", int)],
        responses={200: Breakdown, 304: OpenApiResponse(description="You have it already.")},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        asked = request.query_params.get("revision", "")
        if asked and not (asked.isdecimal() and len(asked) < 9):
            raise serializers.ValidationError({"revision": ["Expected a whole number."]})
        sight = sight_of(request, slug, int(asked) if asked else None)
        if sight.audience is Audience.BLIND:
            # No tag either: it would tell whenever something became of the match.
            return privately(Response(sight.breakdown))
        if sight.head.card_id is None:
            return privately(Response(_without_card(sight)))
        etag = quote_etag(f"{sight.head.card_id}-{sight.key}-{sight.head.card_is_live:d}")
        answer = get_conditional_response(request._request, etag=etag)
        if answer is None:
            answer = Response({**sight.breakdown, "superseded": sight.is_superseded})
        answer.headers["ETag"] = etag
        return privately(answer)


def _without_card(sight: Sight) -> dict[str, Any]:
    """Return what is to be said of a match that no scorecard was recorded for."""
    has_failed = sight.bundle and sight.bundle.steps.filter(state=Step.State.FAILED).exists()
    return {
        "match": sight.match.slug,
        "revision": None,
        "status": Scorecard.Status.FAILED if has_failed else Scorecard.Status.PENDING,
        "total": None,
        "reason": "step_failed" if has_failed else "judging",
        "superseded": False,
    }


SHOWN_CASES = frozenset({Audience.STAFF, Audience.TEAM})


class RevisionSerializer(serializers.Serializer):
    """A revision of a match's scorecard."""

    revision = serializers.IntegerField(source="number")
    status = serializers.ChoiceField(Scorecard.Status.choices)
    total = Score()
    policy = serializers.CharField()
    challenge_version = serializers.IntegerField(source="challenge_version.number")
    cause = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()
    recorded_at = serializers.DateTimeField(source="created_at")
    superseded = serializers.SerializerMethodField()

    def get_cause(self, card: Scorecard) -> str:
        """A ruling names its case only to those who may know of cases."""
        return card.cause if self.context["shows_cases"] else card.cause.partition(" on ")[0]

    def get_reason(self, card: Scorecard) -> str:
        """The public reason of a ruling or a rejudging, ``withheld`` where it tells too much."""
        words = tuple(card.bundle.hidden_words)
        return Gate(self.context["audience"], Disclosure.CLOSED, words).text(card.reason)

    def get_superseded(self, card: Scorecard) -> bool:
        return not card.is_live


class RevisionList(generics.ListAPIView):
    """All scorecards that a match has had, newest first."""

    serializer_class = RevisionSerializer
    queryset = Scorecard.objects.none()
    filter_backends: list = []

    @cached_property
    def match(self) -> Match:
        matches = open_to(self.request.user).select_related("agent")
        return get_object_or_404(matches, slug=self.kwargs["slug"])

    def get_serializer_context(self) -> dict[str, Any]:
        # `open_to` has left out what is dark.
        audience = audience_in(self.request.user, self.match.agent.team_id, is_dark=lambda: False)
        more = {"audience": audience, "shows_cases": audience in SHOWN_CASES}
        return super().get_serializer_context() | more

    def get_queryset(self) -> QuerySet[Scorecard]:
        return (
            self.match.scorecards.select_related("challenge_version", "bundle")
            .defer("breakdown", "challenge_version__document", "challenge_version__starting_tree")
            .defer("bundle__manifest")
            .order_by("-number")
        )


# Challenges


class ChallengeSerializer(serializers.Serializer):
    """A challenge as competitors may know it: its hidden tests as counts."""

    challenge = serializers.CharField(source="challenge.slug")
    version = serializers.IntegerField(source="number")
    title = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(Challenge.State.choices, source="challenge.state")
    briefing = serializers.CharField(source="spec.briefing", allow_blank=True)
    stakes = serializers.ChoiceField(list(Stakes), source="spec.stakes")
    disclosure = serializers.ChoiceField(list(Disclosure), source="spec.disclosure")
    judges = serializers.ListField(child=serializers.CharField(), source="spec.judges")
    weights = serializers.SerializerMethodField()
    tests = serializers.SerializerMethodField()

    def get_weights(self, version: ChallengeVersion) -> dict[str, float]:
        weights = weights_of(version.spec, CURRENT)
        return {judge.value: float(weights[judge]) for judge in WEIGHED}

    def get_tests(self, version: ChallengeVersion) -> dict[str, dict[str, int]]:
        """How many tests there are, by suite and severity."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for test in version.spec.tests:
            counts[test.suite][test.severity or Severity.MEDIUM] += 1
        return counts


class ChallengeList(generics.ListAPIView):
    """Every challenge in its live version."""

    serializer_class = ChallengeSerializer
    queryset = (
        ChallengeVersion.objects.filter(is_live=True)
        .select_related("challenge")
        .defer("starting_tree")
        .order_by("title", "pk")
    )
    filter_backends: list = []


class ChallengeDetail(generics.RetrieveAPIView):
    """One challenge in its live version."""

    serializer_class = ChallengeSerializer
    queryset = ChallengeList.queryset

    def get_object(self) -> ChallengeVersion:
        return get_object_or_404(self.get_queryset(), challenge__slug=self.kwargs["slug"])


# Boards


class BoardRowSerializer(serializers.Serializer):
    """A row of a board. ``rank`` is null where nothing of it is ranked, and ``reason`` says why.

    ``low`` and ``high`` are how far open questions can move the total, ``best_rank`` and
    ``worst_rank`` how far they can move the rank. ``interval_low`` to ``interval_high`` is the
    95% interval of the mean over challenges, and rows of one ``band`` are not told apart by
    them: both on the board over all challenges, from five on. ``spread`` is the lowest and the
    highest match by judge, ``findings`` counts applied ones by trigger.
    """

    rank = serializers.IntegerField(allow_null=True)
    reason = serializers.SerializerMethodField()
    team = serializers.CharField(source="standing.agent.team.slug")
    agent = serializers.CharField(source="standing.agent.name")
    version = serializers.CharField(source="standing.agent.version")
    base_model = serializers.CharField(source="standing.agent.base_model")
    total = Score(source="standing.total")
    low = Score(source="standing.low")
    high = Score(source="standing.high")
    objective = Score(source="standing.objective")
    process = Score(source="standing.process")
    strategy = Score(source="standing.strategy")
    recovery = Score(source="standing.recovery")
    integrity = Score(source="standing.adjustment")
    best_rank = serializers.SerializerMethodField()
    worst_rank = serializers.SerializerMethodField()
    band = serializers.IntegerField(source="standing.band", allow_null=True)
    interval_low = Score(source="standing.interval_low")
    interval_high = Score(source="standing.interval_high")
    spread = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), source="standing.spread"
    )
    findings = serializers.DictField(child=serializers.IntegerField(), source="standing.triggers")
    status = serializers.ChoiceField(Scorecard.Status.choices, source="standing.status")
    marks = serializers.ListField(child=serializers.CharField(), source="standing.marks")
    ranked_matches = serializers.IntegerField(source="standing.ranked_matches")
    matches = serializers.IntegerField(source="standing.matches")

    def get_reason(self, row: BoardRow) -> str | None:
        return row.reason or None

    def get_best_rank(self, row: BoardRow) -> int | None:
        return row.reach[0] if row.reach else None

    def get_worst_rank(self, row: BoardRow) -> int | None:
        return row.reach[1] if row.reach else None


class BoardList(generics.ListAPIView):
    """The board over all challenges: the mean over challenges of each agent."""

    serializer_class = BoardRowSerializer
    filterset_class = BoardFilter
    queryset = Standing.objects.none()  # for the schema

    def list(self, request: Request, slug: str | None = None) -> Response:
        number = request.query_params.get("version", "")
        version = version_of(slug, number) if slug else None
        board = board_of(version, request.user, request.query_params)
        rows = self.filter_queryset(board.rows)
        order = request.query_params.get("order") or BEST_FIRST
        page = self.paginate_queryset(board.in_order(rows, order))
        return self.get_paginated_response(
            self.get_serializer(board.with_ranks(page), many=True).data
        )


@extend_schema_view(
    get=extend_schema(
        operation_id="challenge_leaderboard_list",
        parameters=[
            OpenApiParameter("version", int, description="A version other than the live one.")
        ],
    )
)
class ChallengeBoardList(BoardList):
    """The board of one challenge: the mean of each agent's ranked matches."""
