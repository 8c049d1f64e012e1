from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from adjudication import actions
from adjudication.actions import Decision
from adjudication.actions.rulings import score_by
from adjudication.models import BlindScore, Case, Claim, Draft, Ruling
from adjudication.panels import Panel, panel_of
from adjudication.refusals import (
    AlreadyCommitted,
    AlreadyCorrected,
    AlreadyRuled,
    BadDecision,
    CaseChanged,
    CaseClosed,
    ClaimLapsed,
    Frozen,
    NotBlindYet,
    Superseded,
)
from bouts.models import AuditEntry, Bundle, Challenge, User
from judging.actions import preview
from judging.models import Finding, Scorecard, Verdict
from judging.scoring.panel import settle
from judging.scoring.policy import CURRENT
from tests.adjudication.conftest import lapse
from tests.adjudication.making import AGREEING, GOOD_LEVELS, case_of, finding, make_match, upload

pytestmark = pytest.mark.usefixtures("tallies_hold")

BECAUSE = "The three votes together say it fairly."


def committed(case: Case, by: User, **levels: int) -> BlindScore:
    """Claim a case and commit an own score or opinion."""
    actions.claim_case(case.pk, by=by)
    if case.is_on_finding:
        return actions.commit_score(case.pk, by=by, opinion="dismiss", reason="Honest work.")
    return actions.commit_score(
        case.pk, by=by, levels={**GOOD_LEVELS, **levels}, reason="A clean second idea."
    )


def ruled(case: Case, by: User, kind: str, **options: Any) -> Ruling:
    """Go all the way from the claim to the ruling."""
    committed(case, by)
    case.refresh_from_db()
    decision = Decision(kind=kind, public_reason=BECAUSE, **options)
    return actions.rule(case.pk, decision, by=by, version=case.version)


def live(case: Case) -> Scorecard:
    return Scorecard.objects.live().get(match=case.match_id)


# The blind score


def test_an_own_score_is_the_exact_mean_of_seven_levels(case: Case, reviewer: User) -> None:
    blind = committed(case, reviewer, search=3)
    blind.refresh_from_db()
    assert blind.score == Fraction(500, 7)


def test_a_score_is_committed_only_on_a_live_claim(case: Case, reviewer: User) -> None:
    with pytest.raises(ClaimLapsed):
        actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    lapse(actions.claim_case(case.pk, by=reviewer))
    with pytest.raises(ClaimLapsed):
        actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    assert not BlindScore.objects.exists()


def test_a_committed_score_stays_and_the_same_again_is_one_row(case: Case, reviewer: User) -> None:
    first = committed(case, reviewer)
    assert committed(case, reviewer) == first
    with pytest.raises(AlreadyCommitted):
        committed(case, reviewer, search=1)
    assert BlindScore.objects.get().levels == GOOD_LEVELS


@pytest.mark.parametrize(
    ("levels", "field"),
    [
        (None, "decomposition"),
        ({**GOOD_LEVELS, "search": 0}, "search"),
        ({**GOOD_LEVELS, "search": 6}, "search"),
        ({**GOOD_LEVELS, "search": True}, "search"),
        ({**GOOD_LEVELS, "search": 4.5}, "search"),
        ({**GOOD_LEVELS, "charm": 5}, "charm"),
    ],
)
def test_levels_outside_the_rubric_are_refused(
    case: Case, reviewer: User, levels: Any, field: str
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    with pytest.raises(BadDecision) as refused:
        actions.commit_score(case.pk, by=reviewer, levels=levels, reason="So.")
    assert refused.value.field == field


def test_a_score_without_a_reason_is_refused(case: Case, reviewer: User) -> None:
    actions.claim_case(case.pk, by=reviewer)
    with pytest.raises(BadDecision):
        actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason=" \n")


# Rulings on Strategy


