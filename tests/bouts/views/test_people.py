"""The people here, as ops see them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from bouts.actions import people
from bouts.models import AuditEntry, User
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]
HTMX = {"HX-Request": "true"}
NEW = {"new_password": "a rather long new one", "again": "a rather long new one"}


def names_on(page: str) -> list[str]:
    return [part.split("/")[0] for part in page.split('<th scope="row"><a href="/people/')[1:]]


def test_the_list_shows_the_active(client_of: ClientOf, operator: User, competitor: User) -> None:
    make_user("gone", is_active=False)
    page = client_of(operator).get("/people/").content.decode()
    assert names_on(page) == ["ines", "tomas"]
    assert "Northbank" in page


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"q": "INES"}, ["ines"]),
        ({"q": "tomas@"}, ["tomas"]),
        ({"role": "reviewer"}, ["rosa"]),
        ({"status": "inactive"}, ["gone"]),
        ({"status": "all", "role": "competitor"}, ["gone", "ines"]),
        ({"role": "nonsense", "page": "99"}, ["ines", "rosa", "tomas"]),
        ({"q": "%"}, []),
    ],
)
def test_filters(
    asked: dict[str, str],
    found: list[str],
    client_of: ClientOf,
    operator: User,
    competitor: User,
    reviewer: User,
) -> None:
    make_user("gone", is_active=False)
    assert names_on(client_of(operator).get("/people/", asked).content.decode()) == found


def test_htmx_gets_the_list_alone_and_back_gets_the_page(
    client_of: ClientOf, operator: User
) -> None:
    client = client_of(operator)
    part = client.get("/people/", headers=HTMX)
    assert part.content.decode().lstrip().startswith('<div class="stack" id="people">')
    assert "<html" not in part.content.decode()
    assert "HX-Request" in part.headers["Vary"]
    back = client.get("/people/", headers=HTMX | {"HX-History-Restore-Request": "true"})
    assert "<html" in back.content.decode()


def test_the_list_costs_the_same_however_long(
    client_of: ClientOf, operator: User, django_assert_num_queries: Callable[..., object]
) -> None:
    for number in range(20):
        make_user(f"p{number}", teams=("northbank", "halyard"))
    client = client_of(operator)
    with django_assert_num_queries(5):  # session, person, count, people, teams
        client.get("/people/")


PAGES = ["/people/", "/people/ines/"]
WRITES = [
    ("/people/ines/role/", {"role": "ops"}),
    ("/people/ines/close/", {}),
    ("/people/ines/reopen/", {}),
    ("/people/ines/reset/", {}),
]


@pytest.mark.parametrize("path", [*PAGES, *(path for path, _ in WRITES)])
def test_only_ops_manage_people(
    path: str, client_of: ClientOf, client: Client, competitor: User, reviewer: User, lead: User
) -> None:
    for person in (competitor, reviewer, lead):
        there = client_of(person)
        answer = there.get(path) if path in PAGES else there.post(path, {"role": "ops"})
        assert answer.status_code == 403
    assert client.post(path).url.startswith("/sign-in/")
    competitor.refresh_from_db()
    assert competitor.is_active and competitor.role == "competitor"
    assert not AuditEntry.objects.exists()


def test_a_persons_page_shows_what_can_be_changed_and_what_was(
    client_of: ClientOf, operator: User, competitor: User, admin: User
) -> None:
    people.change_role(competitor.pk, "reviewer", by=admin, reason="For the finals.")
    people.create_token(competitor, "notebook", ["read"], timedelta(days=7))
    page = client_of(operator).get("/people/ines/").content.decode()
    for shown in ("For the finals.", "notebook", "Deactivate", "Make a reset link"):
        assert shown in page
    assert '<option value="admin">' not in page
    assert '<option value="admin">' in client_of(admin).get("/people/ines/").content.decode()


def test_an_admins_page_offers_ops_nothing(
    client_of: ClientOf, operator: User, admin: User
) -> None:
    page = client_of(operator).get("/people/ada/").content.decode()
    assert "Only another admin" in page
    assert "Deactivate" not in page
    assert "Nobody changes their own" in client_of(operator).get("/people/tomas/").content.decode()


def test_nobody_of_that_name_is_not_found(client_of: ClientOf, operator: User) -> None:
    client = client_of(operator)
    assert client.get("/people/nobody/").status_code == 404
    assert client.get("/people/a%00b/").status_code == 404


def test_a_role_is_changed_and_said(client_of: ClientOf, operator: User, competitor: User) -> None:
    answer = client_of(operator).post("/people/ines/role/", {"role": "lead", "reason": "Agreed."})
    assert answer.url == "/people/ines/"
    competitor.refresh_from_db()
    assert competitor.role == "lead"
    assert AuditEntry.objects.get().reason == "Agreed."


def test_ops_cannot_grant_admin_by_a_form_of_their_own(
    client_of: ClientOf, operator: User, competitor: User
) -> None:
    answer = client_of(operator).post("/people/ines/role/", {"role": "admin"}, follow=True)
    assert "cannot give that role" in answer.content.decode()
    competitor.refresh_from_db()
    assert competitor.role == "competitor"


def test_closing_an_account_ends_its_sessions_and_can_be_undone(
    client_of: ClientOf, operator: User, competitor: User
) -> None:
    theirs = client_of(competitor)
    client_of(operator).post("/people/ines/close/", {"reason": "Left."})
    assert theirs.get("/account/").status_code == 302
    client_of(operator).post("/people/ines/reopen/")
    assert theirs.get("/account/").status_code == 200


def test_nobody_closes_their_own_account(client_of: ClientOf, admin: User) -> None:
    answer = client_of(admin).post("/people/ada/close/", follow=True)
    assert "Nobody changes their own" in answer.content.decode()
    admin.refresh_from_db()
    assert admin.is_active


def test_the_life_of_a_reset_link(
    client_of: ClientOf, client: Client, operator: User, competitor: User
) -> None:
    theirs = client_of(competitor)
    made = client_of(operator).post("/people/ines/reset/")
    assert made.status_code == 201
    link = made.content.decode().split('id="reset-link" value="http://testserver')[1].split('"')[0]
    assert client.get(link).status_code == 200
    assert client.post(link, NEW | {"again": "no"}).status_code == 422
    assert client.post(link, NEW).url == "/sign-in/"
    assert theirs.get("/account/").status_code == 302  # every session ends
    competitor.refresh_from_db()
    assert competitor.check_password(NEW["new_password"])
    used = client.get(link)
    assert used.status_code == 410
    assert "was used" in used.content.decode()


def test_a_reset_link_is_made_by_a_post_alone(
    client_of: ClientOf, operator: User, competitor: User
) -> None:
    assert client_of(operator).get("/people/ines/reset/").url == "/people/ines/"
    assert not AuditEntry.objects.exists()
    competitor.refresh_from_db()
    assert competitor.check_password(PASSWORD)


def test_an_unknown_reset_link_says_so(client: Client) -> None:
    response = client.get("/new-password/nonsense/")
    assert response.status_code == 410
    assert "do not know this link" in response.content.decode()
