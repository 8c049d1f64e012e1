from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudication.queue import spoken
from adjudication.scale import level_row, scale_of

scores = st.fractions(min_value=0, max_value=100, max_denominator=21)


def votes(*given_scores: object) -> list[tuple[str, Fraction]]:
    return [(mark, Fraction(score)) for mark, score in zip("ABC", given_scores, strict=False)]


def test_votes_stand_where_they_are_worth_with_their_reach_and_gaps() -> None:
    scale = scale_of(votes(92, 60, 76), Fraction(450, 7), 15)
    assert [(dot.mark, dot.x, dot.label) for dot in scale.dots] == [
        ("B", "60%", "60.00"),
        ("C", "76%", "76.00"),
        ("A", "92%", "92.00"),
    ]
    assert [(band.x, band.width, band.end) for band in scale.bands] == [
        ("60%", "15%", "75%"),
        ("76%", "15%", "91%"),
    ]
    assert [gap.label for gap in scale.gaps] == ["16.00", "16.00"]
    assert scale.words == (
        "Seats B 60.00, C 76.00, A 92.00. Gaps 16.00 and 16.00; up to 15 is close. "
        "Your score 64.29."
    )


def test_figures_that_would_run_into_each_other_stand_above_each_other() -> None:
    scale = scale_of(votes(70, 71, 72), None, 15)
    assert len({dot.lift for dot in scale.dots}) == 3
    assert scale.height > scale_of(votes(10, 50, 90), None, 15).height
    assert not scale.gaps


def test_a_label_gives_way_to_ones_own_mark() -> None:
    labels = {tick.label for tick in scale_of(votes(10), Fraction(74), 15).ticks}
    assert labels == {"0", "25", "50", "100", ""}


@given(st.lists(scores, max_size=3), st.none() | scores)
def test_nothing_stands_outside_the_picture(some: list[Fraction], own: Fraction | None) -> None:
    scale = scale_of(votes(*some), own, 15)
    places = [dot.x for dot in scale.dots] + [band.end for band in scale.bands]
    assert all(0 <= float(place.rstrip("%")) <= 100 for place in places)
    assert {dot.mark for dot in scale.dots} == set("ABC"[: len(some)])


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(minutes=32, seconds=59), "32 min"),
        (timedelta(hours=11, minutes=25), "11 h 25 min"),
        (timedelta(days=3, hours=2, minutes=59), "3 d 2 h"),
        (timedelta(0), "0 min"),
    ],
)
def test_lengths_of_time_are_said_in_their_two_largest_units(length: timedelta, words: str) -> None:
    assert spoken(length) == words


def test_levels_of_one_criterion_stand_side_by_side_where_they_are_the_same() -> None:
    row = level_row("Search", [("A", 3), ("B", 3), ("C", 5), ("D", None)], 1, 5)
    assert [(mark.letter, mark.x, mark.shift) for mark in row.marks] == [
        ("A", "50%", -8),
        ("B", "50%", 8),
        ("C", "90%", 0),
    ]
    assert (row.own_x, row.ticks) == ("10%", ("10%", "30%", "50%", "70%", "90%"))
    assert level_row("Search", [], None, 5).own_x == ""
