"""Reading a scorecard and following a number to its evidence, with and without script."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import transaction
from playwright.sync_api import Page, expect

from bouts.models import Bundle, User
from judging import steps
from judging.actions import rule_strategy
from tests.e2e.conftest import OpenPage, Problems
from tests.factories import make_user
from tests.judging.views.making import plain, rich
from tests.matches import store

Shoot = Callable[[Page, str], Path]
Accessible = Callable[[Page], None]


@pytest.fixture
def ines(worker: None) -> User:
    return make_user("ines", teams=("northbank",))


@pytest.fixture
def bundle(worker: None, tmp_path: Path) -> Bundle:
    return rich(tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_a_card_reads_well_and_is_open_to_all(
    bundle: Bundle,
    ines: User,
    page_as: OpenPage,
    accessible: Accessible,
    shoot: Shoot,
    width: int,
    scheme: str,
) -> None:
    page = page_as(ines, width=width, color_scheme=scheme)
    page.goto("/matches/m-1/")
    expect(page.get_by_role("heading", name="Heron 2.3 on Retry-safe refunds")).to_be_visible()
    page.locator("#evidence").scroll_into_view_if_needed()
    expect(page.get_by_text("Events 1 to 8 of 8")).to_be_visible()
    accessible(page)
    shoot(page, f"breakdown-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    "tab", ["Tests", "Timeline", "Diff", "Logs", "Deliverables", "Sandbox", "Scan", "Files"]
)
def test_each_tab_opens_in_the_page_and_is_open_to_all(
    bundle: Bundle, ines: User, page_as: OpenPage, accessible: Accessible, shoot: Shoot, tab: str
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/#evidence")
    page.get_by_role("navigation", name="Evidence").get_by_role(
        "link", name=re.compile(f"^{tab}")
    ).click()
    expect(page.locator("#evidence-tab [aria-current=page]")).to_contain_text(tab)
    assert page.url.endswith("/matches/m-1/#evidence")
    accessible(page)
    shoot(page, f"tab-{tab.lower()}")


def test_evidence_opens_beside_what_it_proves_and_closes_again(
    bundle: Bundle, ines: User, page_as: OpenPage, accessible: Accessible, shoot: Shoot
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/")
    link = page.locator(".seat a.ev").first
    link.click()
    panel = page.get_by_role("region", name="Evidence:")
    expect(panel).to_be_focused()
    expect(panel).to_contain_text("The lock is taken")
    expect(link).to_have_attribute("aria-expanded", "true")
    accessible(page)
    shoot(page, "evidence-in-place")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(link).to_be_focused()
    # In a table the panel gets a row of its own; a second press of the link takes it away.
    page.get_by_text("1 episode").first.click()
    episode = page.locator(".metrics a.ev").first
    episode.press("Enter")
    expect(page.get_by_role("region", name="Evidence:")).to_be_visible()
    episode.press("Enter")
    expect(page.get_by_role("region", name="Evidence:")).to_have_count(0)


def test_an_event_of_the_picture_opens_its_row(
    bundle: Bundle, ines: User, page_as: OpenPage
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/#evidence")
    expect(page.get_by_text("Events 1 to 8 of 8")).to_be_visible()
    page.locator("svg a[aria-label^='#5']").first.click()
    expect(page.locator("#e-5.is-target")).to_be_visible()


def test_without_script_every_link_is_a_page(bundle: Bundle, ines: User, page_as: OpenPage) -> None:
    page = page_as(ines, java_script_enabled=False)
    page.goto("/matches/m-1/")
    page.locator(".seat a.ev").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("NOTES.md:3")
    page.get_by_role("link", name="m-1").click()
    page.get_by_role("navigation", name="Evidence").get_by_role("link", name="Diff").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Evidence of Heron 2.3")
    expect(page.get_by_text("refunds/store.py").first).to_be_visible()


def test_a_page_follows_the_judges_and_shows_the_card_when_they_are_done(
    worker: None,
    ines: User,
    tmp_path: Path,
    page_as: OpenPage,
    accessible: Accessible,
    shoot: Shoot,
) -> None:
    with transaction.atomic():  # no worker is called to it before this is over
        bundle = store(tmp_path)
        transaction.set_rollback(False)
    page = page_as(ines)
    page.goto("/matches/m-1/")
    steps.run_steps(bundle)
    expect(page.get_by_role("heading", name="Judges")).to_be_visible()


def test_a_ruling_and_an_old_card_are_told_apart(
    bundle: Bundle, ines: User, page_as: OpenPage, accessible: Accessible, shoot: Shoot
) -> None:
    lead = make_user("lena", User.Role.LEAD)
    rule_strategy(bundle, None, by=lead, reason="The order of steps is what counts.")
    page = page_as(ines)
    page.goto("/matches/m-1/")
    expect(page.get_by_text("“The order of steps is what counts.”").first).to_be_visible()
    page.get_by_role("link", name=str(bundle.match.scorecards.get(number=1).total)).click()
    expect(page.get_by_text("Superseded by a later revision")).to_be_visible()
    accessible(page)
    shoot(page, "superseded")


def test_lists_and_challenges_are_open_to_all(
    bundle: Bundle,
    ines: User,
    tmp_path: Path,
    page_as: OpenPage,
    accessible: Accessible,
    shoot: Shoot,
) -> None:
    plain(tmp_path / "hal", match="hal-1", agent={"team": "halyard", "name": "Topsail"})
    page = page_as(ines)
    for address, name in (
        ("/matches/", "matches"),
        ("/matches/hal-1/", "of-another-team"),
        ("/challenges/", "challenges"),
        ("/challenges/refunds/", "challenge"),
    ):
        page.goto(address)
        accessible(page)
        shoot(page, name)
    page.goto("/matches/")
    page.get_by_label("Team").select_option("halyard")
    expect(page.locator("#matches tbody tr")).to_have_count(1)
    assert "team=halyard" in page.url


def test_evidence_that_fails_to_come_is_said_and_leaves_no_empty_panel(
    bundle: Bundle, ines: User, page_as: OpenPage, problems: Problems
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/")
    page.route("**/evidence/**", lambda route: route.abort())
    page.locator(".seat a.ev").first.click()
    expect(page.locator(".toast")).to_contain_text("No answer from the server")
    expect(page.get_by_role("region", name="Evidence:")).to_have_count(0)
    problems.expect("ERR_FAILED|htmx|undefined")
