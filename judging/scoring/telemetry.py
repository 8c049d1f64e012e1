"""What the recording of a run says about how the work was done (SCORING.md, 3).

`analyse` is the one way in: a `Recording` goes in, a `Telemetry` with every metric, count
and episode comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from fractions import Fraction

from bouts.formats.types import Clock, Event
from judging.scoring.exact import ZERO
from judging.scoring.metrics import (
    MEASURES,
    UNCHANGED,
    Episode,
    Measured,
    Undefined,
)
from judging.scoring.policy import MetricRule, Policy
from judging.scoring.reasons import Reason
from judging.scoring.story import Story, tell


@dataclass(frozen=True, slots=True)
class Recording:
    """The events of one run, with what the challenge knows about it.

    `events` can be gone through again and again. `are_in_order` says that each comes once
    and in order of `seq`, as readers give them: then they are never all in memory.
    `baseline` says which tests pass on the starting tree (`fails_at_start`); `visible_tests`
    are the ones the agent could see, None where the challenge does not list them. Both name
    tests as the events' results do. `budget_s` is given only where the challenge takes its
    time budget as the base of the ratios. `tree_paths` and `diff_paths` are the files of
    the starting tree and of the final diff, None where that is not known. `absent` is the
    reason to give where there are no events.
    """

    events: Iterable[Event]
    clock: Clock = Clock.RELATIVE
    baseline: Mapping[str, bool] = field(default_factory=dict)
    visible_tests: Set[str] | None = None
    budget_s: Fraction | None = None
    tree_paths: Set[str] | None = None
    diff_paths: Set[str] | None = None
    absent: Reason = Reason.NO_TELEMETRY
    are_in_order: bool = False

    def __post_init__(self) -> None:
        if self.budget_s is not None and self.budget_s <= 0:
            raise ValueError("a time budget is more than 0 seconds")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of one run.

    `score` is None where the metric is undefined, and `reason` says why. Where only `value`
    is None the metric counts with a score of 0, and `reason` says what was never done.
    `how` is a sentence with this run's figures. Of many episodes the first are told.
    """

    name: str
    value: Fraction | None
    score: Fraction | None
    reason: Reason | None
    good: str
    how: str
    episodes: tuple[Episode, ...]
    episode_count: int

    @property
    def is_defined(self) -> bool:
        return self.score is not None


@dataclass(frozen=True, slots=True)
class Counts:
    """The plain counts that stand beside the metrics."""

    code_changes: int
    test_runs: int
    error_episodes: int
    unresolved: int
    contradictions: int
    unanswered: int
    approach_changes: int
    reverts: int
    thrashes: int
    verified_states: int
    retries: int
    checkpoints: int


@dataclass(frozen=True, slots=True)
class Telemetry:
    """All that is derived from a recording. `absent` is None where there are events."""

    metrics: Mapping[str, Metric]
    counts: Counts
    story: Story
    absent: Reason | None

    @property
    def is_unverified(self) -> bool:
        """Whether the agent worked without ever running a test, as far as can be seen."""
        return self.absent is None and not self.story.ran_or_tried_tests


def analyse(recording: Recording, policy: Policy) -> Telemetry:
    """Derive every metric, count and episode from a recording.

    The order of the events and repeated delivery change nothing; `seq` alone orders.
    """
    story = tell(
        recording.events,
        are_in_order=recording.are_in_order,
        baseline=recording.baseline,
        visible_tests=recording.visible_tests,
        tree_paths=recording.tree_paths,
        diff_paths=recording.diff_paths,
    )
    has_clock = recording.clock is not Clock.NONE and any(
        event.t is not None for event in recording.events
    )
    run = Measured(story, policy.halves, has_clock, recording.budget_s)
    absent = None if story.events else recording.absent
    return Telemetry(
        metrics={rule.name: _metric(rule, run, absent) for rule in policy.halves.metrics},
        counts=_counts(story),
        story=story,
        absent=absent,
    )


def _metric(rule: MetricRule, run: Measured, absent: Reason | None) -> Metric:
    try:
        if absent is not None:
            raise Undefined(absent)
        if not run.story.changes:
            raise Undefined(UNCHANGED.get(rule.name, Reason.NO_EDITS))
        reading = MEASURES[rule.name](run)
    except Undefined as undefined:
        how = f"n/a: {undefined.reason.sentence}"
        return Metric(rule.name, None, None, undefined.reason, rule.good, how, (), 0)
    score = ZERO if reading.value is None else rule.curve.score(reading.value) * reading.share
    return Metric(
        name=rule.name,
        value=reading.value,
        score=score,
        reason=reading.reason,
        good=rule.good,
        how=reading.how,
        episodes=reading.episodes,
        episode_count=reading.episode_count,
    )


def _counts(story: Story) -> Counts:
    return Counts(
        code_changes=len(story.changes),
        test_runs=len(story.runs),
        error_episodes=len(story.errors),
        unresolved=sum(error.is_open for error in story.errors),
        contradictions=len(story.contradictions),
        unanswered=sum(contradiction.is_open for contradiction in story.contradictions),
        approach_changes=len(story.approach_changes),
        reverts=len(story.reverts),
        thrashes=len(story.thrashes),
        verified_states=len(story.verified),
        retries=len(story.retries),
        checkpoints=len(story.checkpoints),
    )
