"""Counts: the six states sum to the total, and each agrees with its list."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudication.models import Case, Claim
from bouts.models import Match, User
from tests.adjudication.making import AGREEING, make_match

NOW = timezone.now()
LEASES = st.none() | st.integers(-30, 30).map(lambda minutes: NOW + timedelta(minutes=minutes))
STORED = [state for state in Case.State if state != Case.State.CLAIMED]


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[str, object, object]]:
    return draw(st.lists(st.tuples(st.sampled_from(STORED), LEASES, st.integers(0, 72))))


@pytest.fixture
def match(db: None) -> Match:
    return make_match(votes=AGREEING)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows())
def test_the_counts_of_the_six_states_sum_to_the_total_and_agree_with_their_lists(
    admin: User, match: Match, made: list[tuple[str, object, object]]
) -> None:
    Case.objects.all().delete()
    Case.objects.bulk_create(
        Case(
            match=match,
            challenge=match.challenge,
            team=match.agent.team,
            bundle=match.bundles.get(),
            scorecard=match.scorecards.get(),
            reason="integrity_review",
            blocking=bool(age % 2),
            finding_key=str(number),
            evidence_digest=str(number),
            stakes="standard",
            state=state,
            held_until=lease,
            opened_at=NOW - timedelta(hours=age),
            closed_at=NOW if state in Case.SETTLED else None,
        )
        for number, (state, lease, age) in enumerate(made)
    )
    seen = Case.objects.visible_to(admin)
    counts = seen.counts(NOW)
    assert list(counts) == Case.State.values
    assert sum(counts.values()) == len(made) == seen.in_order(NOW).count()
    for state, count in counts.items():
        listed = list(seen.in_state(state, NOW))
        assert len(listed) == count
        assert {case.state_at(NOW) for case in listed} <= {state}
    tally = seen.tally(admin, NOW)
    assert tally["blocking_cases"] + tally["advisory_cases"] == seen.unsettled().count()


def test_who_is_yours_is_counted_by_live_claims(match: Match, reviewer: User) -> None:
    case = Case.objects.create(
        match=match,
        challenge=match.challenge,
        team=match.agent.team,
        bundle=match.bundles.get(),
        scorecard=match.scorecards.get(),
        reason="integrity_review",
        blocking=False,
        finding_key="x",
        evidence_digest="x",
        stakes="standard",
    )
    claim = Claim.objects.create(
        case=case, slot=1, reviewer=reviewer, expires_at=NOW + timedelta(minutes=5)
    )
    assert Case.objects.all().tally(reviewer, NOW)["my_cases"] == 1
    Claim.objects.filter(pk=claim.pk).update(expires_at=NOW - timedelta(minutes=5))
    assert Case.objects.all().tally(reviewer, NOW)["my_cases"] == 0