@pytest.mark.parametrize(
    ("kind", "options", "score"),
    [
        ("uphold", {}, 66),
        ("average", {}, 76),
        ("adopt", {"seat": "openai"}, 60),
        ("adopt", {"seat": "anthropic"}, 92),
        ("set", {"score": Fraction("12.5")}, Fraction("12.5")),
        ("set", {}, 75),
    ],
)
def test_each_ruling_gives_its_score_and_makes_the_match_final(
    case: Case, reviewer: User, kind: str, options: Any, score: Any
) -> None:
    before = live(case)
    ruling = ruled(case, reviewer, kind, **options)
    after = live(case)
    case.refresh_from_db()
    assert ruling.score == Fraction(score)
    assert (ruling.before, ruling.after) == (before, after)
    assert after.strategy == min(Fraction(score), after.objective + 25)
    assert (before.status, after.status) == ("provisional", "final")
    assert case.state == Case.State.DECIDED
    assert after.reason == BECAUSE


def test_averaging_takes_nothing_off_and_needs_two_votes() -> None:
    """50 and 66 lie further than 15 apart: 58, less 10 by the rule."""
    split = Panel((), settle({"anthropic": Fraction(50), "openai": Fraction(66)}, CURRENT))
    assert score_by(split, Decision("average", "Both have a point."), None) == 58
    assert score_by(split, Decision("uphold", "The rule is right."), None) == 48
    single = Panel((), settle({"anthropic": Fraction(88), "openai": None}, CURRENT))
    with pytest.raises(BadDecision, match="not two votes"):
        score_by(single, Decision("average", "It is what it is."), None)


def test_upholding_signs_the_number_and_changes_no_total(case: Case, reviewer: User) -> None:
    ruling = ruled(case, reviewer, "uphold")
    assert ruling.before.total == ruling.after.total
    assert Verdict.objects.get(seat="ruling").state == "upheld"


def test_the_panel_stays_visible_beside_the_ruling(case: Case, reviewer: User) -> None:
    ruled(case, reviewer, "average")
    seats = Verdict.objects.filter(judge="strategy", is_live=True, source="uploaded")
    assert sorted(float(seat.score) for seat in seats) == [60, 76, 92]
    assert live(case).breakdown["judges"]["strategy"]["panel_score"] == "66.00"


@pytest.mark.parametrize("kind", ["uphold", "average", "adopt", "set"])
@pytest.mark.parametrize("votes", [(92, 60, 76), (92, 60, None), (92, None, None)])
def test_what_a_preview_shows_is_what_the_ruling_does(
    reviewer: User, kind: str, votes: tuple[int | None, ...]
) -> None:
    panel = dict(zip(("anthropic", "openai", "google"), votes, strict=True))
    case = Case.objects.get(match=make_match(votes=panel))
    options = {"adopt": {"seat": "anthropic"}, "set": {"score": Fraction(100)}}.get(kind, {})
    decision = Decision(kind=kind, public_reason=BECAUSE, **options)
    blind = committed(case, reviewer)
    case.refresh_from_db()
    if kind == "average" and votes[1] is None:
        with pytest.raises(BadDecision):
            actions.rule(case.pk, decision, by=reviewer, version=case.version)
        return
    panel = panel_of(case.bundle, CURRENT)
    score = actions.rulings.score_by(panel, decision, blind)
    shown = preview(case.bundle, strategy=None if kind == "uphold" else score, is_ruled=True)
    actions.rule(case.pk, decision, by=reviewer, version=case.version)
    after = live(case)
    assert shown.total == after.breakdown["total"] == str(after.total)
    assert shown.base == after.breakdown["base"]
    assert (shown.band, shown.status) == (after.breakdown["band"], after.status)
    assert shown.strategy_counted == after.breakdown["judges"]["strategy"]["counted"]
    assert shown.strategy_points == after.breakdown["judges"]["strategy"]["points"]


def test_with_no_vote_there_is_nothing_to_uphold(reviewer: User) -> None:
    case = case_of(make_match(votes={"anthropic": None, "openai": None}), "panel_incomplete")
    with pytest.raises(BadDecision):
        ruled(case, reviewer, "uphold")
    case.refresh_from_db()
    ruling = actions.rule(case.pk, Decision("set", BECAUSE), by=reviewer, version=case.version)
    assert ruling.after.strategy == 75


