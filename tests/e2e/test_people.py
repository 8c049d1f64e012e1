"""The frame of all pages and the people pages, as people use them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from bouts.actions import people
from bouts.models import User
from tests.e2e.conftest import OpenPage, Problems
from tests.factories import PASSWORD, make_team, make_user

WEEK = timedelta(days=7)
PAGES = (
    "/people/",
    "/people/?q=nobody",
    "/people/ines/",
    "/invitations/",
    "/teams/",
    "/teams/northbank/",
    "/audit/",
    "/account/",
    "/account/password/",
)


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name or email").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_every_page_is_accessible_and_fits_its_window(
    width: int,
    color_scheme: str,
    page_as: OpenPage,
    accessible: Callable[[Page], None],
    shoot: Callable[[Page, str], object],
    operator: User,
    competitor: User,
) -> None:
    people.invite_person("a.long.address@research.example", "lead", None, WEEK, by=operator)
    people.change_role(competitor.pk, "lead", by=operator, reason="For the finals.")
    people.create_token(competitor, "notebook", ["read"], WEEK)
    page = page_as(operator, width=width, color_scheme=color_scheme)
    for address in PAGES:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
        accessible(page)
        name = address.strip("/").replace("/", "-").replace("?", "-")
        shoot(page, f"{name}-{width}-{color_scheme}")


def test_a_chosen_theme_stays(page_as: OpenPage, competitor: User) -> None:
    page = page_as(competitor, color_scheme="light")
    page.goto("/account/")
    light = page.evaluate("getComputedStyle(document.body).color")
    page.get_by_role("radio", name="Dark").check()
    dark = page.evaluate("getComputedStyle(document.body).color")
    assert dark != light
    page.goto("/account/password/")
    assert page.evaluate("getComputedStyle(document.body).color") == dark
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    page.get_by_role("radio", name="System").check()
    assert page.evaluate("getComputedStyle(document.body).color") == light


def test_a_login_that_expires_while_typing_loses_nothing(page_as: OpenPage, operator: User) -> None:
    page = page_as(operator)
    page.goto("/invitations/")
    page.get_by_label("Email").fill("noor@example.test")
    page.get_by_label("Role").select_option("lead")
    page.context.clear_cookies(name="sessionid")

    page.get_by_role("button", name="Make the link").click()
    sign_in(page, "tomas")
    expect(page).to_have_url("/invitations/")
    expect(page.get_by_label("Email")).to_have_value("noor@example.test")
    expect(page.get_by_label("Role")).to_have_value("lead")
    expect(page.get_by_text("What you had typed here is back.")).to_be_visible()

    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_label("The link for noor@example.test")).to_be_visible()
    page.goto("/invitations/")  # the server has it: the draft is gone
    expect(page.get_by_label("Email")).to_have_value("")


def test_a_draft_can_be_discarded_and_is_nobody_elses(page_as: OpenPage, operator: User) -> None:
    page = page_as(operator)
    page.goto("/invitations/")
    page.get_by_label("Email").fill("noor@example.test")
    page.reload()
    expect(page.get_by_label("Email")).to_have_value("noor@example.test")
    page.get_by_role("button", name="Discard it").click()
    expect(page.get_by_label("Email")).to_have_value("")
    page.reload()
    expect(page.get_by_label("Email")).to_have_value("")

    page.get_by_label("Email").fill("noor@example.test")
    page.get_by_role("button", name="Sign out").click()
    make_user("olga", User.Role.OPS)
    page.goto("/sign-in/?next=/invitations/")
    sign_in(page, "olga")
    expect(page.get_by_label("Email")).to_have_value("")
    assert page.evaluate("Object.keys(sessionStorage).filter(key => key.startsWith('keep:'))") == []


def test_a_secret_is_copied_by_a_button(page_as: OpenPage, competitor: User, site: str) -> None:
    page = page_as(competitor, permissions=["clipboard-read", "clipboard-write"])
    page.goto("/account/")
    page.get_by_label("Name").fill("notebook")
    page.get_by_role("button", name="Make a token").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.get_by_label("Your new token").input_value()
    assert copied.startswith("bouts_")


def test_a_filter_is_applied_as_it_is_chosen_and_back_undoes_it(
    page_as: OpenPage, operator: User, competitor: User
) -> None:
    page = page_as(operator)
    page.goto("/people/")
    rows = page.locator("#people tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_label("Role").select_option("ops")
    expect(rows).to_have_count(1)
    page.go_back()
    expect(rows).to_have_count(2)
    expect(page.locator("header.masthead")).to_have_count(1)
    page.get_by_role("radio", name="Dark").check()  # what Back brought works too
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_an_answer_that_fails_is_said(
    page_as: OpenPage, operator: User, problems: Problems
) -> None:
    page = page_as(operator)
    page.goto("/people/")
    page.route("**/people/?*", lambda route: route.fulfill(status=503, body="down"))
    page.get_by_label("Role").select_option("ops")
    expect(page.get_by_text("Nothing was saved; try again.")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Nothing was saved; try again.")).to_have_count(0)
    problems.expect("503")


def test_the_pages_work_without_script(page_as: OpenPage, operator: User) -> None:
    make_team()
    page = page_as(java_script_enabled=False)
    page.goto("/people/")
    sign_in(page, "tomas")
    page.get_by_label("Role").select_option("reviewer")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Nobody fits these filters")).to_be_visible()
    page.goto("/invitations/")
    expect(page.locator("#theme")).to_be_hidden()
    page.get_by_label("Email").fill("noor@example.test")
    page.get_by_label("Team").select_option("northbank")
    page.get_by_role("button", name="Make the link").click()
    link = page.get_by_label("The link for noor@example.test").input_value()
    page.get_by_role("button", name="Sign out").click()

    page.goto(link)
    page.get_by_label("Sign-in name").fill("noor")
    page.get_by_label("Your name").fill("Noor Aziz")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    page.goto("/account/")
    expect(page.get_by_role("heading", name="Noor Aziz")).to_be_visible()
