"""The telemetry metrics: from the story of a run to values (SCORING.md, 3 and 4).

Each metric is one function from a `Measured` run to a `Reading`, or raises `Undefined` with
its reason. Where a metric could not be defined anyhow, that reason comes before one that
blames the file: "nothing went wrong" before "no clock".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice

from judging.scoring.errors import ErrorKind
from judging.scoring.exact import ZERO, exact, mean, median, plain
from judging.scoring.policy import HalvesRules
from judging.scoring.reasons import Reason
from judging.scoring.steps import Change
from judging.scoring.story import Story

ONE = Fraction(1)

# Episodes of one metric that the breakdown carries; the timeline has them all.
MOST_EPISODES = 50


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing that a metric rests on: the events, what happened, how long it took."""

    seqs: tuple[int, ...]
    text: str
    seconds: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A metric as it was measured.

    The score of `value` is taken times `share`, since not looking and not finishing are no
    excuse. Where `value` is None the score is 0, and `reason` says what was never done.
    `episodes` are the first of `episode_count`.
    """

    value: Fraction | None
    how: str
    episodes: tuple[Episode, ...] = ()
    episode_count: int = 0
    share: Fraction = ONE
    reason: Reason | None = None


class Undefined(Exception):
    """A metric has no answer for this run."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Measured:
    """A story with what is needed to time it.

    `budget_s` replaces the total time as the base of the two ratios, where the challenge
    says so.
    """

    story: Story
    rules: HalvesRules
    has_clock: bool
    budget_s: Fraction | None
    _times: dict[float, Fraction] = field(default_factory=dict)  # each made exact once

    def seconds(self, since: float | None, until: float | None) -> Fraction:
        """The length of an interval. A clock is never repaired: without an end, or running
        backwards, the interval makes the metric undefined."""
        if not self.has_clock:
            raise Undefined(Reason.NO_CLOCK)
        length = self._exact(until) - self._exact(since)
        if length < 0:
            raise Undefined(Reason.DEGRADED)
        return length

    def seconds_into(self, change: Change) -> Fraction:
        """The time from the first event to a change."""
        return self.seconds(self._start_t, change.t)

    def total_s(self) -> Fraction:
        """The time from the first event to the last change, test run or submit."""
        return self.seconds(self._start_t, self._end_t)

    def ratio_of(self, change: Change) -> tuple[Fraction, str]:
        """A change's share of the total time or of the budget, and that as a phrase."""
        into = self.seconds_into(change)
        if self.budget_s is not None:
            base, name = self.budget_s, "the budget"
        else:
            base, name = self.total_s(), "the total"
            # Both ends may lie after the start and yet out of order with each other.
            self.seconds(change.t, self._end_t)
        if not base:
            raise Undefined(Reason.DEGRADED)
        return into / base, f"{plain(into)} of {plain(base)} s, {name}"

    def _exact(self, t: float | None) -> Fraction:
        if t is None or not math.isfinite(t):
            raise Undefined(Reason.DEGRADED)
        if t not in self._times:
            self._times[t] = exact(t)
        return self._times[t]

    @property
    def _start_t(self) -> float | None:
        return self.story.start.t if self.story.start else None

    @property
    def _end_t(self) -> float | None:
        return self.story.end.t if self.story.end else None


def pivot_latency(run: Measured) -> Reading:
    story = run.story
    answered = [c for c in story.contradictions if c.answer is not None]
    still_open = [c for c in story.contradictions if c.is_open]
    if not answered and not still_open:
        raise Undefined(_unless_unreadable(story, Reason.NO_CONTRADICTIONS))
    if still_open and story.may_have_passed_since(still_open[0].run.seq):
        raise Undefined(Reason.TESTS_UNREADABLE)
    all_of_them = len(answered) + len(still_open)
    left = (
        Episode((c.run.seq,), f"the failure at #{c.run.seq} was never answered") for c in still_open
    )
    count = f"{len(answered)} of {_many(all_of_them, 'contradiction')} answered"
    if not answered:
        return Reading(None, count, _first(left), all_of_them, ZERO, Reason.UNANSWERED)
    pivots = [(c.run, c.answer) for c in answered if c.answer is not None]
    waits = [run.seconds(at.t, answer.t) for at, answer in pivots]
    episodes = (
        Episode(
            (at.seq, answer.seq), f"pivoted {plain(wait)} s after the failure at #{at.seq}", wait
        )
        for (at, answer), wait in zip(pivots, waits, strict=True)
    )
    share = Fraction(len(answered), all_of_them)
    return Reading(median(waits), count, _first(chain(episodes, left)), all_of_them, share)


