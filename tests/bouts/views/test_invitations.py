"""Inviting people, and coming in by an invitation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from bouts.actions import people
from bouts.models import Invitation, User
from tests.factories import make_team, make_user

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]
WEEK = timedelta(days=7)
ACCOUNT = {
    "username": "noor",
    "name": "Noor Aziz",
    "new_password": "a rather long new one",
    "again": "a rather long new one",
}


def invite(client: Client, **given: str) -> object:
    data = {"email": "noor@example.test", "role": "reviewer", "team": "", "lifetime": "7"}
    return client.post("/invitations/", data | given)


def link_on(page: str) -> str:
    address = page.split('id="invitation-link" value="')[1].split('"')[0]
    assert address.startswith("http://testserver/welcome/")
    return address.removeprefix("http://testserver")


def test_the_life_of_an_invitation(client_of: ClientOf, client: Client, operator: User) -> None:
    ops = client_of(operator)
    make_team()
    response = invite(ops, role="competitor", team="northbank")
    assert response.status_code == 201
    assert "no-store" in response.headers["Cache-Control"]
    link = link_on(response.content.decode())
    assert link not in ops.get("/invitations/").content.decode()

    shown = client.get(link)
    assert shown.status_code == 200
    assert "noor@example.test" in shown.content.decode()
    assert Invitation.objects.get().is_open  # looking does not use it up

    accepted = client.post(link, ACCOUNT)
    assert accepted.status_code == 302
    user = User.objects.get(username="noor")
    assert client.session["_auth_user_id"] == str(user.pk)
    assert user.teams.get().slug == "northbank"

    again = Client().get(link)
    assert again.status_code == 410
    assert "was used" in again.content.decode()
    assert "Noor Aziz" in ops.get("/invitations/").content.decode()


def test_an_expired_link_says_so(client: Client, operator: User) -> None:
    _, secret = people.invite_person("n@example.test", "reviewer", None, WEEK, by=operator)
    Invitation.objects.update(expires_at=timezone.now())
    for response in (
        client.get(f"/welcome/{secret}/"),
        client.post(f"/welcome/{secret}/", ACCOUNT),
    ):
        assert response.status_code == 410
        assert "has expired" in response.content.decode()
    assert not User.objects.filter(username="noor").exists()


def test_a_revoked_link_says_so(client_of: ClientOf, client: Client, operator: User) -> None:
    invitation, secret = people.invite_person("n@example.test", "reviewer", None, WEEK, by=operator)
    client_of(operator).post(f"/invitations/{invitation.pk}/revoke/")
    response = client.get(f"/welcome/{secret}/")
    assert response.status_code == 410
    assert "was revoked" in response.content.decode()


def test_an_unknown_link_says_so(client: Client) -> None:
    response = client.get("/welcome/nonsense/")
    assert response.status_code == 410
    assert "do not know this invitation" in response.content.decode()


def test_who_is_signed_in_does_not_use_up_the_link_of_another(
    client_of: ClientOf, operator: User
) -> None:
    _, secret = people.invite_person("n@example.test", "reviewer", None, WEEK, by=operator)
    client = client_of(operator)
    assert "sign out first" in client.get(f"/welcome/{secret}/").content.decode()
    client.post(f"/welcome/{secret}/", ACCOUNT)
    assert not User.objects.filter(username="noor").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"username": "TOMAS"}, "Somebody has this name already"),
        ({"username": "no spaces"}, "Letters, digits and"),
        ({"username": "n@example.test"}, "Letters, digits and"),
        ({"new_password": "noor-aziz-1", "again": "noor-aziz-1"}, "too similar"),
        ({"again": "something else"}, "The two differ"),
        ({"name": ""}, "required"),
    ],
)
def test_a_faulty_account_is_not_made(
    given: dict[str, str], said: str, client: Client, operator: User
) -> None:
    _, secret = people.invite_person("n@example.test", "reviewer", None, WEEK, by=operator)
    response = client.post(f"/welcome/{secret}/", ACCOUNT | given)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"email": "not an address"}, "valid email"),
        ({"role": "competitor"}, "A competitor needs a team"),
        ({"role": "admin"}, "Select a valid choice"),
        ({"email": "TOMAS@example.test"}, "has an account"),
        ({"lifetime": "9999"}, "Select a valid choice"),
    ],
)
def test_a_faulty_invitation_is_not_made(
    given: dict[str, str], said: str, client_of: ClientOf, operator: User
) -> None:
    response = invite(client_of(operator), **given)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert not Invitation.objects.exists()


def test_only_ops_invite(client_of: ClientOf, client: Client, competitor: User, lead: User) -> None:
    for person in (competitor, lead):
        assert client_of(person).get("/invitations/").status_code == 403
        assert invite(client_of(person)).status_code == 403
    assert client.get("/invitations/").status_code == 302
    assert not Invitation.objects.exists()


def test_the_list_costs_the_same_however_long(
    client_of: ClientOf, operator: User, django_assert_num_queries: Callable[..., object]
) -> None:
    team = make_team()
    for number in range(12):
        _, secret = people.invite_person(
            f"n{number}@example.test", "competitor", team, WEEK, by=operator
        )
        if number % 2:
            people.accept_invitation(
                secret, username=f"n{number}", name="N", password="long enough"
            )
    client = client_of(operator)
    with django_assert_num_queries(5):  # session, person, teams to choose, count, invitations
        client.get("/invitations/")


def test_an_admin_may_invite_an_admin(client_of: ClientOf) -> None:
    ada = make_user("ada", User.Role.ADMIN)
    assert invite(client_of(ada), role="admin").status_code == 201
