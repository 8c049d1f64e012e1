"""How sure a mean over challenges is: a paired bootstrap, reproducible to the last digit.

A challenge is drawn with all that fought it, so that a hard one is hard for everybody in the
same draw: that is what "paired" means here. The draws depend on the names of the challenges
alone. Whoever has the scores can make the same intervals again, and two agents with the same
challenges are compared over the same draws. After Efron and Tibshirani (1993), ch. 13.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import mul

FEWEST = 5
"""Challenges below which nothing is said: of n values a resample has so few different means
that the ends of an interval would be the extremes themselves."""

DRAWS = 1000
COVERAGE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95% of the means of the draws."""

    low: Fraction
    high: Fraction

    @property
    def holds_zero(self) -> bool:
        return self.low <= 0 <= self.high


def interval(scores: Mapping[str, Fraction]) -> Interval | None:
    """Return the interval of a mean over challenges, by name; None below `FEWEST`."""
    if len(scores) < FEWEST:
        return None
    names = tuple(sorted(scores))
    # Whole numbers over a common denominator: sums of fractions would take a hundred times as long.
    bottom = math.lcm(*(score.denominator for score in scores.values()))
    values = [int(scores[name] * bottom) for name in names]
    means = sorted(sum(map(mul, draw, values)) for draw in _draws(names))
    tail = int(DRAWS * (1 - COVERAGE) / 2)
    scale = bottom * len(names)
    return Interval(Fraction(means[tail], scale), Fraction(means[-1 - tail], scale))


def difference(ours: Mapping[str, Fraction], theirs: Mapping[str, Fraction]) -> Interval | None:
    """Return the interval of the mean difference over the challenges that both have."""
    return interval({name: ours[name] - theirs[name] for name in ours.keys() & theirs.keys()})


def bands(rows: Sequence[Mapping[str, Fraction]]) -> list[int | None]:
    """Return the tie band of each row of a board, the best first; bands count from 1.

    A row is in the band of the row that opened it while the interval of their difference
    holds zero: the challenges do not tell the two apart. Where the difference is undefined the
    row's band is None, and whatever has a difference later opens a band of its own.
    """
    found: list[int | None] = []
    number, head = 0, None
    for row in rows:
        apart = None if head is None else difference(head, row)
        if len(row) < FEWEST or (head is not None and apart is None):
            found.append(None)
            continue
        if apart is None or not apart.holds_zero:
            number, head = number + 1, row
        found.append(number)
    return found


@lru_cache(maxsize=64)
def _draws(names: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Return how often each challenge is in each draw."""
    seed = hashlib.sha256("\0".join(names).encode()).digest()
    source = random.Random(seed)
    draws = []
    for _ in range(DRAWS):
        counts = [0] * len(names)
        for place in source.choices(range(len(names)), k=len(names)):
            counts[place] += 1
        draws.append(tuple(counts))
    return tuple(draws)