def dwell_ratio(run: Measured) -> Reading:
    first = run.story.changes[0]
    value, phrase = run.ratio_of(first)
    episode = Episode(first.seqs, f"first code change at #{first.seq}", run.seconds_into(first))
    return Reading(value, f"first code change after {phrase}", (episode,), 1)


def first_fix_ratio(run: Measured) -> Reading:
    story, fix = run.story, run.story.fix
    if not story.broken_at_start:
        raise Undefined(_unless_unreadable(story, Reason.NO_FAILING_TESTS))
    if fix is None:
        if story.may_have_passed_since(story.changes[0].seq):
            raise Undefined(Reason.TESTS_UNREADABLE)
        count = f"none of {_many(len(story.broken_at_start), 'failing test')} passes for good"
        return Reading(None, count, (), 0, ZERO, Reason.UNFIXED)
    value, phrase = run.ratio_of(fix.change)
    episode = Episode(
        (fix.change.seq, fix.run.seq),
        f"the change at #{fix.change.seq} began a lasting pass, seen at #{fix.run.seq}",
        run.seconds_into(fix.change),
    )
    how = f"the change before the first lasting pass came at {phrase}"
    return Reading(value, how, (episode,), 1)


def verification_density(run: Measured) -> Reading:
    story = run.story
    if story.unread_tests and not story.runs:
        raise Undefined(Reason.TESTS_UNREADABLE)
    episodes = (
        Episode(
            (*(change.seq for change in state.changes), state.run.seq),
            f"#{state.run.seq} tested {_many(len(state.changes), 'change')}",
        )
        for state in story.verified
    )
    how = ", ".join(
        (
            _many(len(story.verified), "verified state"),
            _many(len(story.changes), "change"),
            _many(len(story.runs), "test run"),
        )
    )
    density = Fraction(len(story.verified), len(story.changes))
    return Reading(density, how, _first(episodes), len(story.verified))


def recovery_speed(run: Measured) -> Reading:
    story = run.story
    if not story.errors:
        raise Undefined(_unless_unreadable(story, Reason.NO_ERRORS))
    closed = [error for error in story.errors if not error.is_open]
    still_open = [error for error in story.errors if error.is_open]
    if any(
        error.kind is ErrorKind.TEST and story.may_have_passed_since(error.opened_seq)
        for error in still_open
    ):
        raise Undefined(Reason.TESTS_UNREADABLE)
    left = (
        Episode(
            (error.opened_seq,), f"the {error.kind} that broke at #{error.opened_seq} stayed so"
        )
        for error in still_open
    )
    count = f"{len(closed)} of {_many(len(story.errors), 'error')} resolved"
    if not closed:
        return Reading(None, count, _first(left), len(story.errors), ZERO, Reason.UNRESOLVED)
    times = [run.seconds(error.opened_t, error.closed_t) for error in closed]
    episodes = (
        Episode(
            (error.opened_seq, error.closed_seq),
            f"the {error.kind} that broke at #{error.opened_seq} worked {plain(time)} s later",
            time,
        )
        for error, time in zip(closed, times, strict=True)
        if error.closed_seq is not None
    )
    share = Fraction(len(closed), len(story.errors))
    return Reading(median(times), count, _first(chain(episodes, left)), len(story.errors), share)


