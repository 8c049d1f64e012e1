"""One's own account: password and API tokens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from bouts.actions import people
from bouts.models import ApiToken, User
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]
WEEK = timedelta(days=7)


def test_the_account_shows_who_one_is(client_of: ClientOf, competitor: User) -> None:
    page = client_of(competitor).get("/account/").content.decode()
    assert "ines@example.test" in page
    assert "Northbank" in page
    assert "You have no token" in page


def test_a_stranger_signs_in_first(client: Client) -> None:
    for path in ("/account/", "/account/password/"):
        assert client.get(path).url == f"/sign-in/?next={path}"


def test_a_secret_is_shown_once(client_of: ClientOf, competitor: User) -> None:
    client = client_of(competitor)
    response = client.post("/account/", {"name": "notebook", "scopes": ["read"], "lifetime": "30"})
    page = response.content.decode()
    token = ApiToken.objects.get()
    secret = page.split('id="new-token" value="')[1].split('"')[0]
    assert response.status_code == 201
    assert people.digest_of(secret) == token.digest
    assert "no-store" in response.headers["Cache-Control"]
    assert 'data-kept="token"' in page
    again = client.get("/account/").content.decode()
    assert "notebook" in again and secret not in again


def test_sending_the_form_twice_makes_one_token(client_of: ClientOf, competitor: User) -> None:
    client = client_of(competitor)
    data = {"name": "notebook", "scopes": ["read"], "lifetime": "30"}
    client.post("/account/", data)
    assert client.post("/account/", data).status_code == 422
    assert ApiToken.objects.count() == 1


def test_a_scope_beyond_the_role_is_no_choice(
    client_of: ClientOf, competitor: User, operator: User
) -> None:
    data = {"name": "sly", "scopes": ["read", "upload"], "lifetime": "30"}
    assert client_of(competitor).post("/account/", data).status_code == 422
    assert not ApiToken.objects.exists()
    assert client_of(operator).post("/account/", data).status_code == 201


def test_revoking_ones_own_token(client_of: ClientOf, competitor: User) -> None:
    token, _ = people.create_token(competitor, "notebook", ["read"], WEEK)
    response = client_of(competitor).post(f"/account/tokens/{token.pk}/revoke/")
    assert response.url == "/account/"
    assert not ApiToken.objects.get().is_live


def test_the_token_of_somebody_else_is_not_there(
    client_of: ClientOf, competitor: User, rival: User
) -> None:
    token, _ = people.create_token(rival, "notebook", ["read"], WEEK)
    client = client_of(competitor)
    assert client.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert client.post("/account/tokens/987654/revoke/").status_code == 404
    assert "notebook" not in client.get("/account/").content.decode()
    assert ApiToken.objects.get().is_live


def test_the_account_costs_the_same_with_many_tokens(
    client_of: ClientOf, competitor: User, django_assert_num_queries: Callable[..., object]
) -> None:
    client = client_of(competitor)
    for number in range(20):
        people.create_token(competitor, f"token {number}", ["read"], WEEK)
    with django_assert_num_queries(4):  # session, person, tokens, teams
        client.get("/account/")


def change(client: Client, now: str, new: str, again: str | None = None) -> object:
    data = {"password": now, "new_password": new, "again": again or new}
    return client.post("/account/password/", data)


def test_a_new_password_signs_out_everywhere_else(client_of: ClientOf, competitor: User) -> None:
    here, there = client_of(competitor), client_of(competitor)
    assert change(here, PASSWORD, "a rather long new one").url == "/account/"
    competitor.refresh_from_db()
    assert competitor.check_password("a rather long new one")
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


@pytest.mark.parametrize(
    ("now", "new", "again", "said"),
    [
        ("wrong", "a rather long new one", None, "not your password now"),
        (PASSWORD, "short", None, "too short"),
        (PASSWORD, "password1234", None, "too common"),
        (PASSWORD, "ines@example.test", None, "too similar"),
        (PASSWORD, "a rather long new one", "another long one", "The two differ"),
    ],
)
def test_a_password_is_not_changed_without_need(
    now: str, new: str, again: str | None, said: str, client_of: ClientOf, competitor: User
) -> None:
    response = change(client_of(competitor), now, new, again)
    assert response.status_code == 422
    assert said in response.content.decode()
    competitor.refresh_from_db()
    assert competitor.check_password(PASSWORD)


def test_a_stolen_session_cannot_guess_the_password(client_of: ClientOf, competitor: User) -> None:
    client = client_of(competitor)
    for _ in range(5):
        change(client, "wrong", "a rather long new one")
    assert "Too many tries" in change(client, PASSWORD, "a rather long new one").content.decode()
    competitor.refresh_from_db()
    assert competitor.check_password(PASSWORD)
