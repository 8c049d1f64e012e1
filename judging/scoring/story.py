"""What happened in a run: everything that SCORING.md, 3 gives a name, in one pass.

Order is the events' `seq`. Times are carried along and never looked at here, so a missing
or broken clock changes no count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from bouts.formats.types import Event, EventKind
from judging.scoring.contradictions import Contradiction, Contradictions
from judging.scoring.errors import ErrorEpisode, Errors
from judging.scoring.steps import Change, Content, File, TestRun, in_order, read_steps


class StepKind(StrEnum):
    """The kinds of step on a decision path."""

    PLAN = "plan"
    CONTRADICTION = "contradiction"
    APPROACH_CHANGE = "approach_change"
    REVERT = "revert"


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of the decision path."""

    kind: StepKind
    seq: int
    t: float | None


@dataclass(frozen=True, slots=True)
class Thrash:
    """A revert or approach change without progress; `next_run` is None where none came."""

    change: Change
    next_run: TestRun | None
    best_before: int  # tests that the best run before the next one passed


@dataclass(frozen=True, slots=True)
class VerifiedState:
    """A test run on a tree that differs from that of the run before it."""

    run: TestRun
    changes: tuple[Change, ...]  # since the run before


@dataclass(frozen=True, slots=True)
class Retry:
    """The same call with the same arguments, again and again, with no change between."""

    signature: str
    seqs: tuple[int, ...]  # two or more


@dataclass(frozen=True, slots=True)
class Fix:
    """The earliest lasting pass of a test that failed when first seen."""

    test: str
    run: TestRun
    change: Change  # the last one before that run


@dataclass(frozen=True, slots=True)
class Turn:
    """Two consecutive test runs with a change between: 1 better, ½ the same, 0 worse."""

    earlier: TestRun
    later: TestRun
    worth: Fraction


@dataclass(frozen=True, slots=True)
class Story:
    """Everything derived from the events of one run; lists are in order of `seq`.

    Its changes do not keep the contents of files: whoever wants those reads the steps.

    `broken_at_start` are the tests that failed when first seen and were not passing before
    the first change. `unread_tests` are test commands whose results cannot be read, and
    `unclear_seq` is the last place where a test may have passed without being named.
    """

    events: int
    start: Event | None
    end: Event | Change | TestRun | None  # the last change, test run or submit
    changes: tuple[Change, ...]
    runs: tuple[TestRun, ...]
    unread_tests: tuple[int, ...]
    unclear_seq: int | None
    names_tests: bool  # whether any run names its tests
    contradictions: tuple[Contradiction, ...]
    approach_changes: tuple[Change, ...]
    reverts: tuple[Change, ...]
    thrashes: tuple[Thrash, ...]
    errors: tuple[ErrorEpisode, ...]
    verified: tuple[VerifiedState, ...]
    turns: tuple[Turn, ...]
    broken_at_start: frozenset[str]
    fix: Fix | None
    retries: tuple[Retry, ...]
    checkpoints: tuple[int, ...]
    decision_path: tuple[PathStep, ...]

    @property
    def ran_or_tried_tests(self) -> bool:
        """Whether a test was run, or a command that looked like it has unreadable results."""
        return bool(self.runs or self.unread_tests)

    def may_have_passed_since(self, seq: int) -> bool:
        """Whether a test may have passed after `seq` in a run that did not name it."""
        return self.unclear_seq is not None and self.unclear_seq > seq


def tell(
    events: Iterable[Event],
    *,
    are_in_order: bool = False,
    baseline: Mapping[str, bool],
    visible_tests: Set[str] | None,
    tree_paths: Set[str] | None,
    diff_paths: Set[str] | None,
) -> Story:
    """Derive the story of a run from its events, in any order and however often delivered.

    They are gone through several times. Where they are said to be in order already, each
    once, they are never all in memory.
    """
    ordered = events if are_in_order else in_order(events)
    teller = _Teller(baseline, visible_tests)
    for step in read_steps(ordered, tree_paths, diff_paths):
        if isinstance(step, Change):
            teller.change(step)
        elif isinstance(step, TestRun):
            teller.run(step)
        else:
            teller.event(step)
    calls = _Calls({change.seq for change in teller.changes})
    for event in ordered:
        calls.see(event)
    return teller.story(calls)


_FORGOTTEN: Mapping[File, Content] = {}


