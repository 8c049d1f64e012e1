"""Numbers are exact inside and rounded half up outside."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.scoring.exact import NotANumber, clamp, exact, median, plain, rounded, score_text

from .making import bounded

fractions = st.fractions(-200, 200, max_denominator=10_000)


def test_a_float_stands_for_the_decimal_it_is_written_as() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(130.0) == 130
    assert exact(1e-7) == Fraction(1, 10**7)


def test_ints_decimals_and_fractions_are_taken_as_they_are() -> None:
    assert exact(7) == 7
    assert exact(Decimal("75.9")) == Fraction(759, 10)
    assert exact(Fraction(1, 3)) == Fraction(1, 3)


@pytest.mark.parametrize(
    "value",
    [
        True,
        None,
        "1",
        [],
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
    ],
)
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(NotANumber):
        exact(value)


def test_zero_is_exact_however_it_is_written() -> None:
    assert exact(Decimal("0")) == exact(0.0) == exact(Decimal("0E-300")) == 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(5, 1000), "0.01"),
        (Fraction(1, 3), "0.33"),
        (Fraction(748, 10), "74.80"),
        (Fraction(0), "0.00"),
        (Fraction(-10), "-10.00"),
        (Fraction(-5, 1000), "0.00"),
        (Fraction(100), "100.00"),
    ],
)
def test_scores_are_shown_with_two_places_half_up(value: Fraction, shown: str) -> None:
    assert score_text(value) == shown


def test_no_answer_is_shown_as_no_answer() -> None:
    assert score_text(None) is None


def test_ratios_are_rounded_to_four_places_where_asked() -> None:
    assert rounded(Fraction(1, 9), 4) == Decimal("0.1111")
    assert str(rounded(Fraction(1, 2), 4)) == "0.5000"


@bounded
@given(fractions, st.integers(-30, 30))
def test_adding_a_whole_number_does_not_move_a_rounding(value: Fraction, points: int) -> None:
    assert rounded(value + points) == rounded(value) + points


@bounded
@given(fractions)
def test_a_rounding_is_never_further_off_than_half_a_cent(value: Fraction) -> None:
    assert abs(Fraction(rounded(value)) - value) <= Fraction(1, 200)


def test_numbers_in_sentences_have_no_trailing_zeros() -> None:
    assert plain(Fraction(40)) == "40"
    assert plain(Fraction(7, 2)) == "3.5"
    assert plain(Fraction(100)) == "100"
    assert plain(Fraction(0)) == "0"


@bounded
@given(st.lists(fractions, min_size=1))
def test_half_the_values_lie_on_each_side_of_the_median(values: list[Fraction]) -> None:
    middle = median(values)
    assert 2 * sum(value <= middle for value in values) >= len(values)
    assert 2 * sum(value >= middle for value in values) >= len(values)
    assert middle == median(values[::-1])


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median([Fraction(40), Fraction(30)]) == 35
    assert median([Fraction(1, 3), Fraction(9), Fraction(1, 2), Fraction(-7)]) == Fraction(5, 12)


@bounded
@given(fractions)
def test_a_clamped_score_lies_in_its_range(value: Fraction) -> None:
    assert 0 <= clamp(value) <= 100
    assert clamp(value) == value or not 0 <= value <= 100
