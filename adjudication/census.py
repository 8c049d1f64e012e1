"""How many cases there are: every number that the queue shows comes from one count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import BigIntegerField, BooleanField, Count, ExpressionWrapper, Q, Sum, Value

from adjudication.models import Case, Conflict, Tally
from adjudication.queue import UNSETTLED, narrowed
from bouts.models import FormerMembership, Membership, User


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


def census(user: User, at: datetime, asked: Mapping[str, Any] = {}) -> Census:
    """Count the cases that a person may know of as they are at a moment.

    `asked` are the filters of the queue; a state among them narrows nothing here.
    """
    teams, matches = in_conflict_with(user)
    cases = Case.objects.exclude(team__in=teams).exclude(match__in=matches)
    if not user.is_official:
        cases = cases.none()
    groups = (
        narrowed(cases.unsettled(), asked, user, at)
        .order_by()
        .annotate(
            is_held=_flag(Q(held_until__isnull=False, held_until__gt=at)),
            is_late=_flag(Q(opened_at__lt=at - settings.CASE_TARGET)),
            is_over=_flag(Q(opened_at__lt=at - settings.CASE_LIMIT)),
        )
        .values_list("state", "is_held", "blocking", "is_late", "is_over")
        .annotate(count=Count("*"))
    )
    counted = _summed(groups)
    # What is settled is late for nothing, and nobody holds it.
    if user.is_official and not asked.get("overdue") and asked.get("holder") in HELD_BY_NOBODY:
        counted.by_state.update(_settled(teams, matches, asked, user, at))
    return counted


HELD_BY_NOBODY = (None, "", "nobody")


def in_conflict_with(user: User) -> tuple[list[int], list[int]]:
    """Return the ids of the teams and of the matches whose cases a person may not know of.

    What `CaseQuerySet.visible_to` asks of each case, asked of the person once.
    """
    found = (
        Conflict.objects.filter(reviewer=user)
        .order_by()
        .values_list("team", "match")
        .union(
            *(
                model.objects.filter(user=user)
                .order_by()
                .values_list("team", Value(None, BigIntegerField()))
                for model in (Membership, FormerMembership)
            )
        )
    )
    pairs = list(found)
    return (
        [team for team, _ in pairs if team is not None],
        [match for _, match in pairs if match is not None],
    )


def _settled(
    teams: list[int], matches: list[int], asked: Mapping[str, Any], user: User, at: datetime
) -> dict[str, int]:
    """Return how many are settled in either way, from what was counted when they were."""
    numbers = dict.fromkeys(Case.SETTLED, 0)
    alike = {name: value for name, value in asked.items() if name in ALIKE}
    tallies = narrowed(Tally.objects.exclude(team__in=teams), alike, user, at)
    for state, number in tallies.order_by().values_list("state").annotate(n=Sum("number")):
        numbers[state] += number
    if matches:
        hidden = Case.objects.exclude(team__in=teams).filter(match__in=matches)
        hidden = narrowed(hidden.filter(closed_at__isnull=False), alike, user, at)
        for state, number in hidden.order_by().values_list("state").annotate(n=Count("*")):
            numbers[state] -= number
    return numbers


ALIKE = ("reason", "challenge", "stakes", "kind")  # filters that tallies know


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
        over_limit += count * is_over
        past_target += count * (is_late and not is_over)
        blocking += count * is_blocking
        advisory += count * (not is_blocking)
    return Census(by_state, over_limit, past_target, blocking, advisory)