@pytest.mark.parametrize(
    ("decision", "field"),
    [
        (Decision("set", " "), "public_reason"),
        (Decision("set", BECAUSE, score=Fraction(101)), "score"),
        (Decision("set", BECAUSE, score=Fraction(-1)), "score"),
        (Decision("adopt", BECAUSE, seat="mistral"), "seat"),
        (Decision("adopt", BECAUSE), "seat"),
        (Decision("confirm", BECAUSE), "kind"),
        (Decision("ask", BECAUSE), "kind"),
    ],
)
def test_a_decision_that_the_rules_do_not_know_writes_nothing(
    case: Case, reviewer: User, decision: Decision, field: str
) -> None:
    committed(case, reviewer)
    with pytest.raises(BadDecision) as refused:
        actions.rule(case.pk, decision, by=reviewer, version=case.version)
    assert refused.value.field == field
    assert not Ruling.objects.exists()
    assert case.claim_of(reviewer) is not None


def test_a_ruling_comes_after_an_own_score(case: Case, reviewer: User) -> None:
    actions.claim_case(case.pk, by=reviewer)
    with pytest.raises(NotBlindYet):
        actions.rule(case.pk, Decision("average", BECAUSE), by=reviewer, version=case.version)


def test_a_ruling_on_a_lapsed_claim_is_refused(case: Case, reviewer: User) -> None:
    committed(case, reviewer)
    lapse(Claim.objects.get())
    with pytest.raises(ClaimLapsed):
        actions.rule(case.pk, Decision("average", BECAUSE), by=reviewer, version=case.version)
    assert not Ruling.objects.exists()


def test_a_ruling_from_a_stale_form_is_refused(reviewer: User, second: User) -> None:
    match = make_match(findings=[finding()])
    panel, review = case_of(match), case_of(match, "integrity_review")
    committed(panel, reviewer)
    ruled(review, second, "confirm")  # the total is another one now
    with pytest.raises(CaseChanged):
        actions.rule(panel.pk, Decision("average", BECAUSE), by=reviewer, version=panel.version)
    panel.refresh_from_db()
    actions.rule(panel.pk, Decision("average", BECAUSE), by=reviewer, version=panel.version)


def test_a_frozen_challenge_takes_no_ruling(case: Case, reviewer: User) -> None:
    committed(case, reviewer)
    Challenge.objects.update(state=Challenge.State.FROZEN)
    with pytest.raises(Frozen):
        actions.rule(case.pk, Decision("average", BECAUSE), by=reviewer, version=case.version)


def test_while_a_new_upload_is_judged_no_ruling_is_taken(case: Case, reviewer: User) -> None:
    committed(case, reviewer)
    Bundle.objects.update(is_live=False)
    with pytest.raises(Superseded):
        actions.rule(case.pk, Decision("average", BECAUSE), by=reviewer, version=case.version)


def test_one_more_decision_than_a_case_needs_is_refused(
    case: Case, reviewer: User, second: User
) -> None:
    ruled(case, reviewer, "average")
    case.refresh_from_db()
    for person in (reviewer, second):
        with pytest.raises(CaseClosed):
            actions.rule(case.pk, Decision("uphold", BECAUSE), by=person, version=case.version)
    assert Ruling.objects.count() == 1


def test_a_ruling_uses_up_the_draft_and_the_claim(case: Case, reviewer: User) -> None:
    committed(case, reviewer)
    actions.save_draft(case.pk, {"public_reason": "The"}, by=reviewer)
    actions.rule(case.pk, Decision("average", BECAUSE), by=reviewer, version=case.version)
    assert not Draft.objects.exists()
    assert Claim.objects.get().ended_how == Claim.End.RULED


def test_a_ruling_is_in_the_log_with_both_totals(case: Case, reviewer: User) -> None:
    ruling = ruled(case, reviewer, "average")
    entry = AuditEntry.objects.get(action="rule")
    assert (entry.actor, entry.subject, entry.reason) == (reviewer, f"case:{case.pk}", BECAUSE)
    assert entry.before["total"] == str(ruling.before.total)
    assert entry.after["total"] == str(ruling.after.total)


# Two reviewers and a third


@pytest.fixture
def grave(db: None) -> Case:
    return case_of(make_match(stakes="high"))


