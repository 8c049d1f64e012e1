from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from adjudication import actions as adjudication
from adjudication.models import Case
from bouts.models import Bundle, Match, User
from judging.models import Scorecard
from judging.scoring.policy import WEIGHED
from judging.views import match_list
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
        ("bout=autumn", []),
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
    older = link_of(html, "next")
    with at_most(10):  # and where the page begins
        html = client.get(older).content.decode()
    assert len(rows(html)) == 9


def link_of(html: str, rel: str) -> str:
    """Return where the newer (prev) or the older (next) are; empty where there are none."""
    found = re.search(rf'rel="{rel}" href="([^"]*)"', html)
    return f"/matches/{unescape(found[1])}" if found else ""


@pytest.fixture
def many(db: None) -> list[str]:
    """Ids of 60 matches, the newest first; every ten came at one moment."""
    version, agent = make_version("ledgers"), make_agent()
    for number in range(60):
        Match.objects.create(slug=f"n-{number}", challenge=version.challenge, agent=agent)
    for match in Match.objects.filter(slug__startswith="n-"):
        day = int(match.slug[2:]) // 10
        moment = timezone.now() - timedelta(days=10 - day)
        Match.objects.filter(pk=match.pk).update(
            created_at=moment.replace(hour=0, minute=0, second=0, microsecond=0)
        )
    return [f"n-{number}" for number in reversed(range(60))]


def test_every_match_is_on_one_page_and_the_way_back_is_the_way_there(
    many: list[str], operator: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(operator)
    pages = [client.get("/matches/?q=n-").content.decode()]
    while older := link_of(pages[-1], "next"):
        assert "q=n-" in older
        pages.append(client.get(older).content.decode())
    assert [rows(page) for page in pages] == [many[:25], many[25:50], many[50:]]
    assert not link_of(pages[0], "prev")
    back = client.get(link_of(pages[2], "prev")).content.decode()
    assert rows(back) == many[25:50]
    assert link_of(back, "next")
    assert rows(client.get(link_of(back, "prev")).content.decode()) == many[:25]
    # A few that are newer than a place are filled up to a page.
    assert rows(client.get(f"/matches/?after={many[3]}").content.decode()) == many[:25]


@pytest.mark.parametrize("odd", ["before=nobody", "after=nobody", "before=", "page=7"])
def test_a_place_that_is_none_is_the_beginning(
    many: list[str], operator: User, client_of: Callable[[User], Client], odd: str
) -> None:
    assert rows(client_of(operator).get(f"/matches/?{odd}").content.decode()) == many[:25]


def test_beyond_the_oldest_there_is_a_way_back(
    many: list[str], operator: User, client_of: Callable[[User], Client]
) -> None:
    html = client_of(operator).get(f"/matches/?before={many[-1]}").content.decode()
    assert "No match beyond this one" in html


def test_no_more_are_counted_than_are_told(
    many: list[str],
    operator: User,
    client_of: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_of(operator)
    for most, told in (
        (60, "60 matches, by first upload, the newest first"),
        (59, "More than 59 matches, by"),
    ):
        monkeypatch.setattr(match_list, "MOST_COUNTED", most)
        with CaptureQueriesContext(connection) as asked:
            assert told in client.get("/matches/").content.decode()
        counts = [sql for query in asked if "COUNT(" in (sql := str(query["sql"]))]
        (of_matches,) = [sql for sql in counts if "bouts_match" in sql]
        assert f"LIMIT {most + 1}" in of_matches


def test_the_filters_ask_nothing_of_the_matches(
    many: list[str], operator: User, client_of: Callable[[User], Client]
) -> None:
    """There may be as many bouts as matches: their names are typed, not chosen."""
    with CaptureQueriesContext(connection) as asked:
        client_of(operator).get("/matches/")
    assert not [
        query
        for query in asked
        if "DISTINCT" in str(query["sql"]) and "bouts_match" in str(query["sql"])
    ]


def test_where_a_match_in_the_dark_stands_is_not_told(
    bundle: Bundle, many: list[str], reviewer: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(reviewer)
    absent = rows(client.get("/matches/?before=absent").content.decode())
    hidden = bundle.match
    Match.objects.filter(pk=hidden.pk).update(
        created_at=timezone.now() - timedelta(days=7), slug="dark"
    )
    assert rows(client.get("/matches/?before=dark").content.decode()) == absent


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
