"""From the value of a metric to a score from 0 to 100 (SCORING.md, 3).

Each curve is continuous and sloped on both sides of its target, so that "good" is no plateau
where everybody ties. A value is a number from 0 upwards; a negative one raises `ValueError`.
Floats appear only inside the logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from judging.scoring.exact import HUNDRED, ZERO, clamp


class Curve(Protocol):
    """What turns a metric's value into its score."""

    def score(self, value: Fraction) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class LowerIsBetter:
    """Linear between knots over u = log2(value / target): each doubling costs."""

    target: Fraction
    knots: tuple[tuple[int, int], ...] = ((-1, 100), (0, 80), (1, 50), (2, 20), (3, 0))

    def score(self, value: Fraction) -> Fraction:
        _refuse_negative(value)
        (first, best), (last, worst) = self.knots[0], self.knots[-1]
        # Outside the knots no logarithm is taken, so no value is too small or too large for it.
        if value <= self.target * Fraction(2) ** first:
            return Fraction(best)
        if value >= self.target * Fraction(2) ** last:
            return Fraction(worst)
        u = Fraction(math.log2(value / self.target))
        pieces = zip(self.knots, self.knots[1:], strict=False)
        (left, high), (right, low) = next(piece for piece in pieces if u <= piece[1][0])
        return high + (low - high) * (u - left) / (right - left)


@dataclass(frozen=True, slots=True)
class HigherIsBetter:
    """Linear from 0 to the target, then linear to 100 at `full`."""

    target: Fraction
    at_target: int = 80
    full: Fraction = Fraction(1)

    def score(self, value: Fraction) -> Fraction:
        _refuse_negative(value)
        if value <= self.target:
            return self.at_target * value / self.target
        beyond = (value - self.target) / (self.full - self.target)
        return clamp(self.at_target + (HUNDRED - self.at_target) * beyond)


@dataclass(frozen=True, slots=True)
class Band:
    """100 inside; below, linear from `floor` at zero; above, `per_doubling` points a doubling."""

    low: Fraction
    high: Fraction
    floor: int
    per_doubling: int = 50

    def score(self, value: Fraction) -> Fraction:
        _refuse_negative(value)
        if value < self.low:
            return self.floor + (HUNDRED - self.floor) * value / self.low
        if value <= self.high:
            return HUNDRED
        if value >= self.high * 2 ** math.ceil(HUNDRED / self.per_doubling):
            return ZERO
        return clamp(HUNDRED - self.per_doubling * Fraction(math.log2(value / self.high)))


@dataclass(frozen=True, slots=True)
class Share:
    """A share from 0 to 1, times 100."""

    def score(self, value: Fraction) -> Fraction:
        _refuse_negative(value)
        return clamp(value * 100)


def _refuse_negative(value: Fraction) -> None:
    if value < 0:
        raise ValueError(f"a metric's value is never negative: {value}")
