from __future__ import annotations

import pytest
from django.utils import timezone

from adjudication import actions
from adjudication.blindness import WITHHELD, blindfold, scrubber_of, shuffled
from adjudication.models import Case
from bouts.disclosure import Audience, audience_of
from bouts.models import User
from tests.adjudication.making import AGREEING, GOOD_LEVELS, case_of, finding, make_match


def test_a_match_with_an_open_case_is_dark_until_the_own_score_is_committed(
    case: Case, reviewer: User
) -> None:
    assert audience_of(reviewer, case.match) is Audience.BLIND
    actions.claim_case(case.pk, by=reviewer)
    assert audience_of(reviewer, case.match) is Audience.BLIND
    actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    assert audience_of(reviewer, case.match) is Audience.STAFF


def test_a_match_without_a_case_is_in_the_light(reviewer: User) -> None:
    assert audience_of(reviewer, make_match(votes=AGREEING)) is Audience.STAFF


def test_a_second_open_question_keeps_the_match_dark(reviewer: User) -> None:
    match = make_match(findings=[finding()])
    panel, review = case_of(match), case_of(match, "integrity_review")
    actions.claim_case(panel.pk, by=reviewer)
    actions.commit_score(panel.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    assert blindfold(reviewer, [match.pk]) == {match.pk}
    actions.claim_case(review.pk, by=reviewer)
    actions.commit_score(review.pk, by=reviewer, opinion="confirm", reason="So.")
    assert blindfold(reviewer, [match.pk]) == set()


def test_a_decided_match_is_in_the_light_for_all_reviewers(
    case: Case, reviewer: User, second: User
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    assert blindfold(second, [case.match_id]) == {case.match_id}
    decision = actions.Decision("average", "So say all three.")
    actions.rule(case.pk, decision, by=reviewer, version=case.version)
    assert blindfold(second, [case.match_id]) == set()


def test_whoever_declined_may_look_and_whoever_is_in_conflict_may_not(
    case: Case, reviewer: User, second: User
) -> None:
    actions.decline(case.pk, by=reviewer)
    actions.declare_conflict(by=second, match=case.match)
    assert blindfold(reviewer, [case.match_id]) == set()
    assert blindfold(second, [case.match_id]) == {case.match_id}


def test_a_lead_comes_as_blind_as_everybody(case: Case, lead: User) -> None:
    assert blindfold(lead, [case.match_id]) == {case.match_id}


def test_a_panel_that_is_asked_again_keeps_the_match_dark(case: Case, reviewer: User) -> None:
    Case.objects.update(state=Case.State.AWAITING_PANEL)
    assert blindfold(reviewer, [case.match_id]) == {case.match_id}
    Case.objects.update(state=Case.State.VOID, closed_at=timezone.now())
    assert blindfold(reviewer, [case.match_id]) == set()


def test_seats_stand_in_an_order_of_each_reviewers_own(case: Case) -> None:
    seats = ["anthropic", "google", "openai"]
    orders = set()
    for key in range(1, 40):
        person = User(pk=key)
        assert shuffled(seats, case, person) == shuffled(seats, case, person)
        orders.add(tuple(shuffled(seats, case, person)))
    assert len(orders) == 6


@pytest.mark.parametrize(
    "text",
    [
        "Heron went first",
        "as NORTHBANK would",
        "quill-4-large said",
        "Its trellis scaffold",
        "As Claude, I rate",
        "openai/gpt-4o agrees",
        "gpt-4o-2024-11-20",
        "GPT-4o agrees",
        "see m-1.",
        "passes test_quarrel",
        "hidden.test_vault::test_quarrel failed",
    ],
)
def test_nothing_that_a_judge_may_not_know_is_left_in_a_text(case: Case, text: str) -> None:
    scrubbed = scrubber_of(case.bundle, quotes_hidden_tests=False)(text)
    assert WITHHELD in scrubbed
    for secret in ("heron", "northbank", "quill", "trellis", "claude", "gpt", "quarrel", "m-1"):
        assert secret not in scrubbed.lower()


@pytest.mark.parametrize("text", ["herons fly", "googled it", "the keys, then the store"])
def test_words_that_only_look_alike_stand(case: Case, text: str) -> None:
    assert scrubber_of(case.bundle, quotes_hidden_tests=False)(text) == text


def test_the_evidence_of_a_finding_may_quote_a_hidden_test(case: Case) -> None:
    scrub = scrubber_of(case.bundle, quotes_hidden_tests=True)
    assert scrub("Heron read test_quarrel") == f"{WITHHELD} read test_quarrel"
