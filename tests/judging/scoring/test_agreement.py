"""Agreement statistics against published examples, and where they are undefined."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.scoring.agreement import Agreement, Standing, agreement
from judging.scoring.exact import rounded
from judging.scoring.policy import CURRENT

from .making import bounded

KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
SHROUT_FLEISS = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]

Rows = list[list[int | None]]
cells = st.integers(0, 100) | st.none()
matrices: st.SearchStrategy[Rows] = st.integers(1, 6).flatmap(
    lambda units: st.lists(st.lists(cells, min_size=units, max_size=units), min_size=1, max_size=4)
)


def measured(matrix: Rows) -> Agreement:
    exact = [[None if v is None else Fraction(v) for v in row] for row in matrix]
    return agreement(exact, CURRENT)


def six(value: Fraction | None) -> str | None:
    return None if value is None else str(rounded(value, 6))


def test_krippendorffs_own_example() -> None:
    found = measured(KRIPPENDORFF)
    assert (found.pairable, found.units) == (40, 11)
    assert six(found.alpha_interval) == "0.849107"
    assert found.icc_a1 is found.icc_ak is None  # cells are missing


def test_the_example_of_shrout_and_fleiss() -> None:
    found = measured([list(row) for row in SHROUT_FLEISS])
    assert (six(found.icc_a1), six(found.icc_ak)) == ("0.289764", "0.620051")
    assert six(found.alpha_interval) == "0.147308"


def test_no_variation_is_undefined_and_neither_1_nor_0() -> None:
    found = measured([[70] * 3] * 3)
    assert found.alpha_interval is found.icc_a1 is found.icc_ak is None
    assert found.within == 1
    assert found.error_points == 0


def test_perfect_agreement_on_varied_units_is_1() -> None:
    found = measured([[10, 50, 90]] * 3)
    assert found.alpha_interval == found.icc_a1 == found.icc_ak == 1


def test_one_rater_has_nobody_to_agree_with() -> None:
    found = measured([[10, 50, 90]])
    assert found.pairable == found.units == 0
    assert found.alpha_interval is found.icc_a1 is found.within is found.error_points is None


def test_one_unit_has_no_intraclass_correlation() -> None:
    assert measured([[10], [50]]).icc_a1 is None


def test_two_units_have_one() -> None:
    """Unit means 1.5 and 4.5, rater means 2 and 4: MSR 9, MSC 4, MSE 1, of two and two.

    So (9 − 1) ÷ (9 + 1 + 2 · 3 ÷ 2) = 8 ÷ 13, and (9 − 1) ÷ (9 + 3 ÷ 2) = 16 ÷ 21.
    """
    measured = agreement([[Fraction(1), Fraction(3)], [Fraction(2), Fraction(6)]], CURRENT)
    assert (measured.icc_a1, measured.icc_ak) == (Fraction(8, 13), Fraction(16, 21))


def test_no_raters_at_all_is_undefined() -> None:
    assert measured([]).alpha_interval is None


def test_an_abstaining_rater_changes_nothing() -> None:
    assert measured([*KRIPPENDORFF, [None] * 12]).alpha_interval == (
        measured(KRIPPENDORFF).alpha_interval
    )


def test_raw_agreement_is_the_share_of_pairs_within_15() -> None:
    assert measured([[50, 50], [65, 50], [66, None]]).within == Fraction(3, 4)


def test_the_error_of_measurement_is_in_points() -> None:
    assert measured([[40, 80], [60, 80]]).error_points == pytest.approx(10)


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="every rater needs a cell"):
        measured([[1, 2], [1]])


@pytest.mark.parametrize(
    ("units", "standing"),
    [
        (9, Standing.WITHHELD),
        (10, Standing.INDICATIVE),
        (29, Standing.INDICATIVE),
        (30, Standing.PRINTED),
    ],
)
def test_few_units_print_nothing_or_with_a_warning(units: int, standing: Standing) -> None:
    assert measured([list(range(units))] * 2).standing is standing


@bounded
@given(matrices)
def test_alpha_is_what_its_definition_says_pair_by_pair(matrix: Rows) -> None:
    units = [[v for v in unit if v is not None] for unit in zip(*matrix, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    n = len(pooled)
    found = measured(matrix)
    assert found.pairable == n
    expected = sum((x - y) ** 2 for x, y in permutations(pooled, 2))
    if not expected:
        assert found.alpha_interval is None
        return
    observed = sum(
        Fraction(sum((x - y) ** 2 for x, y in permutations(unit, 2)), len(unit) - 1)
        for unit in units
    )
    assert found.alpha_interval == 1 - (observed / n) / Fraction(expected, n * (n - 1))


@bounded
@given(matrices, st.randoms())
def test_the_order_of_raters_never_matters(matrix: Rows, random: object) -> None:
    shuffled = list(matrix)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    before, after = measured(matrix), measured(shuffled)
    assert (before.alpha_interval, before.icc_a1, before.within) == (
        after.alpha_interval,
        after.icc_a1,
        after.within,
    )


@bounded
@given(matrices)
def test_nothing_is_ever_nan_or_above_1(matrix: Rows) -> None:
    found = measured(matrix)
    assert found.alpha_interval is None or found.alpha_interval <= 1
    assert found.error_points is None or math.isfinite(found.error_points)
