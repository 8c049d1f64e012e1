"""What a reviewer does at a case, as the hand does it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from adjudication.models import Case

THOUGHT = "A real plan and a clean second idea. The lock came late."
BECAUSE = "The three votes together say it fairly."
WHY = "Why, in a sentence or two"


def claim(page: Page, case: Case) -> None:
    page.goto(case.get_absolute_url())
    page.get_by_role("button", name="Claim").click()
    expect(page.get_by_text(f"{case} is yours")).to_be_visible()


def fill_card(page: Page, level: int = 4) -> None:
    for criterion in page.locator("[data-levels] .criterion").all():
        criterion.locator("label").nth(level - 1).click()
    page.get_by_label(WHY).fill(THOUGHT)


def commit(page: Page, level: int = 4) -> None:
    fill_card(page, level)
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_text(f"Committed: {25 * (level - 1)}.00")).to_be_visible()


def sign(page: Page, ruling: str, because: str = BECAUSE) -> None:
    page.get_by_label(re.compile(ruling)).check()
    page.get_by_label("Public reason").fill(because)
    page.get_by_role("button", name="Sign the ruling").click()


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what bears this name has the focus, as somebody without a mouse does."""
    wanted = page.get_by_label(re.compile(name)).first
    for _ in range(80):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab does not lead to {name}.")
