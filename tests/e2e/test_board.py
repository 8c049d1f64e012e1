"""Leaderboard, agent, comparison and search in a real browser: by eye, by key, without script."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bouts.models import Match, User
from tests import matches
from tests.e2e.conftest import OpenPage
from tests.factories import make_user
from tests.judging.views.making import rich
from tests.matches import judge, panel

Shoot = Callable[[Page, str], Path]
Accessible = Callable[[Page], None]
WORSE = {**matches.STATIC, "tests.test_a::test_twice": False}


@pytest.fixture
def ines(worker: None, tmp_path: Path) -> User:
    """A competitor with two agents on one base model, and a rival with a third."""
    two_judges = {"judges": ["objective", "strategy", "integrity"]}
    for number, (name, team, static) in enumerate(
        (
            ("Heron", "northbank", matches.STATIC),
            ("Heron", "northbank", WORSE),
            ("Wren", "northbank", WORSE),
            ("Gull", "halyard", matches.STATIC),
        )
    ):
        judge(
            tmp_path / str(number), match=f"m-{number}", agent={"name": name, "team": team},
            static=[static], challenge=two_judges,
        )  # fmt: skip
    return make_user("ines", teams=("northbank",))


def pages() -> dict[str, str]:
    agent = Match.objects.get(slug="m-0").agent_id
    return {
        "leaderboard": "/leaderboard/refunds/",
        "agent": f"/agents/{agent}/",
        "compare": "/compare/?m=m-0&m=m-2&m=m-3",
        "search": "/search/?q=m-",
        "challenge": "/challenges/refunds/",
        "matches": "/matches/",
    }


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (360, "dark")])
def test_they_read_well_and_are_open_to_all(
    ines: User, page_as: OpenPage, accessible: Accessible, shoot: Shoot, width: int, scheme: str
) -> None:
    page = page_as(ines, width=width, color_scheme=scheme)
    for name, address in pages().items():
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        shoot(page, f"board-{name}-{width}-{scheme}")


def test_a_picture_is_fetched_near_the_screen_and_follows_the_scheme(
    ines: User, page_as: OpenPage, shoot: Shoot
) -> None:
    page = page_as(ines, height=400)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(pages()["agent"])
    page.wait_for_load_state("networkidle")
    assert not [url for url in fetched if "plotly" in url]
    page.locator("#form").scroll_into_view_if_needed()
    expect(page.locator("[data-plot][data-drawn] .main-svg").first).to_be_visible()
    ink = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    light = page.evaluate(ink)
    page.get_by_role("radio", name="Dark").check()
    page.wait_for_function(f"{ink} !== {light!r}")
    shoot(page, "board-form-dark")


def test_slash_goes_to_the_search_but_not_while_somebody_types(
    ines: User, page_as: OpenPage
) -> None:
    page = page_as(ines)
    page.goto("/leaderboard/")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Find a match, agent or challenge")
    expect(field).to_be_focused()
    page.keyboard.type("her/")
    expect(field).to_have_value("her/")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Heron 2.3").click()
    expect(page.get_by_role("heading", level=1, name="Heron 2.3")).to_be_visible()


def test_two_clicks_lead_from_the_board_to_why_points_were_lost_in_strategy(
    ines: User, page_as: OpenPage
) -> None:
    page = page_as(ines)
    page.goto("/leaderboard/refunds/")
    page.get_by_role("link", name="Heron 2.3").click()
    page.locator("#mend ~ ol a").first.click()
    expect(page.locator(":target")).to_be_in_viewport()
    expect(page.locator(".judge-card:has(:target) .rationale")).to_contain_text(
        "All three lie within 15 points"
    )


def test_two_matches_are_ticked_and_compared_by_key_alone(ines: User, page_as: OpenPage) -> None:
    page = page_as(ines)
    page.goto("/matches/")
    for slug in ("m-0", "m-2"):
        page.get_by_role("checkbox", name=f"Compare {slug}").focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare the ticked").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("They part company here", exact=False).first).to_be_attached()
    expect(page.get_by_text("test_twice")).to_be_visible()
    page.reload()
    expect(page.get_by_text("test_twice")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Matches")).to_be_visible()


def test_without_script_all_of_it_is_there(ines: User, page_as: OpenPage) -> None:
    page = page_as(ines, java_script_enabled=False)
    page.goto("/leaderboard/refunds/")
    for name in ("Heron", "Wren"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("button", name="Compare the ticked").click()
    expect(page.get_by_text("One base model, quill-4")).to_be_visible()
    page.goto(pages()["agent"])
    expect(page.locator(".plot")).to_be_hidden()
    expect(page.get_by_role("table").last).to_contain_text("m-1")


def test_times_are_in_the_zone_of_the_browser_and_say_so(
    ines: User, page_as: OpenPage, tmp_path: Path
) -> None:
    rich(tmp_path / "rich", match="r-1")
    page = page_as(ines, timezone_id="Asia/Kolkata")
    page.goto("/matches/")
    page.goto("/matches/")  # the browser has said by now where it is
    expect(page.get_by_text("12 Mar 2026, 19:30 IST").first).to_be_visible()
    expect(page.get_by_text("Times of Asia/")).to_be_visible()


@pytest.mark.parametrize("has_script", [True, False])
def test_from_the_board_to_why_points_were_lost_takes_three_clicks(
    worker: None, tmp_path: Path, page_as: OpenPage, has_script: bool
) -> None:
    """Strategy weighs 20 of 65 parts here: at 73.1875 of 100 it loses 8.25 points."""
    judge(
        tmp_path, match="m-1", challenge={"judges": ["objective", "strategy", "integrity"]},
        verdicts=panel(73.1875, 73.1875, 73.1875),
    )  # fmt: skip
    page = page_as(make_user("ines", teams=("northbank",)), java_script_enabled=has_script)
    page.goto("/leaderboard/")
    page.get_by_role("rowheader").get_by_role("link", name="Heron").click()
    lost = page.get_by_role("listitem").filter(has_text="Strategy").filter(has_text="8.25 lost")
    lost.get_by_role("link", name="m-1").first.click()
    expect(page).to_have_url(re.compile(r"/matches/m-1/#strategy"))
    expect(page.locator("#strategy")).to_be_in_viewport()
    expect(page.get_by_text("Seat anthropic thinks.")).to_be_visible()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Strategy", exact=True))
    row.locator("summary").click()
    expect(row.get_by_text("73.19").first).to_be_visible()
    expect(row.locator("details")).to_contain_text("22.52")