class _Teller:
    """Takes the steps in order and keeps what the story will say."""

    def __init__(self, baseline: Mapping[str, bool], visible_tests: Set[str] | None) -> None:
        self.changes: list[Change] = []
        self._runs: list[TestRun] = []
        self._end: Event | Change | TestRun | None = None
        self._attempt: list[Change] = []
        self._latest: dict[str, bool] = dict(baseline)
        self._contradictions = Contradictions()
        self._errors = Errors(test for test, passed in baseline.items() if passed)
        self._fixes = _Fixes(baseline, visible_tests)
        self._tree = _Tree()
        self._approach_changes: list[Change] = []
        self._reverts: list[Change] = []
        self._unproven: list[Change] = []
        self._thrashes: list[Thrash] = []
        self._best_passed = 0
        self._verified: list[VerifiedState] = []
        self._turns: list[Turn] = []
        self._unread: list[int] = []
        self._unclear_seq: int | None = None
        self._checkpoints: list[int] = []
        self._path: list[PathStep] = []
        self._paths: dict[frozenset[str], frozenset[str]] = {}

    def change(self, step: Change) -> None:
        self._tree.change(step)
        paths = self._paths.setdefault(step.paths, step.paths)
        change = replace(step, before=_FORGOTTEN, after=_FORGOTTEN, paths=paths)
        self.changes.append(change)
        self._attempt.append(change)
        self._end = change
        is_revert = bool(change.restored)
        is_approach_change = self._contradictions.answer(change)
        if is_revert:
            self._reverts.append(change)
            self._path.append(PathStep(StepKind.REVERT, change.seq, change.t))
        if is_approach_change:
            self._approach_changes.append(change)
            self._path.append(PathStep(StepKind.APPROACH_CHANGE, change.seq, change.t))
        if is_revert or is_approach_change:
            self._unproven.append(change)

    def run(self, run: TestRun) -> None:
        attempt, self._attempt = tuple(self._attempt), []
        failing = [test for test, passed in run.results.items() if not passed]
        now_passing = [
            test
            for test, passed in run.results.items()
            if passed and self._latest.get(test) is not True
        ]
        seen_failing = frozenset(test for test in failing if test in self._latest)
        self._fixes.run(run, failing, now_passing, self._latest, self.changes)
        self._latest.update(run.results)
        self._contradictions.close(run, now_passing, self._latest)
        if attempt and seen_failing:
            self._contradictions.add(run, attempt, seen_failing)
            self._path.append(PathStep(StepKind.CONTRADICTION, run.seq, run.t))
        for test in failing:
            self._errors.test_failed(
                test, run.seq, run.t, before_change=not self.changes, excused=run.is_excused
            )
        for test in now_passing:
            self._errors.test_passed(test, run.seq, run.t)
        self._judge_progress(run)
        self._judge_state(run, attempt)
        if run.command is not None:
            # It may have failed before for want of any result, and now it has some.
            self._errors.command_passed(run.command, run.seq, run.t)
        if run.has_unnamed_passes:
            self._unclear_seq = run.seq
        self._runs.append(run)
        self._end = run

    def event(self, event: Event) -> None:
        if event.kind is EventKind.PLAN:
            self._path.append(PathStep(StepKind.PLAN, event.seq, event.t))
        elif event.kind is EventKind.CHECKPOINT:
            self._checkpoints.append(event.seq)
        elif event.kind is EventKind.SUBMIT:
            self._end = event
        elif event.kind is EventKind.TEST:
            collected_nothing = event.results is not None or event.passed == event.failed == 0
            if not collected_nothing:
                self._unread.append(event.seq)
                self._unclear_seq = event.seq
            self._command(event)
        elif event.kind is EventKind.RUN:
            self._command(event)

    def story(self, calls: _Calls) -> Story:
        self._thrashes += [Thrash(change, None, self._best_passed) for change in self._unproven]
        return Story(
            events=calls.count,
            start=calls.first,
            end=self._end,
            changes=tuple(self.changes),
            runs=tuple(self._runs),
            unread_tests=tuple(self._unread),
            unclear_seq=self._unclear_seq,
            names_tests=any(run.results for run in self._runs),
            contradictions=tuple(self._contradictions.all),
            approach_changes=tuple(self._approach_changes),
            reverts=tuple(self._reverts),
            thrashes=tuple(self._thrashes),
            errors=tuple(self._errors.all),
            verified=tuple(self._verified),
            turns=tuple(self._turns),
            broken_at_start=self._fixes.broken(),
            fix=self._fixes.earliest(),
            retries=calls.retries(),
            checkpoints=tuple(self._checkpoints),
            decision_path=tuple(self._path),
        )

    def _command(self, event: Event) -> None:
        if event.signature is None or event.ok is None:
            return  # Without a signature nothing could ever close what it opens.
        if event.ok:
            self._errors.command_passed(event.signature, event.seq, event.t)
        else:
            self._errors.command_failed(
                event.signature,
                event.seq,
                event.t,
                before_change=not self.changes,
                excused=event.expected or event.infra,
            )

    def _judge_progress(self, run: TestRun) -> None:
        if run.passed <= self._best_passed and not run.passes_all:
            self._thrashes += [Thrash(change, run, self._best_passed) for change in self._unproven]
        self._unproven.clear()
        self._best_passed = max(self._best_passed, run.passed)

    def _judge_state(self, run: TestRun, attempt: tuple[Change, ...]) -> None:
        is_new_tree = self._tree.differs_at_run()
        if not attempt:
            return
        if not self._runs or is_new_tree:
            self._verified.append(VerifiedState(run, attempt))
        if self._runs:
            self._turns.append(_turn(self._runs[-1], run))


