"""The agent page: where it stands, what to mend, and how much of it each viewer is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Agent, Bundle, User
from judging.models import Scorecard
from judging.scoring.policy import CURRENT, WEIGHED
from judging.showing.mending import losses, worth_mending
from tests import matches
from tests.judging.cards import make_agent, make_version, record
from tests.judging.views.making import CANARIES, rich
from tests.judging.views.test_compare import file_of, page_of, text_of
from tests.matches import judge

ClientOf = Callable[[User], Client]
WORSE = {**matches.STATIC, "tests.test_a::test_twice": False}
TWO_JUDGES = {"judges": ["objective", "strategy", "integrity"]}


@pytest.fixture
def heron(db: None, tmp_path: Path) -> Agent:
    """An agent with two ranked matches, one of which fails a visible test."""
    judge(tmp_path / "1", match="m-1", challenge=TWO_JUDGES)
    bundle = judge(tmp_path / "2", match="m-2", static=[WORSE], challenge=TWO_JUDGES)
    return bundle.match.agent


def address(agent: Agent) -> str:
    return f"/agents/{agent.pk}/"


def test_the_team_reads_what_to_mend_from_its_own_matches(
    heron: Agent, client_of: ClientOf, competitor: User
) -> None:
    page = page_of(client_of(competitor), address(heron))
    section = page.partition('id="mend"')[2].partition("</section>")[0]
    assert "Objective: visible tests" in section
    assert 'href="/matches/m-2/#objective"' in section
    # 75 in Strategy at 20 of 65 parts is short of 7.69 points in each.
    assert "7.69 points a match" in text_of(section)


def test_others_learn_no_more_than_the_scores_tell(
    heron: Agent, client_of: ClientOf, rival: User
) -> None:
    page = page_of(client_of(rival), address(heron))
    assert "visible tests" not in page
    assert "a loss has no finer name than its judge" in text_of(page)
    assert "Seat anthropic" not in page
    assert "/evidence/" not in page


def test_nothing_hidden_is_on_it(
    tmp_path: Path, db: None, client_of: ClientOf, competitor: User, rival: User
) -> None:
    agent = rich(tmp_path).match.agent
    for user in (competitor, rival):
        page = page_of(client_of(user), address(agent)).lower()
        assert not [canary for canary in CANARIES if canary in page]


def test_who_may_still_score_a_match_of_it_blind_does_not_find_it(
    tmp_path: Path, db: None, client_of: ClientOf, reviewer: User
) -> None:
    agent = rich(tmp_path).match.agent
    client = client_of(reviewer)
    assert client.get(address(agent)).status_code == 404
    assert client.get(f"/agents/{agent.pk}.csv").status_code == 404
    assert Client().get(address(agent)).status_code == 302


def test_the_losses_of_a_judge_add_up_to_what_it_is_short_of(tmp_path: Path, db: None) -> None:
    card = Scorecard.objects.get(match=rich(tmp_path).match, is_live=True).breakdown
    for name, shown in card["judges"].items():
        if shown["counted"] is None:
            continue
        lost = sum(loss.points for loss in losses(card, CURRENT) if loss.place == name)
        short = Decimal(str(shown["effective_weight"])) * (100 - Decimal(shown["counted"])) / 100
        assert abs(lost - short) < Decimal("0.0001"), name


def test_the_dearest_three_come_first_and_a_perfect_match_has_none(heron: Agent) -> None:
    cards = [card.breakdown for card in Scorecard.objects.live()]
    mends = worth_mending(cards, CURRENT)
    assert [mend.points for mend in mends] == sorted((m.points for m in mends), reverse=True)
    assert len(mends) <= 3
    for card in cards:
        for shown in card["judges"].values():
            shown |= {"raw": "100.00", "counted": "100.00", "anchored": False}
    assert worth_mending(cards, CURRENT) == []


def test_the_picture_has_every_number_of_the_table(
    heron: Agent, client_of: ClientOf, competitor: User
) -> None:
    page = page_of(client_of(competitor), address(heron))
    (data,) = re.findall(r'<script id="form-plot" type="application/json">(.*?)</script>', page)
    drawn = {
        (match, f"{total:.2f}")
        for trace in json.loads(data)["data"]
        for match, total in zip(trace["text"], trace["y"], strict=True)
    }
    told = {
        (row["match"], row["total"])
        for row in file_of(client_of(competitor), f"/agents/{heron.pk}.csv")
    }
    assert drawn == told
    assert len(told) == 2


def test_the_picture_is_drawn_in_the_zone_that_its_axis_names(
    heron: Agent, client_of: ClientOf, competitor: User
) -> None:
    moment = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)
    Bundle.objects.update(started_at=moment)
    client = client_of(competitor)
    for zone, drawn in (("UTC", "2026-07-01T22:30:00"), ("Asia/Tokyo", "2026-07-02T07:30:00")):
        competitor.time_zone = zone
        competitor.save()
        page = page_of(client, address(heron))
        (data,) = re.findall(r'<script id="form-plot" type="application/json">(.*?)</script>', page)
        figure = json.loads(data)
        assert figure["layout"]["xaxis"]["title"]["text"] == f"Fought, {zone}"
        assert {when for trace in figure["data"] for when in trace["x"]} == {drawn}
        assert drawn[8:10].lstrip("0") in text_of(page.partition('id="form"')[2])


def test_an_agent_that_is_not_there_is_404(db: None, client_of: ClientOf, operator: User) -> None:
    assert client_of(operator).get("/agents/9999/").status_code == 404


def test_more_matches_need_no_more_queries(
    db: None,
    client_of: ClientOf,
    operator: User,
    at_most: Callable[[int], AbstractContextManager[None]],
) -> None:
    """However many matches on however many challenges."""
    version, agent = make_version(), make_agent()
    shown = {"counted": None, "raw": None, "anchored": False, "effective_weight": 0}
    body = {
        "match": "m", "judges": {judge.value: shown for judge in WEIGHED}, "artifacts": [],
        "integrity": {"findings": []},
    }  # fmt: skip
    record(agent, version, 50, breakdown=body)
    record(make_agent("Wren"), version, 60, low=Fraction(40), breakdown=body)
    client = client_of(operator)
    with at_most(15):
        assert client.get(address(agent)).status_code == 200
    for number in range(30):
        record(agent, version, number, breakdown=body)
    for number in range(8):
        another = make_version(f"c-{number}")
        for one in (agent, make_agent("Wren")):
            record(one, another, 50 + number, low=Fraction(number), breakdown=body)
    with at_most(15):
        packed = client.get(address(agent), headers={"Accept-Encoding": "gzip"})
    assert len(packed.content) < 60_000


def test_names_are_text_and_nothing_else(db: None, client_of: ClientOf, operator: User) -> None:
    agent = make_agent('"><img src=x onerror=alert(1)>', model="<b>m</b>")
    page = page_of(client_of(operator), address(agent))
    assert "<img" not in page
    assert "<b>m" not in page
