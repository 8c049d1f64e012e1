"""Signing in and out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from bouts.models import SignInTry, User
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db
PAGE = "/sign-in/"


def sign_in(client: Client, name: str = "ines", password: str = PASSWORD, **more: str) -> object:
    return client.post(PAGE, {"name": name, "password": password, **more})


def test_the_right_password_leads_home(client: Client, competitor: User) -> None:
    response = sign_in(client, "Ines@example.test")
    assert (response.status_code, response.url) == (302, reverse("home"))
    assert client.session["_auth_user_id"] == str(competitor.pk)


def test_it_leads_back_to_where_the_visitor_wanted_to_go(client: Client, competitor: User) -> None:
    page = client.get("/account/?x=1")
    assert page.url == f"{PAGE}?next=/account/%3Fx%3D1"
    form = client.get(page.url)
    assert '<input type="hidden" name="next" value="/account/?x=1">' in form.content.decode()
    assert sign_in(client, next="/account/?x=1").url == "/account/?x=1"


@pytest.mark.parametrize(
    "there", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"]
)
def test_it_never_leads_elsewhere(there: str, client: Client, competitor: User) -> None:
    form = client.get(PAGE, {"next": there})
    assert "evil" not in form.content.decode() and "alert" not in form.content.decode()
    assert sign_in(client, next=there).url == reverse("home")


def test_the_wrong_password_keeps_the_way_back_and_says_how_many_tries_are_left(
    client: Client, competitor: User
) -> None:
    response = sign_in(client, password="wrong", next="/account/")
    page = response.content.decode()
    assert response.status_code == 422
    assert "Name and password do not match. 4 tries left." in page
    assert 'name="next" value="/account/"' in page
    assert "_auth_user_id" not in client.session


def test_an_unknown_name_reads_the_same_as_a_wrong_password(
    client: Client, competitor: User
) -> None:
    def answer(name: str) -> str:
        page = sign_in(client, name, "wrong").content.decode()
        return page[page.index('name="password"') : page.index("</form>")]

    assert answer("ines") == answer("nobody-at-all")


def test_the_sixth_try_is_refused_unchecked_and_says_how_long_to_wait(
    client: Client, competitor: User
) -> None:
    for _ in range(4):
        sign_in(client, password="wrong")
    assert "No try left" in sign_in(client, password="wrong").content.decode()
    response = sign_in(client)
    assert response.status_code == 429
    assert "try again in 15 minutes" in response.content.decode()
    assert "_auth_user_id" not in client.session


def test_behind_a_proxy_the_visitor_counts_and_not_what_the_visitor_claims(
    client: Client, competitor: User, settings: object
) -> None:
    settings.HTTPS = True
    client.post(
        PAGE,
        {"name": "ines", "password": "wrong"},
        headers={"X-Forwarded-For": "203.0.113.99, 192.0.2.44"},
    )
    assert SignInTry.objects.get().address == "192.0.2.44"


def test_without_a_proxy_the_header_is_only_a_claim(client: Client, competitor: User) -> None:
    client.post(
        PAGE, {"name": "ines", "password": "wrong"}, headers={"X-Forwarded-For": "192.0.2.44"}
    )
    assert SignInTry.objects.get().address == "127.0.0.1"


def test_who_is_signed_in_goes_on(client_of: Callable[[User], Client], competitor: User) -> None:
    assert client_of(competitor).get(PAGE, {"next": "/account/"}).url == "/account/"


def test_a_nul_byte_is_no_name(client: Client, competitor: User) -> None:
    assert sign_in(client, "ines\0").status_code == 422


def test_signing_out_takes_a_post(client_of: Callable[[User], Client], competitor: User) -> None:
    client = client_of(competitor)
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/account/").status_code == 200
    assert client.post("/sign-out/").url == PAGE
    assert client.get("/account/").status_code == 302


def test_a_closed_account_is_out_at_once(
    client_of: Callable[[User], Client], competitor: User
) -> None:
    client = client_of(competitor)
    User.objects.filter(pk=competitor.pk).update(is_active=False)
    assert client.get("/account/").url.startswith(PAGE)


def test_a_post_whose_login_has_expired_returns_to_the_page_it_came_from(client: Client) -> None:
    response = client.post(
        "/teams/create/", {"name": "x"}, headers={"Referer": "http://testserver/teams/?a=1"}
    )
    assert response.url == f"{PAGE}?next=/teams/%3Fa%3D1"
    elsewhere = client.post(
        "/teams/create/", {"name": "x"}, headers={"Referer": "https://evil.example/teams/"}
    )
    assert elsewhere.url == f"{PAGE}?next={reverse('home')}"


def test_htmx_leads_the_whole_window_to_the_sign_in_page(client: Client) -> None:
    response = client.get(
        "/people/?q=a",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/people/"},
    )
    assert response.status_code == 200
    assert response.headers["HX-Redirect"] == f"{PAGE}?next=/people/"
