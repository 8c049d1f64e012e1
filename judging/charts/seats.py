"""The votes of the panel on a scale, each with the band within which two seats agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from judging.charts.scale import percent

NEAR = 7  # points within which two figures would stand on each other
TOUCHING = 3  # points within which two marks would


@dataclass(frozen=True, slots=True)
class Vote:
    letter: str
    score: Decimal
    is_discarded: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    letter: str
    score: Decimal
    x: str
    y: int
    y_figure: int
    band_width: str
    band_end: str
    is_discarded: bool


@dataclass(frozen=True, slots=True)
class Gap:
    points: Decimal
    left: str
    right: str
    middle: str
    has_room: bool


@dataclass(frozen=True, slots=True)
class SeatScale:
    marks: tuple[Mark, ...]
    gaps: tuple[Gap, ...]
    ticks: tuple[tuple[str, str, str, str], ...]  # x, class, label, anchor
    text: str
    ruled: str = ""  # x of the score that counts


def seat_scale(votes: Sequence[Vote], within: int, counted: Decimal | None) -> SeatScale:
    """Lay out votes of 0 to 100, sorted from the lowest."""
    marks: list[Mark] = []
    gaps = []
    for vote in votes:
        previous = marks[-1] if marks else None
        gap = vote.score - previous.score if previous else None
        # Marks and figures that would cover each other take turns in two rows.
        is_touching = previous is not None and gap is not None and gap < TOUCHING
        is_near = previous is not None and gap is not None and gap < NEAR
        marks.append(
            Mark(
                letter=vote.letter,
                score=vote.score,
                x=percent(float(vote.score)),
                y=_other(previous.y, 52, 70) if is_touching and previous else 61,
                y_figure=_other(previous.y_figure, 18, 4) if is_near and previous else 18,
                band_width=percent(float(min(Decimal(within), 100 - vote.score))),
                band_end=percent(float(vote.score + within)) if vote.score + within <= 100 else "",
                is_discarded=vote.is_discarded,
            )
        )
        if previous is not None and gap is not None:
            gaps.append(
                Gap(
                    points=gap,
                    left=previous.x,
                    right=percent(float(vote.score)),
                    middle=percent(float(previous.score + gap / 2)),
                    has_room=gap >= NEAR,
                )
            )
    return SeatScale(
        marks=tuple(marks),
        gaps=tuple(gaps),
        ticks=tuple(_tick(value) for value in range(0, 101, 10)),
        text=_text(marks, gaps, within),
        ruled="" if counted is None else percent(float(counted)),
    )


def _other(y: int, one: int, two: int) -> int:
    return one if y != one else two


def _tick(value: int) -> tuple[str, str, str, str]:
    label = str(value) if value % 50 == 0 else ""
    look = "tick" if label else "hair"
    anchor = {0: "start", 100: "end"}.get(value, "middle")
    return percent(value), look, label, anchor


def _text(marks: Sequence[Mark], gaps: Sequence[Gap], within: int) -> str:
    seats = ", ".join(f"{mark.letter} {mark.score}" for mark in marks)
    said = f"Seats {seats}. Each band reaches {within} points up from a seat"
    return f"{said}; gaps {' and '.join(str(gap.points) for gap in gaps)}." if gaps else f"{said}."
