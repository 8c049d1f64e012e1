"""A board over some of the matches: those of a family of challenges, or of the last days.

The default boards are kept up to date row by row; these are made when somebody asks, by the
same functions, from the scorecards that are within.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from bouts.models import Agent, ChallengeVersion, User
from judging import standings
from judging.board import BEST_FIRST, COLUMNS, Board, ModelSpread, Place, Span
from judging.models import Scorecard, Standing
from judging.scoring.policy import CURRENT

WINDOWS = {"7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days", "365": "Last 365 days"}


def board_of(version: ChallengeVersion | None, user: User, asked: Mapping[str, Any]) -> Board:
    """Return the board that an address asks for: the default one, or one of less."""
    family, window = asked.get("family") or "", asked.get("window") or ""
    if version is not None:
        family = ""  # one challenge is of one family
    if not family and window not in WINDOWS:
        return Board(version, user)
    return NarrowBoard(version, user, family, window, asked.get("status") or "")


class NarrowBoard(Board):
    """A board made on the spot. Its rows are `Standing`s that are stored nowhere."""

    def __init__(
        self, version: ChallengeVersion | None, user: User, family: str, window: str, status: str
    ) -> None:
        super().__init__(version, user)
        self.family, self.window, self.status = family, window, status

    @cached_property
    def _cards(self) -> QuerySet[Scorecard]:
        cards = standings.cards_for_rows().filter(match__agent__in=self.rows.values("agent"))
        if self.version is not None:
            cards = cards.filter(challenge_version=self.version)
        else:
            cards = cards.filter(challenge_version__is_live=True)
        if self.family:
            cards = cards.filter(challenge_version__family=self.family)
        if self.window in WINDOWS:
            since = timezone.now() - timedelta(days=int(self.window))
            cards = cards.filter(bundle__started_at__gte=since)
        return cards

    @cached_property
    def _made(self) -> list[Standing]:
        by_agent: dict[int, list[Scorecard]] = defaultdict(list)
        for card in self._cards:
            by_agent[card.match.agent_id].append(card)
        triggers = standings.triggers_of(self._cards)
        agents = Agent.objects.select_related("team").in_bulk(by_agent)
        made = []
        for agent_id, cards in sorted(by_agent.items()):
            row = standings.rows_of(cards, triggers).get(self.version)
            if row is not None:
                made.append(
                    Standing(
                        pk=agent_id,
                        agent=agents[agent_id],
                        challenge_version=self.version,
                        **row,
                    )
                )
        return made

    @cached_property
    def needed(self) -> int:
        if self.version is not None:
            return 1
        challenges = {card.challenge_version_id for card in self._cards}
        return min(CURRENT.ranked_from_challenges, len(challenges))

    def _is_ranked(self, row: Standing) -> bool:
        return row.value is not None and row.challenges >= self.needed

    @cached_property
    def _ranked_rows(self) -> list[Standing]:
        return [row for row in self._made if self._is_ranked(row)]

    @property
    def ranked_count(self) -> int:
        return len(self._ranked_rows)

    @property
    def is_open(self) -> bool:
        unsettled = {Scorecard.Status.PENDING, Scorecard.Status.PROVISIONAL}
        return any(row.status in unsettled for row in self._made)

    @property
    def awaits_bands(self) -> bool:
        return False

    def in_order(self, rows: QuerySet[Standing], order: str = BEST_FIRST) -> Sequence[Standing]:
        """Order those of its rows whose agents are among some rows of the default board."""
        wanted = set(rows.order_by().values_list("agent", flat=True))
        shown = [
            row
            for row in self._made
            if row.agent_id in wanted and (not self.status or row.status == self.status)
        ]
        columns = COLUMNS[order.removeprefix("-")]
        sign = -1 if order.startswith("-") else 1

        def place(row: Standing) -> tuple[Any, ...]:
            values = [getattr(row, column) for column in columns]
            return (
                not self._is_ranked(row),
                *((value is None, sign * (value or 0)) for value in values),
                row.pk,
            )

        return sorted(shown, key=place)

    def _places(self, values: set[Decimal]) -> dict[Decimal, Place]:
        rounded = sorted(row.rounded for row in self._ranked_rows)
        return {
            value: Place(
                len(rounded) - bisect_right(rounded, value) + 1,
                bisect_right(rounded, value) - bisect_left(rounded, value),
            )
            for value in values
        }

    def _reaches(self, rows: Sequence[Standing]) -> dict[int, tuple[int, int]]:
        moving = [row for row in rows if row.low != row.high]
        lows = sorted(row.low for row in self._ranked_rows)
        highs = sorted(row.high for row in self._ranked_rows)
        # A row's own low is never above its high; its own high is above its low, and taken off.
        return {
            row.pk: (
                len(lows) - bisect_right(lows, row.high) + 1,
                len(highs) - bisect_right(highs, row.low),
            )
            for row in moving
        }

    def within_models(self) -> list[ModelSpread]:
        by_model: dict[str, list[Standing]] = defaultdict(list)
        for row in self._ranked_rows:
            by_model[row.agent.base_model].append(row)
        spreads = []
        for model, rows in by_model.items():
            if len(rows) < 2:
                continue
            figures = []
            for column in ("total", *standings.JUDGES):
                known = [value for row in rows if (value := getattr(row, column)) is not None]
                figures.append(Span.between(min(known, default=None), max(known, default=None)))
            spreads.append(ModelSpread(model, len(rows), tuple(figures)))
        return sorted(spreads, key=lambda one: (-(one.figures[0].gap or 0), one.model))
