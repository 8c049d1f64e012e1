"""A run as a picture: tests over time, errors until they were gone, what was done when.

Up to `MOST_EVENTS` each event has its mark; beyond that, marks are gathered into bins, so that
the picture of a long run is no larger than that of a short one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bouts.formats.text import count
from bouts.formats.types import Event, EventKind
from judging.charts.scale import percent, trimmed
from judging.scoring.errors import ErrorEpisode
from judging.scoring.story import Story

MOST_EVENTS = 400
BINS = 160
MOST_ERRORS = 60
MOST_PHASES = 8
LEFT, WIDTH = 8.0, 90.5  # per cent of the picture that time takes

# Rows, in pixels from the top.
TOP, BOTTOM = 28, 104  # of the curve of passing tests
ERRORS, ERROR_ROWS, ERROR_STEP = 126, 3, 12
REVERTS = 168
LANES = {"Plan": 190, "Read": 207, "Edit": 224, "Test": 241, "Other": 258}
AXIS, HEIGHT = 270, 294

LANE_OF = {
    EventKind.START: "Plan",
    EventKind.PLAN: "Plan",
    EventKind.MESSAGE: "Plan",
    EventKind.READ: "Read",
    EventKind.SEARCH: "Read",
    EventKind.EDIT: "Edit",
    EventKind.TEST: "Test",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """An event, or the first of a bin with the size of the bin."""

    x: str
    y: int
    seq: int
    shape: str  # bar, soft, ink, dot, open, diamond, cross, arrow, bin
    lane: str
    title: str
    height: str = ""
    top: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    x: str
    y: str
    seq: int
    title: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Passing tests over time: points, the line through them, and the grid beside it."""

    points: tuple[Point, ...]
    line: str
    grid: tuple[tuple[str, str, str], ...]  # y of the line, y of its label, label


@dataclass(frozen=True, slots=True)
class ErrorBar:
    x: str
    width: str
    y: int
    is_open: bool
    label: str
    label_x: str
    seq: int
    title: str


@dataclass(frozen=True, slots=True)
class Revert:
    x: str
    seq: int


@dataclass(frozen=True, slots=True)
class Phase:
    x: str
    width: str
    label: str
    is_shaded: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    marks: tuple[Mark, ...]
    is_binned: bool
    curve: Curve | None
    errors: tuple[ErrorBar, ...]
    errors_left_out: int
    reverts: tuple[Revert, ...]
    phases: tuple[Phase, ...]
    ticks: tuple[tuple[str, str], ...]
    lanes: tuple[tuple[str, int], ...]
    has_clock: bool
    text: str
    height: int = HEIGHT
    axis: int = AXIS
    reverts_y: int = REVERTS
    errors_y: int = ERRORS


def timeline(
    events: Sequence[Event],
    story: Story,
    titles: Callable[[Event], str],
    *,
    has_clock: bool,
) -> Timeline:
    """Lay out the events of one run, in order of ``seq``.

    ``titles`` says of an event what may be said of it. Without a clock, or where an event has
    no time, events stand at equal distances: the picture then tells their order alone.
    """
    place = _Place(events, has_clock)
    is_binned = len(events) > MOST_EVENTS
    marks = _bins(events, place) if is_binned else [_mark(event, place, titles) for event in events]
    errors = _errors(story.errors, place)
    return Timeline(
        marks=tuple(marks),
        is_binned=is_binned,
        curve=_curve(events, place),
        errors=tuple(errors[:MOST_ERRORS]),
        errors_left_out=max(0, len(errors) - MOST_ERRORS),
        reverts=tuple(Revert(place.x(change.seq), change.seq) for change in story.reverts),
        phases=() if is_binned else tuple(_phases(events, place, titles)),
        ticks=tuple(place.ticks()),
        lanes=tuple(LANES.items()),
        has_clock=place.has_clock,
        text=_text(events, story, place),
    )


