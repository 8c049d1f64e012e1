"""Teams and who is in them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from bouts.models import Agent, Membership, Team, User
from tests.factories import make_team, make_user

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


def test_ops_see_all_teams_by_name_with_their_active_members(
    client_of: ClientOf, operator: User, competitor: User, rival: User
) -> None:
    make_user("gone", teams=("halyard",), is_active=False)
    for slug in ("tidewater", "alder", "sixpence", "orrery", "fenwick"):
        make_team(slug)
    teams = client_of(operator).get("/teams/").context["teams"]
    assert [(team.slug, team.size) for team in teams] == [
        ("alder", 0),
        ("fenwick", 0),
        ("halyard", 1),
        ("northbank", 1),
        ("orrery", 0),
        ("sixpence", 0),
        ("tidewater", 0),
    ]


def test_a_competitor_is_led_to_their_own_team(client_of: ClientOf, competitor: User) -> None:
    assert client_of(competitor).get("/teams/").url == "/teams/northbank/"


def test_who_is_in_no_team_is_told_what_to_do(client_of: ClientOf) -> None:
    page = client_of(make_user("new")).get("/teams/").content.decode()
    assert "You are in no team" in page


def test_competitors_see_their_own_team_and_no_other(
    client_of: ClientOf, competitor: User, rival: User
) -> None:
    Agent.objects.create(team=make_team(), name="Heron", version="2.3", base_model="claude")
    make_user("gone", teams=("northbank",), is_active=False)
    client = client_of(competitor)
    page = client.get("/teams/northbank/").content.decode()
    assert "ines" in page and "Heron 2.3" in page
    assert "gone" not in page and "Remove" not in page
    assert client.get("/teams/halyard/").status_code == 404


def test_reviewers_are_not_primed_by_teams(client_of: ClientOf, reviewer: User) -> None:
    make_team()
    assert client_of(reviewer).get("/teams/northbank/").status_code == 404


def test_a_stranger_signs_in_first(client: Client) -> None:
    make_team()
    for path in ("/teams/", "/teams/northbank/"):
        assert client.get(path).url == f"/sign-in/?next={path}"


def test_ops_make_a_team_whose_slug_comes_from_its_name(
    client_of: ClientOf, operator: User
) -> None:
    answer = client_of(operator).post("/teams/create/", {"name": "Orrery Labs"}, follow=True)
    page = answer.content.decode()
    assert answer.redirect_chain == [("/teams/orrery-labs/", 302)]
    assert 'data-kept="team"' in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "required"),
        ({"name": "Other", "slug": "northbank"}, "A team northbank exists"),
        ({"name": "Other", "slug": "no spaces"}, "valid"),
        ({"name": "…"}, "The name gives none"),
    ],
)
def test_a_faulty_team_is_not_made(
    given: dict[str, str], said: str, client_of: ClientOf, operator: User
) -> None:
    make_team()
    response = client_of(operator).post("/teams/create/", given)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert Team.objects.count() == 1


def test_ops_add_and_remove_members_by_name_or_address(
    client_of: ClientOf, operator: User, rival: User
) -> None:
    team = make_team()
    client = client_of(operator)
    given = {"team": "northbank", "person": "HAL@example.test"}
    assert client.post("/teams/members/add/", given).url == "/teams/northbank/"
    assert rival in team.members.all()
    back = client.post("/teams/members/remove/", given | {"next": "/people/hal/"})
    assert back.url == "/people/hal/"
    assert rival not in team.members.all()


def test_an_unknown_person_is_said_to_be_unknown(client_of: ClientOf, operator: User) -> None:
    make_team()
    given = {"team": "northbank", "person": "nobody", "next": "/teams/northbank/"}
    answer = client_of(operator).post("/teams/members/add/", given, follow=True)
    assert "Nobody here has this name" in answer.content.decode()


@pytest.mark.parametrize("path", ["create/", "members/add/", "members/remove/"])
def test_only_ops_change_teams(
    path: str, client_of: ClientOf, client: Client, competitor: User, rival: User
) -> None:
    given = {"name": "Mine", "team": "halyard", "person": "hal"}
    assert client_of(competitor).post(f"/teams/{path}", given).status_code == 403
    assert client.post(f"/teams/{path}", given).status_code == 302
    assert Team.objects.count() == 2
    assert Membership.objects.count() == 2


def test_the_list_costs_the_same_however_long(
    client_of: ClientOf, operator: User, django_assert_num_queries: Callable[..., object]
) -> None:
    for number in range(15):
        make_user(f"p{number}", teams=(f"team-{number}",))
    client = client_of(operator)
    with django_assert_num_queries(3):  # session, person, teams
        client.get("/teams/")
    with django_assert_num_queries(5):  # session, person, team, members, agents
        client.get("/teams/team-1/")
