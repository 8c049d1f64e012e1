"""Search finds what may be found, by an index, and tells nothing of what is in the dark."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from bouts.models import Match, User
from judging.views.search import _matches
from tests.judging.cards import make_agent, make_version, record
from tests.judging.views.making import rich
from tests.judging.views.test_compare import page_of, text_of

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


@pytest.fixture
def board(db: None) -> None:
    version = make_version()
    record(make_agent("Heron"), version, 50, match="refunds-01")
    record(make_agent("Wren", "halyard"), version, 40, match="refunds-02")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("REFUNDS-0", ["refunds-01", "refunds-02", "Title of refunds"]),
        ("her", ["Heron 1"]),
        ("heron 1", ["Heron 1"]),
        ("haly", ["Wren 1"]),
        ("itle of", ["Title of refunds"]),
    ],
)
def test_it_finds_by_the_beginning_in_any_case(
    board: None, client_of: ClientOf, competitor: User, text: str, found: list[str]
) -> None:
    main = page_of(client_of(competitor), f"/search/?q={text}").partition("<main")[2]
    for one in found:
        if text != "REFUNDS-0" or one != "Title of refunds":
            assert f">{one}<" in main, one


@pytest.mark.parametrize("text", ["%25%25", "__", "\\\\", "nobody"])
def test_signs_of_patterns_are_letters_like_others(
    board: None, client_of: ClientOf, competitor: User, text: str
) -> None:
    page = text_of(page_of(client_of(competitor), f"/search/?q={text}"))
    assert "Nothing found" in page or "Write at least 2 characters" in page


def test_too_short_a_text_is_not_looked_for(
    board: None, client_of: ClientOf, competitor: User
) -> None:
    for query in ("", "?q=", "?q=h", "?q=+h+"):
        page = page_of(client_of(competitor), f"/search/{query}")
        assert "Write at least 2 characters" in page


def test_a_stranger_is_asked_to_sign_in() -> None:
    assert Client().get("/search/?q=heron").status_code == 302


def test_what_is_dark_to_a_reviewer_looks_like_what_does_not_exist(
    tmp_path: Path, client_of: ClientOf, reviewer: User, operator: User
) -> None:
    rich(tmp_path, match="dark-01")
    client = client_of(reviewer)
    for text in ("dark-", "heron"):
        assert "Nothing found" not in page_of(client_of(operator), f"/search/?q={text}")
        there = text_of(page_of(client, f"/search/?q={text}"))
        absent = text_of(page_of(client, "/search/?q=absent"))
        assert there.replace(text, "absent") == absent


def test_it_costs_the_same_whatever_there_is(
    board: None,
    client_of: ClientOf,
    reviewer: User,
    at_most: Callable[[int], AbstractContextManager[None]],
) -> None:
    for number in range(20):
        record(
            make_agent(f"Rook{number}"), make_version(f"rook-{number}"), 1, match=f"rook-{number}"
        )
    client = client_of(reviewer)
    with at_most(6):
        page = page_of(client, "/search/?q=rook")
    assert "the list of matches has more" in page


def test_matches_are_found_by_an_index(competitor: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = _matches(competitor, "refunds-0").order_by().select_related(None).explain()
    assert "matches_by_slug" in plan


def test_a_name_is_text_and_nothing_else(client_of: ClientOf, operator: User) -> None:
    record(make_agent("<img src=x>"), make_version(), 1)
    page = page_of(client_of(operator), "/search/?q=%3Cimg")
    assert "&lt;img src=x&gt;" in page
    assert "<img" not in page
    assert Match.objects.count() == 1
