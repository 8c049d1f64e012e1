"""The evidence of a match by every way in: without script, by keyboard, narrow, dark, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bouts.models import Bundle, User
from tests.e2e.conftest import OpenPage
from tests.factories import make_user
from tests.judging.views.making import rich
from tests.judging.views.test_hostile import store_hostile

Shoot = Callable[[Page, str], Path]
Accessible = Callable[[Page], None]

TABS = ("tests", "timeline", "diff", "logs", "deliverables", "sandbox", "scan", "files")


@pytest.fixture
def ines(worker: None) -> User:
    return make_user("ines", teams=("northbank",))


@pytest.fixture
def bundle(worker: None, tmp_path: Path) -> Bundle:
    return rich(tmp_path)


def tab_link(page: Page, name: str) -> None:
    evidence = page.get_by_role("navigation", name="Evidence")
    evidence.get_by_role("link", name=re.compile(f"^{name}")).click()
    expect(page.locator("#evidence-tab [aria-current=page]")).to_contain_text(name)


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_every_tab_fits_and_is_open_to_all(
    bundle: Bundle,
    ines: User,
    page_as: OpenPage,
    accessible: Accessible,
    shoot: Shoot,
    width: int,
    scheme: str,
) -> None:
    page = page_as(ines, width=width, color_scheme=scheme)
    for tab in TABS:
        page.goto(f"/matches/m-1/evidence/{tab}/")
        accessible(page)
        shoot(page, f"evidence-{tab}-{width}-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab


def test_how_a_number_came_about_unfolds_by_keyboard(
    bundle: Bundle, ines: User, page_as: OpenPage, accessible: Accessible
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/")
    how = page.locator(".ledger details.how").first
    summary = how.locator("summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(how).to_have_attribute("open", "")
    expect(how).to_contain_text("÷ 100 =")
    # A judge's card folds likewise, and opens for whoever is led to it.
    card = page.locator("details.judge-card", has=page.locator("#strategy"))
    card.locator("summary.judge-head").press("Enter")
    expect(page.locator(".seat").first).to_be_hidden()
    page.locator(".ledger").get_by_role("link", name="Strategy").press("Enter")
    expect(page.locator(".seat").first).to_be_visible()
    accessible(page)


def test_back_and_reload_keep_the_tab_that_was_read(
    bundle: Bundle, ines: User, page_as: OpenPage
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/#evidence")
    current = page.locator("#evidence-tab [aria-current=page]")
    expect(current).to_contain_text("Timeline")
    tab_link(page, "Tests")
    tab_link(page, "Diff")
    page.reload()
    expect(current).to_contain_text("Diff")
    page.go_back()
    expect(current).to_contain_text("Tests")
    page.go_back()
    expect(current).to_contain_text("Timeline")
    page.go_forward()
    expect(current).to_contain_text("Tests")
    page.get_by_role("link", name="Open this tab as a page").click()
    expect(page).to_have_url(re.compile(r"/matches/m-1/evidence/tests/$"))
    page.go_back()
    expect(page.get_by_role("heading", name="Judges")).to_be_visible()
    expect(current).to_contain_text("Tests")


def test_a_hunk_opened_in_place_is_coloured_and_leads_to_its_file(
    bundle: Bundle, ines: User, page_as: OpenPage
) -> None:
    page = page_as(ines)
    page.goto("/matches/m-1/")
    page.locator(".seat a.ev", has_text="store.py").first.click()
    keyword = page.locator(".evidence-panel .diff .k").first
    plain = page.locator(".evidence-panel .diff td").last
    weight = "element => getComputedStyle(element).fontWeight"
    assert keyword.evaluate(weight) != plain.evaluate(weight)
    page.get_by_role("link", name="Open as a page").click()
    page.get_by_role("link", name="All of its kind").click()
    expect(page.locator("#at.is-target")).to_be_visible()


def test_without_script_one_searches_a_log_and_keeps_a_run_to_a_kind(
    bundle: Bundle, ines: User, page_as: OpenPage
) -> None:
    page = page_as(ines, java_script_enabled=False, width=360)
    page.goto("/matches/m-1/evidence/logs/")
    page.get_by_role("link", name="build.log").click()
    page.get_by_label("Find in this file").fill("line 321")
    page.get_by_role("button", name="Go", exact=True).click()
    page.get_by_role("region", name="Lines found").get_by_role("link", name="321").click()
    expect(page.locator("#l-321.is-target")).to_be_visible()
    page.goto("/matches/m-1/evidence/timeline/")
    page.get_by_role("navigation", name="Kinds of event").get_by_role("link", name="Test").click()
    expect(page.locator("tr[id^=e-]")).to_have_count(2)


def test_staff_who_look_through_other_eyes_are_told_on_every_page(
    bundle: Bundle, worker: None, page_as: OpenPage, accessible: Accessible
) -> None:
    page = page_as(make_user("tomas", User.Role.OPS))
    page.goto("/matches/m-1/")
    page.get_by_role("link", name="The team").click()
    banner = page.get_by_text("You look through the eyes of the team.")
    expect(banner).to_be_visible()
    accessible(page)
    page.goto(page.locator(".seat a.ev").first.get_attribute("href") or "")
    expect(banner).to_be_visible()
    page.get_by_role("link", name="Back to all that staff see").click()
    expect(banner).to_have_count(0)


@pytest.mark.timeout(300)
def test_what_strangers_wrote_does_nothing_in_a_browser(
    worker: None, ines: User, operator: User, page_as: OpenPage, tmp_path: Path
) -> None:
    """Beside what `Problems` sees, such as a breach of the policy: no dialog opens, nothing leads away."""
    bundle = store_hostile(tmp_path)
    page = page_as(operator)
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: opened.append(popup.url))
    files = [f"evidence/{digest}/" for digest in bundle.artifacts.values_list("blob_id", flat=True)]
    tabs = [f"evidence/{tab}/" for tab in TABS]
    for address in (
        *(f"/matches/m-1/{part}" for part in ("", *tabs, *files)),
        *("/matches/", "/search/?q=Heron", "/leaderboard/", "/challenges/refunds/", "/judges/"),
        f"/agents/{bundle.match.agent_id}/",
        "/notices/",
    ):
        page.goto(address)
        for plot in page.locator("[data-plot]").all():
            plot.scroll_into_view_if_needed()
            expect(plot).to_have_attribute("data-drawn", "")
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        expect(page.locator("main")).to_be_visible()
        assert page.url.endswith(address)
    assert opened == []
