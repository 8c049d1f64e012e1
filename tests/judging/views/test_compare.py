"""Matches side by side: aligned, marked where they differ, and each through its own gate."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Bundle, User
from judging.models import Scorecard
from tests import matches
from tests.judging.views.making import CANARIES, HIDDEN, KEY, rich
from tests.matches import judge, panel

Counting = Callable[[int], AbstractContextManager[None]]
ClientOf = Callable[[User], Client]
WORSE = {**matches.STATIC, "tests.test_a::test_twice": False}


@pytest.fixture
def two(db: None, tmp_path: Path) -> list[Bundle]:
    """Two matches of Northbank on one base model: the second fails a visible test."""
    return [
        judge(tmp_path / "1", match="m-1", verdicts=panel(70, 75, 80)),
        judge(
            tmp_path / "2", match="m-2", agent={"name": "Wren"}, static=[WORSE],
            verdicts=panel(50, 55, 60),
        ),
    ]  # fmt: skip


@pytest.fixture
def of_a_rival(db: None, tmp_path: Path) -> Bundle:
    return rich(tmp_path / "3", match="m-3", agent={"team": "halyard", "name": "Gull"})


def page_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def row_of(page: str, label: str) -> str:
    rows = re.findall(r"<tr.*?</tr>", page, re.DOTALL)
    return next(row for row in rows if label in text_of(row))


def file_of(client: Client, address: str) -> list[dict[str, str]]:
    body = b"".join(client.get(address).streaming_content).decode()
    return list(csv.DictReader(io.StringIO(body)))


def test_ledgers_stand_side_by_side_and_each_column_adds_up(
    two: list[Bundle], client_of: ClientOf, competitor: User
) -> None:
    rows = file_of(client_of(competitor), "/compare.csv?m=m-1&m=m-2")
    for bundle in two:
        points = {
            row["row"]: Decimal(row["value"] or 0)
            for row in rows
            if row["match"] == bundle.match.slug and row["part"] == "ledger"
        }
        total = Scorecard.objects.get(match=bundle.match, is_live=True).total
        added = sum(value for name, value in points.items() if name not in {"Base", "Total"})
        assert added == points["Total"] == total


def test_where_they_part_company_is_marked_in_words_too(
    two: list[Bundle], client_of: ClientOf, competitor: User
) -> None:
    page = page_of(client_of(competitor), "/compare/?m=m-1&m=m-2")
    assert "is-parting" in row_of(page, "Objective")
    assert "(they part company here)" in row_of(page, "Objective")
    assert "is-parting" not in row_of(page, "Base")
    assert "One base model, quill-4" in page


def test_a_test_that_only_one_passed_comes_first(
    two: list[Bundle], client_of: ClientOf, competitor: User
) -> None:
    page = page_of(client_of(competitor), "/compare/?m=m-1&m=m-2")
    row = text_of(row_of(page, "test_twice"))
    assert "(only one passed)" in row
    assert row.endswith("✓ passed ✕ failed")
    assert "test_once" not in page


def test_hidden_tests_are_compared_for_staff_alone(
    tmp_path: Path, db: None, client_of: ClientOf, competitor: User, operator: User
) -> None:
    rich(tmp_path / "1")
    lock = '<testcase classname="hidden.t" name="test_zanzibar_lock" time="412.391"'
    failing = HIDDEN.replace(f"{lock}/>", f'{lock}><failure message="no"/></testcase>')
    assert failing != HIDDEN
    rich(tmp_path / "2", match="m-2", hidden=[failing, failing])
    address = "/compare/?m=m-1&m=m-2"
    assert "test_zanzibar" in page_of(client_of(operator), address)
    seen = page_of(client_of(competitor), address).lower()
    assert not [canary for canary in CANARIES if canary in seen]
    assert "Hidden tests are left out" in page_of(client_of(competitor), address)
    assert KEY not in str(file_of(client_of(competitor), f"/compare.csv{address[9:]}"))


def test_of_another_teams_match_the_scores_stand_and_nothing_else(
    two: list[Bundle], of_a_rival: Bundle, client_of: ClientOf, competitor: User
) -> None:
    page = page_of(client_of(competitor), "/compare/?m=m-1&m=m-3")
    assert "Gull" in page
    assert "Fewer than two of these matches show their tests to you" in page
    total = Scorecard.objects.get(match__slug="m-3", is_live=True).total
    assert f"{total}" in row_of(page, "Total")
    assert not [canary for canary in CANARIES if canary in page.lower()]
    for hidden in ("claude", "gpt-4o", "kumquat", "Another team’s telemetry"):
        assert hidden not in page


def test_what_another_team_keeps_is_said_to_be_withheld(
    of_a_rival: Bundle, tmp_path: Path, client_of: ClientOf, competitor: User
) -> None:
    rich(tmp_path / "own", match="m-1")
    page = page_of(client_of(competitor), "/compare/?m=m-1&m=m-3")
    assert "n/a withheld" in text_of(row_of(page, "Dwell ratio"))
    assert '<span class="na">n/a</span>' not in page  # each has its reason


def test_what_is_dark_to_a_reviewer_is_not_there(
    two: list[Bundle], of_a_rival: Bundle, client_of: ClientOf, reviewer: User
) -> None:
    """The rival's panel disagrees: this reviewer may still be asked to score it blind."""
    client = client_of(reviewer)
    dark = page_of(client, "/compare/?m=m-1&m=m-2&m=m-3")
    assert "Gull" not in dark
    absent = page_of(client, "/compare/?m=m-1&m=m-2&m=m-9")
    assert text_of(dark).replace("m-3", "m-9") == text_of(absent)
    assert client.get("/compare.csv?m=m-1&m=m-3").status_code == 404


