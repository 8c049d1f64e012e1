"""A board as it is read: order, ranks, ties, filters; and that it equals what scorecards say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from django.db import transaction
from django.http import Http404, QueryDict
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from bouts.models import ChallengeVersion, Match, User
from judging import actions, narrow, standings
from judging.board import COLUMNS, Board, on_challenges, version_of
from judging.filters import BoardFilter
from judging.models import Scorecard, Standing
from tests.judging.cards import make_agent, make_version, record
from tests.judging.views.making import rich

pytestmark = pytest.mark.django_db


def on_board(
    version: ChallengeVersion | None, user: User, order: str = "-total", **asked: str
) -> list[tuple[str, str]]:
    """Return rank and name of each row, as the page shows them."""
    board = Board(version, user)
    query = QueryDict(mutable=True)
    query.update(asked)
    rows = board.in_order(BoardFilter(query, board.rows).qs, order)
    return [(row.rank_text, row.standing.agent.name) for row in board.with_ranks(rows[:100])]


@pytest.fixture
def four(operator: User) -> ChallengeVersion:
    """Four agents: two with a total, one of them with all judges; two without a rank."""
    version = make_version()
    everything = {"objective": 40, "process": 50, "strategy": 60, "recovery": 70}
    record(make_agent("All"), version, 50, **everything, adjustment=-5)
    record(make_agent("Some"), version, 60, objective=80, adjustment=0)
    record(make_agent("Held"), version, 99, marks=["held"], **everything)
    record(make_agent("None"), version, None, status=Scorecard.Status.UNSCORED)
    return version


# Order


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("column", COLUMNS)
def test_what_has_no_rank_is_last_by_every_column_in_both_directions(
    column: str, sign: str, four: ChallengeVersion, operator: User
) -> None:
    rows = on_board(four, operator, f"{sign}{column}")
    assert {name for _, name in rows[:2]} == {"All", "Some"}
    assert rows[2:] == [("", "Held"), ("", "None")]


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("column", ["process", "strategy", "recovery"])
def test_no_score_of_a_judge_is_behind_any_in_both_directions(
    column: str, sign: str, four: ChallengeVersion, operator: User
) -> None:
    assert on_board(four, operator, f"{sign}{column}")[:2] == [("2", "All"), ("1", "Some")]


def test_a_minus_is_the_highest_first(four: ChallengeVersion, operator: User) -> None:
    names = {
        order: [name for _, name in on_board(four, operator, order)[:2]]
        for order in ("-objective", "objective", "-integrity", "integrity")
    }
    assert names == {
        "-objective": ["Some", "All"],
        "objective": ["All", "Some"],
        "-integrity": ["Some", "All"],
        "integrity": ["All", "Some"],
    }


def test_order_is_by_exact_values_and_ranks_by_two_places(operator: User) -> None:
    version = make_version()
    for name, value in (("A", "89.994"), ("B", "89.996"), ("C", "89.9949"), ("D", "90")):
        record(make_agent(name), version, value)
    assert on_board(version, operator) == [("1=", "D"), ("1=", "B"), ("3=", "C"), ("3=", "A")]
    shown = dict(
        Standing.objects.filter(challenge_version=version).values_list("agent__name", "total")
    )
    assert shown == {
        "A": Decimal("89.99"), "B": Decimal("90.00"), "C": Decimal("89.99"), "D": Decimal("90.00"),
    }  # fmt: skip


def test_ties_share_a_rank_and_the_next_is_counted_on(operator: User) -> None:
    version = make_version()
    for name, value in zip("ABCDEF", (90, 80, 70, 60, 60, 10), strict=True):
        record(make_agent(name), version, value)
    assert [rank for rank, _ in on_board(version, operator)] == ["1", "2", "3", "4=", "4=", "6"]
    board = Board(version, operator)
    rows = board.with_ranks(board.in_order(board.rows)[:10])
    assert [row.is_tied_to_next for row in rows] == [False, False, False, True, False, False]


def test_beyond_100_the_unclamped_value_decides_and_100_is_shown(operator: User) -> None:
    version = make_version()
    record(make_agent("A"), version, 102)
    record(make_agent("B"), version, 104)
    assert on_board(version, operator) == [("1", "B"), ("2", "A")]
    totals = Standing.objects.filter(challenge_version=version).values_list("total", flat=True)
    assert set(totals) == {Decimal("100.00")}


def test_filters_keep_the_ranks_of_the_whole_board(operator: User) -> None:
    version = make_version()
    for name, team, model, value in (
        ("Heron", "northbank", "quill-4", 90),
        ("Wren", "halyard", "quill-4", 80),
        ("Kite", "halyard", "sable-2", 80),
        ("Ibis", "northbank", "sable-2", 10),
    ):
        record(make_agent(name, team, model), version, value)
    wren, kite, ibis = ("2=", "Wren"), ("2=", "Kite"), ("4", "Ibis")
    assert on_board(version, operator, team="halyard") == [wren, kite]
    assert on_board(version, operator, base_model="sable-2") == [kite, ibis]
    assert on_board(version, operator, q="IBI") == [ibis]
    assert on_board(version, operator, q="halyard", base_model="quill-4") == [wren]
    assert on_board(version, operator, "total", team="halyard") == [wren, kite]
    assert on_board(version, operator, q="nobody") == []


def test_pages_go_over_the_border_between_ranked_and_unranked(
    four: ChallengeVersion, operator: User
) -> None:
    board = Board(four, operator)
    rows = board.in_order(board.rows)
    names = [row.agent.name for row in rows]
    assert len(rows) == 4
    for first in range(5):
        for last in range(first, 6):
            assert [row.agent.name for row in rows[first:last]] == names[first:last]
    assert rows[3].agent.name == names[3]


# What keeps a row off the ranks


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({"value": 50, "marks": ["held"]}, "One match, held while an integrity case is open"),
        ({"value": 50, "marks": ["incomplete"]}, "One match, incomplete: its total is shown, not ranked"),
        ({"value": None, "status": "unscored"}, "One match, without a total"),
        ({"value": None, "status": "unscored", "marks": ["incomplete"]}, "One match, without a total"),
        ({"value": None, "status": "pending"}, "One match, waiting for a judge"),
        ({"value": None, "status": "failed"}, "One match, whose judging broke off"),
    ],
)  # fmt: skip
def test_a_row_without_a_rank_says_why(card: dict, reason: str, operator: User) -> None:
    version = make_version()
    record(make_agent(), version, **card)
    board = Board(version, operator)
    (row,) = board.with_ranks(board.in_order(board.rows)[:1])
    assert (row.rank, row.reason) == (None, reason)


@pytest.mark.parametrize("exclusion", ["withdrawn", "excluded"])
def test_what_ops_take_away_leaves_the_ranks_and_comes_back(exclusion: str, operator: User) -> None:
    version = make_version()
    card = record(make_agent(), version, 50)
    actions.exclude_match(card.match, exclusion, by=operator, reason="twice the same")
    board = Board(version, operator)
    (row,) = board.with_ranks(board.in_order(board.rows)[:1])
    assert (row.rank, row.reason, row.standing.marks) == (
        None,
        f"One match, {exclusion}",
        [exclusion],
    )
    actions.exclude_match(card.match, Match.Exclusion.NONE, by=operator, reason="it was not")
    assert on_board(version, operator) == [("1", "Heron")]


def test_overall_a_rank_takes_three_challenges(operator: User) -> None:
    versions = [make_version(slug) for slug in ("a", "b", "c", "d")]
    for value, version in zip((90, 80, 70), versions, strict=False):
        record(make_agent("Three"), version, value)
    record(make_agent("Two"), versions[0], 100)
    record(make_agent("Two"), versions[1], 100)
    record(make_agent("Four"), versions[3], 10)
    assert on_board(None, operator) == [("1", "Three"), ("", "Two"), ("", "Four")]
    board = Board(None, operator)
    rows = board.with_ranks(board.in_order(board.rows)[:10])
    assert rows[0].standing.total == Decimal("80.00")
    assert rows[1].reason == "Ranked from 3 challenges on; it has 2 so far"


def test_overall_is_the_mean_over_challenges_and_not_over_matches(operator: User) -> None:
    a, b = make_version("a"), make_version("b")
    for value in (100, 100, 100):
        record(make_agent(), a, value)
    record(make_agent(), b, 0)
    overall = Standing.objects.get(challenge_version=None)
    assert (overall.total, overall.challenges, overall.matches) == (Decimal("50.00"), 2, 4)


def test_a_new_version_begins_a_board_of_its_own_and_leaves_the_overall_one(operator: User) -> None:
    first = make_version()
    record(make_agent(), first, 50, match="m-1")
    second = make_version(number=2)
    standings.refresh_overall(second.challenge)
    assert on_board(first, operator) == [("1", "Heron")]
    assert on_board(second, operator) == on_board(None, operator) == []
    record(make_agent(), second, 70, match="m-1")
    assert on_board(first, operator) == []
    assert on_board(second, operator) == on_board(None, operator) == [("1", "Heron")]


def test_a_version_is_found_by_its_number(operator: User) -> None:
    first, second = make_version(), make_version(number=2)
    assert version_of("refunds") == second
    assert version_of("refunds", "1") == first
    for number in ("3", "-1", "x", "9" * 30):
        with pytest.raises(Http404):
            version_of("refunds", number)


# Always what a recount gives


@dataclass(frozen=True)
class Played:
    """Something that happens to a board."""

    agent: str
    challenge: str
    match: int
    value: Fraction | None
    marks: tuple[str, ...]
    status: str
    exclusion: str
    is_new_version: bool


values = st.none() | st.fractions(-25, 110, max_denominator=1000)
plays = st.builds(
    Played,
    agent=st.sampled_from("AB"),
    challenge=st.sampled_from("ab"),
    match=st.integers(0, 1),
    value=values,
    marks=st.sets(st.sampled_from(["held", "incomplete", "reduced", "flagged"])).map(
        lambda marks: tuple(sorted(marks))
    ),
    status=st.sampled_from(["final", "provisional"]),
    exclusion=st.sampled_from(["", "", "", "withdrawn", "excluded"]),
    is_new_version=st.integers(0, 5).map(lambda number: number == 0),
)
TWICE = Played("A", "a", 0, Fraction(50), (), "final", "", False)


@given(st.lists(plays, min_size=1, max_size=8))
@example([TWICE, Played("A", "a", 0, Fraction(60), (), "final", "", True)])
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_happens_the_board_is_what_the_scorecards_say(
    operator: User, played: list[Played]
) -> None:
    with transaction.atomic():
        for play in played:
            happen(play, operator)
        assert rows_now() == expected()
        narrow.settle()
        kept = rows_now(all_boards=True)
        narrow.recount()
        assert rows_now(all_boards=True) == kept
        Standing.objects.all().delete()
        narrow.recount()
        assert rows_now(all_boards=True) == kept
        # All of it was fought today, so that a window of days holds what the default board has.
        for days in narrow.WINDOWS:
            assert rows_now(window=days) == expected()
        assert rows_now(family="money") == over_one_challenge("a")
        transaction.set_rollback(True)


def happen(play: Played, operator: User) -> None:
    version = ChallengeVersion.objects.filter(challenge__slug=play.challenge, is_live=True).first()
    if version is None or play.is_new_version:
        version = make_version(play.challenge, version.number + 1 if version else 1)
        if play.challenge == "a":
            ChallengeVersion.objects.filter(pk=version.pk).update(family="money")
        standings.refresh_overall(version.challenge)
    card = record(
        make_agent(play.agent),
        version,
        play.value,
        match=f"{play.agent}-{play.challenge}-{play.match}",
        marks=play.marks,
        status=play.status if play.value is not None else "unscored",
    )
    actions.exclude_match(card.match, play.exclusion, by=operator, reason="so it is")


def rows_now(*, all_boards: bool = False, **board: object) -> set[tuple[object, ...]]:
    """Return the rows of the default boards, or of those of a window or family; or of all."""
    rows = Standing.objects.select_related("agent", "challenge_version")
    if not all_boards:
        rows = rows.filter(**{"family": "", "window": 0, **board})
    return {
        (
            row.agent.name,
            row.challenge_version and str(row.challenge_version),
            row.total,
            row.rounded,
            row.value and round(row.value, 12),
            row.ranked_matches,
            row.matches,
            row.challenges,
            *((row.family, row.window, str(row.spread), str(row.marks)) if all_boards else ()),
        )
        for row in rows
    }


def over_one_challenge(slug: str) -> set[tuple[object, ...]]:
    """Return the rows over a family that has this challenge alone: those of its live version."""
    live = str(ChallengeVersion.objects.filter(challenge__slug=slug, is_live=True).first())
    return {
        (row[0], None, *row[2:7], int(row[4] is not None)) for row in rows_now() if row[1] == live
    }


def expected() -> set[tuple[object, ...]]:
    """Work the boards out by hand, from the live scorecards alone."""
    cards = list(Scorecard.objects.live().select_related("match__agent", "challenge_version"))
    rows = set()
    for agent in {card.match.agent for card in cards}:
        own = [card for card in cards if card.match.agent == agent]
        groups = [
            [card for card in own if card.challenge_version == version]
            for version in {card.challenge_version for card in own}
        ]
        for group in groups:
            means = mean_of(ranked(group))
            rows.add((agent.name, str(group[0].challenge_version), *means, *counts(group), 1))
        live = [group for group in groups if group[0].challenge_version.is_live]
        if live:
            known = [ranked(group) for group in live if ranked(group)]
            values = [sum(v for v, _ in group) / Fraction(len(group)) for group in known]
            totals = [sum(t for _, t in group) / Fraction(len(group)) for group in known]
            means = mean_of(list(zip(values, totals, strict=True)))
            every = [card for group in live for card in group]
            rows.add((agent.name, None, *means, *counts(every), len(known)))
    return rows


def ranked(cards: Sequence[Scorecard]) -> list[tuple[Fraction, Fraction]]:
    """Return value and total of the cards that count."""
    return [
        (card.value, max(Fraction(0), min(Fraction(100), card.value)))
        for card in cards
        if card.value is not None
        and not {"held", "incomplete"} & set(card.marks)
        and card.match.exclusion == ""
    ]


def mean_of(pairs: Sequence[tuple[Fraction, Fraction]]) -> tuple[Decimal | None, ...]:
    if not pairs:
        return None, None, None
    value = sum(value for value, _ in pairs) / Fraction(len(pairs))
    total = sum(total for _, total in pairs) / Fraction(len(pairs))
    return two_places(total), two_places(value), places(value, 12)


def two_places(value: Fraction) -> Decimal:
    """Round half up, as the rule book says: towards the greater, below zero too."""
    return Decimal((value * 100 + Fraction(1, 2)).__floor__()) / 100


def places(value: Fraction, number: int) -> Decimal:
    return Decimal(round(value * 10**number)) / 10**number


def counts(cards: Sequence[Scorecard]) -> tuple[int, int]:
    return len(ranked(cards)), len(cards)


# How much is asked


def test_ten_times_the_rows_need_no_more_queries(
    operator: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    version = make_version()
    added = 0
    for more in (4, 36):
        for number in range(added, added + more):
            record(make_agent(f"A{number}"), version, number)
        added += more
        with django_assert_num_queries(5):  # two counts, the rows, and two for the ranks
            board = Board(version, operator)
            assert len(board.with_ranks(board.in_order(board.rows)[:60])) == added


def test_an_agent_stands_on_many_boards_as_on_each_of_them(
    tmp_path: Path, operator: User, reviewer: User
) -> None:
    """Ties, what open cases can move, and whom a reviewer must not see, are as on the board."""
    dark = rich(tmp_path).match  # of Heron, on refunds: open before this reviewer
    versions = [ChallengeVersion.objects.get(challenge=dark.challenge), make_version("ledgers")]
    for number, name in enumerate(("Wren", "Kite", "Gull", "Lark")):
        for version in versions:
            value = 50 + number // 2
            record(
                make_agent(name), version, value, low=Fraction(value - number), high=Fraction(value)
            )
    record(make_agent("Wren"), make_version("letters"), None, status=Scorecard.Status.UNSCORED)
    Standing.objects.filter(agent=dark.agent).update(value=99, rounded=99, low=99, high=99)
    for user, ranked in ((operator, {5, 4, 0}), (reviewer, {4, 0})):
        seen = set()
        for name in ("Wren", "Kite", "Gull", "Lark"):
            rows = Standing.objects.default().filter(
                agent__name=name, challenge_version__isnull=False
            )
            for row, shown, number in on_challenges(rows, user):
                board = Board(row.challenge_version, user)
                (expected,) = board.with_ranks([row])
                assert shown == expected
                assert number == board.ranked_count
                seen.add(number)
        assert seen == ranked
