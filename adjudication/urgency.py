"""The order of the queue, and pages of it that cost the same however long it is.

Unsettled cases stand on twelve rungs: past the limit, past the target or in time, on each
blocking before advisory, on each of those high stakes before standard; on a rung the oldest
comes first. What a person holds stands above all of them, what is settled below, the latest
first. Each rung is a stretch of an index, so that a page reads its own rows and no others: it
is found by the place of the row before it, never by counting from the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Q, QuerySet, Value

from adjudication.models import Case, CaseQuerySet, Claim
from bouts.models import User
from bouts.rules import Stakes

MINE = 0  # the rung of what the person who looks holds
RUNGS = range(1, 13)
SETTLED = 13
TOKEN = re.compile(r"(\d{1,17})-(\d{1,2})-(\d{1,17})-(\d{1,18})")
MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EVER, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a case stands in the list, at the moment at which the list was begun."""

    at: datetime
    rung: int
    time: datetime  # when it was opened; on the last rung, when it was closed
    key: int

    @classmethod
    def read(cls, token: str) -> Spot | None:
        """Return the spot that an address names; None where it makes no sense."""
        found = TOKEN.fullmatch(token)
        if found is None:
            return None
        at, rung, time, key = map(int, found.groups())
        if rung > SETTLED:
            return None
        try:
            return cls(EPOCH + at * MICROSECOND, rung, EPOCH + time * MICROSECOND, key)
        except OverflowError:
            return None

    def __str__(self) -> str:
        at, time = ((moment - EPOCH) // MICROSECOND for moment in (self.at, self.time))
        return f"{at}-{self.rung}-{time}-{self.key}"

    @property
    def place(self) -> tuple[int, float, int]:
        """What spots of one list are sorted by."""
        seconds = (self.time - EPOCH) / MICROSECOND
        return self.rung, -seconds if self.rung == SETTLED else seconds, self.key


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some rows of the queue, in order; `before` and `after` are empty where there are none."""

    cases: list[Case]
    at: datetime  # the moment that the order holds for
    before: str = ""
    after: str = ""


def stretch(
    cases: CaseQuerySet,
    user: User,
    at: datetime,
    *,
    size: int,
    after: Spot | None = None,
    before: Spot | None = None,
) -> Stretch:
    """Return the rows that follow one spot, or stand right before another, in two queries.

    `at` orders a list that is begun here; a spot brings the moment of its own list along, so
    that nothing is shown twice or skipped because time has passed between two pages.
    """
    begun = before or after
    at = begun.at if begun else at
    spots = _spots(cases, user, at, size, after, before)
    is_back = before is not None
    spots.sort(key=lambda spot: spot.place, reverse=is_back)
    has_more = len(spots) > size
    spots = spots[:size]
    if is_back:
        spots.reverse()
    rows = Case.objects.filter(pk__in=[spot.key for spot in spots]).for_list()
    by_key = {case.pk: case for case in rows}
    shown = [by_key[spot.key] for spot in spots if spot.key in by_key]
    if not spots:
        return Stretch([], at)
    return Stretch(
        shown,
        at,
        before=str(spots[0]) if (has_more if is_back else after is not None) else "",
        after=str(spots[-1]) if is_back or has_more else "",
    )


def _spots(
    cases: CaseQuerySet,
    user: User,
    at: datetime,
    size: int,
    after: Spot | None,
    before: Spot | None,
) -> list[Spot]:
    mine = Claim.objects.filter(
        Q(ended_at=None) | Q(ended_at__gt=at), reviewer=user, claimed_at__lte=at, expires_at__gt=at
    )
    held = list(mine.values_list("case", flat=True)) if user.is_reviewer else []
    parts = []
    for rung in range(MINE, SETTLED + 1):
        if rung == MINE and not held:
            continue
        if (after and rung < after.rung) or (before and rung > before.rung):
            continue
        part = on_rung(cases, rung, at)
        part = part.filter(pk__in=held) if rung == MINE else part.exclude(pk__in=held)
        parts.append(_cut(part, rung, size, after, before))
    if not parts:
        return []
    rows = parts[0].union(*parts[1:], all=True).order_by() if parts[1:] else parts[0]
    return [
        Spot(at, rung, closed if rung == SETTLED else opened, key)
        for rung, opened, closed, key in rows
    ]


def _cut(
    part: CaseQuerySet, rung: int, size: int, after: Spot | None, before: Spot | None
) -> QuerySet:
    """Cut a rung down to the rows that a page may need, one more than it shows."""
    name = "closed_at" if rung == SETTLED else "opened_at"
    is_latest_first = rung == SETTLED
    for spot, is_back in ((after, False), (before, True)):
        if spot and spot.rung == rung:
            further = "lt" if is_latest_first != is_back else "gt"
            beside = "lt" if is_back else "gt"
            part = part.filter(
                Q(**{f"{name}__{further}": spot.time})
                | Q(**{name: spot.time, f"pk__{beside}": spot.key})
            )
    is_back = before is not None
    sign = "-" if is_latest_first != is_back else ""
    ordered = part.order_by(f"{sign}{name}", "-pk" if is_back else "pk")
    return ordered.values_list(Value(rung), "opened_at", "closed_at", "pk")[: size + 1]


def on_rung(cases: CaseQuerySet, rung: int, at: datetime) -> CaseQuerySet:
    """Narrow to the cases of a rung at a moment."""
    if rung == SETTLED:
        return cases.filter(closed_at__isnull=False)
    open_ones = cases.filter(closed_at=None)
    if rung == MINE:
        return open_ones
    return open_ones.filter(**ladder(at)[rung - RUNGS.start].cases)


class Rung(NamedTuple):
    """What the unsettled cases of one rung have in common."""

    since: datetime  # opened then or later
    until: datetime  # and before that
    blocking: bool
    stakes: str

    @property
    def cases(self) -> dict[str, Any]:
        """The filters of a query for them; each part may also be an expression."""
        return {
            "opened_at__gte": self.since,
            "opened_at__lt": self.until,
            "blocking": self.blocking,
            "stakes": self.stakes,
        }


def ladder(at: datetime) -> list[Rung]:
    """Return the rungs of unsettled cases at a moment, the most urgent first."""
    ages = pairwise([EVER, at - settings.CASE_LIMIT, at - settings.CASE_TARGET, NEVER])
    return [
        Rung(since, until, blocking, stakes.value)
        for (since, until), blocking, stakes in product(
            ages, (True, False), (Stakes.HIGH, Stakes.STANDARD)
        )
    ]


def everything(cases: CaseQuerySet, user: User, at: datetime, size: int) -> Iterator[list[Case]]:
    """Yield a whole list in its order, so many rows at a time."""
    after: Spot | None = None
    while True:
        part = stretch(cases, user, at, size=size, after=after)
        if part.cases:
            yield part.cases
        if not part.after:
            return
        after = Spot.read(part.after)
