"""Votes and levels on one line, as pictures: geometry here, colours in the stylesheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from judging.scoring.exact import plain, rounded

CLOSE = 9  # per cent of the width; two figures nearer than that would run into each other
MARK = 4  # half the width of one's own mark
ROW = 16  # height of a row of figures
FIGURES = 18  # where the lowest row of them stands
HEIGHT = 118  # with one row of figures
APART = 16  # between the middles of marks that stand at one level, in pixels


@dataclass(frozen=True, slots=True)
class Dot:
    mark: str
    label: str
    x: str  # per cent
    anchor: str  # of its text: start, middle, end
    lift: int = 0  # how far its figure is raised to clear its neighbour's

    @property
    def y(self) -> int:
        return FIGURES - self.lift


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    is_major: bool
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Band:
    """How far a vote reaches up: the next one within it is close."""

    x: str
    width: str
    end: str


@dataclass(frozen=True, slots=True)
class Gap:
    left: str
    right: str
    middle: str
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    dots: tuple[Dot, ...]
    bands: tuple[Band, ...]
    gaps: tuple[Gap, ...]
    own: Dot | None
    ticks: tuple[Tick, ...]
    top: int  # where the figures begin: 0, or more room for raised ones
    words: str  # the same as a sentence

    @property
    def height(self) -> int:
        return HEIGHT + self.top


@dataclass(frozen=True, slots=True)
class LevelMark:
    """A seat at its level of a criterion."""

    letter: str
    x: str  # per cent
    shift: int  # pixels to the side, where several stand at one level


@dataclass(frozen=True, slots=True)
class LevelRow:
    title: str
    own: int | None
    said: tuple[tuple[str, int | None], ...]  # seat's letter, its level
    marks: tuple[LevelMark, ...]
    own_x: str
    ticks: tuple[str, ...]


def level_row(
    title: str, said: Sequence[tuple[str, int | None]], own: int | None, highest: int
) -> LevelRow:
    """Draw the levels of one criterion, from 1 to `highest`, each in the middle of its field."""

    def at(level: int) -> str:
        return _x(Fraction(100 * (2 * level - 1), 2 * highest))

    marks = []
    for level in range(1, highest + 1):
        here = [letter for letter, each in said if each == level]
        middle = (len(here) - 1) * APART // 2
        marks += [LevelMark(letter, at(level), n * APART - middle) for n, letter in enumerate(here)]
    return LevelRow(
        title=title,
        own=own,
        said=tuple(said),
        marks=tuple(marks),
        own_x=at(own) if own else "",
        ticks=tuple(at(level) for level in range(1, highest + 1)),
    )


def scale_of(votes: Sequence[tuple[str, Fraction]], own: Fraction | None, within: int) -> Scale:
    """Draw the votes (mark, score) from 0 to 100, each with its reach, and one's own score."""
    ordered = sorted(votes, key=lambda vote: vote[1])
    dots: list[Dot] = []
    last = Fraction(-100)
    for mark, score in ordered:
        is_close = score - last < CLOSE
        lift = (dots[-1].lift + ROW) % (3 * ROW) if is_close and dots else 0
        dots.append(_dot(mark, score, lift))
        last = score
    pairs = list(pairwise(ordered))
    return Scale(
        dots=tuple(dots),
        bands=tuple(
            Band(
                _x(score),
                _x(min(Fraction(within), 100 - score)),
                _x(min(score + within, Fraction(100))),
            )
            for _, score in ordered[:-1]
        ),
        gaps=tuple(
            Gap(_x(low), _x(high), _x((low + high) / 2), str(rounded(high - low)))
            for (_, low), (_, high) in pairs
            if high - low >= CLOSE
        ),
        own=None if own is None else _dot("", own),
        ticks=tuple(_ticks(own)),
        top=max((dot.lift for dot in dots), default=0),
        words=_words(ordered, pairs, own, within),
    )


def _ticks(own: Fraction | None) -> Iterator[Tick]:
    """Yield a tick every 10 points and at each quarter, labelled there unless one's own mark stands in the way."""
    for at in range(0, 101, 5):
        is_free = own is None or abs(own - at) > MARK
        label = str(at) if at % 25 == 0 and is_free else ""
        if label or at % 10 == 0:
            yield Tick(f"{at}%", at % 50 == 0, label, _anchor(Fraction(at)))


def _anchor(score: Fraction) -> str:
    """Keep a text that stands at an end of the line inside the picture."""
    return "start" if score < 4 else "end" if score > 96 else "middle"


def _dot(mark: str, score: Fraction, lift: int = 0) -> Dot:
    return Dot(mark, str(rounded(score)), _x(score), _anchor(score), lift)


def _x(value: Fraction) -> str:
    return f"{plain(value)}%"


def _words(
    ordered: Sequence[tuple[str, Fraction]],
    pairs: Sequence[tuple[tuple[str, Fraction], tuple[str, Fraction]]],
    own: Fraction | None,
    within: int,
) -> str:
    said = ", ".join(f"{mark} {rounded(score)}" for mark, score in ordered) or "no vote"
    gaps = " and ".join(str(rounded(high - low)) for (_, low), (_, high) in pairs)
    sentence = f"Seats {said}."
    if gaps:
        sentence += f" Gaps {gaps}; up to {within} is close."
    return sentence if own is None else f"{sentence} Your score {rounded(own)}."
