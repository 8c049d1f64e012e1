"""Exact numbers inside, rounded numbers outside.

Scores are `Fraction`s from end to end. Only what is shown is rounded, half up: two places
for scores, four for ratios and rates (SCORING.md, preface).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

ZERO = Fraction(0)
HUNDRED = Fraction(100)


class NotANumber(ValueError):
    """A value that should be a finite number is none. The message quotes the value."""


def exact(value: object) -> Fraction:
    """The number that `value` is written as: an int, Decimal, Fraction or float.

    A float stands for its shortest decimal form, so 0.1 is one tenth. Raises `NotANumber`
    for anything else, for a bool, for what is not finite, and for a Decimal with an
    exponent beyond any float's, which could only be there to take up memory.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise NotANumber(f"{value!r} is not a number")
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise NotANumber(f"{value!r} is not finite")
    if isinstance(value, Decimal) and not -400 < value.adjusted() < 400:
        raise NotANumber(f"{value!r} is out of range")
    return Fraction(Decimal(repr(value))) if isinstance(value, float) else Fraction(value)


def rounded(value: Fraction, places: int = 2) -> Decimal:
    """`value` to so many places, half up, with every place written: 74.8 gives 74.80."""
    # floor(value · 10^places + ½) in whole numbers: pages round by the thousand.
    top, bottom = value.numerator, value.denominator
    scaled = (2 * top * 10**places + bottom) // (2 * bottom)
    return Decimal(scaled).scaleb(-places)


def score_text(value: Fraction | None) -> str | None:
    """A score as it is shown and sent: two places, or None where there is no answer."""
    return None if value is None else str(rounded(value))


def plain(value: Fraction, places: int = 2) -> str:
    """A number for a sentence: rounded, without trailing zeros. 40 gives "40", 7/2 gives "3.5"."""
    text = f"{rounded(value, places):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def total(values: Sequence[Fraction]) -> Fraction:
    """The sum of some values; of none it is 0."""
    # Added as whole numbers over a common denominator: many times as fast as fractions.
    common = math.lcm(*(value.denominator for value in values))
    return Fraction(
        sum(value.numerator * (common // value.denominator) for value in values), common
    )


def mean(values: Sequence[Fraction]) -> Fraction:
    """The mean of one value or more."""
    return total(values) / len(values)


def median(values: Sequence[Fraction]) -> Fraction:
    """The median of one value or more: of an even number, the mean of the middle two."""
    # Sorted as whole numbers, as `total` adds them.
    common = math.lcm(*(value.denominator for value in values))
    ordered = sorted(value.numerator * (common // value.denominator) for value in values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return Fraction(ordered[middle], common)
    return Fraction(ordered[middle - 1] + ordered[middle], 2 * common)


def clamp(value: Fraction, low: Fraction = ZERO, high: Fraction = HUNDRED) -> Fraction:
    """`value` moved into the range from `low` to `high`."""
    return max(low, min(high, value))
