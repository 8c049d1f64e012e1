"""Curves: continuous, sloped on both sides of the target, exact at their knots."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.scoring.curves import Band, Curve, HigherIsBetter, LowerIsBetter, Share
from judging.scoring.policy import CURRENT

from .making import bounded

CURVES = {rule.name: rule.curve for rule in CURRENT.halves.metrics}
every_curve = pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())
values = st.fractions(0, 10_000, max_denominator=1000)


@pytest.mark.parametrize(
    ("times_the_target", "score"), [("1/2", 100), ("1", 80), ("2", 50), ("4", 20), ("8", 0)]
)
def test_lower_is_better_meets_its_knots(times_the_target: str, score: int) -> None:
    assert LowerIsBetter(Fraction(120)).score(120 * Fraction(times_the_target)) == score


def test_lower_is_better_gives_100_for_zero() -> None:
    assert LowerIsBetter(Fraction(120)).score(Fraction(0)) == 100


def test_higher_is_better_meets_its_target_and_its_end() -> None:
    curve = HigherIsBetter(Fraction(1, 2))
    assert [curve.score(Fraction(x)) for x in ("0", "1/4", "1/2", "3/4", "1", "2")] == [
        0,
        40,
        80,
        90,
        100,
        100,
    ]


def test_a_band_is_100_inside_and_halves_by_doubling_above() -> None:
    dwell = Band(Fraction(5, 100), Fraction(15, 100), floor=0)
    assert [dwell.score(Fraction(x, 100)) for x in (0, 5, 10, 15, 30, 60, 90)] == [
        0,
        100,
        100,
        100,
        50,
        0,
        0,
    ]


def test_a_band_starts_from_its_floor() -> None:
    reversion = Band(Fraction(5, 100), Fraction(20, 100), floor=50)
    assert reversion.score(Fraction(0)) == 50
    assert reversion.score(Fraction(25, 1000)) == 75


def test_a_share_is_its_percentage() -> None:
    assert Share().score(Fraction(2, 3)) == Fraction(200, 3)


@every_curve
def test_scores_stay_in_range_for_any_value(curve: Curve) -> None:
    @bounded
    @given(values)
    def stays_in_range(value: Fraction) -> None:
        assert 0 <= curve.score(value) <= 100

    stays_in_range()


@every_curve
def test_neither_the_tiniest_nor_the_largest_value_breaks_the_logarithm(curve: Curve) -> None:
    for value in (Fraction(1, 10**400), Fraction(10**400)):
        assert 0 <= curve.score(value) <= 100


@every_curve
def test_curves_have_no_jumps(curve: Curve) -> None:
    steps = [curve.score(Fraction(step, 1000)) for step in range(2000)]
    assert max(abs(one - next_one) for one, next_one in pairwise(steps)) <= 2


@every_curve
def test_a_negative_value_is_an_error_and_not_a_score(curve: Curve) -> None:
    with pytest.raises(ValueError, match="never negative"):
        curve.score(Fraction(-1))


@bounded
@given(values, values)
def test_less_is_never_worse_where_lower_is_better(x: Fraction, y: Fraction) -> None:
    curve = LowerIsBetter(Fraction(120))
    assert curve.score(min(x, y)) >= curve.score(max(x, y))


def test_good_is_not_a_plateau_where_everybody_ties() -> None:
    curve = LowerIsBetter(Fraction(120))
    assert curve.score(Fraction(90)) > curve.score(Fraction(110)) > curve.score(Fraction(130))
