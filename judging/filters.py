"""What lists can be narrowed by in their address, on pages and over the API alike."""

from __future__ import annotations

import django_filters
from django.db.models import Q, QuerySet

from bouts.models import Match
from judging.board import BEST_FIRST, COLUMNS
from judging.models import Scorecard, Standing
from judging.narrow import WINDOWS


class MatchFilter(django_filters.FilterSet):
    challenge = django_filters.CharFilter("challenge__slug", label="Slug of the challenge.")
    team = django_filters.CharFilter("agent__team__slug", label="Slug of the team.")
    base_model = django_filters.CharFilter("agent__base_model", label="The agent's base model.")
    bout = django_filters.CharFilter("bout", label="The bout it was fought in.")
    status = django_filters.ChoiceFilter(
        choices=Scorecard.Status.choices,
        method="with_status",
        label="Status of the live scorecard; a match without one is pending.",
    )
    q = django_filters.CharFilter(
        method="matching", label="Part of a match id, or of an agent's or team's name."
    )

    class Meta:
        model = Match
        fields: list[str] = []

    def with_status(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        waits = Q(live_status=None) if value == Scorecard.Status.PENDING else Q()
        return rows.filter(Q(live_status=value) | waits)

    def matching(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        return rows.filter(
            Q(slug__icontains=value)
            | Q(agent__name__icontains=value)
            | Q(agent__team__name__icontains=value)
        )


class BoardFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="matching", label="Part of an agent's or team's name.")
    base_model = django_filters.CharFilter("agent__base_model", label="The agent's base model.")
    team = django_filters.CharFilter("agent__team__slug", label="Slug of the team.")
    status = django_filters.ChoiceFilter(
        choices=Scorecard.Status.choices, label="Status of the row."
    )
    family = django_filters.CharFilter(
        method="as_it_is", label="Only challenges of this family; on the board over all of them."
    )
    window = django_filters.ChoiceFilter(
        choices=[(str(days), label) for days, label in WINDOWS.items()],
        method="as_it_is",
        label="Only matches fought in the last so many days, counted in whole days of UTC.",
    )
    order = django_filters.ChoiceFilter(
        choices=[(sign + name, sign + name) for name in COLUMNS for sign in ("-", "")],
        method="as_it_is",
        label=f"What to order by, with a minus for the highest first; {BEST_FIRST} unless told"
        " otherwise. Rows without a rank come last either way, and ranks stay those of the board.",
    )

    class Meta:
        model = Standing
        fields: list[str] = []

    def matching(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        return rows.filter(Q(agent__name__icontains=value) | Q(agent__team__name__icontains=value))

    def as_it_is(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        """Leave the order to `Board.in_order`, which keeps unranked rows apart, and family and
        window to `judging.board.board_of`: they are another board.
        """
        return rows
