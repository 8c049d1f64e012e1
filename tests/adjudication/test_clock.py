"""The clocks of the product are those of the rule book (SCORING.md, 8)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from adjudication import figures
from adjudication.census import census
from adjudication.models import Case
from adjudication.queue import clock_of, narrowed
from adjudication.urgency import RUNGS, on_rung
from bouts.models import User
from judging.scoring.policy import CURRENT


def test_leases_targets_and_limits_are_those_that_the_policy_states() -> None:
    rules = CURRENT.cases
    stated = (rules.lease_minutes, rules.target_hours, rules.limit_hours, rules.review_window_days)
    assert stated == (15, 24, 48, 7)
    assert timedelta(minutes=15) == settings.CLAIM_LEASE
    assert timedelta(hours=24) == settings.CASE_TARGET
    assert timedelta(hours=48) == settings.CASE_LIMIT


MOMENT = timedelta(microseconds=1)
IN_TIME, LATE, OVER = ("", 0, 0), ("is-late", 1, 0), ("is-over", 0, 1)


@pytest.mark.parametrize(
    ("age", "expected", "first_rung"),
    [
        (timedelta(hours=24), IN_TIME, 9),
        (timedelta(hours=24) + MOMENT, LATE, 5),
        (timedelta(hours=48), LATE, 5),
        (timedelta(hours=48) + MOMENT, OVER, 1),
    ],
)
def test_at_the_hour_itself_a_case_is_still_in_time_wherever_that_is_told(
    case: Case,
    lead: User,
    age: timedelta,
    expected: tuple[str, int, int],
    first_rung: int,
) -> None:
    at = timezone.now()
    case.opened_at = at - age
    case.save()
    cases = Case.objects.visible_to(lead)
    filters = ({"overdue": "target"}, {"overdue": "limit"})
    listed = [narrowed(cases, asked, lead, at).count() for asked in filters]
    counted, told = census(lead, at), figures.overdue(figures.Scope(lead, figures.Asked(), at))
    assert (clock_of(case, at).look, *listed) == expected
    assert (counted.past_target, counted.over_limit) == expected[1:]
    assert (told.past_target, told.past_limit) == expected[1:]
    rungs = [rung for rung in RUNGS if on_rung(cases, rung, at).exists()]
    assert rungs == [first_rung + (not case.is_high_stakes)]
    # Decided at this very moment, it was within its target or its limit if it is not past it.
    case.state, case.closed_at = Case.State.DECIDED, at
    case.save()
    took = figures.times(figures.Scope(lead, figures.Asked(), at))
    assert took.within_target == (expected == IN_TIME)
    assert took.within_limit == (expected != OVER)
