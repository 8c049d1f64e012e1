from __future__ import annotations

import pytest
from django.db.models import Count
from django.utils import timezone

from adjudication import actions, tallies
from adjudication.actions import Decision
from adjudication.actions.opening import follow_scorecard, is_drawn
from adjudication.desk import Desk
from adjudication.models import Case, Claim, Ruling
from adjudication.refusals import CaseClosed
from bouts.models import Challenge, User
from judging.models import Scorecard
from judging.signals import scorecard_recorded
from tests.adjudication.making import (
    AGREEING,
    CHAINED,
    DISAGREEING,
    GOOD_LEVELS,
    case_of,
    finding,
    make_challenge,
    make_match,
    upload,
)
from tests.factories import make_team

pytestmark = pytest.mark.usefixtures("tallies_hold")


def opened(**options: object) -> set[tuple[str, bool]]:
    match = make_match(**options)
    return set(Case.objects.filter(match=match).values_list("reason", "blocking"))


@pytest.mark.parametrize(
    ("options", "cases"),
    [
        ({"votes": AGREEING}, set()),
        ({"votes": DISAGREEING}, {("panel_disagreement", True)}),
        ({"votes": CHAINED}, {("panel_chained", False)}),
        ({"votes": {**AGREEING, "google": None}}, set()),
        (
            {"votes": {"anthropic": 90, "openai": 10, "google": None}},
            {("panel_disagreement", True)},
        ),
        (
            {"votes": {"anthropic": 70, "openai": None, "google": None}},
            {("panel_incomplete", True)},
        ),
        (
            {"votes": AGREEING, "findings": [finding(confidence="high")]},
            {("integrity_quarantine", True)},
        ),
        ({"votes": AGREEING, "findings": [finding()]}, {("integrity_review", False)}),
        (
            {
                "votes": {"anthropic": 88, "openai": 90, "google": 92},
                "static_passes": False,
                "hidden_passes": False,
            },
            {("objective_narrative_conflict", False)},
        ),
    ],
)
def test_a_scorecard_opens_the_cases_that_the_rules_ask_for(
    db: None, options: dict[str, object], cases: set[tuple[str, bool]]
) -> None:
    assert opened(**options) == cases


def test_the_same_scorecard_announced_again_opens_nothing_twice(case: Case) -> None:
    version = case.version
    scorecard_recorded.send(Scorecard, scorecard=case.scorecard)
    assert Case.objects.get().version == version


def test_work_goes_on_across_an_upload_with_the_same_evidence(case: Case, reviewer: User) -> None:
    claim = actions.claim_case(case.pk, by=reviewer)
    actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    upload(files={"static.xml": b'<testsuite name="other" tests="0"/>', "more.txt": b"x"})
    moved = Case.objects.get()
    assert (moved, moved.bundle.number) == (case, 2)
    assert moved.version > case.version
    assert moved.claim_of(reviewer) == claim


def test_other_evidence_voids_the_case_and_ends_its_claims(case: Case, reviewer: User) -> None:
    actions.claim_case(case.pk, by=reviewer)
    upload(votes=AGREEING)
    case.refresh_from_db()
    assert (case.state, case.held_until) == (Case.State.VOID, None)
    assert Claim.objects.get().ended_how == Claim.End.SETTLED
    assert not Case.objects.unsettled().exists()
    with pytest.raises(CaseClosed):
        actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")