class _Place:
    """From an event to its position: by time, or by order where time is not known."""

    def __init__(self, events: Sequence[Event], has_clock: bool) -> None:
        self.has_clock = has_clock and bool(events) and all(e.t is not None for e in events)
        values = [e.t if self.has_clock and e.t is not None else at for at, e in enumerate(events)]
        self._seqs = {event.seq: float(value) for event, value in zip(events, values, strict=True)}
        self.start = min(self._seqs.values(), default=0.0)
        self.length = (max(self._seqs.values(), default=0.0) - self.start) or 1.0
        self._events = events

    def share(self, seq: int) -> float:
        """Return where an event stands between the first (0) and the last (1)."""
        if seq in self._seqs:
            return (self._seqs[seq] - self.start) / self.length
        # An error may reach out of the part of a run that is drawn.
        return 1.0 if self._events and seq > self._events[-1].seq else 0.0

    def x(self, seq: int) -> str:
        return percent(LEFT + WIDTH * self.share(seq))

    def ticks(self) -> Iterable[tuple[str, str]]:
        if not self.has_clock:
            steps = steps_of(self.length)
            for value in steps:
                at = min(int(value), len(self._events) - 1) if self._events else 0
                label = f"#{self._events[at].seq}" if self._events else ""
                yield percent(LEFT + WIDTH * value / self.length), label
            return
        unit, name = (60.0, "min") if self.length >= 120 else (1.0, "s")
        for value in steps_of(self.length / unit):
            label = f"{trimmed(value)} {name}" if not value else trimmed(value)
            yield percent(LEFT + WIDTH * value * unit / self.length), label


def steps_of(length: float) -> list[float]:
    """Return round values from 0 to a length, some eight of them."""
    raw = length / 8
    scale = 10 ** math.floor(math.log10(raw)) if raw > 0 else 1
    step = next((factor * scale for factor in (1, 2, 5, 10) if factor * scale >= raw), 10 * scale)
    return [at * step for at in range(int(length / step + 1e-9) + 1)]


# Marks


def _mark(event: Event, place: _Place, titles: Callable[[Event], str]) -> Mark:
    lane = LANE_OF.get(event.kind, "Other")
    return Mark(place.x(event.seq), LANES[lane], event.seq, _shape(event), lane, titles(event))


def _shape(event: Event) -> str:
    match event.kind:
        case EventKind.EDIT:
            return "bar"
        case EventKind.READ:
            return "soft"
        case EventKind.PLAN:
            return "ink"
        case EventKind.TEST:
            return "dot"
        case EventKind.CHECKPOINT:
            return "diamond"
        case EventKind.SUBMIT:
            return "arrow"
        case EventKind.RUN:
            return "cross" if event.ok is False else "ink"
    return "open"


def _bins(events: Sequence[Event], place: _Place) -> list[Mark]:
    """Gather events by lane and stretch of time; the height of a bin is their number."""
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for event in events:
        lane = LANE_OF.get(event.kind, "Other")
        found[lane, min(int(place.share(event.seq) * BINS), BINS - 1)].append(event.seq)
    fullest = max(map(len, found.values()), default=1)
    marks = []
    for (lane, at), seqs in sorted(found.items(), key=lambda item: item[1][0]):
        height = 2 + 12 * len(seqs) / fullest
        marks.append(
            Mark(
                x=percent(LEFT + WIDTH * at / BINS),
                y=LANES[lane],
                seq=seqs[0],
                shape="bin",
                lane=lane.lower(),
                title=f"{len(seqs)} from #{seqs[0]}",
                height=trimmed(height),
                top=trimmed(-height / 2),
            )
        )
    return marks


# Tests


