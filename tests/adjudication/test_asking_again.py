"""The panel is asked again by real seats over HTTP, played by a server of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from adjudication import actions
from adjudication.actions import Decision
from adjudication.desk import Desk
from adjudication.models import AskAgain, Case, Claim
from adjudication.refusals import BadDecision, NobodyToAsk, NothingToWaitFor, PanelAskedAlready
from bouts.models import AuditEntry, User
from judging import asks
from judging.models import Scorecard, Step
from judging.steps import run_steps
from tests.adjudication.making import GOOD_LEVELS, case_of, make_match
from tests.judging import asking
from tests.vendors import replies
from tests.vendors.server import VendorServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tallies_hold")]
BECAUSE = "The seats read the brief in two ways."


def play(vendors: VendorServer, anthropic: int, openai: int, google: int) -> None:
    levels = {"anthropic": anthropic, "openai": openai, "google": google}
    for name, level in levels.items():
        vendors.play(name, replies.good(level))


@pytest.fixture
def vendors(
    vendor_server: VendorServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> VendorServer:
    settings.SEATS = asking.seats(vendor_server)
    asking.hurry(monkeypatch)
    return vendor_server


@pytest.fixture
def split(vendors: VendorServer, tmp_path: Path) -> Case:
    """A panel of 0, 50 and 100."""
    play(vendors, 1, 3, 5)
    bundle = asking.store(tmp_path)
    run_steps(bundle)
    return case_of(bundle.match)


def committed(case: Case, by: User) -> Case:
    actions.claim_case(case.pk, by=by)
    actions.commit_score(case.pk, by=by, levels=GOOD_LEVELS, reason="A plan.")
    return Case.objects.get(pk=case.pk)


def ask(case: Case, by: User) -> None:
    actions.ask_again(case.pk, by=by, version=case.version, public_reason=BECAUSE)


def live(case: Case) -> Scorecard:
    return Scorecard.objects.live().get(match=case.match_id)


def test_the_case_waits_for_the_panel_and_the_score_stays_until_it_has_answered(
    split: Case, vendors: VendorServer, reviewer: User
) -> None:
    before = live(split)
    ask(committed(split, reviewer), reviewer)
    split.refresh_from_db()
    assert split.state == Case.State.AWAITING_PANEL
    assert not Claim.objects.live().exists()
    assert live(split) == before
    assert actions.claim_next(by=reviewer) is None


def test_both_panels_stand_side_by_side_and_the_same_case_comes_back(
    split: Case, vendors: VendorServer, reviewer: User
) -> None:
    ask(committed(split, reviewer), reviewer)
    play(vendors, 1, 4, 5)
    run_steps(split.bundle)
    split.refresh_from_db()
    assert split.state == Case.State.OPEN
    assert Case.objects.get(reason="panel_disagreement") == split
    desk = Desk(split, reviewer, timezone.now())
    said = {verdict.seat: (first.score, verdict.score) for _, first, verdict in desk.both_panels}
    assert said == {"anthropic": (0, 0), "openai": (50, 75), "google": (100, 100)}
    # What this reviewer thought before any reveal stands; nobody is blind twice.
    assert desk.blind is not None
    asked = [request for request in vendors.asked("openai")]
    assert len(asked) >= 2
    shown = desk.evidence.sent_digests
    assert len(shown) == 1, "the same evidence, by its hash"


def test_a_panel_that_agrees_at_last_is_signed_by_the_reviewer_all_the_same(
    split: Case, vendors: VendorServer, reviewer: User
) -> None:
    ask(committed(split, reviewer), reviewer)
    play(vendors, 4, 4, 4)
    run_steps(split.bundle)
    split.refresh_from_db()
    assert (split.state, split.blocking) == (Case.State.OPEN, False)
    assert live(split).status == "final"
    actions.claim_case(split.pk, by=reviewer)
    ruling = actions.rule(split.pk, Decision("uphold", BECAUSE), by=reviewer, version=split.version)
    assert ruling.score == 75
    split.refresh_from_db()
    assert split.state == Case.State.DECIDED


def test_the_panel_is_asked_again_once_a_case(
    split: Case, vendors: VendorServer, reviewer: User
) -> None:
    ask(committed(split, reviewer), reviewer)
    run_steps(split.bundle)
    split.refresh_from_db()
    assert split.state == Case.State.OPEN, "the same words again are an answer too"
    actions.claim_case(split.pk, by=reviewer)
    with pytest.raises(PanelAskedAlready):
        ask(split, reviewer)
    assert AskAgain.objects.count() == 1


def test_without_seats_there_is_nobody_to_ask(case: Case, reviewer: User, client_of) -> None:
    held = committed(case, reviewer)
    with pytest.raises(NobodyToAsk):
        ask(held, reviewer)
    assert not AskAgain.objects.exists()
    page = client_of(reviewer).get(case.get_absolute_url()).content.decode()
    assert "Ask the panel again" not in page


def test_uploaded_votes_give_way_to_the_seats_that_are_asked(
    vendors: VendorServer, reviewer: User, settings: Settings, client_of
) -> None:
    seats, settings.SEATS = settings.SEATS, {n: {**s, "key": ""} for n, s in settings.SEATS.items()}
    case = case_of(make_match())
    settings.SEATS = seats
    client = client_of(reviewer)
    held = committed(case, reviewer)
    assert "Ask the panel again" in client.get(case.get_absolute_url()).content.decode()
    form = {"ruling": "ask_again", "version": held.version, "public_reason": BECAUSE}
    answer = client.post(f"{case.get_absolute_url()}rule/", form, follow=True)
    assert "waits for the panel" in answer.content.decode()
    play(vendors, 1, 3, 5)
    run_steps(case.bundle)
    case.refresh_from_db()
    assert case.state == Case.State.OPEN
    page = client.get(case.get_absolute_url()).content.decode()
    for words in ("Both panels, seat by seat", "92.00", "100.00", BECAUSE):
        assert words in page


# The panel does not answer

SILENT = "The vendor has been down since noon."


@pytest.fixture
def waiting(split: Case, reviewer: User) -> Case:
    ask(committed(split, reviewer), reviewer)
    return Case.objects.get(pk=split.pk)


def said(case: Case) -> dict[str, float]:
    seats = case.bundle.verdicts.filter(judge="strategy", is_live=True).exclude(score=None)
    return {verdict.seat: float(verdict.score) for verdict in seats}


def test_the_same_case_is_open_again_on_what_the_seats_have_said(
    waiting: Case,
    reviewer: User,
    lead: User,
    vendors: VendorServer,
) -> None:
    before = live(waiting)
    case = actions.end_wait(waiting.pk, by=lead, reason=SILENT)
    assert (case.pk, case.state) == (waiting.pk, Case.State.OPEN)
    assert case.version > waiting.version
    assert said(case) == {"anthropic": 0, "openai": 50, "google": 100}
    assert live(case).total == before.total
    entry = AuditEntry.objects.get(action="end_wait")
    assert (entry.actor, entry.reason) == (lead, SILENT)
    # Whoever was blind once needs not be again, and what they decide stands.
    actions.claim_case(case.pk, by=reviewer)
    actions.rule(case.pk, Decision("average", BECAUSE), by=reviewer, version=case.version)
    play(vendors, 5, 5, 5)
    run_steps(case.bundle)
    case.refresh_from_db()
    assert case.state == Case.State.DECIDED
    assert live(case).strategy == 50


def test_a_seat_that_has_answered_anew_counts_and_the_others_keep_their_word(
    waiting: Case,
    operator: User,
    reviewer: User,
    vendors: VendorServer,
) -> None:
    play(vendors, 2, 2, 2)
    first = Step.objects.get(pk=asks.free(waiting.bundle_id)[0])
    asks.put(first.pk)
    case = actions.end_wait(waiting.pk, by=operator, reason=SILENT)
    assert (case.pk, case.state) == (waiting.pk, Case.State.OPEN)
    assert said(case) == {"anthropic": 0, "openai": 50, "google": 100, first.seat: 25}
    assert Desk(case, reviewer, timezone.now()).both_panels


def test_where_no_seat_of_ours_ever_answered_the_uploaded_panel_stands(
    vendors: VendorServer,
    reviewer: User,
    lead: User,
    settings: Settings,
) -> None:
    seats, settings.SEATS = settings.SEATS, {n: {**s, "key": ""} for n, s in settings.SEATS.items()}
    uploaded = case_of(make_match())
    settings.SEATS = seats
    ask(committed(uploaded, reviewer), reviewer)
    case = actions.end_wait(uploaded.pk, by=lead, reason=SILENT)
    assert (case.pk, case.state) == (uploaded.pk, Case.State.OPEN)
    assert said(case) == {"anthropic": 92, "openai": 60, "google": 76}
    assert live(case).status == "provisional"


def test_it_takes_a_lead_or_ops_a_reason_and_a_case_that_waits(
    waiting: Case, reviewer: User, lead: User
) -> None:
    with pytest.raises(PermissionDenied):
        actions.end_wait(waiting.pk, by=reviewer, reason=SILENT)
    with pytest.raises(BadDecision):
        actions.end_wait(waiting.pk, by=lead, reason=" ")
    actions.end_wait(waiting.pk, by=lead, reason=SILENT)
    with pytest.raises(NothingToWaitFor):
        actions.end_wait(waiting.pk, by=lead, reason=SILENT)
    assert AuditEntry.objects.filter(action="end_wait").count() == 1


def test_the_button_is_for_leads_and_ops(
    waiting: Case,
    reviewer: User,
    lead: User,
    operator: User,
    client_of: Callable[[User], Client],
) -> None:
    page, form = waiting.get_absolute_url(), {"reason": SILENT}
    address = f"{page}end-wait/"
    for person, has_button in ((reviewer, False), (lead, True), (operator, True)):
        shown = client_of(person).get(page).content.decode()
        assert ("End the wait" in shown) == has_button
    assert client_of(reviewer).post(address, form).status_code == 403
    assert "Say why" in client_of(lead).post(address, follow=True).content.decode()
    assert "waits no longer" in client_of(lead).post(address, form, follow=True).content.decode()
    late = client_of(operator).post(address, form, follow=True).content.decode()
    assert "does not wait" in late


def test_a_lead_in_conflict_finds_nothing_there(
    waiting: Case, lead: User, client_of: Callable[[User], Client]
) -> None:
    actions.declare_conflict(by=lead, match=waiting.match)
    answer = client_of(lead).post(f"{waiting.get_absolute_url()}end-wait/", {"reason": SILENT})
    assert answer.status_code == 404