def test_one_match_or_none_asks_for_more(
    two: list[Bundle], client_of: ClientOf, competitor: User
) -> None:
    client = client_of(competitor)
    for address in ("/compare/", "/compare/?m=m-1", "/compare/?m=m-1&m=m-1&m="):
        assert "Choose two to four matches" in page_of(client, address)
    assert "The first 4 are shown" in page_of(client, "/compare/?m=a&m=b&m=c&m=d&m=e")


def test_a_stranger_is_asked_to_sign_in() -> None:
    assert Client().get("/compare/?m=m-1&m=m-2").status_code == 302


def test_two_agents_lead_to_their_newest_ranked_matches(
    tmp_path: Path, db: None, client_of: ClientOf, competitor: User
) -> None:
    two_judges = {"judges": ["objective", "strategy", "integrity"]}
    first = judge(tmp_path / "1", match="m-1", challenge=two_judges)
    judge(tmp_path / "2", match="m-2", challenge=two_judges)
    wren = judge(tmp_path / "3", match="m-3", agent={"name": "Wren"}, challenge=two_judges)
    agents = f"agent={wren.match.agent_id}&agent={first.match.agent_id}"
    answer = client_of(competitor).get(f"/compare/?{agents}&challenge=refunds")
    assert answer.headers["Location"] == "/compare/?m=m-3&m=m-2"


def test_a_file_says_its_policy_and_whether_it_can_change(
    two: list[Bundle], of_a_rival: Bundle, client_of: ClientOf, operator: User
) -> None:
    client = client_of(operator)
    assert {row["state"] for row in file_of(client, "/compare.csv?m=m-1&m=m-2")} == {"final"}
    rows = file_of(client, "/compare.csv?m=m-1&m=m-3")
    assert {(row["state"], row["policy"]) for row in rows} == {("provisional", "2026.1")}
    whole = client.get("/compare.json?m=m-1&m=m-3")
    assert b'"state":"provisional"' in b"".join(whole.streaming_content)


def test_runs_stand_on_one_axis_and_lead_to_their_events(
    tmp_path: Path, db: None, client_of: ClientOf, competitor: User
) -> None:
    rich(tmp_path / "1")
    rich(tmp_path / "2", match="m-2")
    page = page_of(client_of(competitor), "/compare/?m=m-1&m=m-2")
    assert page.count('class="chart lane"') == 2
    assert "/matches/m-2/evidence/timeline/?at=5#e-5" in page
    assert "2 test runs" in page


def test_a_warm_page_asks_little_and_weighs_little(
    tmp_path: Path, db: None, client_of: ClientOf, competitor: User, at_most: Counting
) -> None:
    for number in range(1, 5):
        rich(tmp_path / str(number), match=f"m-{number}")
    client, address = client_of(competitor), "/compare/?m=m-1&m=m-2&m=m-3&m=m-4"
    page_of(client, address)
    with at_most(3 + 4 * 4):  # a match: its head, card, hidden words and telemetry file
        client.get(address)
    packed = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert len(packed.content) < 60_000
