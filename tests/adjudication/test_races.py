"""Real threads on a real PostgreSQL: each has a connection of its own."""

from __future__ import annotations

from functools import partial

import pytest

from adjudication import actions
from adjudication.models import Case, Claim, Conflict, Ruling
from adjudication.refusals import Refused
from bouts.models import User
from tests.adjudication.making import GOOD_LEVELS, case_of, copies_of, make_match
from tests.factories import make_user
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def make_cases(count: int, **options: object) -> list[Case]:
    """Make copies of a real case: as many questions about one match."""
    case = case_of(make_match(**options))
    return [case, *copies_of(case, count - 1)]


def make_reviewers(count: int) -> list[User]:
    return [make_user(f"reviewer-{number}", User.Role.REVIEWER) for number in range(count)]


def test_twenty_who_ask_for_the_next_of_ten_cases_get_ten_and_ten_times_none() -> None:
    cases = make_cases(10)
    people = make_reviewers(20)
    answers = at_once([lambda p=person: actions.claim_next(by=p) for person in people])
    claims = [answer for answer in answers if isinstance(answer, Claim)]
    assert sorted(claim.case_id for claim in claims) == sorted(case.pk for case in cases)
    assert [answer for answer in answers if not isinstance(answer, Claim)] == [None] * 10


def test_twenty_who_want_the_two_slots_of_one_case_get_two() -> None:
    (case,) = make_cases(1, stakes="high")
    answers = at_once(
        [lambda p=person: actions.claim_case(case.pk, by=p) for person in make_reviewers(20)]
    )
    assert sum(isinstance(answer, Claim) for answer in answers) == 2
    assert all(isinstance(answer, Claim | Refused) for answer in answers)
    assert sorted(Claim.objects.values_list("slot", flat=True)) == [1, 2]


def test_one_person_in_ten_tabs_fills_one_slot() -> None:
    (case,) = make_cases(1, stakes="high")
    (person,) = make_reviewers(1)
    works = [lambda: actions.claim_case(case.pk, by=person)] * 5
    works += [lambda: actions.claim_next(by=person)] * 5
    answers = at_once(works)
    assert Claim.objects.count() == 1
    assert not [answer for answer in answers if isinstance(answer, Exception)]


def test_a_ruling_sent_ten_times_is_one_ruling() -> None:
    (case,) = make_cases(1)
    (person,) = make_reviewers(1)
    actions.claim_case(case.pk, by=person)
    actions.commit_score(case.pk, by=person, levels=GOOD_LEVELS, reason="So.")
    decision = actions.Decision("average", "All three say the same.")
    answers = at_once(
        [lambda: actions.rule(case.pk, decision, by=person, version=case.version)] * 10
    )
    assert sum(isinstance(answer, Ruling) for answer in answers) == 1
    assert sum(isinstance(answer, Refused) for answer in answers) == 9
    assert Ruling.objects.count() == 1


def test_a_take_over_and_a_ruling_at_once_leave_one_of_them() -> None:
    (case,) = make_cases(1)
    (person,) = make_reviewers(1)
    lead = make_user("lena", User.Role.LEAD)
    claim = actions.claim_case(case.pk, by=person)
    actions.commit_score(case.pk, by=person, levels=GOOD_LEVELS, reason="So.")
    decision = actions.Decision("average", "All three say the same.")
    answers = at_once(
        [
            lambda: actions.rule(case.pk, decision, by=person, version=case.version),
            lambda: actions.take_over(case.pk, claim.pk, by=lead, reason="Asleep."),
        ]
    )
    assert sum(isinstance(answer, Refused) for answer in answers) == 1
    assert sum(isinstance(answer, Claim | Ruling) for answer in answers) == 1


@pytest.mark.parametrize("is_by_address", [True, False])
def test_a_claim_and_a_conflict_at_once_leave_no_claim(*, is_by_address: bool) -> None:
    for number in range(5):
        (case,) = make_cases(1, slug=f"m-{number}", agent=f"Heron {number}")
        person = make_user(f"r{number}", User.Role.REVIEWER)
        claim = (
            partial(actions.claim_case, case.pk, by=person)
            if is_by_address
            else partial(actions.claim_next, by=person)
        )
        conflict = partial(actions.declare_conflict, by=person, match=case.match)
        answers = at_once([claim, conflict])
        assert isinstance(answers[1], Conflict)
        assert answers[0] is None or isinstance(answers[0], Claim | Case.DoesNotExist)
        assert not Claim.objects.live().filter(reviewer=person, case=case).exists()