def thrash_per_min(run: Measured) -> Reading:
    story = run.story
    if story.thrashes and story.unread_tests and not story.runs:
        raise Undefined(Reason.TESTS_UNREADABLE)
    minutes = max(run.total_s() / 60, Fraction(run.rules.shortest_minutes))
    episodes = (
        Episode(
            (thrash.change.seq,),
            f"#{thrash.change.seq} was never tested",
        )
        if thrash.next_run is None
        else Episode(
            (thrash.change.seq, thrash.next_run.seq),
            f"#{thrash.change.seq} brought no test forward: {thrash.next_run.passed} of "
            f"{thrash.next_run.total} pass at #{thrash.next_run.seq}, {thrash.best_before} "
            "at best before",
        )
        for thrash in story.thrashes
    )
    how = f"{_many(len(story.thrashes), 'thrash', 'thrashes')} in {plain(minutes)} min"
    return Reading(len(story.thrashes) / minutes, how, _first(episodes), len(story.thrashes))


def reversion_ratio(run: Measured) -> Reading:
    story = run.story
    if len(story.changes) < run.rules.reversion_needs_changes:
        raise Undefined(Reason.TOO_FEW)
    if not story.errors and not story.contradictions:
        raise Undefined(_unless_unreadable(story, Reason.NO_ERRORS))
    if not any(change.has_content for change in story.changes):
        raise Undefined(Reason.NO_CONTENT)
    episodes = (
        Episode((change.seq,), f"#{change.seq} went back to earlier content")
        for change in story.reverts
    )
    how = f"{_many(len(story.reverts), 'revert')}, {_many(len(story.changes), 'change')}"
    ratio = Fraction(len(story.reverts), len(story.changes))
    return Reading(ratio, how, _first(episodes), len(story.reverts))


def scope_expansion(run: Measured) -> Reading:
    story = run.story
    if not story.errors:
        raise Undefined(_unless_unreadable(story, Reason.NO_ERRORS))
    first = story.errors[0].opened_seq
    before: set[str] = set()
    added: dict[str, int] = {}
    for change in story.changes:
        if change.seq < first:
            before |= change.paths
        else:
            for path in change.paths - before:
                added.setdefault(path, change.seq)
    if not before:
        raise Undefined(Reason.DEGRADED)  # no edit before the error names its file
    episodes = (
        Episode((first, seq), f"a new file at #{seq}, after the error at #{first}")
        for seq in sorted(added.values())
    )
    how = f"{_many(len(added), 'new path')} after the first error, {len(before)} before"
    return Reading(Fraction(len(added), len(before)), how, _first(episodes), len(added))


def score_trajectory(run: Measured) -> Reading:
    story = run.story
    if story.unread_tests and not story.runs:
        raise Undefined(Reason.TESTS_UNREADABLE)
    if not story.turns:
        raise Undefined(Reason.TOO_FEW)
    episodes = (
        Episode(
            (turn.earlier.seq, turn.later.seq),
            f"from {turn.earlier.passed} of {turn.earlier.total} to "
            f"{turn.later.passed} of {turn.later.total} passing",
        )
        for turn in story.turns
    )
    how = _many(len(story.turns), "pair") + " of test runs with a change between"
    worth = mean([turn.worth for turn in story.turns])
    return Reading(worth, how, _first(episodes), len(story.turns))


MEASURES: Mapping[str, Callable[[Measured], Reading]] = {
    "pivot_latency_s": pivot_latency,
    "dwell_ratio": dwell_ratio,
    "first_fix_ratio": first_fix_ratio,
    "verification_density": verification_density,
    "recovery_speed_s": recovery_speed,
    "thrash_per_min": thrash_per_min,
    "reversion_ratio": reversion_ratio,
    "scope_expansion": scope_expansion,
    "score_trajectory": score_trajectory,
}
"""How each metric is measured, by its name; all need at least one code change."""


UNCHANGED = {"recovery_speed_s": Reason.NO_ERRORS, "scope_expansion": Reason.NO_ERRORS}
"""Why a metric is undefined where nothing was changed."""


def _unless_unreadable(story: Story, reason: Reason) -> Reason:
    """`reason`, unless tests were run and no result of theirs can be read by name."""
    names_nothing = story.ran_or_tried_tests and not story.names_tests
    return Reason.TESTS_UNREADABLE if names_nothing else reason


def _first(episodes: Iterable[Episode]) -> tuple[Episode, ...]:
    return tuple(islice(episodes, MOST_EPISODES))


def _many(count: int, noun: str, nouns: str | None = None) -> str:
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"
