"""What asking models has cost, counted from the stored calls, and whether more may be spent.

Unknown is never nothing: where a price or a usage is not known, or a call was lost with its
worker, the sum is what has been spent at least, and says so. Against a budget a call counts with
the most that it may cost while it is under way, and afterwards too where it timed out, was lost
or was answered without a count: vendors bill for what was written until then.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import connection
from django.db.models import Avg, Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from bouts.rules import Judge
from judging.models import ModelCall
from judging.panel.answers import Outcome

NOTHING = Decimal(0)

# Whoever is about to spend holds this lock, so that two do not spend the same rest.
LOCK = 0x626F757473


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars. ``unknown`` counts the calls whose cost nobody knows, ``lost`` among them.

    ``doubtful`` is what those may have cost beside ``least``, as far as a vendor was reached.
    """

    least: Decimal = NOTHING
    unknown: int = 0
    lost: int = 0
    under_way: Decimal = NOTHING
    doubtful: Decimal = NOTHING
    calls: int = 0

    def __str__(self) -> str:
        return f"{'≥ ' if self.unknown else ''}{dollars(self.least)}"

    @property
    def so_far(self) -> Decimal:
        """What counts against a budget."""
        return self.least + self.under_way + self.doubtful


def dollars(amount: Decimal) -> str:
    """Write an amount to the cent, and a smaller one so that it does not look like nothing."""
    digits = 2 if amount == 0 or amount >= Decimal("0.01") else 6
    return f"${amount:,.{digits}f}"


def spent(calls: QuerySet[ModelCall], at: datetime | None = None) -> Spent:
    """Add up some calls, in one query."""
    return Spent(**calls.order_by().aggregate(**sums(at)))


def sums(at: datetime | None = None) -> dict[str, object]:
    """Return the fields of a `Spent` as aggregates over calls."""
    open_call = Q(result=None)
    is_lost = open_call & Q(lease_expires_at__lte=at or timezone.now())
    is_unknown = is_lost | (~open_call & Q(result__cost_usd=None))
    at_most = Greatest(F("reserved_usd") - Coalesce("result__least_usd", NOTHING), NOTHING)
    was_reached = is_lost | ~Q(result__outcome=Outcome.UNAVAILABLE)
    return {
        "least": Sum("result__least_usd", default=NOTHING),
        "unknown": Count("pk", filter=is_unknown),
        "lost": Count("pk", filter=is_lost),
        "under_way": Sum("reserved_usd", filter=open_call & ~is_lost, default=NOTHING),
        "doubtful": Sum(at_most, filter=is_unknown & was_reached, default=NOTHING),
        "calls": Count("pk"),
    }


def on_match(match_id: int) -> Spent:
    return spent(ModelCall.objects.filter(bundle__match=match_id))


def today(at: datetime | None = None) -> Spent:
    at = at or timezone.now()
    start = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return spent(
        ModelCall.objects.filter(created_at__gte=start, created_at__lt=start + timedelta(days=1)),
        at,
    )


def of_asking(seats: Collection[str], matches: int) -> Decimal | None:
    """Say what asking some seats of the panel about so many matches would cost, going by the mean
    of what each was paid for an answer so far. None where that is not known of one of them."""
    paid = ModelCall.objects.filter(judge=Judge.STRATEGY, seat__in=seats)
    means = dict(
        paid.filter(result__cost_usd__isnull=False)
        .order_by()
        .values_list("seat")
        .annotate(mean=Avg("result__cost_usd"))
    )
    if not seats or means.keys() < set(seats):
        return None
    return sum(means.values(), NOTHING) * matches


def why_not(match_id: int, more: Decimal | None) -> str:
    """Say why no ``more`` may be spent on a match now; empty where it may. None is unknown."""
    return over_day(today(), more) or over_match(on_match(match_id), more)


def over_day(spent: Spent, more: Decimal | None = None) -> str:
    if not _is_over(spent, more, settings.BUDGET_DAY_USD):
        return ""
    return (
        f"The budget of the day is used up. Spent {spent} of {dollars(settings.BUDGET_DAY_USD)}"
        f"{_and_more(spent, more)}. It goes on after midnight UTC, or when the budget is raised."
    )


def over_match(spent: Spent, more: Decimal | None = None) -> str:
    if not _is_over(spent, more, settings.BUDGET_MATCH_USD):
        return ""
    return (
        f"The budget of the match is used up. Spent {spent} of {dollars(settings.BUDGET_MATCH_USD)}"
        f"{_and_more(spent, more)}. It goes on when the budget is raised."
    )


def _is_over(spent: Spent, more: Decimal | None, budget: Decimal) -> bool:
    return spent.so_far >= budget or spent.so_far + (more or NOTHING) > budget


def _and_more(spent: Spent, more: Decimal | None) -> str:
    told = f", perhaps {dollars(spent.doubtful)} more" if spent.doubtful else ""
    told += f", {dollars(spent.under_way)} under way" if spent.under_way else ""
    return f"{told}, and this call may cost {dollars(more)}" if more else told


def lock() -> None:
    """Let nobody else begin a call until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
