"""What a preview shows is what the ruling does, on every branch: total, band, rank, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from adjudication import actions
from adjudication.actions import Decision
from adjudication.choices import WAITING, preview_of, rulings_on, with_previews
from adjudication.desk import Desk
from adjudication.forms import decision_of
from adjudication.models import Case, Ruling
from bouts.models import Match, User
from judging.actions import exclude_match, preview
from judging.board import Board
from judging.models import Finding, Scorecard
from tests.adjudication.making import (
    AGREEING,
    CHAINED,
    DISAGREEING,
    GOOD_LEVELS,
    case_of,
    finding,
    make_match,
)

pytestmark = pytest.mark.django_db

BECAUSE = "The three votes together say it fairly."
Kind = Ruling.Kind
SPLIT = {"anthropic": 92, "openai": 60, "google": None}
ALONE = {"anthropic": 92, "openai": None, "google": None}
NOBODY = {"anthropic": None, "openai": None, "google": None}
PRAISED = {"anthropic": 100, "openai": 86, "google": 93}
HIGH = {"confidence": "high"}


@dataclass(frozen=True)
class Question:
    """A case of a reason, and which rulings it is expected to offer."""

    reason: str
    offered: set[str]
    match: Mapping[str, Any] = field(default_factory=dict)


ON_STRATEGY = {"uphold", "average", "adopt", "set", "escalate"}
ON_FINDING = {"confirm", "dismiss", "escalate"}
QUESTIONS = {
    "three apart": Question("panel_disagreement", ON_STRATEGY, {"votes": DISAGREEING}),
    "two apart": Question("panel_disagreement", ON_STRATEGY, {"votes": SPLIT}),
    "one vote": Question("panel_incomplete", ON_STRATEGY - {"average"}, {"votes": ALONE}),
    "no vote": Question("panel_incomplete", {"set", "escalate"}, {"votes": NOBODY}),
    "chained": Question("panel_chained", ON_STRATEGY, {"votes": CHAINED}),
    "praised, and all tests fail": Question(
        "objective_narrative_conflict",
        ON_STRATEGY,
        {"votes": PRAISED, "static_passes": False, "hidden_passes": False},
    ),
    "anchored": Question(
        "panel_disagreement", ON_STRATEGY, {"votes": DISAGREEING, "hidden_passes": False}
    ),
    "drawn by lot": Question("random_audit", ON_STRATEGY, {"votes": AGREEING}),
    "asked for, on Strategy": Question("review_requested", ON_STRATEGY, {"votes": AGREEING}),
    "asked for, on a finding": Question("review_requested", ON_FINDING, {"findings": [finding()]}),
    "spoofing, proposed": Question("integrity_review", ON_FINDING, {"findings": [finding()]}),
    "spoofing, held": Question("integrity_quarantine", ON_FINDING, {"findings": [finding(**HIGH)]}),
    "reward hacking": Question(
        "integrity_review", ON_FINDING, {"findings": [finding("reward_hacking", **HIGH)]}
    ),
    "points left open": Question(
        "integrity_review",
        ON_FINDING | {"amend"},
        {"findings": [finding("process_abuse", points=-4)]},
    ),
    "beside a bonus": Question(
        "integrity_quarantine",
        ON_FINDING,
        {"findings": [finding(**HIGH), finding("acknowledged_uncertainty")]},
    ),
}


@pytest.fixture(autouse=True)
def rivals(db: None, settings: Settings) -> None:
    """Two others on the board, so that a ruling can move ranks."""
    settings.RANDOM_AUDIT_PERCENT = 0
    make_match("r-1", team="halyard", agent="Gull", votes=AGREEING)
    make_match("r-2", team="saltmarsh", agent="Tern", votes=AGREEING, hidden_passes=False)


@pytest.fixture(params=QUESTIONS)
def question(request: pytest.FixtureRequest) -> Question:
    return QUESTIONS[request.param]


@pytest.fixture
def case(
    question: Question, settings: Settings, reviewer: User, lead: User, competitor: User
) -> Case:
    """The case, claimed by the reviewer and scored blind."""
    settings.RANDOM_AUDIT_PERCENT = 100 if question.reason == "random_audit" else 0
    match = make_match(**{"votes": AGREEING, **question.match})
    if question.reason == "review_requested":
        ask_for_review(match, lead, competitor)
    case = case_of(match, question.reason)
    commit(case, reviewer)
    return case


def ask_for_review(match: Match, lead: User, competitor: User) -> None:
    """Have whatever is proposed decided, and the team ask about the Strategy score or about that."""
    found = Finding.objects.filter(bundle__match=match, is_live=True).first()
    if found is not None:
        first = case_of(match, "integrity_review")
        commit(first, lead)
        actions.rule(first.pk, Decision("confirm", BECAUSE), by=lead, version=first.version)
    actions.ask_for_review(
        match.pk,
        by=competitor,
        finding_key=found.key if found else "",
        text="The record shows otherwise.",
        evidence=[{"artifact": "final.diff", "place": "diff:refunds/store.py:2"}],
        revision=Scorecard.objects.live().get(match=match).number,
    )


def commit(case: Case, by: User) -> None:
    actions.claim_case(case.pk, by=by)
    own = {"opinion": "dismiss"} if case.is_on_finding else {"levels": GOOD_LEVELS}
    actions.commit_score(case.pk, by=by, reason="So I see it.", **own)


def seen(match: Match, viewer: User) -> dict[str, Any]:
    """What the match's page and the board of its challenge say, under the names of a preview."""
    card = Scorecard.objects.live().get(match=match)
    line = card.breakdown["judges"]["strategy"]
    board = Board(card.challenge_version, viewer)
    rows = {row.standing.agent_id: row for row in board.with_ranks(board.rows)}
    return {
        "total": card.breakdown["total"],
        "base": card.breakdown["base"],
        "band": card.breakdown["band"],
        "status": card.status,
        "strategy_counted": line["counted"],
        "strategy_points": line["points"],
        "rank": rows[match.agent_id].rank,
        "ranked": board.ranked_count,
    }


