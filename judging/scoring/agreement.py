"""How far raters agree, on scores from 0 to 100 (SCORING.md, 10).

Always of the raw scores, before any is discarded, and never of flagged cases alone: those
are a biased sample. The coefficients follow Krippendorff (2011) for alpha and Shrout and
Fleiss (1979), McGraw and Wong (1996) for the intraclass correlations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations

from judging.scoring.exact import ZERO
from judging.scoring.policy import Policy

Matrix = Sequence[Sequence[Fraction | None]]
"""A row a rater, a column a unit; None where a rater gave no score."""


class Standing(StrEnum):
    """How far the number of units lets the coefficients speak."""

    WITHHELD = "withheld"
    INDICATIVE = "indicative"
    PRINTED = "printed"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Coefficients, None where undefined, with what must stand beside them.

    `units` have two values or more, `pairable` counts the values in them. `within` is the
    share of pairs of a unit's values that lie within the policy's 15 points.
    `error_points` is the standard error of measurement: the spread, in points, of one
    rater's score about the mean of its unit.
    """

    units: int
    pairable: int
    alpha_interval: Fraction | None
    icc_a1: Fraction | None
    icc_ak: Fraction | None
    within: Fraction | None
    error_points: float | None
    standing: Standing


@dataclass(frozen=True, slots=True)
class Sums:
    """All that agreement is made of, summed over the units with two values or more.

    A database can sum it where a matrix would be too long to fetch. With m values of a unit,
    S their sum and Q the sum of their squares: `total` is ΣS, `squares` ΣQ, `means` Σ S²/m,
    `disagreement` Σ 2(mQ − S²)/(m − 1). `raters` holds the sum of each rater's values where
    every one of them gave every unit a value, else None.
    """

    units: int = 0
    pairable: int = 0
    total: Fraction = ZERO
    squares: Fraction = ZERO
    means: Fraction = ZERO
    disagreement: Fraction = ZERO
    pairs: int = 0
    pairs_within: int = 0
    raters: tuple[Fraction, ...] | None = None


def agreement(matrix: Matrix, policy: Policy) -> Agreement:
    """Measure the agreement of a complete or gappy matrix of raters × units.

    Raises `ValueError` where the rows differ in length.
    """
    return agreement_of(sums_of(matrix, policy), policy)


def sums_of(matrix: Matrix, policy: Policy) -> Sums:
    """Sum up a matrix. Raises `ValueError` where its rows differ in length."""
    if len({len(row) for row in matrix}) > 1:
        raise ValueError("every rater needs a cell for every unit")
    columns = [[value for value in unit if value is not None] for unit in zip(*matrix, strict=True)]
    units = [values for values in columns if len(values) > 1]
    pairs = [abs(x - y) for values in units for x, y in combinations(values, 2)]
    is_complete = all(len(values) == len(matrix) for values in columns)
    return Sums(
        units=len(units),
        pairable=sum(map(len, units)),
        total=sum((sum(values, ZERO) for values in units), ZERO),
        squares=sum((x * x for values in units for x in values), ZERO),
        means=sum((sum(values, ZERO) ** 2 / len(values) for values in units), ZERO),
        disagreement=sum(
            (_squares_over_ordered_pairs(values) / (len(values) - 1) for values in units), ZERO
        ),
        pairs=len(pairs),
        pairs_within=sum(pair <= policy.agreement.within for pair in pairs),
        raters=tuple(sum(c, ZERO) for c in zip(*units, strict=True)) if is_complete else None,
    )


def agreement_of(sums: Sums, policy: Policy) -> Agreement:
    """Measure agreement from its sums."""
    rules = policy.agreement
    icc_a1, icc_ak = _icc(sums)
    if sums.units < rules.indicative_from_units:
        standing = Standing.WITHHELD
    elif sums.units < rules.plain_from_units:
        standing = Standing.INDICATIVE
    else:
        standing = Standing.PRINTED
    return Agreement(
        units=sums.units,
        pairable=sums.pairable,
        alpha_interval=_alpha(sums),
        icc_a1=icc_a1,
        icc_ak=icc_ak,
        within=Fraction(sums.pairs_within, sums.pairs) if sums.pairs else None,
        error_points=_error_points(sums),
        standing=standing,
    )


def _squares_over_ordered_pairs(values: Sequence[Fraction]) -> Fraction:
    """Σ (x − y)² over ordered pairs, which is 2·(n·Σx² − (Σx)²): no loop over pairs."""
    return 2 * (len(values) * sum((x * x for x in values), ZERO) - sum(values, ZERO) ** 2)


def _alpha(sums: Sums) -> Fraction | None:
    n = sums.pairable
    expected = 2 * (n * sums.squares - sums.total**2)
    return 1 - sums.disagreement * (n - 1) / expected if expected else None


def _icc(sums: Sums) -> tuple[Fraction | None, Fraction | None]:
    """ICC(A,1) and ICC(A,k) of a complete matrix of two units and two raters or more."""
    if sums.raters is None or sums.units < 2:
        return None, None
    n, k = sums.units, len(sums.raters)
    middle = sums.total**2 / (n * k)
    rows = sums.means - middle
    columns = sum((rater**2 for rater in sums.raters), ZERO) / n - middle
    whole = sums.squares - middle
    msr = rows / (n - 1)
    msc = columns / (k - 1)
    mse = (whole - rows - columns) / ((n - 1) * (k - 1))
    single = msr + (k - 1) * mse + k * (msc - mse) / n
    average = msr + (msc - mse) / n
    return (
        (msr - mse) / single if single else None,
        (msr - mse) / average if average else None,
    )


def _error_points(sums: Sums) -> float | None:
    degrees = sums.pairable - sums.units
    return math.sqrt((sums.squares - sums.means) / degrees) if degrees else None
