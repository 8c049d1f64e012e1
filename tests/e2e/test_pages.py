"""Every page of a season as competitors and ops come to it: narrow and wide, dark and light,
without script, and by keyboard from the first key on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bouts.models import Match, User
from tests.e2e.conftest import OpenPage, Problems
from tests.factories import make_user
from tests.judging.views import making
from tests.matches import found

# Longer than a narrow window, and without a place to break it.
LONG = "tests.test_a::test_amounts_are_exact[1234567.89-123456789-a_currency_without_minor_unit]"


@pytest.fixture
def season(worker: None, tmp_path: Path) -> User:
    """Two matches of two teams, one with a name in its evidence that fits no line; its ops."""
    case = LONG.partition("::")[2]
    static = making.STATIC_RESULTS.replace(
        "</testsuite>", f'<testcase classname="tests.test_a" name="{case}"/></testsuite>'
    )
    listed = {"id": LONG, "suite": "static", "severity": "high"}
    cited = found("false_confidence", "static-1.xml", f"test:static/{LONG}", note="It fails.")
    making.rich(
        tmp_path / "1",
        static=[static, static],
        challenge={"tests": [*making.TESTS, listed]},
        findings=[*making.FINDINGS, cited],
    )
    making.rich(
        tmp_path / "2", match="m-2", agent={"team": "halyard", "name": "Gull"},
        static=[static], challenge={"tests": [*making.TESTS, listed]},
    )  # fmt: skip
    return make_user("olga", User.Role.OPS)


def addresses() -> Iterator[str]:
    match = Match.objects.get(slug="m-1")
    yield from ("/leaderboard/", "/leaderboard/refunds/", "/leaderboard/?q=nobody")
    yield from ("/matches/", "/matches/?q=nothing", "/matches/m-1/", "/matches/m-1/?as=others")
    yield from ("/matches/m-1/revisions/1/", "/matches/m-1/likeness/", "/matches/m-1/calls/")
    yield from ("/matches/m-1/exclusion/", "/matches/m-1/judge-again/")
    yield from ("/compare/", "/compare/?m=m-1&m=m-2", "/search/?q=m-", "/search/?q=nothing")
    yield from (f"/agents/{match.agent_id}/", "/challenges/", "/challenges/refunds/")
    yield from ("/challenges/refunds/state/", "/work/", "/judges/", "/upload/")
    yield from ("/schemas/", "/api/", "/nowhere/")


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


# Those that no other test here opens at both widths.
REST = (
    "/matches/m-1/?as=others", "/matches/m-1/calls/", "/matches/m-1/exclusion/",
    "/matches/m-1/judge-again/", "/compare/", "/search/?q=nothing", "/leaderboard/?q=nobody",
    "/challenges/", "/challenges/refunds/state/", "/judges/", "/schemas/",
)  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_the_pages_between_the_large_ones_are_open_to_all(
    season: User,
    page_as: OpenPage,
    accessible: Callable[[Page], None],
    shoot: Callable[[Page, str], Path],
    width: int,
    scheme: str,
) -> None:
    page = page_as(season, width=width, color_scheme=scheme)
    for at, address in enumerate(REST):
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        accessible(page)
        assert fits(page), address
        shoot(page, f"rest-{at}-{width}-{scheme}")


def test_every_page_says_all_without_script_and_begins_with_a_way_past_its_head(
    season: User, page_as: OpenPage, problems: Problems
) -> None:
    page = page_as(season, width=360, java_script_enabled=False)
    for address in addresses():
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        assert fits(page), address
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    problems.expect("404")  # the page that says so is one of them


def test_a_board_and_a_card_fit_a_sheet_of_paper(season: User, page_as: OpenPage) -> None:
    page = page_as(season, color_scheme="dark")
    for address, width in (
        ("/matches/m-1/", 672),  # A4 less its margins, upright
        ("/compare/?m=m-1&m=m-2", 1000),  # and across, as boards and comparisons are
        ("/leaderboard/", 1000),
    ):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        page.emulate_media(media="print")
        assert fits(page), address
        paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
        page.emulate_media(media="screen")