def test_high_stakes_wait_for_a_second_reviewer(grave: Case, reviewer: User) -> None:
    before = live(grave)
    ruling = ruled(grave, reviewer, "set", score=Fraction(60))
    grave.refresh_from_db()
    assert grave.state == Case.State.AWAITING_SECOND
    assert ruling.after is None
    assert live(grave) == before


def test_nobody_rules_twice_on_one_case(grave: Case, reviewer: User) -> None:
    ruled(grave, reviewer, "average")
    with pytest.raises(AlreadyRuled):
        actions.claim_case(grave.pk, by=reviewer)
    assert actions.claim_next(by=reviewer) is None


def test_two_within_fifteen_points_give_their_mean(
    grave: Case, reviewer: User, second: User
) -> None:
    ruled(grave, reviewer, "set", score=Fraction(60))
    last = ruled(grave, second, "set", score=Fraction(75))
    assert last.after.strategy == Fraction(135, 2)
    assert last.after.reason == f"{BECAUSE}\n\n{BECAUSE}"


def test_two_further_apart_call_a_third_and_the_median_counts(
    grave: Case, reviewer: User, second: User, third: User
) -> None:
    ruled(grave, reviewer, "set", score=Fraction(20))
    ruled(grave, second, "set", score=Fraction(90))
    grave.refresh_from_db()
    assert (grave.state, grave.slots) == (Case.State.AWAITING_SECOND, 3)
    assert ruled(grave, third, "set", score=Fraction(30)).after.strategy == 30


def test_two_who_work_at_once_do_not_make_each_others_forms_stale(
    grave: Case, reviewer: User, second: User
) -> None:
    committed(grave, reviewer)
    committed(grave, second)
    for person in (reviewer, second):
        actions.rule(grave.pk, Decision("average", BECAUSE), by=person, version=grave.version)
    grave.refresh_from_db()
    assert grave.state == Case.State.DECIDED


def test_the_second_reviewer_reads_nothing_of_the_first(
    grave: Case, reviewer: User, second: User, operator: User
) -> None:
    ruled(grave, reviewer, "average")
    assert not grave.rulings.visible_to(second).exists()
    assert grave.rulings.visible_to(reviewer).count() == 1
    assert grave.rulings.visible_to(operator).count() == 1
    ruled(grave, second, "average")
    assert grave.rulings.visible_to(second).count() == 2


def test_escalating_asks_a_second_reviewer(case: Case, reviewer: User, second: User) -> None:
    ruling = ruled(case, reviewer, "escalate")
    case.refresh_from_db()
    assert ruling.score == 75
    assert (case.state, case.slots) == (Case.State.AWAITING_SECOND, 2)
    assert ruled(case, second, "set", score=Fraction(65)).after.strategy == 70


# Rulings on findings


@pytest.fixture
def review(db: None) -> Case:
    return case_of(make_match(votes=AGREEING, findings=[finding()]), "integrity_review")


def test_confirming_a_finding_applies_its_points(review: Case, reviewer: User) -> None:
    ruling = ruled(review, reviewer, "confirm")
    assert (ruling.before.adjustment, ruling.after.adjustment) == (0, -20)
    assert ruling.after.status == "final"
    assert Finding.objects.get(is_live=True).decided_by == reviewer


def test_dismissing_a_finding_leaves_a_row_of_no_points(review: Case, reviewer: User) -> None:
    ruling = ruled(review, reviewer, "dismiss")
    assert ruling.after.adjustment == 0
    found = ruling.after.breakdown["integrity"]["findings"]
    assert [(row["status"], row["points"]) for row in found] == [("dismissed", 0)]
    review.refresh_from_db()
    assert review.state == Case.State.DECIDED


def test_the_points_of_process_abuse_may_be_amended_within_the_rule(reviewer: User) -> None:
    match = make_match(votes=AGREEING, findings=[finding("process_abuse", points=-4)])
    case = case_of(match, "integrity_review")
    for points in (-2, -11, None):
        with pytest.raises(BadDecision):
            ruled(case, reviewer, "amend", points=points)
    assert ruled(case, reviewer, "amend", points=-7).after.adjustment == -7


def test_fixed_points_are_not_amended(review: Case, reviewer: User) -> None:
    with pytest.raises(BadDecision):
        ruled(review, reviewer, "amend", points=-5)


