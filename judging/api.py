"""Matches, breakdowns, challenges and boards over the API. Scores are decimal strings."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bouts.disclosure import open_to
from bouts.models import ChallengeVersion, Match
from judging import board
from judging.models import Scorecard, Standing
from judging.views.sight import privately, sight_of

# Matches


# What a list shows of a match's live scorecard, without its breakdown.
_LIVE = Scorecard.objects.live().filter(match=OuterRef("pk"))
LIVE_CARD = {
    "live_number": Subquery(_LIVE.values("number")),
    "live_status": Subquery(_LIVE.values("status")),
    "live_total": Subquery(_LIVE.values("total")),
}


class MatchFilter(django_filters.FilterSet):
    challenge = django_filters.CharFilter("challenge__slug")
    team = django_filters.CharFilter("agent__team__slug")
    base_model = django_filters.CharFilter("agent__base_model")
    bout = django_filters.CharFilter("bout")
    status = django_filters.ChoiceFilter(
        choices=Scorecard.Status.choices, method="with_status", label="status of the live scorecard"
    )
    q = django_filters.CharFilter(method="matching", label="part of a match id or agent's name")

    class Meta:
        model = Match
        fields: list[str] = []

    def with_status(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        return rows.filter(live_status=value)

    def matching(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        return rows.filter(Q(slug__icontains=value) | Q(agent__name__icontains=value))


class MatchSerializer(serializers.Serializer):
    """A match with its total; ``total`` is null where there is none, ``status`` says why."""

    match = serializers.CharField(source="slug")
    challenge = serializers.CharField(source="challenge.slug")
    team = serializers.CharField(source="agent.team.slug")
    agent = serializers.CharField(source="agent.name")
    version = serializers.CharField(source="agent.version")
    base_model = serializers.CharField(source="agent.base_model")
    bout = serializers.CharField()
    revision = serializers.IntegerField(source="live_number", allow_null=True)
    status = serializers.SerializerMethodField()
    total = serializers.DecimalField(
        source="live_total", max_digits=5, decimal_places=2, allow_null=True
    )
    exclusion = serializers.CharField()
    exclusion_reason = serializers.CharField()
    breakdown = serializers.HyperlinkedIdentityField(view_name="api:breakdown", lookup_field="slug")

    def get_status(self, match: Match) -> str:
        return match.live_status or Scorecard.Status.PENDING


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


class Breakdown(APIView):
    """The breakdown of a match: its live scorecard, or the one of ``revision``.

    What you may not see is left out and listed under ``withheld``. Answers carry an ETag;
    one that you have already is answered with 304.
    """

    @extend_schema(
        parameters=[OpenApiParameter("revision", OpenApiTypes.INT, required=False)],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        asked = request.query_params.get("revision", "")
        if asked and not (asked.isdecimal() and len(asked) < 9):
            raise serializers.ValidationError({"revision": "Expected a whole number."})
        sight = sight_of(request, slug, int(asked) if asked else None)
        if sight.card is None:
            pending = {"match": slug, "revision": None, "status": "pending", "total": None}
            return privately(Response(pending))
        etag = quote_etag(f"{sight.card.pk}-{sight.key}-{sight.card.is_live:d}")
        unchanged = get_conditional_response(request._request, etag=etag)
        if unchanged is not None:
            return privately(unchanged)
        body = {**sight.breakdown, "superseded": sight.is_superseded}
        return privately(Response(body, headers={"ETag": etag}))


class RevisionSerializer(serializers.Serializer):
    """A revision of a match's scorecard."""

    revision = serializers.IntegerField(source="number")
    status = serializers.CharField()
    total = serializers.DecimalField(max_digits=5, decimal_places=2, allow_null=True)
    policy = serializers.CharField()
    challenge_version = serializers.IntegerField(source="challenge_version.number")
    cause = serializers.CharField()
    recorded_at = serializers.DateTimeField(source="created_at")
    superseded = serializers.SerializerMethodField()

    def get_superseded(self, card: Scorecard) -> bool:
        return not card.is_live


class RevisionList(generics.ListAPIView):
    """All scorecards that a match has had, newest first."""

    serializer_class = RevisionSerializer
    queryset = Scorecard.objects.none()
    filter_backends: list = []

    def get_queryset(self) -> QuerySet[Scorecard]:
        match = get_object_or_404(open_to(self.request.user), slug=self.kwargs["slug"])
        return (
            match.scorecards.select_related("challenge_version")
            .defer("breakdown", "challenge_version__document", "challenge_version__starting_tree")
            .order_by("-number")
        )


# Challenges


class ChallengeSerializer(serializers.Serializer):
    """A challenge as competitors may know it: its hidden tests as counts."""

    challenge = serializers.CharField(source="challenge.slug")
    version = serializers.IntegerField(source="number")
    title = serializers.CharField()
    family = serializers.CharField()
    state = serializers.CharField(source="challenge.state")
    briefing = serializers.CharField(source="spec.briefing")
    stakes = serializers.CharField(source="spec.stakes")
    disclosure = serializers.CharField(source="spec.disclosure")
    judges = serializers.ListField(child=serializers.CharField(), source="spec.judges")
    tests = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_tests(self, version: ChallengeVersion) -> dict[str, int]:
        counts: dict[str, int] = {}
        for test in version.spec.tests:
            counts[test.suite.value] = counts.get(test.suite.value, 0) + 1
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
    """A row of a board. ``rank`` and ``total`` are null where nothing of it is ranked."""

    rank = serializers.IntegerField(allow_null=True)
    team = serializers.CharField(source="standing.agent.team.slug")
    agent = serializers.CharField(source="standing.agent.name")
    version = serializers.CharField(source="standing.agent.version")
    base_model = serializers.CharField(source="standing.agent.base_model")
    total = serializers.DecimalField(7, 2, source="standing.shown", allow_null=True)
    low = serializers.DecimalField(7, 2, source="standing.low", allow_null=True)
    high = serializers.DecimalField(7, 2, source="standing.high", allow_null=True)
    objective = serializers.DecimalField(7, 2, source="standing.objective", allow_null=True)
    process = serializers.DecimalField(7, 2, source="standing.process", allow_null=True)
    strategy = serializers.DecimalField(7, 2, source="standing.strategy", allow_null=True)
    recovery = serializers.DecimalField(7, 2, source="standing.recovery", allow_null=True)
    integrity = serializers.DecimalField(7, 2, source="standing.adjustment", allow_null=True)
    status = serializers.CharField(source="standing.status")
    marks = serializers.ListField(child=serializers.CharField(), source="standing.marks")
    matches = serializers.IntegerField(source="standing.ranked_matches")


class Board(generics.ListAPIView):
    """The board over all challenges: the mean over challenges of each agent."""

    serializer_class = BoardRowSerializer
    queryset = Standing.objects.none()
    filter_backends: list = []
    version: ChallengeVersion | None = None

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        page = self.paginate_queryset(board.standings_of(self.version))
        rows = board.ranked(page, self.version)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


@extend_schema_view(get=extend_schema(operation_id="challenge_leaderboard_list"))
class ChallengeBoard(Board):
    """The board of one challenge: the mean of each agent's ranked matches."""

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        live = ChallengeVersion.objects.filter(is_live=True).select_related("challenge")
        self.version = get_object_or_404(live, challenge__slug=self.kwargs["slug"])
        return super().list(request, *args, **kwargs)
