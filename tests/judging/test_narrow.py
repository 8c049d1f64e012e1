"""Boards over a family or a window of time equal the default ones where nothing is left out."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from django.utils import timezone

from bouts.models import Bundle, ChallengeVersion, User
from judging.board import COLUMNS, Board
from judging.models import Scorecard
from judging.narrow import NarrowBoard, board_of
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


@pytest.mark.parametrize("order", [sign + name for name in COLUMNS for sign in ("", "-")])
def test_a_window_that_holds_everything_shows_the_default_board(
    version: ChallengeVersion, operator: User, order: str
) -> None:
    narrow = board_of(version, operator, {"window": "365"})
    assert isinstance(narrow, NarrowBoard)
    whole = Board(version, operator)
    # Rows that are equal in the column stand in any order.
    assert sorted(map(str, shown(narrow, order))) == sorted(map(str, shown(whole, order)))
    assert [r[0] == "" for r in shown(narrow, order)] == [False, False, False, True]
    assert narrow.ranked_count == whole.ranked_count
    assert narrow.is_open is whole.is_open is True
    assert narrow.within_models() == whole.within_models()


def test_what_was_fought_before_the_window_does_not_count(
    version: ChallengeVersion, operator: User
) -> None:
    old = Bundle.objects.filter(match__agent__name="A").order_by("pk").first()
    Bundle.objects.filter(pk=old.pk).update(started_at=timezone.now() - timedelta(days=40))
    rows = {row[1]: row for row in shown(board_of(version, operator, {"window": "30"}))}
    assert (rows["A"][2], rows["A"][4]) == (80, 1)
    assert {row[1] for row in shown(board_of(version, operator, {"window": "90"}))} == set("ABCD")


def test_a_family_is_a_board_over_its_challenges(operator: User) -> None:
    for slug, family, score in (("a", "money", 10), ("b", "money", 20), ("c", "search", 90)):
        one = make_version(slug)
        ChallengeVersion.objects.filter(pk=one.pk).update(family=family)
        one.refresh_from_db()
        record(make_agent("A"), one, score)
    (row,) = shown(board_of(None, operator, {"family": "money"}))
    assert (row[0], row[2]) == ("1", 15)
    assert shown(board_of(None, operator, {"family": "nothing"})) == []


def test_one_who_must_come_blind_finds_no_more_on_a_narrower_board(
    tmp_path: Path, reviewer: User
) -> None:
    rich(tmp_path)
    assert shown(board_of(None, reviewer, {"window": "365"})) == []


def test_open_cases_move_a_row_as_far_as_all_of_them_together_can(
    version: ChallengeVersion, operator: User
) -> None:
    """B's 75 may become 60 or 90: above A's 75 and below C's 65."""
    reaches = {row[1]: row[5] for row in shown(Board(version, operator))}
    assert reaches == {"A": None, "B": (1, 3), "C": None, "D": None}
