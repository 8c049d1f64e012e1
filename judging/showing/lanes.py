"""Runs under each other on one axis: when each changed something, tested, broke and recovered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.cache import cache

from bouts import chunks
from bouts.formats.types import Event, EventKind, Kind
from bouts.models import Artifact, Bundle
from judging.charts.scale import percent, trimmed
from judging.charts.timeline import steps_of
from judging.dossiers import dossier_of
from judging.judges.runs import Run as Recorded
from judging.judges.runs import main_run, runs_of
from judging.judges.telemetry import analysed
from judging.showing import words
from judging.showing.build import build_id
from judging.sight import Sight

BINS = 160
MOST_ERRORS = 60
TALLEST = 14  # pixels of the fullest bin


@dataclass(frozen=True, slots=True)
class Run:
    """What a picture needs to know of one run. Times are seconds, or places where no clock is."""

    has_clock: bool
    length: float
    events: int
    changes: tuple[float, ...]
    tests: tuple[tuple[int, float, int, int], ...]  # seq, time, passed, failed
    errors: tuple[tuple[int, float, float | None], ...]  # seq, opened, closed

    @property
    def first_change(self) -> float | None:
        return min(self.changes, default=None) if self.has_clock else None

    @property
    def first_test(self) -> float | None:
        return self.tests[0][1] if self.tests and self.has_clock else None

    @property
    def open_errors(self) -> int:
        return sum(closed is None for _, _, closed in self.errors)

    @property
    def last_test(self) -> str:
        """How the last test run ended: ``9 of 10``."""
        if not self.tests:
            return ""
        _, _, passed, failed = self.tests[-1]
        return f"{passed} of {passed + failed}"


@dataclass(frozen=True, slots=True)
class Bin:
    x: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class TestRun:
    __test__ = False  # not a test class, whatever pytest thinks

    x: str
    seq: int
    is_clean: bool
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    run: Run
    changes: tuple[Bin, ...]
    tests: tuple[TestRun, ...]
    errors: tuple[tuple[str, str, bool], ...]  # x, width, whether it was left open
    errors_left_out: int
    end: str  # where the run ends on the axis
    text: str


def run_of(sight: Sight) -> Run | None:
    """Return what a viewer may see of a match's run, or None where that is nothing."""
    if not sight.shows_evidence or sight.head.bundle_id is None:
        return None
    files = Artifact.objects.filter(
        bundle=sight.head.bundle_id, kind=Kind.TELEMETRY, state=Artifact.State.READ
    ).order_by("path")
    runs = runs_of([file for file in files if sight.gate.shows_values_of(file)])
    if not runs:
        return None
    recorded = runs[0]
    key = f"run:{build_id()}:{recorded.parts[0].pk}-{recorded.parts[-1].pk}"
    run = cache.get(key)
    if run is None:
        run = _read(sight, recorded)
        cache.set(key, run)
    return run


def _read(sight: Sight, recorded: Recorded[Artifact]) -> Run:
    bundle = Bundle.objects.select_related("challenge_version").get(pk=sight.head.bundle_id)
    events = [event for event in chunks.read(*recorded.parts) if isinstance(event, Event)]
    events.sort(key=lambda event: event.seq)
    has_clock = recorded.has_clock and all(event.t is not None for event in events)
    at = {
        event.seq: float(event.t or 0) if has_clock else float(place)
        for place, event in enumerate(events)
    }
    start = min(at.values(), default=0.0)
    dossier = dossier_of(bundle)
    judged = main_run(dossier)
    is_judged = judged is not None and judged.paths == recorded.paths
    episodes = analysed(dossier, sight.policy).story.errors if is_judged else []
    return Run(
        has_clock=has_clock,
        length=max(at.values(), default=0.0) - start,
        events=len(events),
        changes=tuple(at[e.seq] - start for e in events if e.kind is EventKind.EDIT),
        tests=tuple(
            (e.seq, at[e.seq] - start, e.passed, e.failed or 0)
            for e in events
            if e.kind is EventKind.TEST and e.passed is not None
        ),
        errors=tuple(
            (
                one.opened_seq,
                at.get(one.opened_seq, start) - start,
                None if one.closed_seq is None else at.get(one.closed_seq, start) - start,
            )
            for one in episodes
        ),
    )


def lanes_of(runs: Sequence[Run | None]) -> list[Lane | None]:
    """Draw runs on one axis, as long as the longest of them.

    A run without a clock has no length in seconds: it takes the whole axis, by order alone.
    """
    longest = max((run.length for run in runs if run and run.has_clock), default=0.0)
    return [run and _lane(run, longest if run.has_clock else run.length) for run in runs]


def _lane(run: Run, length: float) -> Lane:
    length = length or 1.0

    def x(time: float) -> str:
        return percent(100 * time / length)

    bins = Counter(min(int(BINS * time / length), BINS - 1) for time in run.changes)
    fullest = max(bins.values(), default=1)
    changes = []
    for place, count in sorted(bins.items()):
        height = 3 + (TALLEST - 3) * count / fullest
        changes.append(Bin(percent(100 * place / BINS), trimmed(34 - height), trimmed(height)))
    tests = {
        min(int(BINS * time / length), BINS - 1): one for one in run.tests for time in one[1:2]
    }
    return Lane(
        run=run,
        changes=tuple(changes),
        tests=tuple(
            TestRun(x(time), seq, not failed, f"#{seq}: {passed} of {passed + failed} passed")
            for seq, time, passed, failed in tests.values()
        ),
        errors=tuple(
            (
                x(opened),
                percent(100 * ((run.length if closed is None else closed) - opened) / length),
                closed is None,
            )
            for _, opened, closed in run.errors[:MOST_ERRORS]
        ),
        errors_left_out=max(0, len(run.errors) - MOST_ERRORS),
        end=x(run.length),
        text=(
            f"{words.count(len(run.changes), 'change')}, {words.count(len(run.tests), 'test run')}, "
            + (words.count(len(run.errors), "error episode") if run.errors else "no error episode")
            + (f", {run.open_errors} left open" if run.open_errors else "")
        ),
    )


def ticks_of(runs: Sequence[Run | None]) -> list[tuple[str, str, str]]:
    """Return the marks of the axis as (x, label, anchor); none where no run has a clock."""
    longest = max((run.length for run in runs if run and run.has_clock), default=0.0)
    if not longest:
        return []
    unit, name = (60.0, "min") if longest >= 120 else (1.0, "s")
    return [
        (
            percent(100 * value * unit / longest),
            f"{trimmed(value)}{'' if value else f' {name}'}",
            "middle" if value else "start",
        )
        for value in steps_of(longest / unit)
    ]
