"""What was searched, and two matches side by side, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.factories import make_user
from tests.judging.detectors.test_plagiarism import CODE, fought, renamed


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_staff_go_from_a_finding_to_both_matches_side_by_side(
    worker: None,
    tmp_path: Path,
    page_as: OpenPage,
    accessible: Callable[[Page], None],
    shoot: Callable[[Page, str], Path],
    width: int,
    scheme: str,
) -> None:
    fought(tmp_path, "source", CODE, hour=10)
    fought(tmp_path, "copy", renamed(CODE), hour=11, team="halyard")
    page = page_as(make_user("olga", "ops"), width=width, color_scheme=scheme)
    page.goto("/matches/copy/")
    page.get_by_text("What was searched").click()
    expect(page.get_by_role("region", name="What was searched")).to_be_visible()
    accessible(page)
    shoot(page, f"integrity-{width}-{scheme}")
    page.get_by_role("link", name="Which match it is like, side by side").click()
    page.get_by_role("link", name="copy and source").click()
    expect(page.get_by_role("heading", name="copy and source")).to_be_visible()
    accessible(page)
    shoot(page, f"likeness-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
