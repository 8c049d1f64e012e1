"""The instruments of the other tests here: a broken one would let everything pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from bouts.models import User
from tests.e2e.conftest import OpenPage, Problems


def add_element(page: Page, name: str, **attributes: str) -> None:
    page.evaluate(
        "([name, attributes]) => document.body.append("
        "Object.assign(document.createElement(name), attributes))",
        [name, attributes],
    )
    page.wait_for_timeout(300)


def test_a_stranger_is_asked_to_sign_in(page_as: OpenPage) -> None:
    page = page_as()
    page.goto("/")
    assert "/sign-in/" in page.url


def test_who_is_signed_in_is_not(page_as: OpenPage, competitor: User) -> None:
    page = page_as(competitor)
    page.goto("/account/")
    assert page.url.endswith("/account/")
    assert competitor.username in page.content()


def test_an_inline_script_is_refused_and_noticed(page_as: OpenPage, problems: Problems) -> None:
    page = page_as()
    page.goto("/")
    add_element(page, "script", textContent="window.ran = true")
    assert page.evaluate("window.ran") is None
    problems.expect("Content Security Policy")


def test_a_request_to_another_host_is_noticed(page_as: OpenPage, problems: Problems) -> None:
    page = page_as()
    page.goto("/")
    add_element(page, "img", src="http://127.0.0.1:1/pixel.png")
    assert problems.found
    problems.expect("another host|Content Security Policy|ERR_")


def test_an_error_in_a_script_is_noticed(page_as: OpenPage, problems: Problems) -> None:
    page = page_as()
    page.goto("/")
    page.evaluate("setTimeout(() => { throw new Error('lost') })")
    page.wait_for_timeout(300)
    problems.expect("lost")


def test_axe_notices_a_picture_without_words(
    page_as: OpenPage, accessible: Callable[[Page], None]
) -> None:
    page = page_as()
    page.goto("/")
    accessible(page)
    add_element(page, "img", src="data:image/gif;base64,R0lGODlhAQABAAAAACw=")
    with pytest.raises(AssertionError, match="image-alt"):
        accessible(page)


def test_a_picture_of_the_page_is_taken(
    page_as: OpenPage, shoot: Callable[[Page, str], Path]
) -> None:
    page = page_as(width=360)
    page.goto("/")
    assert shoot(page, "first-page").read_bytes().startswith(b"\x89PNG")
