"""A competitor asks for a review: once, in time, with evidence; and nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone

from adjudication import actions
from adjudication.actions import Decision, ask_for_review
from adjudication.actions.reviews import closes_at
from adjudication.models import Case, ReviewRequest, Ruling
from adjudication.refusals import (
    AskedAlready,
    BadDecision,
    ChangedSince,
    Frozen,
    NotFinal,
    WindowClosed,
)
from bouts.models import AuditEntry, Challenge, Match, User
from judging.actions import decide_finding, rule_strategy
from judging.models import Finding, Scorecard, Standing
from judging.steps import run_steps
from tests.adjudication.making import (
    AGREEING,
    DISAGREEING,
    GOOD_LEVELS,
    case_of,
    finding,
    make_match,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tallies_hold")]
SignedIn = Callable[[User], Client]
PLACE = {"artifact": "final.diff", "place": "diff:refunds/store.py:2"}
ADDRESS = "/matches/m-1/review/"
FORM = {
    "revision": 1,
    "about": "strategy",
    "text": "The plan names the lock; the votes overlook it.",
    "evidence": ["final.diff#diff:refunds/store.py:2"],
}


@pytest.fixture
def match(db: None) -> Match:
    return make_match(votes=AGREEING)


def ask(match: Match, by: User, **changes: object) -> ReviewRequest:
    asked = {"finding_key": "", "text": "The lock.", "evidence": [PLACE], "revision": 1}
    return ask_for_review(match.pk, by=by, **{**asked, **changes})


@pytest.fixture
def pass_days(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let so many days pass, counted from the start of the test."""
    now = timezone.now

    def wait(days: float) -> None:
        monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(days=days))

    return wait


def test_asking_opens_an_advisory_case_and_changes_no_score(match: Match, competitor: User) -> None:
    before = list(Scorecard.objects.values()), list(Standing.objects.values())
    asked = ask(match, competitor)
    assert (asked.case.reason, asked.case.blocking) == ("review_requested", False)
    assert asked.case.state == Case.State.OPEN
    assert asked.evidence == [PLACE]
    assert (list(Scorecard.objects.values()), list(Standing.objects.values())) == before
    assert AuditEntry.objects.get(action="ask_for_review").actor == competitor


def test_a_finding_can_be_questioned_and_nothing_that_is_none(
    competitor: User, reviewer: User
) -> None:
    match = make_match(votes=AGREEING, findings=[finding("acknowledged_uncertainty")])
    assert match.scorecards.live().get().status == "provisional"
    with pytest.raises(NotFinal):
        ask(match, competitor)
    found = Finding.objects.get(is_live=True)
    decide_finding(
        found.bundle, found.key, status="dismissed", by=reviewer, reason="No doubt named."
    )
    with pytest.raises(BadDecision, match="no such finding"):
        ask(match, competitor, finding_key="f" * 64, revision=2)
    asked = ask(match, competitor, finding_key=found.key, revision=2)
    assert asked.case.finding_key == found.key


def test_there_is_one_request_a_match_for_good(match: Match, competitor: User) -> None:
    ask(match, competitor)
    with pytest.raises(AskedAlready):
        ask(match, competitor, text="And another thing.")
    upload(votes={**AGREEING, "google": 74})
    with pytest.raises(AskedAlready):
        ask(match, competitor, revision=2)
    assert ReviewRequest.objects.get().case.state == Case.State.VOID


def test_the_window_is_seven_days(
    match: Match, competitor: User, pass_days: Callable[[float], None]
) -> None:
    pass_days(7)
    with pytest.raises(WindowClosed, match="ended on"):
        ask(match, competitor)
    pass_days(6.99)
    ask(match, competitor)


