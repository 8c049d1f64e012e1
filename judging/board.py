"""A board as it is read: rows in order, their ranks, and what is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from bouts.models import ChallengeVersion
from judging import standings
from judging.models import Standing

# What a board can be ordered by, and the column that holds it.
COLUMNS = {
    "total": "value",
    "objective": "objective",
    "process": "process",
    "strategy": "strategy",
    "recovery": "recovery",
    "integrity": "adjustment",
    "matches": "ranked_matches",
}


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One agent. ``rank`` is None where nothing of it is ranked; then it stands last."""

    standing: Standing
    rank: int | None
    is_tied: bool

    @property
    def rank_text(self) -> str:
        """``4=`` where others share the rank."""
        return "" if self.rank is None else f"{self.rank}{'=' * self.is_tied}"


def standings_of(
    version: ChallengeVersion | None,
    *,
    query: str = "",
    base_model: str = "",
    team: str = "",
    status: str = "",
    order: str = "total",
    is_ascending: bool = False,
) -> QuerySet[Standing]:
    """Return the rows of a board, narrowed and ordered. No rank → last, in both directions."""
    rows = Standing.objects.filter(challenge_version=version).select_related("agent__team")
    if query:
        rows = rows.filter(Q(agent__name__icontains=query) | Q(agent__team__name__icontains=query))
    if base_model:
        rows = rows.filter(agent__base_model=base_model)
    if team:
        rows = rows.filter(agent__team__slug=team)
    if status:
        rows = rows.filter(status=status)
    column = F(COLUMNS[order])
    if order == "total" and not is_ascending:
        return rows.order_by(column.desc(nulls_last=True), "pk")  # as the index has them
    by_column = column.asc(nulls_last=True) if is_ascending else column.desc(nulls_last=True)
    return rows.order_by(Q(value__isnull=True), by_column, "pk")


def ranked(rows: Sequence[Standing], version: ChallengeVersion | None) -> list[BoardRow]:
    """Give a page of rows their ranks on the whole board, in two queries however many they are."""
    board = standings.ranked_rows(version)
    needed = 1 if version else standings.challenges_needed()
    shown = sorted({row.shown for row in rows if _has_rank(row, needed)}, reverse=True)
    ranks = _ranks(board, shown)
    return [
        BoardRow(
            standing=row,
            rank=ranks[row.shown][0] if _has_rank(row, needed) else None,
            is_tied=_has_rank(row, needed) and ranks[row.shown][1] > 1,
        )
        for row in rows
    ]


def _has_rank(row: Standing, needed: int) -> bool:
    return row.value is not None and row.challenges >= needed


def _ranks(board: QuerySet[Standing], shown: Sequence[Any]) -> dict[Any, tuple[int, int]]:
    """Return rank and number of sharers of each value."""
    counts = {}
    for number, value in enumerate(shown):
        counts[f"above_{number}"] = Count("pk", filter=Q(shown__gt=value))
        counts[f"equal_{number}"] = Count("pk", filter=Q(shown=value))
    found = board.aggregate(**counts) if counts else {}
    return {
        value: (found[f"above_{number}"] + 1, found[f"equal_{number}"])
        for number, value in enumerate(shown)
    }
