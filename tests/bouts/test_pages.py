"""What every page has: its frame, its headers, and calm words when something fails."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.contrib import messages
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.contrib.staticfiles import finders
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.views import defaults

from bouts import htmx
from bouts.models import ApiToken, User
from bouts.tokens import digest_of
from tests.factories import make_user

ClientOf = Callable[[User], Client]


# The frame


@pytest.mark.django_db
def test_the_policy_allows_nothing_inline_and_no_other_host(client: Client) -> None:
    response = client.get("/sign-in/")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy
    page = response.content.decode()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)
    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []
    assert re.findall(r'(?:src|href|action)="https?:', page) == []


@pytest.mark.django_db
def test_htmx_may_neither_evaluate_nor_write_styles(client: Client) -> None:
    page = client.get("/sign-in/").content.decode()
    assert '"allowEval": false' in page and '"includeIndicatorStyles": false' in page
    assert page.count("X-CSRFToken") == 1


@pytest.mark.parametrize("role", User.Role.values)
def test_the_menu_of_each_role_leads_only_where_it_may_go(
    role: str, client_of: ClientOf, db: None
) -> None:
    client = client_of(make_user("someone", role))
    page = client.get("/account/").content.decode()
    menu = page[page.index('<nav aria-label="Main">') : page.index("</nav>")]
    addresses = re.findall(r'href="([^"]+)"', menu)
    assert addresses
    for address in addresses:
        assert client.get(address, follow=True).status_code == 200, address
    assert ("/people/" in addresses) == (role in {"ops", "admin"})


def test_the_menu_marks_the_room_one_is_in(client_of: ClientOf, operator: User) -> None:
    client = client_of(operator)

    def marked(path: str) -> list[tuple[str, str]]:
        menu = client.get(path).content.decode().partition("</nav>")[0]
        return re.findall(r'<a href="([^"]+)" aria-current="(page|true)">', menu)

    assert marked("/people/") == [("/people/", "page")]
    assert marked("/audit/") == [("/people/", "true")]
    assert marked("/compare/") == [("/matches/", "true")]
    assert marked("/cases/7/") == [("/queue/", "true")]  # even where there is no such case
    assert marked("/account/") == []


def test_plotly_is_served_from_its_package_and_nothing_else_of_it() -> None:
    assert finders.find("plotly/plotly.min.js").endswith("package_data/plotly.min.js")
    assert finders.find("plotly/widgetbundle.js") is None
    assert finders.find("plotly/../__init__.py") is None


def test_the_sheet_that_plotly_adds_is_the_one_that_the_policy_allows() -> None:
    script = Path(finders.find("plotly/plotly.min.js")).read_text()
    sheets = re.findall(r"\.textContent='([^']*)',document\.head\.appendChild", script)
    hashes = [b64encode(hashlib.sha256(sheet.encode()).digest()).decode() for sheet in sheets]
    assert [f"'sha256-{one}'" for one in hashes] == [settings.MAP_STYLE]


# Parts


@pytest.fixture
def ask() -> Callable[..., HttpResponse]:
    """Render a page with a message waiting, as htmx or a browser asks for it."""

    def render(**asked: bool) -> HttpResponse:
        request = RequestFactory().get("/")
        for middleware in (SessionMiddleware, MessageMiddleware):
            middleware(lambda _: HttpResponse()).process_request(request)
        asked = {"history_restore_request": False, "boosted": False} | asked
        request.htmx = SimpleNamespace(**asked) if asked.pop("htmx", False) else False
        request.user = User(username="ines")
        htmx.confirm_kept(request, "ruling", "Saved.")
        messages.error(request, "<b>Not</b> so.")
        context = {"entries": [], "form": {}}
        return htmx.render_page(request, "bouts/audit_list.html", context, partial="log")

    return render


def test_a_part_brings_its_messages_as_toasts(ask: Callable[..., HttpResponse]) -> None:
    part = ask(htmx=True).content.decode()
    assert "<html" not in part
    assert 'hx-swap-oob="beforeend:#toasts"' in part
    assert 'data-kept="ruling"' in part and "&lt;b&gt;Not&lt;/b&gt; so." in part


def test_a_page_shows_its_messages_above_its_content(ask: Callable[..., HttpResponse]) -> None:
    page = ask().content.decode()
    assert "<html" in page and "hx-swap-oob" not in page
    assert '<p class="notice is-success" data-kept="ruling">Saved.</p>' in page


@pytest.mark.parametrize("asked", [{"history_restore_request": True}, {"boosted": True}])
def test_htmx_gets_the_whole_page_where_it_replaces_the_whole_page(
    asked: dict[str, bool], ask: Callable[..., HttpResponse]
) -> None:
    response = ask(htmx=True, **asked)
    assert "<html" in response.content.decode()
    assert {"HX-Request", "HX-History-Restore-Request"} <= set(response.headers["Vary"].split(", "))


# When something fails


def test_the_page_of_a_failure_needs_no_database() -> None:
    # Without the `db` fixture, pytest fails whatever reaches for the database.
    response = defaults.server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    page = response.content.decode()
    assert "try again" in page and "<html" in page


@pytest.mark.django_db
def test_what_is_not_there_says_what_to_do(client: Client, client_of: ClientOf) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "Nothing at this address" in response.content.decode()


def test_what_is_not_open_says_as_whom_one_is_signed_in(
    client_of: ClientOf, competitor: User
) -> None:
    response = client_of(competitor).get("/people/")
    assert response.status_code == 403
    assert "signed in as ines, competitor" in response.content.decode()


def test_a_form_older_than_the_sign_in_says_that_nothing_is_lost(competitor: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(competitor)
    response = client.post("/account/", {"name": "x"})
    assert response.status_code == 403
    assert "What you typed" in response.content.decode()


def test_a_request_that_cannot_be_read_says_so() -> None:
    assert "Nothing was saved" in render_to_string("400.html")


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/nowhere/", "/api/matches/"])
def test_a_request_for_another_host_is_refused_as_one(address: str) -> None:
    response = Client(raise_request_exception=False).get(address, headers={"host": "evil.test"})
    assert response.status_code == 400
    assert "Nothing was saved" in response.content.decode()


# Command line


def test_a_token_is_made_from_the_command_line(
    operator: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("create_token", "tomas@example.test", "--scope", "upload", "--days", "3")
    secret = capsys.readouterr().out.strip()
    token = ApiToken.objects.get()
    assert (token.digest, token.scopes, token.user) == (digest_of(secret), ["upload"], operator)


@pytest.mark.parametrize("arguments", [["nobody"], ["ines", "--scope", "upload"]])
def test_the_command_line_gives_nobody_more_than_their_role(
    arguments: list[str], competitor: User
) -> None:
    with pytest.raises(CommandError, match=r"Nobody is called|cannot have"):
        call_command("create_token", *arguments)
    assert not ApiToken.objects.exists()