def _curve(events: Sequence[Event], place: _Place) -> Curve | None:
    runs = [
        (event.seq, event.passed, event.passed + (event.failed or 0))
        for event in events
        if event.kind is EventKind.TEST and event.passed is not None
    ]
    if not runs:
        return None
    runs = _thinned(runs, place)
    highest = max(total for _, _, total in runs) or 1
    lowest = min(passed for _, passed, _ in runs)
    floor = max(0, lowest - max(1, (highest - lowest) // 4))
    span = max(1, highest - floor)

    def y(passed: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (passed - floor) / span

    points, line = [], []
    previous: float | None = None
    for seq, passed, total in runs:
        height, share = y(passed), 1000 * place.share(seq)
        if previous is not None:
            line.append(f"{trimmed(share)},{trimmed(previous)}")
        line.append(f"{trimmed(share)},{trimmed(height)}")
        title = f"#{seq}: {passed} of {total} passed"
        points.append(Point(place.x(seq), trimmed(height), seq, title))
        previous = height
    line.append(f"1000,{trimmed(previous or 0)}")
    labels = sorted({floor, (floor + highest) // 2, highest})
    grid = tuple((trimmed(y(value)), trimmed(y(value) + 4), str(value)) for value in labels)
    return Curve(tuple(points), " ".join(line), grid)


def _thinned(runs: list[tuple[int, int, int]], place: _Place) -> list[tuple[int, int, int]]:
    """Keep the last run of each stretch where there are more than the picture can tell apart."""
    if len(runs) <= BINS:
        return runs
    kept = {int(place.share(run[0]) * BINS): run for run in runs}
    return list(kept.values())


# Errors, phases


def _errors(episodes: Sequence[ErrorEpisode], place: _Place) -> list[ErrorBar]:
    """Draw what broke and was mended together as one bar, in the first row with room."""
    together: dict[tuple[int, int | None], int] = defaultdict(int)
    for episode in episodes:
        together[episode.opened_seq, episode.closed_seq] += 1
    free = [0.0] * ERROR_ROWS
    bars: list[ErrorBar] = []
    for (opened, closed), number in sorted(together.items(), key=lambda item: item[0][0]):
        start = place.share(opened)
        end = 1.0 if closed is None else max(place.share(closed), start + 0.002)
        row = next((at for at, until in enumerate(free) if until <= start), len(bars) % ERROR_ROWS)
        free[row] = end + 0.05
        what = count(number, "thing")
        bars.append(
            ErrorBar(
                x=percent(LEFT + WIDTH * start),
                width=percent(WIDTH * (end - start)),
                y=ERRORS + ERROR_STEP * row,
                is_open=closed is None,
                label=_length(end - start, place) if row == 0 and closed is not None else "",
                label_x=percent(LEFT + WIDTH * end),
                seq=opened,
                title=f"{what} broke at #{opened}, "
                + ("never mended" if closed is None else f"mended at #{closed}"),
            )
        )
    return bars


def _length(share: float, place: _Place) -> str:
    return f"{round(share * place.length):,} s" if place.has_clock else ""


def _phases(
    events: Sequence[Event], place: _Place, titles: Callable[[Event], str]
) -> Iterable[Phase]:
    """Shade the stretches between plans, each under the first words of its plan."""
    plans = [event for event in events if event.kind is EventKind.PLAN]
    if not 1 <= len(plans) <= MOST_PHASES:
        return
    ends = [place.share(plan.seq) for plan in plans[1:]] + [1.0]
    for at, (plan, end) in enumerate(zip(plans, ends, strict=True)):
        start = place.share(plan.seq)
        room = int((end - start) * 150)  # characters, roughly, at the width of a desk
        label = titles(plan).partition(": ")[2]
        yield Phase(
            x=percent(LEFT + WIDTH * start),
            width=percent(WIDTH * (end - start)),
            label=label if len(label) <= room else f"{label[: max(0, room - 1)]}…" * (room > 4),
            is_shaded=at % 2 == 0,
        )


def _text(events: Sequence[Event], story: Story, place: _Place) -> str:
    span = (
        f" over {count(round(place.length / 60), 'minute')}"
        if place.has_clock
        else ", by their order"
    )
    closed = sum(not episode.is_open for episode in story.errors)
    said = [
        f"Timeline of {count(len(events), 'event')}{span}: {count(len(story.runs), 'test run')}"
    ]
    if story.runs:
        first, last = story.runs[0], story.runs[-1]
        said.append(
            f"from {first.passed} of {first.total} to {last.passed} of {last.total} passing"
        )
    said.append(f"{count(len(story.errors), 'error episode')}, {closed} of them closed")
    said.append(count(len(story.reverts), "revert"))
    return ", ".join(said) + "."