@pytest.mark.parametrize("kind", ["confirm", "dismiss"])
def test_a_preview_of_a_finding_is_its_effect(review: Case, reviewer: User, kind: str) -> None:
    committed(review, reviewer)
    found = actions.rulings.finding_of(review)
    answer = actions.rulings.answer_to(found, Decision(kind, BECAUSE), None)
    shown = preview(review.bundle, findings={review.finding_key: answer})
    ruling = actions.rule(review.pk, Decision(kind, BECAUSE), by=reviewer, version=review.version)
    assert (shown.total, shown.status) == (str(ruling.after.total), ruling.after.status)


def test_two_that_split_on_a_finding_call_a_third_who_decides(
    reviewer: User, second: User, third: User
) -> None:
    match = make_match(votes=AGREEING, stakes="high", findings=[finding()])
    case = case_of(match, "integrity_review")
    ruled(case, reviewer, "confirm")
    ruled(case, second, "dismiss")
    case.refresh_from_db()
    assert (case.state, case.slots) == (Case.State.AWAITING_SECOND, 3)
    assert ruled(case, third, "dismiss").after.adjustment == 0


def test_a_quarantine_that_is_confirmed_ends_the_hold_and_keeps_the_penalty(
    reviewer: User,
) -> None:
    match = make_match(votes=AGREEING, findings=[finding(confidence="high")])
    case = case_of(match, "integrity_quarantine")
    assert case.blocking
    assert "held" in live(case).marks
    after = ruled(case, reviewer, "confirm").after
    assert "held" not in after.marks
    assert after.adjustment == -20


# Corrections


def test_a_correction_names_what_it_replaces_and_takes_effect(case: Case, reviewer: User) -> None:
    first = ruled(case, reviewer, "average")
    case.refresh_from_db()
    decision = Decision("adopt", "Seat A read it right.", seat="openai")
    second_thought = actions.correct_ruling(first.pk, decision, by=reviewer, version=case.version)
    assert second_thought.supersedes == first
    assert live(case).strategy == 60
    assert list(case.rulings.in_force()) == [second_thought]
    with pytest.raises(AlreadyCorrected):
        actions.correct_ruling(first.pk, decision, by=reviewer, version=case.version + 1)


def test_a_lead_may_correct_and_other_reviewers_may_not(
    case: Case, reviewer: User, second: User, lead: User
) -> None:
    first = ruled(case, reviewer, "average")
    case.refresh_from_db()
    decision = Decision("uphold", "The −10 stands.")
    with pytest.raises(PermissionDenied):
        actions.correct_ruling(first.pk, decision, by=second, version=case.version)
    actions.correct_ruling(first.pk, decision, by=lead, version=case.version)
    assert live(case).strategy == 66


def test_a_correction_that_parts_the_reviewers_puts_the_case_before_a_third(
    grave: Case, reviewer: User, second: User, third: User
) -> None:
    before = live(grave)
    first = ruled(grave, reviewer, "set", score=Fraction(60))
    ruled(grave, second, "set", score=Fraction(62))
    grave.refresh_from_db()
    assert live(grave).status == "final"
    far = Decision("set", BECAUSE, score=Fraction(10))
    correction = actions.correct_ruling(first.pk, far, by=reviewer, version=grave.version)
    grave.refresh_from_db()
    assert (grave.state, grave.slots, grave.closed_at) == (Case.State.AWAITING_SECOND, 3, None)
    # The rule's number stands again, provisional, until the third has ruled.
    assert correction.after == live(grave)
    assert (live(grave).total, live(grave).status) == (before.total, "provisional")
    assert ruled(grave, third, "set", score=Fraction(30)).after == live(grave)
    grave.refresh_from_db()
    assert grave.state == Case.State.DECIDED
    assert live(grave).strategy == 30  # the median of 10, 62 and 30
    assert live(grave).status == "final"


def test_a_correction_within_reach_decides_at_once(
    grave: Case, reviewer: User, second: User
) -> None:
    first = ruled(grave, reviewer, "set", score=Fraction(60))
    ruled(grave, second, "set", score=Fraction(62))
    grave.refresh_from_db()
    near = Decision("set", BECAUSE, score=Fraction(58))
    actions.correct_ruling(first.pk, near, by=reviewer, version=grave.version)
    grave.refresh_from_db()
    assert grave.state == Case.State.DECIDED
    assert live(grave).strategy == 60


