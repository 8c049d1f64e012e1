from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone

from adjudication import actions
from adjudication.models import Case, Claim, Draft
from adjudication.refusals import (
    AlreadyClaimed,
    CaseClosed,
    ClaimLapsed,
    Declined,
    Frozen,
)
from adjudication.urgency import stretch
from bouts.actions import people
from bouts.models import AuditEntry, Challenge, User
from tests.adjudication.conftest import lapse
from tests.adjudication.making import case_of, make_match
from tests.factories import make_user


def state_of(case: Case) -> str:
    case.refresh_from_db()
    return case.state_at(timezone.now())


def test_a_claim_holds_the_case_for_fifteen_minutes(case: Case, reviewer: User) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    assert claim.expires_at - claim.claimed_at == timedelta(minutes=15)
    assert state_of(case) == Case.State.CLAIMED


def test_a_held_case_is_refused_to_others(case: Case, reviewer: User, second: User) -> None:
    actions.claim_case(case.pk, by=reviewer)
    with pytest.raises(AlreadyClaimed):
        actions.claim_case(case.pk, by=second)


def test_claiming_what_one_holds_returns_the_same_claim(case: Case, reviewer: User) -> None:
    assert actions.claim_case(case.pk, by=reviewer) == actions.claim_case(case.pk, by=reviewer)


def test_a_heartbeat_puts_the_end_of_the_lease_off(case: Case, reviewer: User) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    early = timezone.now() + timedelta(seconds=30)
    Claim.objects.filter(pk=claim.pk).update(expires_at=early)
    assert actions.renew(case.pk, by=reviewer).expires_at > early
    case.refresh_from_db()
    assert case.held_until > early


def test_a_lapsed_lease_frees_the_case_by_itself(case: Case, reviewer: User, second: User) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    lapse(claim)
    assert state_of(case) == Case.State.OPEN
    assert actions.claim_next(by=second).case == case
    claim.refresh_from_db()
    assert claim.ended_how == Claim.End.LAPSED


def test_a_heartbeat_does_not_revive_a_lapsed_lease(case: Case, reviewer: User) -> None:
    lapse(actions.claim_case(case.pk, by=reviewer))
    with pytest.raises(ClaimLapsed):
        actions.renew(case.pk, by=reviewer)


def test_whoever_let_a_claim_lapse_may_claim_again(case: Case, reviewer: User) -> None:
    lapse(actions.claim_case(case.pk, by=reviewer))
    actions.claim_case(case.pk, by=reviewer)
    assert state_of(case) == Case.State.CLAIMED