class _Tree:
    """Whether the tree differs from what it was at the last test run."""

    def __init__(self) -> None:
        self._at_run: dict[File, Content] = {}
        self._now: dict[File, Content] = {}

    def change(self, change: Change) -> None:
        for file, before in change.before.items():
            self._at_run.setdefault(file, before)
        self._now.update(change.after)

    def differs_at_run(self) -> bool:
        differs = any(self._now[file] != content for file, content in self._at_run.items())
        self._at_run.clear()
        self._now.clear()
        return differs


class _Fixes:
    """For each test that failed when first seen, since when it passes without a break."""

    def __init__(self, baseline: Mapping[str, bool], visible_tests: Set[str] | None) -> None:
        self._visible = visible_tests
        self._broken = {test for test, passed in baseline.items() if not passed}
        self._since: dict[str, tuple[TestRun, Change | None]] = {}

    def run(
        self,
        run: TestRun,
        failing: Sequence[str],
        now_passing: Sequence[str],
        seen: Mapping[str, bool],
        changes: Sequence[Change],
    ) -> None:
        """Take in a run: what fails in it, and what passes in it that did not before."""
        for test in failing:
            self._since.pop(test, None)
            if test not in seen:
                self._broken.add(test)
        for test in now_passing:
            if test in self._broken:
                self._since[test] = (run, changes[-1] if changes else None)

    def broken(self) -> frozenset[str]:
        """The tests that were there to be fixed: not those that passed before any change."""
        visible = self._broken if self._visible is None else self._broken & self._visible
        return frozenset(
            test for test in visible if test not in self._since or self._since[test][1] is not None
        )

    def earliest(self) -> Fix | None:
        fixes = [
            Fix(test, run, change)
            for test in self.broken()
            for run, change in [self._since.get(test, (None, None))]
            if run is not None and change is not None
        ]
        return min(fixes, key=lambda fix: (fix.run.seq, fix.test), default=None)


_BETTER, _SAME, _WORSE = Fraction(1), Fraction(1, 2), Fraction(0)


def _turn(earlier: TestRun, later: TestRun) -> Turn:
    before, after = later.total * earlier.passed, earlier.total * later.passed
    if after > before or (earlier.passes_all and later.passes_all):
        return Turn(earlier, later, _BETTER)
    return Turn(earlier, later, _SAME if after == before else _WORSE)


class _Calls:
    """Calls with the same signature between two changes; one call's own events are one."""

    def __init__(self, change_seqs: Set[int]) -> None:
        self.count = 0
        self.first: Event | None = None
        self._change_seqs = change_seqs
        self._alike: dict[str, tuple[list[int], str | None]] = {}  # seqs, the last one's call
        self._retries: list[Retry] = []

    def see(self, event: Event) -> None:
        self.count += 1
        self.first = self.first or event
        if event.seq in self._change_seqs:
            self._flush()
        if event.signature is not None:
            seqs, call = self._alike.get(event.signature, ([], None))
            if not seqs or event.call is None or event.call != call:
                seqs.append(event.seq)
                self._alike[event.signature] = seqs, event.call

    def retries(self) -> tuple[Retry, ...]:
        self._flush()
        return tuple(sorted(self._retries, key=lambda retry: retry.seqs))

    def _flush(self) -> None:
        self._retries += (
            Retry(signature, tuple(seqs))
            for signature, (seqs, _) in self._alike.items()
            if len(seqs) > 1
        )
        self._alike.clear()
