"""Two matches side by side: for staff who may see both, and for nobody else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Bundle, User
from tests.factories import make_user
from tests.judging.detectors.test_plagiarism import CODE, fought, renamed

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]
PAGE = "/matches/copy/likeness/"


@pytest.fixture
def copy(tmp_path: Path) -> Bundle:
    fought(tmp_path, "source", CODE, hour=10)
    return fought(tmp_path, "copy", renamed(CODE), hour=11, team="halyard")


def test_staff_see_which_match_it_is_and_both_side_by_side(
    copy: Bundle, client_of: ClientOf, operator: User
) -> None:
    client = client_of(operator)
    page = client.get("/matches/copy/").content.decode()
    assert f'href="{PAGE}"' in page
    listed = client.get(PAGE).content.decode()
    assert "source" in listed and "1.00" in listed and "earlier" in listed
    beside = client.get(PAGE, {"with": "source"}).content.decode()
    assert "=     other_kept = [" in beside and "=     kept = [" in beside
    assert client.get(PAGE, {"with": "nobody"}).status_code == 404


def test_neither_team_is_told_of_the_other(copy: Bundle, client_of: ClientOf) -> None:
    for name, team in (("thief", "halyard"), ("robbed", "northbank")):
        client = client_of(make_user(name, teams=(team,)))
        assert client.get(PAGE).status_code == 404
        shown = client.get("/matches/copy/").content.decode()
        assert PAGE not in shown and ">source<" not in shown


def test_staff_who_look_through_a_teams_eyes_see_none_of_it(
    copy: Bundle, client_of: ClientOf, operator: User
) -> None:
    assert client_of(operator).get(PAGE, {"as": "team"}).status_code == 404


def test_the_anonymous_visitor_signs_in_first(copy: Bundle, client: Client) -> None:
    assert client.get(PAGE).status_code == 302
