"""A board as it is read: what a person may see of it, in order, with ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import zip_longest
from typing import Any, overload

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.http import Http404
from django.shortcuts import get_object_or_404

from bouts.disclosure import dark_to
from bouts.models import ChallengeVersion, Match, User
from judging import narrow, standings
from judging.charts.spread import SpreadBar, spread_bar
from judging.models import Scorecard, Standing, Step
from judging.scoring.policy import CURRENT
from judging.sums import JUDGES

# What a board can be ordered by, and the columns that hold it.
COLUMNS = {
    "total": ("rounded", "value"),
    "objective": ("objective",),
    "process": ("process",),
    "strategy": ("strategy",),
    "recovery": ("recovery",),
    "integrity": ("adjustment",),
    "matches": ("ranked_matches",),
}
BEST_FIRST = "-total"


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One agent. ``rank`` is None where nothing of it is ranked."""

    standing: Standing
    rank: int | None
    is_tied: bool  # others share the rank
    is_tied_to_next: bool  # the row below is one of them
    reason: str = ""  # why there is no rank
    # The best and the worst rank that open cases can move it to; None where nothing can.
    reach: tuple[int, int] | None = None

    @property
    def rank_text(self) -> str:
        """``4=`` where others share the rank."""
        return "" if self.rank is None else f"{self.rank}{'=' * self.is_tied}"

    @property
    def judges(self) -> list[tuple[Decimal | None, SpreadBar | None]]:
        """The mean of each judge, and the spread of the matches behind it."""
        return [
            (getattr(self.standing, judge), spread_bar(self.standing.spread.get(judge)))
            for judge in JUDGES
        ]


def version_of(slug: str, number: str = "") -> ChallengeVersion:
    """Return the version of a challenge with this number, the live one without. Raises 404."""
    versions = (
        ChallengeVersion.objects.select_related("challenge")
        .defer("document", "starting_tree")
        .filter(challenge__slug=slug)
    )
    if not number:
        return get_object_or_404(versions, is_live=True)
    if not (number.isdecimal() and len(number) < 9):
        raise Http404
    return get_object_or_404(versions, number=int(number))


def why_unranked(row: Standing, needed: int) -> str:
    """Say why a row has no rank."""
    if row.value is not None:
        return f"Ranked from {needed} challenges on; it has {row.challenges} so far"
    matches = "One match" if row.matches == 1 else f"{row.matches} matches"
    # What has no total need not be said to be incomplete.
    says_itself = "incomplete" if row.status in WITHOUT_TOTAL else ""
    reasons = [
        WHY_UNRANKED[mark] for mark in row.marks if mark in WHY_UNRANKED and mark != says_itself
    ]
    return f"{matches}, {reasons[0] if reasons else WHY_UNRANKED[row.status]}"


WITHOUT_TOTAL = frozenset({Scorecard.Status.UNSCORED, Scorecard.Status.FAILED})

# By mark, which says more, and by status.
WHY_UNRANKED = {
    "held": "held while an integrity case is open",
    "incomplete": "incomplete: its total is shown, not ranked",
    Match.Exclusion.WITHDRAWN: "withdrawn",
    Match.Exclusion.EXCLUDED: "excluded",
    Scorecard.Status.PENDING: "waiting for a judge",
    Scorecard.Status.PROVISIONAL: "not settled",
    Scorecard.Status.FINAL: "without a total that counts",
    Scorecard.Status.UNSCORED: "without a total",
    Scorecard.Status.FAILED: "whose judging broke off",
}


def board_of(version: ChallengeVersion | None, user: User, asked: Mapping[str, Any]) -> Board:
    """Return the board that an address asks for: the default one, or one of less."""
    family, window = asked.get("family") or "", asked.get("window") or ""
    days = int(window) if window in map(str, narrow.WINDOWS) else 0
    # One challenge is of one family.
    return Board(version, user, "" if version else family, days)


def on_challenges(rows: QuerySet[Standing], user: User) -> Iterator[tuple[Standing, BoardRow, int]]:
    """Yield rows of the boards of challenges, each as on its board and with how many rank there.

    One query, however many boards they are of; of one board `Board.with_ranks` is quicker.
    """
    others = Standing.objects.of_board(OuterRef("challenge_version")).filter(value__isnull=False)
    if user.is_reviewer:
        dark = Board(None, user).dark.filter(agent=OuterRef("agent"))
        others = others.exclude(Exists(dark.filter(challenge=OuterRef("challenge"))))
    apart = ~Q(pk=OuterRef("pk"))
    counts = JSONObject(
        ranked=Count("pk"),
        above=Count("pk", filter=Q(rounded__gt=OuterRef("rounded"))),
        sharing=Count("pk", filter=Q(rounded=OuterRef("rounded"))),
        above_best=Count("pk", filter=apart & Q(low__gt=OuterRef("high"))),
        above_worst=Count("pk", filter=apart & Q(high__gt=OuterRef("low"))),
    )
    # By a column that is one value here, so that the counts are of all of them.
    counted = others.order_by().values("window").annotate(counts=counts).values("counts")
    for row in rows.annotate(counts=Subquery(counted)):
        found = row.counts or {"ranked": 0}
        is_ranked = row.value is not None
        reach = (found["above_best"] + 1, found["above_worst"] + 1) if row.low != row.high else None
        shown = BoardRow(
            standing=row,
            rank=found["above"] + 1 if is_ranked else None,
            is_tied=is_ranked and found["sharing"] > 1,
            is_tied_to_next=False,
            reason="" if is_ranked else why_unranked(row, needed=1),
            reach=reach if is_ranked else None,
        )
        yield row, shown, found["ranked"]


