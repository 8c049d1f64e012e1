"""One metric: its value on a track, and the range that is good."""

from __future__ import annotations

from dataclasses import dataclass

from judging.charts.scale import percent
from judging.scoring.curves import Band, Curve, HigherIsBetter, LowerIsBetter


@dataclass(frozen=True, slots=True)
class MetricBar:
    """Positions on the track; the value is empty where there is none, and ``is_beyond`` where
    it lies to the right of the track."""

    good_x: str
    good_width: str
    value_x: str
    is_beyond: bool
    text: str


def metric_bar(curve: Curve, value: float | None, text: str) -> MetricBar:
    """Lay out a metric. The track is as long as puts its good range in the middle or left."""
    good: tuple[float, float] | None
    match curve:
        case LowerIsBetter(target):
            length, good = 2 * float(target), (0.0, float(target))
        case HigherIsBetter(target):
            length, good = 1.0, (float(target), 1.0)
        case Band(low, high):
            length, good = 2 * float(high), (float(low), float(high))
        case _:
            length, good = 1.0, None
    is_beyond = value is not None and value > length
    return MetricBar(
        good_x=percent(100 * good[0] / length) if good else "",
        good_width=percent(100 * (good[1] - good[0]) / length) if good else "",
        value_x="" if value is None else percent(100 * value / length),
        is_beyond=is_beyond,
        text=text,
    )
