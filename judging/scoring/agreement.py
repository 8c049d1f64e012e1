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

from judging.scoring.exact import ZERO, mean
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


def agreement(matrix: Matrix, policy: Policy) -> Agreement:
    """Measure the agreement of a complete or gappy matrix of raters × units.

    Raises `ValueError` where the rows differ in length.
    """
    if len({len(row) for row in matrix}) > 1:
        raise ValueError("every rater needs a cell for every unit")
    columns = [[value for value in unit if value is not None] for unit in zip(*matrix, strict=True)]
    units = [values for values in columns if len(values) > 1]
    rules = policy.agreement
    pairs = [abs(x - y) for values in units for x, y in combinations(values, 2)]
    is_complete = all(len(values) == len(matrix) for values in columns)
    icc_a1, icc_ak = _icc(units) if is_complete and len(units) > 1 else (None, None)
    if len(units) < rules.indicative_from_units:
        standing = Standing.WITHHELD
    elif len(units) < rules.plain_from_units:
        standing = Standing.INDICATIVE
    else:
        standing = Standing.PRINTED
    return Agreement(
        units=len(units),
        pairable=sum(map(len, units)),
        alpha_interval=_alpha(units),
        icc_a1=icc_a1,
        icc_ak=icc_ak,
        within=Fraction(sum(pair <= rules.within for pair in pairs), len(pairs)) if pairs else None,
        error_points=_error_points(units),
        standing=standing,
    )


def _squares_over_ordered_pairs(values: Sequence[Fraction]) -> Fraction:
    """Σ (x − y)² over ordered pairs, which is 2·(n·Σx² − (Σx)²): no loop over pairs."""
    return 2 * (len(values) * sum((x * x for x in values), ZERO) - sum(values, ZERO) ** 2)


def _alpha(units: Sequence[Sequence[Fraction]]) -> Fraction | None:
    pooled = [value for values in units for value in values]
    n = len(pooled)
    expected = _squares_over_ordered_pairs(pooled)
    if not expected:
        return None
    observed = sum(
        (_squares_over_ordered_pairs(values) / (len(values) - 1) for values in units), ZERO
    )
    return 1 - observed * (n - 1) / expected


def _icc(units: Sequence[Sequence[Fraction]]) -> tuple[Fraction | None, Fraction | None]:
    """ICC(A,1) and ICC(A,k) of a complete matrix, given as a row a unit."""
    n, k = len(units), len(units[0])
    grand = mean([value for values in units for value in values])
    rows = k * sum(((mean(values) - grand) ** 2 for values in units), ZERO)
    columns = n * sum(((mean(c) - grand) ** 2 for c in zip(*units, strict=True)), ZERO)
    whole = sum(((value - grand) ** 2 for values in units for value in values), ZERO)
    msr = rows / (n - 1)
    msc = columns / (k - 1)
    mse = (whole - rows - columns) / ((n - 1) * (k - 1))
    single = msr + (k - 1) * mse + k * (msc - mse) / n
    average = msr + (msc - mse) / n
    return (
        (msr - mse) / single if single else None,
        (msr - mse) / average if average else None,
    )


def _error_points(units: Sequence[Sequence[Fraction]]) -> float | None:
    degrees = sum(len(values) - 1 for values in units)
    if not degrees:
        return None
    within = sum(
        (_squares_over_ordered_pairs(values) / (2 * len(values)) for values in units), ZERO
    )
    return math.sqrt(within / degrees)
