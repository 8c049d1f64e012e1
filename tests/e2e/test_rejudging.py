"""A rejudging in a real browser, previewed and applied by a real worker."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from bouts.models import User
from judging.models import Rejudging, Scorecard
from tests import live, matches
from tests.e2e.conftest import Look, OpenPage
from tests.judging.rejudging.making import make_match, mend

WORK_MS = 60_000  # what the worker may take on a busy machine
REASON = "The test of the lock was graded too high; it is medium from version 2 on."


@pytest.fixture
def mended(worker: None, tmp_path: Path) -> None:
    """Three matches, one with a finding, on a challenge that was mended since."""
    make_match(tmp_path, "m-1")
    make_match(tmp_path, "m-2", name="Wren", hidden=[matches.HIDDEN])
    finding = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
    make_match(tmp_path, "m-3", name="Kite", findings=[finding])
    mend(tmp_path / "mended")


def test_ops_choose_preview_and_apply_and_the_team_reads_why(
    page_as: OpenPage, mended: None, operator: User, competitor: User, look: Look
) -> None:
    team = page_as(competitor)
    team.goto("/matches/m-1/")
    before = team.locator("#revisions ~ ol").inner_text()
    page = page_as(operator)
    page.goto("/rejudgings/")
    look(page, "rejudgings-none")
    page.get_by_role("link", name="New rejudging").first.click()
    page.locator("#id_challenge").select_option("refunds")
    page.get_by_label("Public reason").fill(REASON)
    look(page, "rejudging-new")
    page.get_by_role("button", name="Preview").click()

    # The page follows the worker by itself.
    expect(page.get_by_text("A preview: nothing of it counts")).to_be_visible(timeout=WORK_MS)
    row = page.locator("tr", has=page.get_by_role("link", name="m-1", exact=True))
    expect(row).to_contain_text("Objective 73.33 → 83.33")
    expect(row).to_contain_text("challenge version 1 → 2")
    look(page, "rejudging-preview")
    team.reload()
    assert team.locator("#revisions ~ ol").inner_text() == before
    assert Scorecard.objects.filter(cause="rejudge").count() == 0

    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Applied by tomas")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text("3 new scorecards")).to_be_visible()
    look(page, "rejudging-applied")
    page.goto("/rejudgings/")
    look(page, "rejudgings")

    team.reload()
    revisions = team.locator("#revisions ~ ol")
    expect(revisions).to_contain_text("Revision 2. Rejudged; was")
    expect(revisions).to_contain_text(REASON)
    expect(revisions).to_contain_text("challenge version 1 → 2")
    team.goto("/notices/")
    expect(team.get_by_text(REASON).first).to_be_visible()
    look(team, "rejudging-notices")


def test_without_script_it_is_previewed_and_dropped_by_keyboard(
    page_as: OpenPage, mended: None, operator: User
) -> None:
    page = page_as(operator, java_script_enabled=False, width=360)
    page.goto("/rejudgings/new/?match=m-1")
    expect(page.locator("#id_match")).to_have_value("m-1")
    page.get_by_label("Public reason").fill(REASON)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rejudging")).to_be_visible()

    def has_come() -> bool:
        page.reload()
        return page.get_by_role("button", name="Apply").count() == 1

    live.wait_until(has_come, "the preview", timeout_s=60)
    page.get_by_role("button", name="Drop").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing of it counts.").first).to_be_visible()
    assert Rejudging.objects.get().state == Rejudging.State.DROPPED
    assert Scorecard.objects.filter(cause="rejudge").count() == 0
