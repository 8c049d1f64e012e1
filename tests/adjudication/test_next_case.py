"""The statement behind "next case": it finds what the list shows first, and writes what an action would."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from adjudication import actions
from adjudication.models import Case, Claim
from adjudication.queue import rows_of
from adjudication.urgency import everything
from bouts.models import AuditEntry, Match, User
from tests.adjudication.conftest import lapse
from tests.adjudication.making import AGREEING, case_of, copies_of, make_match

LEASES = st.none() | st.sampled_from([-30, 30]).map(lambda minutes: timedelta(minutes=minutes))


@pytest.fixture
def match(db: None) -> Match:
    return make_match(votes=AGREEING)


@hypothesis_settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([state for state in Case.State if state != Case.State.CLAIMED]),
            LEASES,
            st.integers(0, 72),
            st.sampled_from(["standard", "high"]),
        ),
        max_size=12,
    )
)
def test_the_next_case_is_the_first_of_the_list_that_may_be_claimed(
    reviewer: User, match: Match, made: list[tuple[str, timedelta | None, int, str]]
) -> None:
    Claim.objects.all().delete()
    Case.objects.all().delete()
    at = timezone.now()
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
            stakes=stakes,
            state=state,
            held_until=lease and at + lease,
            full_until=lease and at + lease,
            opened_at=at - timedelta(hours=age),
            closed_at=at if state in Case.SETTLED else None,
        )
        for number, (state, lease, age, stakes) in enumerate(made)
    )
    listed = (case for part in everything(Case.objects.all(), reviewer, at, 50) for case in part)
    first = next((row.case for row in rows_of(listed, reviewer, at) if row.may_claim), None)
    claim = actions.claim_next(by=reviewer)
    assert (claim and claim.case) == first


def test_it_writes_what_a_claim_by_address_writes(
    case: Case, reviewer: User, second: User, settings: Settings
) -> None:
    other = case_of(make_match("m-2", agent="Gull"))
    by_address = actions.claim_case(other.pk, by=second)
    by_urgency = actions.claim_next(by=reviewer)
    assert by_urgency == Claim.objects.get(case=case)
    written = []
    for claim in (by_address, by_urgency):
        stored = Claim.objects.select_related("case").get(pk=claim.pk)
        entry = AuditEntry.objects.get(subject=f"case:{claim.case_id}", action__startswith="claim_")
        assert (entry.actor, entry.after) == (claim.reviewer, {"holder": claim.reviewer.username})
        assert (entry.at >= claim.claimed_at, entry.before, entry.reason) == (True, None, "")
        held = stored.case
        assert held.held_until == held.full_until == claim.expires_at == stored.expires_at
        assert stored.expires_at - stored.claimed_at == settings.CLAIM_LEASE
        written.append((claim.slot, stored.slot, stored.ended_at, stored.ended_how, held.version))
    assert written[0] == written[1]


def test_a_claim_takes_as_many_queries_whatever_waits(case: Case, reviewer: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            claim = actions.claim_next(by=reviewer)
        assert claim is not None
        actions.release(claim.case_id, by=reviewer)
        return len(captured)

    few = queries()
    copies_of(case, 300)
    # The lock on the person, and one statement for all the rest; both in one round trip.
    assert queries() == few == 2


def test_a_lapsed_claim_that_nobody_ended_does_not_stand_in_the_way(
    case: Case, reviewer: User, second: User, third: User
) -> None:
    lapsed = actions.claim_case(case.pk, by=reviewer)
    lapse(lapsed)
    # Their no is noted on the case while the lapsed claim is still there.
    actions.decline(case.pk, by=second)
    assert actions.claim_next(by=third).case == case
    lapsed.refresh_from_db()
    assert lapsed.ended_how == Claim.End.LAPSED


def test_whoever_has_joined_the_team_since_gets_another_case(case: Case, reviewer: User) -> None:
    other = case_of(make_match("m-2", team="halyard", agent="Gull"))
    assert actions.claim_next(by=reviewer).case == case
    reviewer.teams.add(case.team)
    for _ in range(2):
        assert actions.claim_next(by=reviewer).case == other
