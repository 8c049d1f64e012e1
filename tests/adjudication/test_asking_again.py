"""The panel is asked again by real seats over HTTP, played by a server of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from adjudication import actions
from adjudication.actions import Decision
from adjudication.desk import Desk
from adjudication.models import AskAgain, Case, Claim
from adjudication.refusals import NobodyToAsk, PanelAskedAlready
from bouts.models import User
from judging.models import Scorecard
from judging.steps import run_steps
from tests.adjudication.making import GOOD_LEVELS, case_of, make_match
from tests.judging import asking
from tests.vendors import replies
from tests.vendors.server import VendorServer

pytestmark = pytest.mark.django_db
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