def test_exactly_seven_days_later_is_within_them(
    match: Match, competitor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = match.scorecards.live().get().created_at + timedelta(days=7)
    monkeypatch.setattr(timezone, "now", lambda: end + timedelta(microseconds=1))
    with pytest.raises(WindowClosed):
        ask(match, competitor)
    monkeypatch.setattr(timezone, "now", lambda: end)
    ask(match, competitor)


def test_the_window_does_not_start_again_with_the_same_total(
    match: Match, reviewer: User, pass_days: Callable[[float], None]
) -> None:
    first = closes_at(match.scorecards.live().get())
    pass_days(3)
    rule_strategy(match.bundles.get(is_live=True), None, by=reviewer, reason="It stands.")
    live = match.scorecards.live().get()
    assert live.number == 2
    assert closes_at(live) == first
    rule_strategy(match.bundles.get(is_live=True), Fraction(20), by=reviewer, reason="Weak.")
    other = closes_at(match.scorecards.live().get())
    assert other is not None and first is not None and other - first >= timedelta(days=2.99)


def test_a_total_that_is_not_final_has_no_window(competitor: User) -> None:
    match = make_match(votes=DISAGREEING)
    assert closes_at(match.scorecards.live().get()) is None
    with pytest.raises(NotFinal):
        ask(match, competitor)


def test_a_frozen_challenge_takes_no_request(match: Match, competitor: User) -> None:
    Challenge.objects.update(state=Challenge.State.FROZEN)
    with pytest.raises(Frozen, match="no review"):
        ask(match, competitor)


def test_another_team_and_officials_ask_for_nothing(
    match: Match, rival: User, reviewer: User, operator: User
) -> None:
    for person in (rival, reviewer, operator):
        with pytest.raises(PermissionDenied):
            ask(match, person)
    assert not Case.objects.exists()


def test_whoever_asks_has_the_score_of_now_before_them(match: Match, competitor: User) -> None:
    with pytest.raises(ChangedSince):
        ask(match, competitor, revision=7)


def test_the_page_takes_the_request_and_shows_it_to_the_team_alone(
    match: Match, competitor: User, rival: User, client_of: SignedIn
) -> None:
    client = client_of(competitor)
    page = client.get(ADDRESS).content.decode()
    assert FORM["evidence"][0] in page
    events = [int(number) for number in re.findall(r'value="trajectory.json#event:(\d+)"', page)]
    assert events == sorted(events) and len(events) > 2
    answer = client.post(ADDRESS, FORM, follow=True)
    assert answer.redirect_chain == [("/matches/m-1/", 302)]
    assert "the votes overlook it" in answer.content.decode()
    theirs = client_of(rival).get("/matches/m-1/").content.decode()
    assert "overlook" not in theirs and "review" not in theirs.lower()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": " "}, "Say what speaks against it."),
        ({"evidence": []}, "Choose the evidence that speaks against it."),
        ({"evidence": ["final.diff#line:99999"]}, "not one of the available choices"),
        ({"about": "f" * 64}, "not one of the available choices"),
    ],
)
def test_a_request_that_says_too_little_keeps_its_text(
    changes: dict[str, object],
    said: str,
    match: Match,
    competitor: User,
    client_of: SignedIn,
) -> None:
    answer = client_of(competitor).post(ADDRESS, {**FORM, **changes})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    if "text" not in changes:
        assert FORM["text"] in answer.content.decode()
    assert not ReviewRequest.objects.exists()


def test_every_refusal_says_why_and_keeps_the_text(
    match: Match,
    competitor: User,
    rival: User,
    client_of: SignedIn,
    pass_days: Callable[[float], None],
) -> None:
    def refused(user: User, status: int, why: str, **changes: object) -> None:
        answer = client_of(user).post(ADDRESS, {**FORM, **changes})
        page = answer.content.decode()
        assert (answer.status_code, why in page, FORM["text"] in page) == (status, True, True)

    refused(rival, 403, "Only the team")
    refused(competitor, 409, "a new score", revision=9)
    Challenge.objects.update(state=Challenge.State.FROZEN)
    refused(competitor, 409, "frozen")
    Challenge.objects.update(state=Challenge.State.ACTIVE)
    pass_days(8)
    refused(competitor, 409, "ended on")
    pass_days(1)
    ask(match, competitor)
    refused(competitor, 409, "asked for already")
    assert ReviewRequest.objects.count() == 1


def test_officials_find_no_form_there(
    match: Match, reviewer: User, operator: User, client_of: SignedIn
) -> None:
    for user in (reviewer, operator):
        assert client_of(user).get(ADDRESS).status_code == 404


def test_the_answer_stands_on_the_match(
    match: Match, competitor: User, reviewer: User, client_of: SignedIn
) -> None:
    asked = ask(match, competitor)
    claim = actions.claim_case(asked.case_id, by=reviewer)
    case = claim.case
    blind = client_of(reviewer).get(case.get_absolute_url()).content.decode()
    assert "The lock." not in blind and "ines" not in blind
    actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="Sound.")
    assert "The lock." in client_of(reviewer).get(case.get_absolute_url()).content.decode()
    decision = Decision(kind=Ruling.Kind.UPHOLD, public_reason="The votes did see the lock.")
    case.refresh_from_db()
    assert "did see" not in client_of(competitor).get("/matches/m-1/").content.decode()
    actions.rule(case.pk, decision, by=reviewer, version=case.version)
    page = client_of(competitor).get("/matches/m-1/").content.decode()
    answered = page[page.index('id="review"') :]
    assert "The votes did see the lock." in answered


def test_an_answer_that_quotes_a_hidden_test_is_withheld(
    match: Match, competitor: User, reviewer: User, client_of: SignedIn
) -> None:
    case = ask(match, competitor).case
    actions.claim_case(case.pk, by=reviewer)
    actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="Sound.")
    decision = Decision(
        kind=Ruling.Kind.UPHOLD, public_reason="See hidden.test_vault::test_quarrel."
    )
    actions.rule(case.pk, decision, by=reviewer, version=case.version)
    page = client_of(competitor).get("/matches/m-1/").content.decode()
    assert "test_quarrel" not in page and "quotes a hidden test" in page


def test_judging_again_alike_leaves_the_case_as_it_is(match: Match, competitor: User) -> None:
    case = ask(match, competitor).case
    run_steps(match.bundles.get(is_live=True))
    case.refresh_from_db()
    assert case.state == Case.State.OPEN
    assert case_of(match, "review_requested") == case
