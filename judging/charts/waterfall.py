"""From the judges to the total: each row of the ledger as a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from judging.charts.scale import percent

ROW = 38  # pixels from one row to the next
BAR = 12
AXIS = 42


@dataclass(frozen=True, slots=True)
class Step:
    """A row of the ledger: how it is called, what it adds, whether it can still change.

    ``absorbed`` are the points that the anchor took from a judge.
    """

    label: str
    points: Decimal
    is_open: bool = False
    is_judge: bool = False
    absorbed: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    points: Decimal
    y_text: int
    y: int
    x: str
    width: str
    look: str  # class of the rectangle
    end: str  # where the running total is then
    y_end: int  # how far the line reaches that leads to the next row
    absorbed_x: str = ""
    absorbed_width: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    x: str
    label: str


@dataclass(frozen=True, slots=True)
class BandName:
    x: str
    name: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Waterfall:
    bars: tuple[Bar, ...]
    y_total: int
    total: Decimal
    total_x: str
    range_x: str
    range_width: str
    height: int
    y_axis: int
    grid: tuple[Grid, ...]
    bands: tuple[BandName, ...]
    text: str
    has_open: bool
    has_absorbed: bool


def waterfall(
    steps: Sequence[Step],
    total: Decimal,
    bands: Sequence[tuple[int, str]],
    band: str,
    reach: tuple[Decimal, Decimal] | None,
) -> Waterfall:
    """Lay out the steps to a total of 0 to 100. ``bands`` are (lowest total, name)."""
    bars = []
    running = Decimal(0)
    for at, step in enumerate(steps):
        before, running = running, running + step.points
        low, high = sorted((before, running))
        bars.append(
            Bar(
                label=step.label,
                points=step.points,
                y_text=ROW * at + 13,
                y=ROW * at + 19,
                x=percent(float(low)),
                width=percent(_visible(low, high)),
                look=_look(step),
                end=percent(float(running)),
                y_end=ROW * at + 19 + ROW + BAR,
                absorbed_x=percent(float(high)) if step.absorbed else "",
                absorbed_width=percent(float(step.absorbed)) if step.absorbed else "",
            )
        )
    y_total = ROW * len(bars)
    low, high = reach or (total, total)
    return Waterfall(
        bars=tuple(bars),
        y_total=y_total,
        total=total,
        total_x=percent(float(total)),
        range_x=percent(float(low)) if reach else "",
        range_width=percent(float(high - low)) if reach else "",
        height=y_total + ROW + AXIS,
        y_axis=y_total + ROW + 2,
        grid=tuple(Grid(percent(lowest), str(lowest)) for lowest, _ in bands if lowest),
        bands=tuple(_band_names(bands, band)),
        text=_text(steps, total, reach),
        has_open=any(step.is_open and step.points for step in steps),
        has_absorbed=any(step.absorbed for step in steps),
    )


def _visible(low: Decimal, high: Decimal) -> float:
    """The part of a stretch that lies within the picture: a sum can pass 0 and 100."""
    return float(min(max(high, Decimal(0)), Decimal(100)) - min(max(low, Decimal(0)), Decimal(100)))


def _look(step: Step) -> str:
    if step.is_open:
        return "bar-open"
    if step.points < 0:
        return "minus"
    return "bar" if step.is_judge else "bar-soft"


def _band_names(bands: Sequence[tuple[int, str]], own: str) -> Iterator[BandName]:
    top = 100
    for lowest, name in bands:
        # The two bands at the ends are too narrow for their names.
        if top - lowest >= 15 and lowest:
            yield BandName(percent((lowest + top) / 2), name, name == own)
        top = lowest


def _text(steps: Sequence[Step], total: Decimal, reach: tuple[Decimal, Decimal] | None) -> str:
    told = [f"{step.label} {_said(step.points)}" for step in steps]
    open_range = f" Open range {reach[0]} to {reach[1]}." if reach else ""
    return f"Waterfall from the judges to the total: {', '.join(told)}; total {total}.{open_range}"


def _said(points: Decimal) -> str:
    return f"minus {-points}" if points < 0 else str(points)