def test_one_ruling_settles_every_case_on_the_same_question(reviewer: User, second: User) -> None:
    match = make_match(
        votes={"anthropic": 99, "openai": 88, "google": 76},
        static_passes=False,
        hidden_passes=False,
    )
    chained = case_of(match, "panel_chained")
    conflict = case_of(match, "objective_narrative_conflict")
    actions.claim_case(chained.pk, by=second)
    actions.claim_case(conflict.pk, by=reviewer)
    actions.commit_score(conflict.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    decision = actions.Decision("average", "All three say the same.")
    actions.rule(conflict.pk, decision, by=reviewer, version=conflict.version)
    chained.refresh_from_db()
    assert chained.state == Case.State.DECIDED
    assert chained.closed_reason == f"Settled by the ruling on {conflict}."
    with pytest.raises(CaseClosed):
        actions.commit_score(chained.pk, by=second, levels=GOOD_LEVELS, reason="So.")


def test_a_blind_score_counts_for_every_case_on_the_same_question(reviewer: User) -> None:
    match = make_match(
        votes={"anthropic": 99, "openai": 88, "google": 76},
        static_passes=False,
        hidden_passes=False,
    )
    conflict = case_of(match, "objective_narrative_conflict")
    actions.claim_case(conflict.pk, by=reviewer)
    blind = actions.commit_score(conflict.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    assert case_of(match, "panel_chained").blind_score_of(reviewer) == blind


def test_a_case_that_somebody_asked_for_does_not_end_with_the_rules(case: Case) -> None:
    Case.objects.update(reason=Case.Reason.RANDOM_AUDIT, blocking=False)
    upload(files={"static.xml": b'<testsuite name="other" tests="0"/>', "more.txt": b"x"})
    assert Case.objects.get(reason=Case.Reason.RANDOM_AUDIT).state == Case.State.OPEN
    upload(votes=AGREEING)
    assert Case.objects.get(reason=Case.Reason.RANDOM_AUDIT).state == Case.State.VOID


def test_following_an_older_scorecard_needs_no_case(db: None) -> None:
    match = make_match(votes=AGREEING)
    follow_scorecard(match.scorecards.live().get())
    assert not Case.objects.exists()


# Random audits


def test_the_lot_falls_on_about_as_many_as_the_setting_says() -> None:
    digests = [f"{number:064x}" for number in range(4000)]
    drawn = [digest for digest in digests if is_drawn(digest, 5)]
    assert 140 < len(drawn) < 260
    assert {digest for digest in digests if is_drawn(digest, 5)} == set(drawn)
    assert set(drawn) <= {digest for digest in digests if is_drawn(digest, 20)}
    assert not any(is_drawn(digest, 0) for digest in digests)
    assert all(is_drawn(digest, 100) for digest in digests)


def test_a_panel_that_agrees_is_audited_once_in_the_same_blind_room(
    reviewer: User, settings
) -> None:
    settings.RANDOM_AUDIT_PERCENT = 100
    match = make_match(votes=AGREEING)
    audit = case_of(match, "random_audit")
    assert (audit.blocking, audit.slots, audit.state) == (False, 1, Case.State.OPEN)
    assert match.scorecards.live().get().status == "final"
    desk = Desk(audit, reviewer, timezone.now())
    assert not desk.is_revealed
    # Judged again on the same evidence, nothing is drawn again, not even after it was settled.
    upload(votes=AGREEING, files={"static.xml": b'<testsuite name="a" tests="0"/>'})
    assert case_of(match, "random_audit") == audit
    Case.objects.update(state=Case.State.VOID, closed_at=timezone.now())
    tallies.recount()
    upload(votes=AGREEING, files={"static.xml": b'<testsuite name="b" tests="0"/>'})
    assert Case.objects.count() == 1


@pytest.mark.parametrize(
    "votes", [DISAGREEING, CHAINED, {"anthropic": 70, "openai": None, "google": 72}]
)
def test_only_a_full_panel_that_agrees_is_audited(db: None, votes: dict, settings) -> None:
    settings.RANDOM_AUDIT_PERCENT = 100
    make_match(votes=votes)
    assert not Case.objects.filter(reason="random_audit").exists()


def test_where_strategy_does_not_apply_nothing_is_drawn(db: None, settings) -> None:
    settings.RANDOM_AUDIT_PERCENT = 100
    make_team("northbank")
    make_challenge(judges=["objective", "process", "recovery", "integrity"])
    match = upload(votes=AGREEING).match
    assert match.scorecards.live().get().status == "final"
    assert not Case.objects.exists()


def test_stakes_that_change_and_a_freeze_lose_no_open_case_and_each_settles_once(
    reviewer: User, second: User
) -> None:
    """How many must agree is settled when a case opens: what waits is neither dropped nor asked twice."""
    waiting, held = (case_of(make_match(slug)) for slug in ("m-1", "m-2"))
    actions.claim_case(held.pk, by=reviewer)
    make_challenge(stakes="high")
    for_two = case_of(make_match("m-3", stakes="high"))
    _sign(for_two, reviewer)
    make_challenge(stakes="standard")
    Challenge.objects.update(state=Challenge.State.FROZEN)
    Challenge.objects.update(state=Challenge.State.ACTIVE)

    states = dict(Case.objects.values_list("match__slug", "state"))
    assert states == {"m-1": "open", "m-2": "open", "m-3": "awaiting_second"}
    assert Claim.objects.live().get().case == held
    _sign(held, reviewer)
    _sign(waiting, second)
    _sign(for_two, second)
    assert set(Case.objects.values_list("state", flat=True)) == {"decided"}
    assert dict(Ruling.objects.values_list("case__match__slug").annotate(Count("pk"))) == {
        "m-1": 1,
        "m-2": 1,
        "m-3": 2,
    }
    assert set(Scorecard.objects.live().values_list("status", flat=True)) == {"final"}


def _sign(case: Case, by: User) -> None:
    actions.claim_case(case.pk, by=by)
    actions.commit_score(case.pk, by=by, levels=GOOD_LEVELS, reason="Sound.")
    case.refresh_from_db()
    decision = Decision(Ruling.Kind.AVERAGE, "They each see a part.")
    actions.rule(case.pk, decision, by=by, version=case.version)
