"""A judge's mean as a dot, and the matches behind it as a line from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from judging.charts.scale import percent


@dataclass(frozen=True, slots=True)
class SpreadBar:
    """The ends of a line on a scale from 0 to 100, and what it says."""

    left: str
    right: str
    low: Decimal
    high: Decimal


def spread_bar(ends: Sequence[Decimal | str] | None) -> SpreadBar | None:
    """Lay out a spread from its lowest and its highest score; None where there is none."""
    if not ends:
        return None
    low, high = map(Decimal, ends)
    return SpreadBar(percent(float(low)), percent(float(high)), low, high)