def test_releasing_frees_the_case_and_may_be_done_twice(
    case: Case, reviewer: User, second: User
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    actions.release(case.pk, by=reviewer)
    actions.release(case.pk, by=reviewer)
    assert state_of(case) == Case.State.OPEN
    assert actions.claim_case(case.pk, by=second).reviewer == second


def test_declining_frees_the_slot_and_the_case_is_not_offered_again(
    case: Case, reviewer: User, second: User
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    actions.decline(case.pk, by=reviewer, reason="I wrote that library.")
    assert state_of(case) == Case.State.OPEN
    assert actions.claim_next(by=reviewer) is None
    with pytest.raises(Declined):
        actions.claim_case(case.pk, by=reviewer)
    assert actions.claim_next(by=second).case == case


def test_a_lead_takes_a_case_over_with_an_entry_in_the_log(
    case: Case, reviewer: User, lead: User
) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    actions.take_over(case.pk, claim.pk, by=lead, reason="Asleep since noon.")
    with pytest.raises(ClaimLapsed):
        actions.renew(case.pk, by=reviewer)
    entry = AuditEntry.objects.get(action="take_over")
    assert (entry.actor, entry.subject, entry.reason) == (
        lead,
        f"case:{case.pk}",
        "Asleep since noon.",
    )
    assert entry.before == {"holder": "rosa"}


def test_only_leads_take_cases_over(case: Case, reviewer: User, second: User) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    with pytest.raises(PermissionDenied):
        actions.take_over(case.pk, claim.pk, by=second, reason="Mine.")


@pytest.mark.parametrize("role", [User.Role.OPS, User.Role.ADMIN])
def test_ops_and_admins_only_read(case: Case, role: str) -> None:
    person = make_user("olga", role)
    assert Case.objects.visible_to(person).count() == 1
    with pytest.raises(PermissionDenied):
        actions.claim_case(case.pk, by=person)
    with pytest.raises(PermissionDenied):
        actions.claim_next(by=person)


def test_a_competitor_knows_of_no_case(case: Case, rival: User, competitor: User) -> None:
    assert not Case.objects.visible_to(rival).exists()
    assert not Case.objects.visible_to(competitor).exists()


def test_a_member_of_the_team_is_never_offered_its_case(case: Case) -> None:
    member = make_user("nils", User.Role.REVIEWER, teams=("northbank",))
    assert actions.claim_next(by=member) is None
    with pytest.raises(Case.DoesNotExist):
        actions.claim_case(case.pk, by=member)
    assert not Case.objects.visible_to(member).exists()


@pytest.mark.parametrize("subject", ["team", "match"])
def test_a_declared_conflict_ends_the_claim_and_hides_the_case(
    case: Case, reviewer: User, subject: str
) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    thing = case.match if subject == "match" else case.match.agent.team
    actions.declare_conflict(by=reviewer, **{subject: thing}, note="My sister works there.")
    claim.refresh_from_db()
    assert claim.ended_how == Claim.End.CONFLICT
    assert state_of(case) == Case.State.OPEN
    assert not Case.objects.visible_to(reviewer).exists()
    with pytest.raises(Case.DoesNotExist):
        actions.renew(case.pk, by=reviewer)


def test_a_conflict_with_another_team_hides_nothing(case: Case, reviewer: User) -> None:
    other = make_match("m-2", team="halyard", agent="Gull")
    actions.declare_conflict(by=reviewer, team=other.agent.team)
    assert list(Case.objects.visible_to(reviewer)) == [case]


def test_a_frozen_challenge_offers_no_case(case: Case, reviewer: User) -> None:
    Challenge.objects.update(state=Challenge.State.FROZEN)
    assert actions.claim_next(by=reviewer) is None
    with pytest.raises(Frozen):
        actions.claim_case(case.pk, by=reviewer)


def test_a_void_case_cannot_be_claimed(case: Case, reviewer: User) -> None:
    Case.objects.update(state=Case.State.VOID, closed_at=timezone.now())
    with pytest.raises(CaseClosed):
        actions.claim_case(case.pk, by=reviewer)


def test_high_stakes_have_two_slots_and_nobody_fills_both(
    reviewer: User, second: User, third: User
) -> None:
    case = case_of(make_match(stakes="high"))
    held = actions.claim_case(case.pk, by=reviewer)
    assert actions.claim_next(by=reviewer) == held
    assert actions.claim_next(by=second).slot == 2
    with pytest.raises(AlreadyClaimed):
        actions.claim_case(case.pk, by=third)
    assert actions.claim_next(by=third) is None


def test_a_slot_that_lapses_is_free_although_the_other_is_held(
    reviewer: User, second: User, third: User
) -> None:
    case = case_of(make_match(stakes="high"))
    first = actions.claim_case(case.pk, by=reviewer)
    actions.claim_case(case.pk, by=second)
    past = timezone.now() - timedelta(seconds=1)
    Claim.objects.filter(pk=first.pk).update(expires_at=past)
    Case.objects.update(full_until=past)
    assert actions.claim_next(by=third).slot == 1


def test_the_database_itself_refuses_a_second_claim_on_a_slot(
    case: Case, reviewer: User, second: User
) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    with pytest.raises(IntegrityError), transaction.atomic():
        case.claims.create(slot=1, reviewer=second, expires_at=claim.expires_at)


def test_a_draft_outlives_its_claim(case: Case, reviewer: User) -> None:
    lapse(actions.claim_case(case.pk, by=reviewer))
    actions.save_draft(case.pk, {"reason": "The lock came late."}, by=reviewer)
    actions.save_draft(case.pk, {"reason": "The lock came late, but"}, by=reviewer)
    assert Draft.objects.get().fields == {"reason": "The lock came late, but"}


# Order


def test_the_next_case_is_the_most_urgent(reviewer: User, settings) -> None:
    settings.CASES_HELD_AT_ONCE = 10
    now = timezone.now()

    def aged(slug: str, hours: int, **options: object) -> Case:
        case = Case.objects.filter(match=make_match(slug, **options)).get()
        Case.objects.filter(pk=case.pk).update(opened_at=now - timedelta(hours=hours))
        return case

    chained = {"anthropic": 60, "openai": 70, "google": 80}
    advisory_new = aged("m-1", 2, votes=chained)
    blocking_new = aged("m-2", 1)
    high_new = aged("m-3", 1, challenge="live-migration", stakes="high")
    blocking_late = aged("m-4", 25)
    advisory_late = aged("m-5", 30, votes=chained)
    advisory_over = aged("m-6", 49, votes=chained)
    expected = [
        advisory_over,
        blocking_late,
        advisory_late,
        high_new,
        blocking_new,
        advisory_new,
    ]
    assert stretch(Case.objects.all(), reviewer, now, size=50).cases == expected
    assert [actions.claim_next(by=reviewer).case for _ in expected] == expected
    assert actions.claim_next(by=reviewer) is None


def test_nobody_piles_up_cases(case: Case, reviewer: User) -> None:
    make_match("m-2")
    first = actions.claim_next(by=reviewer)
    assert actions.claim_next(by=reviewer) == first
    assert Claim.objects.live().count() == 1
    actions.release(first.case_id, by=reviewer)
    assert actions.claim_next(by=reviewer) is not None


def test_whoever_was_once_in_the_team_is_never_offered_its_case(case: Case, operator: User) -> None:
    person = make_user("nils", User.Role.REVIEWER, teams=("northbank",))
    people.remove_member(case.team, person, by=operator)
    assert not person.teams.exists()
    assert not Case.objects.visible_to(person).exists()
    assert actions.claim_next(by=person) is None
    with pytest.raises(Case.DoesNotExist):
        actions.claim_case(case.pk, by=person)