class Board:
    """The board of a challenge's version, or the one over challenges, for one person.

    A ``family`` of challenges and a ``window`` of the last so many days make it a narrower one.
    """

    def __init__(
        self, version: ChallengeVersion | None, user: User, family: str = "", window: int = 0
    ) -> None:
        self.version = version
        self.user = user
        self.family = family
        self.window = window

    @property
    def rows(self) -> QuerySet[Standing]:
        """All rows, in no order.

        A reviewer sees none of an agent whose match they may still be asked to score blind:
        not its figures, and not the gap that it would leave among the ranks.
        """
        rows = Standing.objects.of_board(self.version, self.family, self.window)
        return rows.exclude(agent__in=self.dark.values("agent")) if self.user.is_reviewer else rows

    @property
    def dark(self) -> QuerySet[Match]:
        """The matches that keep agents off this person's board."""
        dark = Match.objects.filter(dark_to(self.user)).exclude(agent__team__in=self.user.team_ids)
        return dark.filter(challenge=self.version.challenge_id) if self.version else dark

    @property
    def ranked(self) -> QuerySet[Standing]:
        return self.rows.filter(self._has_rank)

    @property
    def ranked_count(self) -> int:
        return self.ranked.count()

    @cached_property
    def needed(self) -> int:
        """From how many challenges on an agent has a rank here."""
        if self.version:
            return 1
        if not self.is_narrow:
            return standings.challenges_needed()
        versions = ChallengeVersion.objects.filter(is_live=True)
        if self.family:
            versions = versions.filter(family=self.family)
        fought = Standing.objects.of_board(OuterRef("pk"), window=self.window)
        return min(CURRENT.ranked_from_challenges, versions.filter(Exists(fought)).count())

    @property
    def is_narrow(self) -> bool:
        return bool(self.family or self.window)

    @property
    def since(self) -> datetime | None:
        """From when on the matches of a window are counted."""
        return narrow.since(self.window, narrow.today()) if self.window else None

    @cached_property
    def is_behind(self) -> bool:
        """Whether it lacks what was scored, or what left its window, since its rows were made."""
        return self.is_narrow and narrow.is_behind(self.version, self.family, self.window)

    @property
    def _has_rank(self) -> Q:
        return Q(value__isnull=False, challenges__gte=self.needed)

    def in_order(self, rows: QuerySet[Standing], order: str = BEST_FIRST) -> Sequence[Standing]:
        """Order some of its rows by a column of `COLUMNS`, a minus for the highest first.

        Nothing known comes last in both directions, and so do rows without a rank.
        """
        is_falling = order.startswith("-")
        columns = [
            F(column).desc(nulls_last=True) if is_falling else F(column).asc(nulls_last=True)
            for column in COLUMNS[order.removeprefix("-")]
        ]
        ordered = rows.select_related("agent__team").order_by(*columns, "pk")
        return InOrder(ordered.filter(self._has_rank), ordered.exclude(self._has_rank))

    def with_ranks(self, rows: Iterable[Standing]) -> list[BoardRow]:
        """Give some of its rows their ranks, in two queries however many they are."""
        rows = list(rows)
        has_rank = [row.value is not None and row.challenges >= self.needed for row in rows]
        reaches = self._reaches([row for row, has in zip(rows, has_rank, strict=True) if has])
        places = self._places({row.rounded for row, has in zip(rows, has_rank, strict=True) if has})
        found = [
            places[row.rounded] if has else None for row, has in zip(rows, has_rank, strict=True)
        ]
        return [
            BoardRow(
                standing=row,
                rank=place and place.rank,
                is_tied=place is not None and place.sharers > 1,
                is_tied_to_next=place is not None and place is below,
                reason="" if place else why_unranked(row, self.needed),
                reach=reaches.get(row.pk),
            )
            for row, place, below in zip_longest(rows, found, found[1:])
        ]

    def _reaches(self, rows: Sequence[Standing]) -> dict[int, tuple[int, int]]:
        """Return how far open cases can move those of some ranked rows that they can move.

        At best a row's cases all end well and those of all others badly, at worst the other
        way round. What is held off the board meanwhile is not counted: nobody knows where it
        would return to.
        """
        moving = [row for row in rows if row.low != row.high]
        if not moving:
            return {}
        counts = {}
        for row in moving:
            others = ~Q(pk=row.pk)
            counts[f"best_{row.pk}"] = Count("pk", filter=others & Q(low__gt=row.high))
            counts[f"worst_{row.pk}"] = Count("pk", filter=others & Q(high__gt=row.low))
        found = self.ranked.order_by().aggregate(**counts)
        return {
            row.pk: (found[f"best_{row.pk}"] + 1, found[f"worst_{row.pk}"] + 1) for row in moving
        }

    @property
    def is_open(self) -> bool:
        """Whether anything on it can still change: a row, a match that is held off it, or one
        that is being judged, of which no row tells yet."""
        unsettled = [Scorecard.Status.PENDING, Scorecard.Status.PROVISIONAL]
        return (
            self.is_behind or self.rows.filter(status__in=unsettled).exists() or self._is_awaited()
        )

    def _is_awaited(self) -> bool:
        steps = Step.objects.awaited()
        if self.version:
            return steps.filter(bundle__challenge_version=self.version).exists()
        if self.family:
            steps = steps.filter(bundle__challenge_version__family=self.family)
        return steps.filter(bundle__challenge_version__is_live=True).exists()

    @property
    def awaits_bands(self) -> bool:
        """Whether scores have changed since tie bands were settled last."""
        is_default = self.version is None and not self.is_narrow
        return is_default and standings.awaiting_bands().exists()

    def within_models(self) -> list[ModelSpread]:
        """Return how far apart ranked agents on one base model are, by each judge.

        Only models with two agents or more; the widest apart first.
        """
        bounds = {
            f"{end.__name__.lower()}_{column}": end(column)
            for column in ("total", *JUDGES)
            for end in (Min, Max)
        }
        rows = (
            self.ranked.order_by()
            .values("agent__base_model")
            .annotate(agents=Count("pk"), **bounds)
            .filter(agents__gt=1)
        )
        spreads = [
            ModelSpread(
                model=row["agent__base_model"],
                agents=row["agents"],
                figures=tuple(
                    Span.between(row[f"min_{column}"], row[f"max_{column}"])
                    for column in ("total", *JUDGES)
                ),
            )
            for row in rows
        ]
        return sorted(spreads, key=lambda one: (-(one.figures[0].gap or 0), one.model))

    def _places(self, values: set[Decimal]) -> dict[Decimal, Place]:
        """Return the place of each value, and of those between."""
        if not values:
            return {}
        rank = self.ranked.filter(rounded__gt=max(values)).count() + 1
        between = self.ranked.filter(rounded__range=(min(values), max(values))).values_list(
            "rounded"
        )
        places = {}
        for value, sharers in between.annotate(Count("pk")).order_by("-rounded"):
            places[value] = Place(rank, sharers)
            rank += sharers
        return places