def decisions(value: str) -> Iterator[Decision]:
    """The decisions that a choice of the form may stand for."""
    given: dict[str, list[dict[str, Any]]] = {
        Kind.SET: [{}, {"score": "0"}, {"score": "12.34"}, {"score": "100"}],
        Kind.AMEND: [{"points": -3}, {"points": -7}, {"points": -10}],
    }
    for options in given.get(value, [{}]):
        yield decision_of(value, public_reason=BECAUSE, **options)


class Undone(Exception):
    """Takes back what a ruling did, so that the next one starts from the same match."""


def test_what_a_preview_shows_is_what_the_ruling_does(
    question: Question, case: Case, reviewer: User, operator: User
) -> None:
    case = Case.objects.for_page().get(pk=case.pk)
    desk = Desk(case, reviewer, timezone.now())
    choices = rulings_on(case, desk.panel, desk.letters, desk.blind)
    assert {choice.value.partition(":")[0] for choice in choices} == question.offered
    before = seen(case.match, operator)
    assert preview(case.bundle).as_json() == before
    in_form = {
        choice.value: choice.preview
        for choice in with_previews(case, desk.panel, choices, desk.blind)
    }
    moved = set()
    for choice in choices:
        for number, decision in enumerate(decisions(choice.value)):
            shown = preview_of(case, desk.panel, decision, desk.blind)
            if number == 0 and choice.value != Kind.AMEND:
                assert choice.value in WAITING or in_form[choice.value] == shown
            with pytest.raises(Undone), transaction.atomic():
                actions.rule(case.pk, decision, by=reviewer, version=case.version)
                after = seen(case.match, operator)
                # What others are still to agree to changes nothing yet.
                expected = before if choice.value in WAITING else shown and shown.as_json()
                assert after == expected, decision
                moved.add(after["total"])
                raise Undone
    assert seen(case.match, operator) == before
    assert len(moved) > 1, "no ruling on this case changes anything: the test shows nothing"


def test_what_a_preview_of_a_correction_shows_is_what_the_correction_does(
    question: Question, case: Case, reviewer: User, operator: User
) -> None:
    kind = "dismiss" if case.is_on_finding else "set"
    case = Case.objects.for_page().get(pk=case.pk)
    first = actions.rule(case.pk, Decision(kind, BECAUSE), by=reviewer, version=case.version)
    case = Case.objects.for_page().get(pk=case.pk)
    desk = Desk(case, reviewer, timezone.now())
    for choice in rulings_on(case, desk.panel, desk.letters, desk.blind, is_correction=True):
        for decision in decisions(choice.value):
            shown = preview_of(case, desk.panel, decision, desk.blind)
            with pytest.raises(Undone), transaction.atomic():
                actions.correct_ruling(first.pk, decision, by=reviewer, version=case.version)
                assert seen(case.match, operator) == (shown and shown.as_json()), decision
                raise Undone


@pytest.mark.parametrize(
    ("kinds", "total_moves"), [(("set", "set"), True), (("uphold", "uphold"), False)]
)
def test_two_who_rule_alike_have_the_effect_that_each_was_shown(
    reviewer: User,
    second: User,
    operator: User,
    kinds: tuple[str, str],
    total_moves: bool,
) -> None:
    case = case_of(make_match(stakes="high", challenge="live-migration"))
    before = seen(case.match, operator)
    for person, kind in zip((reviewer, second), kinds, strict=True):
        assert seen(case.match, operator) == before
        commit(case, person)
        fresh = Case.objects.for_page().get(pk=case.pk)
        desk = Desk(fresh, person, timezone.now())
        decision = decision_of(kind, public_reason=BECAUSE)
        shown = preview_of(fresh, desk.panel, decision, desk.blind)
        actions.rule(case.pk, decision, by=person, version=fresh.version)
    after = seen(case.match, operator)
    assert shown is not None
    assert after == shown.as_json()
    assert (after["total"] != before["total"]) == total_moves


def test_a_match_off_the_boards_has_no_rank_before_or_after(reviewer: User, operator: User) -> None:
    case = case_of(make_match())
    exclude_match(case.match, Match.Exclusion.EXCLUDED, by=operator, reason="Entered twice.")
    commit(case, reviewer)
    case = Case.objects.for_page().get(pk=case.pk)
    desk = Desk(case, reviewer, timezone.now())
    decision = Decision("average", BECAUSE)
    shown = preview_of(case, desk.panel, decision, desk.blind)
    actions.rule(case.pk, decision, by=reviewer, version=case.version)
    assert shown is not None
    assert shown.rank is None
    assert seen(case.match, operator) == shown.as_json()
