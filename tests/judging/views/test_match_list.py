from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from adjudication import actions as adjudication
from adjudication.models import Case
from bouts.models import Bundle, Match, User
from judging.models import Scorecard
from judging.scoring.policy import WEIGHED
from judging.views.match_list import FILE_CHUNK, RATIONALES
from tests.judging.cards import make_agent, make_version
from tests.judging.views.making import plain
from tests.matches import store

HEADERS = {"HX-Request": "true"}


@pytest.fixture
def three(db: None, tmp_path: Path) -> None:
    """Two judged matches of rivals and one that is still being judged."""
    plain(tmp_path / "1", match="north-1", bout="Autumn")
    plain(
        tmp_path / "2",
        match="hal-1",
        agent={"team": "halyard", "name": "Topsail", "base_model": "sable-2"},
    )
    store(tmp_path / "3", match="north-2", bout="Spring", agent={"name": "Wren"})


def rows(html: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="/matches/([^/]+)/">', html)


@pytest.fixture
def client(three: None, competitor: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(competitor)


def test_everybody_sees_every_match_the_newest_first(client: Client) -> None:
    html = client.get("/matches/").content.decode()
    assert rows(html) == ["north-2", "hal-1", "north-1"]
    assert "3 matches" in html
    assert "Judging" in html


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=hal", ["hal-1"]),
        ("q=topsail", ["hal-1"]),
        ("team=northbank", ["north-2", "north-1"]),
        ("agent=wren", ["north-2"]),
        ("model=sable-2", ["hal-1"]),
        ("bout=Autumn", ["north-1"]),
        ("challenge=refunds", ["north-2", "hal-1", "north-1"]),
        ("status=judging", ["north-2"]),
        ("status=withdrawn", []),
        ("q=nobody", []),
        ("team=unknown&status=odd", ["north-2", "hal-1", "north-1"]),
    ],
)
def test_filters_narrow_the_list(client: Client, query: str, expected: list[str]) -> None:
    assert rows(client.get(f"/matches/?{query}").content.decode()) == expected


def test_a_status_finds_the_live_card_alone(client: Client) -> None:
    status = Scorecard.objects.live().get(match__slug="hal-1").status
    assert "hal-1" in rows(client.get(f"/matches/?status={status}").content.decode())


def test_htmx_gets_the_list_alone(client: Client) -> None:
    part = client.get("/matches/?q=hal", headers=HEADERS).content.decode()
    assert part.lstrip().startswith('<div class="stack" id="matches">')
    assert rows(part) == ["hal-1"]


def test_a_match_that_a_reviewer_may_be_asked_about_is_not_in_their_list(
    bundle: Bundle, tmp_path: Path, reviewer: User, client_of: Callable[[User], Client]
) -> None:
    plain(tmp_path / "other", match="open-1")
    client = client_of(reviewer)
    html = client.get("/matches/").content.decode()
    assert rows(html) == ["open-1"]
    assert "1 match," in html
    assert rows(client.get("/matches/?q=m-1").content.decode()) == []
    api = client.get("/api/matches/").json()
    assert [row["match"] for row in api["results"]] == ["open-1"]
    assert client.get("/api/matches/m-1/").status_code == 404
    assert client.get("/api/matches/m-1/revisions/").status_code == 404
    for case in Case.objects.all():
        adjudication.decline(case.pk, by=reviewer)
    assert rows(client.get("/matches/").content.decode()) == ["open-1", "m-1"]


def test_the_number_of_queries_does_not_grow_with_the_list(
    db: None,
    tmp_path: Path,
    competitor: User,
    client_of: Callable[[User], Client],
    at_most: Callable,
) -> None:
    for number in range(4):
        plain(tmp_path / str(number), match=f"m-{number}")
    client = client_of(competitor)
    with at_most(9):
        client.get("/matches/")
    for number in range(30):
        Match.objects.create(
            slug=f"row-{number}",
            challenge=Match.objects.first().challenge,
            agent=Match.objects.first().agent,
        )
    with at_most(9):
        html = client.get("/matches/").content.decode()
    assert len(rows(html)) == 25
    assert len(rows(client.get("/matches/?page=2").content.decode())) == 9


def test_a_stranger_is_sent_to_sign_in(db: None) -> None:
    assert Client().get("/matches/").status_code == 302


def test_an_empty_list_says_so(competitor: User, client_of: Callable[[User], Client]) -> None:
    assert "No match yet" in client_of(competitor).get("/matches/").content.decode()


def test_a_file_is_sent_while_its_rows_are_read(
    client_of: Callable[[User], Client], operator: User
) -> None:
    """However many there are, no more of them are held than come with one query."""
    version, agent = make_version(), make_agent()
    Match.objects.bulk_create(
        Match(slug=f"m-{number}", challenge=version.challenge, agent=agent)
        for number in range(2 * FILE_CHUNK + 100)
    )
    for kind in ("csv", "json"):
        answer = client_of(operator).get(f"/matches.{kind}")
        assert answer.streaming
        with CaptureQueriesContext(connection) as asked:
            content = iter(answer.streaming_content)
            first = [next(content), next(content)]
            early = len(asked)
            rest = list(content)
        assert 0 < early < len(asked) <= early + 2
        whole = b"".join([*first, *rest])
        assert whole.count(b"m-") == 2 * FILE_CHUNK + 100
        assert len(max(rest, key=len)) < len(whole) / 4


def test_a_file_says_why_to_the_team_and_to_nobody_else(client: Client) -> None:
    """Rivals' rows have the columns and no words in them, as their pages have none."""
    plain_columns = client.get("/matches.json").getvalue()
    table = json.loads(client.get("/matches.json?rationales=1").getvalue())
    assert table["columns"] == [*json.loads(plain_columns)["columns"], *RATIONALES]
    whys = {row["match"]: [row[column] for column in RATIONALES] for row in table["rows"]}
    shown = client.get("/api/matches/north-1/breakdown/").json()["judges"]
    assert whys["north-1"] == [shown[judge.value].get("rationale") for judge in WEIGHED]
    assert whys["north-1"][0]
    assert whys["hal-1"] == whys["north-2"] == [None] * len(RATIONALES)
    link = "/matches.csv?q=north&amp;rationales=1"
    assert link in client.get("/matches/?q=north&page=1").content.decode()
