"""Boards over a family or a window of time equal the default ones where nothing is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from bouts.models import Bundle, ChallengeVersion, User
from judging import narrow
from judging.board import COLUMNS, Board, board_of
from judging.models import Scorecard
from tests.judging.cards import make_agent, make_version, record
from tests.judging.views.making import rich

pytestmark = pytest.mark.django_db


def shown(board: Board, order: str = "-total") -> list[tuple[object, ...]]:
    rows = board.with_ranks(board.in_order(board.rows, order)[:100])
    return [
        (row.rank_text, row.standing.agent.name, row.standing.total, row.standing.spread,
         row.standing.ranked_matches, row.reach, row.reason)
        for row in rows
    ]  # fmt: skip


@pytest.fixture
def version(db: None) -> ChallengeVersion:
    version = make_version()
    judges = {"objective": Fraction(40), "process": Fraction(50)}
    record(make_agent("A"), version, 70, **judges)
    record(make_agent("A"), version, 80, objective=Fraction(90))
    record(make_agent("B"), version, 75, low=Fraction(60), high=Fraction(90),
           status=Scorecard.Status.PROVISIONAL)  # fmt: skip
    record(make_agent("C", "halyard"), version, 65, **judges)
    record(make_agent("D"), version, 99, marks=["held"])
    return version


def settled(version: ChallengeVersion | None, user: User, **asked: str) -> Board:
    """Return a narrower board once the sweep has written its rows."""
    narrow.settle()
    board = board_of(version, user, asked)
    assert not board.is_behind
    return board


@pytest.mark.parametrize("order", [sign + name for name in COLUMNS for sign in ("", "-")])
def test_a_window_that_holds_everything_shows_the_default_board(
    version: ChallengeVersion, operator: User, order: str
) -> None:
    board = settled(version, operator, window="365")
    assert board.is_narrow
    whole = Board(version, operator)
    # Rows that are equal in the column stand in any order.
    assert sorted(map(str, shown(board, order))) == sorted(map(str, shown(whole, order)))
    assert [r[0] == "" for r in shown(board, order)] == [False, False, False, True]
    assert board.ranked_count == whole.ranked_count
    assert board.is_open is whole.is_open is True
    assert board.within_models() == whole.within_models()


def test_what_was_fought_before_the_window_does_not_count(
    version: ChallengeVersion, operator: User
) -> None:
    old = Bundle.objects.filter(match__agent__name="A").order_by("pk").first()
    Bundle.objects.filter(pk=old.pk).update(started_at=timezone.now() - timedelta(days=40))
    rows = {row[1]: row for row in shown(settled(version, operator, window="30"))}
    assert (rows["A"][2], rows["A"][4]) == (80, 1)
    assert {row[1] for row in shown(settled(version, operator, window="90"))} == set("ABCD")


def test_a_family_is_a_board_over_its_challenges(operator: User) -> None:
    for slug, family, score in (("a", "money", 10), ("b", "money", 20), ("c", "search", 90)):
        one = make_version(slug)
        ChallengeVersion.objects.filter(pk=one.pk).update(family=family)
        one.refresh_from_db()
        record(make_agent("A"), one, score)
    (row,) = shown(settled(None, operator, family="money"))
    assert (row[0], row[2]) == ("1", 15)
    assert shown(settled(None, operator, family="nothing")) == []
    old = Bundle.objects.filter(challenge_version__challenge__slug="b")
    old.update(started_at=timezone.now() - timedelta(days=9))
    narrow.refresh(make_agent("A").pk)
    (row,) = shown(settled(None, operator, family="money", window="7"))
    assert (row[0], row[2]) == ("1", 10)


def test_from_how_many_challenges_on_an_agent_is_ranked_follows_the_board(operator: User) -> None:
    for number in range(4):
        record(make_agent("A"), make_version(f"c-{number}"), 50)
    record(make_agent("B"), ChallengeVersion.objects.get(challenge__slug="c-0"), 60)
    Bundle.objects.exclude(challenge_version__challenge__slug="c-0").update(
        started_at=timezone.now() - timedelta(days=10)
    )
    assert Board(None, operator).needed == 3
    board = settled(None, operator, window="7")
    assert board.needed == 1
    assert [row[:2] for row in shown(board)] == [("1", "B"), ("2", "A")]


def test_a_narrower_board_says_that_it_is_behind_and_is_not_final(
    version: ChallengeVersion, operator: User
) -> None:
    board = settled(version, operator, window="7")
    before = shown(board)
    record(make_agent("B"), version, 100)
    late = board_of(version, operator, {"window": "7"})
    assert (shown(late), late.is_behind, late.is_open) == (before, True, True)
    assert shown(settled(version, operator, window="7")) == shown(Board(version, operator))


def test_a_window_moves_on_by_whole_days_of_utc(
    version: ChallengeVersion, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = narrow.today()
    edge = Bundle.objects.filter(match__agent__name="C")
    edge.update(started_at=narrow.since(7, day))
    narrow.refresh(edge.get().match.agent_id)
    assert "C" in {row[1] for row in shown(settled(version, operator, window="7"))}

    monkeypatch.setattr(narrow, "today", lambda: day + timedelta(days=1))
    assert board_of(version, operator, {"window": "7"}).is_behind
    assert "C" not in {row[1] for row in shown(settled(version, operator, window="7"))}
    assert "C" in {row[1] for row in shown(settled(version, operator, window="30"))}
    assert narrow.settle() == 0  # nothing has changed since


def test_one_sweep_writes_the_rows_of_some_agents_and_the_next_those_of_others(
    version: ChallengeVersion, operator: User
) -> None:
    assert [narrow.settle(most=3), narrow.settle(most=3), narrow.settle(most=3)] == [3, 1, 0]
    assert len(shown(settled(version, operator, window="7"))) == 4


def test_one_who_must_come_blind_finds_no_more_on_a_narrower_board(
    tmp_path: Path, reviewer: User, operator: User
) -> None:
    rich(tmp_path)
    assert shown(settled(None, reviewer, window="365")) == []
    assert len(shown(settled(None, operator, window="365"))) == 1


def test_a_page_of_a_narrower_board_says_since_when_it_counts(
    version: ChallengeVersion, client_of: Callable[[User], Client], competitor: User
) -> None:
    address = "/leaderboard/refunds/?window=7"
    behind = client_of(competitor).get(address).content.decode()
    assert "Scores have changed since this board was made" in behind
    narrow.settle()
    page = client_of(competitor).get(address).content.decode()
    assert "in whole days of UTC. This board holds every score until now." in page
    file = client_of(competitor).get("/leaderboard/refunds.json?window=7").getvalue()
    facts = json.loads(file)
    assert facts["since"] == narrow.since(7, narrow.today()).isoformat()
    assert (facts["is_behind"], len(facts["rows"])) == (False, 4)


def test_open_cases_move_a_row_as_far_as_all_of_them_together_can(
    version: ChallengeVersion, operator: User
) -> None:
    """B's 75 may become 60 or 90: above A's 75 and below C's 65."""
    reaches = {row[1]: row[5] for row in shown(Board(version, operator))}
    assert reaches == {"A": None, "B": (1, 3), "C": None, "D": None}
