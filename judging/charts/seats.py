"""The votes of the panel on a scale, each with the band within which two seats agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from judging.charts.scale import percent

# In points, at the width of a narrow window: within these, two of a kind cover each other.
NEAR_FIGURES, NEAR_MARKS, NEAR_GAP = 15, 7, 11
FIGURE_ROWS = (32, 18, 4)  # pixels from the top, the first with room is taken
MARK_ROWS = (77, 91, 63)


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


def seat_scale(votes: Sequence[Vote], within: int) -> SeatScale:
    """Lay out votes of 0 to 100, sorted from the lowest."""
    marks: list[Mark] = []
    gaps: list[Gap] = []
    for vote in votes:
        marks.append(
            Mark(
                letter=vote.letter,
                score=vote.score,
                x=percent(float(vote.score)),
                y=_row(MARK_ROWS, NEAR_MARKS, vote, [(m.score, m.y) for m in marks]),
                y_figure=_row(
                    FIGURE_ROWS, NEAR_FIGURES, vote, [(m.score, m.y_figure) for m in marks]
                ),
                band_width=percent(float(min(Decimal(within), 100 - vote.score))),
                band_end=percent(float(vote.score + within)) if vote.score + within <= 100 else "",
                is_discarded=vote.is_discarded,
            )
        )
        if len(marks) > 1:
            gaps.append(_gap(marks[-2], marks[-1]))
    return SeatScale(
        marks=tuple(marks),
        gaps=tuple(gaps),
        ticks=tuple(_tick(value) for value in range(0, 101, 10)),
        text=_text(marks, gaps, within),
    )


def _row(rows: Sequence[int], near: int, vote: Vote, placed: Sequence[tuple[Decimal, int]]) -> int:
    """Return the first row in which nothing stands within ``near`` points of the vote."""
    taken = {y for score, y in placed if vote.score - score < near}
    return next((row for row in rows if row not in taken), rows[0])


def _gap(left: Mark, right: Mark) -> Gap:
    points = right.score - left.score
    middle = percent(float(left.score + points / 2))
    return Gap(points, left.x, right.x, middle, has_room=points >= NEAR_GAP)


def _tick(value: int) -> tuple[str, str, str, str]:
    label = str(value) if value % 50 == 0 else ""
    look = "tick" if label else "hair"
    anchor = {0: "start", 100: "end"}.get(value, "middle")
    return percent(value), look, label, anchor


def _text(marks: Sequence[Mark], gaps: Sequence[Gap], within: int) -> str:
    seats = ", ".join(f"{mark.letter} {mark.score}" for mark in marks)
    said = f"Seats {seats}. Each band reaches {within} points up from a seat"
    return f"{said}; gaps {' and '.join(str(gap.points) for gap in gaps)}." if gaps else f"{said}."
