"""What there is in a run: its events by kind, its phases, and what broke and was mended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bouts.formats.types import Event, EventKind
from judging.charts.timeline import MOST_EVENTS
from judging.scoring.errors import ErrorEpisode
from judging.scoring.story import Story
from judging.showing.events import KINDS, clock

# Where formats keep the calls of one turn: the last token but one of a record's pointer.
TURNS = {"tool_calls", "content", "parts", "calls"}
MOST_PHASES = 40
MOST_EPISODES = 60


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of a run, from one event to another, both by ``seq``."""

    first: int
    last: int
    label: str = ""

    def holds(self, seq: int) -> bool:
        return self.first <= seq <= self.last


@dataclass(frozen=True, slots=True)
class Outline:
    """Small beside the run itself, so that it can be kept: no event, no content of a file."""

    seqs: tuple[int, ...]
    kinds: Mapping[EventKind, tuple[int, ...]]
    phases: tuple[Stretch, ...]  # each from a plan to the next; what came before is one too
    story: Story  # its runs, errors and reverts alone

    @property
    def windows(self) -> int:
        return -(-len(self.seqs) // MOST_EVENTS)

    def window(self, number: int) -> Stretch:
        """Return the n-th stretch (from 1) that the picture shows event by event."""
        start = (min(max(number, 1), self.windows) - 1) * MOST_EVENTS
        part = self.seqs[start : start + MOST_EVENTS]
        return Stretch(part[0], part[-1])

    def window_of(self, seq: int) -> int:
        """Return the number of the window with an event; 1 where there is no such event."""
        before = sum(one < seq for one in self.seqs)
        return before // MOST_EVENTS + 1 if before < len(self.seqs) else 1

    def selected(self, kind: EventKind | None, stretch: Stretch | None) -> Sequence[int]:
        seqs = self.seqs if kind is None else self.kinds.get(kind, ())
        return seqs if stretch is None else [seq for seq in seqs if stretch.holds(seq)]

    def story_of(self, stretch: Stretch) -> Story:
        """Return what of the story lies in a stretch, or reaches into it."""
        return replace(
            self.story,
            runs=tuple(run for run in self.story.runs if stretch.holds(run.seq)),
            reverts=tuple(change for change in self.story.reverts if stretch.holds(change.seq)),
            errors=tuple(error for error in self.story.errors if _reaches_into(error, stretch)),
        )


def outline_of(events: Sequence[Event], story: Story, titles: Callable[[Event], str]) -> Outline:
    """Return the outline of events in order of ``seq``; ``titles`` as `timeline` has them."""
    kinds: dict[EventKind, list[int]] = defaultdict(list)
    for event in events:
        kinds[event.kind].append(event.seq)
    return Outline(
        seqs=tuple(event.seq for event in events),
        kinds={kind: tuple(kinds[kind]) for kind in KINDS if kinds[kind]},
        phases=tuple(_phases(events, titles)),
        story=replace(
            story,
            start=None, end=None, changes=(), contradictions=(), approach_changes=(), thrashes=(),
            verified=(), turns=(), broken_at_start=frozenset(), fix=None, retries=(),
            checkpoints=(), decision_path=(),
            runs=tuple(replace(run, results={}) for run in story.runs),
        ),
    )  # fmt: skip


def _phases(events: Sequence[Event], titles: Callable[[Event], str]) -> Iterator[Stretch]:
    plans = [event for event in events if event.kind is EventKind.PLAN]
    if not 1 <= len(plans) <= MOST_PHASES:
        return
    if events[0].seq < plans[0].seq:
        yield Stretch(events[0].seq, plans[0].seq - 1, "Before the first plan")
    ends = [plan.seq - 1 for plan in plans[1:]] + [events[-1].seq]
    for plan, end in zip(plans, ends, strict=True):
        yield Stretch(plan.seq, end, titles(plan).partition(": ")[2])


def _reaches_into(error: ErrorEpisode, stretch: Stretch) -> bool:
    closed = stretch.last if error.closed_seq is None else error.closed_seq
    return error.opened_seq <= stretch.last and closed >= stretch.first


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """Something that broke, and when it worked again."""

    kind: str
    opened: int
    closed: int | None
    took: str


def episode_rows(story: Story, *, has_clock: bool) -> list[EpisodeRow]:
    return [
        EpisodeRow(str(error.kind), error.opened_seq, error.closed_seq, _took(error, has_clock))
        for error in story.errors[:MOST_EPISODES]
    ]


def _took(error: ErrorEpisode, has_clock: bool) -> str:
    if error.closed_seq is None:
        return "never mended"
    if not has_clock or error.opened_t is None or error.closed_t is None:
        return "n/a"
    return clock(error.closed_t - error.opened_t)


def called_together(events: Sequence[Event]) -> dict[int, tuple[int, ...]]:
    """Return, by event, the others that the agent called in the same turn, not one by one."""
    turns: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for event in events:
        turn = (event.raw or "").rpartition("/")[0]
        if event.call and turn.rpartition("/")[2] in TURNS:
            turns[turn][event.call].append(event.seq)
    return {
        seq: tuple(other for name, others in calls.items() if name != call for other in others)
        for calls in turns.values()
        if len(calls) > 1
        for call, seqs in calls.items()
        for seq in seqs
    }