def test_a_correction_that_splits_on_a_finding_brings_the_finding_and_its_hold_back(
    reviewer: User, second: User, third: User
) -> None:
    serious = finding("output_spoofing", confidence="high")
    match = make_match(votes=AGREEING, findings=[serious], stakes="high")
    case = case_of(match, "integrity_quarantine")
    first = ruled(case, reviewer, "dismiss")
    ruled(case, second, "dismiss")
    case.refresh_from_db()
    assert live(case).status == "final"
    turned = Decision("confirm", BECAUSE)
    actions.correct_ruling(first.pk, turned, by=reviewer, version=case.version)
    case.refresh_from_db()
    assert (case.state, case.slots) == (Case.State.AWAITING_SECOND, 3)
    assert live(case).status == "provisional"
    assert live(case).breakdown["integrity"]["findings"][0]["status"] == "proposed"
    ruled(case, third, "confirm")
    assert live(case).adjustment == -20


def test_an_amendment_that_falls_leaves_the_points_as_found(reviewer: User, second: User) -> None:
    match = make_match(
        votes=AGREEING, findings=[finding("process_abuse", points=-4)], stakes="high"
    )
    case = case_of(match, "integrity_review")
    first = ruled(case, reviewer, "amend", points=-7)
    ruled(case, second, "amend", points=-7)
    case.refresh_from_db()
    assert live(case).adjustment == -7
    dismissed = Decision("dismiss", BECAUSE)
    actions.correct_ruling(first.pk, dismissed, by=reviewer, version=case.version)
    (found,) = live(case).breakdown["integrity"]["findings"]
    assert (found["status"], found["points"], found["price"]) == ("proposed", 0, -4)


def test_cases_settled_by_a_ruling_come_back_with_it(reviewer: User, second: User) -> None:
    match = make_match(
        votes={"anthropic": 100, "openai": 86, "google": 93},
        stakes="high",
        static_passes=False,
        hidden_passes=False,
    )
    case = case_of(match, "objective_narrative_conflict")
    first = ruled(case, reviewer, "set", score=Fraction(60))
    ruled(case, second, "set", score=Fraction(62))
    case.refresh_from_db()
    far = Decision("set", BECAUSE, score=Fraction(10))
    actions.correct_ruling(first.pk, far, by=reviewer, version=case.version)
    assert Case.objects.get(match=match).state == Case.State.AWAITING_SECOND


def test_confirming_after_an_amendment_gives_the_points_as_found(reviewer: User) -> None:
    match = make_match(votes=AGREEING, findings=[finding("process_abuse", points=-4)])
    case = case_of(match, "integrity_review")
    amended = ruled(case, reviewer, "amend", points=-7)
    case.refresh_from_db()
    actions.correct_ruling(
        amended.pk, Decision("confirm", BECAUSE), by=reviewer, version=case.version
    )
    assert live(case).adjustment == -4


# Rulings and new uploads


def test_a_ruling_holds_after_an_upload_with_the_same_evidence(case: Case, reviewer: User) -> None:
    ruled(case, reviewer, "average")
    upload(files={"static.xml": b'<testsuite name="other" tests="0"/>', "more.txt": b"x"})
    case.refresh_from_db()
    assert case.state == Case.State.DECIDED
    assert case.bundle.number == 2
    assert live(case).breakdown["judges"]["strategy"]["raw"] == "76.00"


def test_a_ruling_falls_with_its_evidence(case: Case, reviewer: User) -> None:
    ruled(case, reviewer, "average")
    upload(votes={"anthropic": 90, "openai": 10, "google": 50})
    case.refresh_from_db()
    assert case.state == Case.State.VOID
    assert "evidence" in case.closed_reason
    fresh = case_of(case.match)
    assert (fresh.state, fresh.bundle.number) == (Case.State.OPEN, 2)
    assert live(case).status == "provisional"
    assert timezone.now() >= fresh.opened_at > case.opened_at