@dataclass(frozen=True, slots=True)
class Span:
    """From the lowest to the highest of some agents; None where none of them has a score."""

    low: Decimal | None
    high: Decimal | None
    gap: Decimal | None
    bar: SpreadBar | None

    @classmethod
    def between(cls, low: Decimal | None, high: Decimal | None) -> Span:
        if low is None or high is None:
            return cls(None, None, None, None)
        return cls(low, high, high - low, spread_bar((low, high)))


@dataclass(frozen=True, slots=True)
class ModelSpread:
    """How far apart the agents on one base model are: overall, and by each judge."""

    model: str
    agents: int
    figures: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A rank and how many share it."""

    rank: int
    sharers: int


class InOrder(Sequence[Standing]):
    """Rows of a board in order: those that have a rank, then those that have none.

    Two queries, so that the database walks the first along its index.
    """

    def __init__(self, ranked: QuerySet[Standing], unranked: QuerySet[Standing]) -> None:
        self._ranked, self._unranked = ranked, unranked

    @cached_property
    def _border(self) -> int:
        return self._ranked.count()

    @cached_property
    def _length(self) -> int:
        return self._border + self._unranked.count()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, wanted: int) -> Standing: ...

    @overload
    def __getitem__(self, wanted: slice) -> list[Standing]: ...

    def __getitem__(self, wanted: int | slice) -> Standing | list[Standing]:
        if isinstance(wanted, int):
            return self[wanted : wanted + 1][0]
        start, stop, _ = wanted.indices(len(self))
        rows = list(self._ranked[start : min(stop, self._border)]) if start < self._border else []
        if stop > self._border:
            rows += self._unranked[max(start - self._border, 0) : stop - self._border]
        return rows
