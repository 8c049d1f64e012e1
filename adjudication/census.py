"""How many cases there are: every number that the queue shows comes from one count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import BooleanField, Count, ExpressionWrapper, Q

from adjudication.models import Case, CaseQuerySet
from adjudication.queue import UNSETTLED


@dataclass(frozen=True, slots=True)
class Census:
    """Cases by state, and what is urgent among the unsettled ones."""

    by_state: dict[str, int]  # all six states
    over_limit: int
    past_target: int  # and not over the limit
    blocking: int
    advisory: int

    @property
    def total(self) -> int:
        return sum(self.by_state.values())

    @property
    def unsettled(self) -> int:
        return self.blocking + self.advisory


def census(cases: CaseQuerySet, at: datetime) -> Census:
    """Count cases as they are at a moment, in one query."""
    groups = (
        cases.order_by()
        .annotate(
            is_held=_flag(Q(held_until__isnull=False, held_until__gt=at)),
            is_late=_flag(Q(opened_at__lt=at - settings.CASE_TARGET)),
            is_over=_flag(Q(opened_at__lt=at - settings.CASE_LIMIT)),
        )
        .values_list("state", "is_held", "blocking", "is_late", "is_over")
        .annotate(count=Count("*"))
    )
    return _summed(groups)


def count_of(counted: Census, state: str) -> int:
    """Return how long a list is, under the state that was chosen for it; all of them with none."""
    if state == UNSETTLED:
        return counted.unsettled
    return counted.by_state[state] if state else counted.total


def _flag(condition: Q) -> ExpressionWrapper:
    return ExpressionWrapper(condition, output_field=BooleanField())


def _summed(groups: Iterable[tuple[str, bool, bool, bool, bool, int]]) -> Census:
    by_state = dict.fromkeys(Case.State.values, 0)
    over_limit = past_target = blocking = advisory = 0
    for state, is_held, is_blocking, is_late, is_over, count in groups:
        is_claimed = is_held and state in Case.WANTING
        by_state[Case.State.CLAIMED if is_claimed else state] += count
        if state in Case.SETTLED:
            continue
        over_limit += count * is_over
        past_target += count * (is_late and not is_over)
        blocking += count * is_blocking
        advisory += count * (not is_blocking)
    return Census(by_state, over_limit, past_target, blocking, advisory)
