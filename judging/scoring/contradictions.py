"""Contradictions, and what became of each: answered, closed, or open (SCORING.md, 3).

A contradiction is answered by the first later change that restores earlier content or
touches a path outside the contradicted attempt, and closed where all its failing tests
pass before that. Both are found without a loop over all open ones at every step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from judging.scoring.steps import Change, TestRun


@dataclass(slots=True)
class Contradiction:
    """A test run that, at the end of an attempt, fails tests that were seen before."""

    run: TestRun
    attempt: tuple[Change, ...]
    tests: frozenset[str]
    answer: Change | None = None
    closed_by: TestRun | None = None

    @property
    def is_open(self) -> bool:
        return self.answer is None and self.closed_by is None


@dataclass(slots=True)
class _SamePaths:
    """Open contradictions whose attempts touched the same paths: one change answers all."""

    paths: frozenset[str]
    contradictions: list[Contradiction] = field(default_factory=list)


@dataclass(slots=True)
class _SameTests:
    """Open contradictions with the same failing tests: one run closes all."""

    tests: frozenset[str]
    contradictions: list[Contradiction] = field(default_factory=list)


class Contradictions:
    """All contradictions so far, in order, kept up to date by changes and runs."""

    def __init__(self) -> None:
        self.all: list[Contradiction] = []
        # What is open after a change contains all that the change touched. So the open path
        # sets only ever shrink from the bottom of this stack to its top, and a change
        # answers from the top down.
        self._by_paths: list[_SamePaths] = []
        self._by_tests: dict[frozenset[str], _SameTests] = {}
        # Each group waits at one test that still fails; only its passing makes it look on.
        self._waiting: defaultdict[str, list[_SameTests]] = defaultdict(list)

    def add(self, run: TestRun, attempt: tuple[Change, ...], tests: frozenset[str]) -> None:
        """A contradiction: `tests` fail in `run` and were seen before."""
        same_tests = self._by_tests.get(tests)
        if same_tests is None:
            same_tests = self._by_tests[tests] = _SameTests(tests)
            self._waiting[min(tests)].append(same_tests)
        contradiction = Contradiction(run, attempt, same_tests.tests)
        self.all.append(contradiction)
        same_tests.contradictions.append(contradiction)

        paths = frozenset[str]().union(*(change.paths for change in attempt))
        if not self._by_paths or self._by_paths[-1].paths != paths:
            self._by_paths.append(_SamePaths(paths))
        self._by_paths[-1].contradictions.append(contradiction)

    def answer(self, change: Change) -> bool:
        """Let a change answer what it answers; whether it was a change of approach."""
        answered = False
        while self._by_paths:
            top = self._by_paths[-1]
            if not change.restored and change.paths <= top.paths:
                break
            self._by_paths.pop()
            for contradiction in top.contradictions:
                if contradiction.is_open:
                    contradiction.answer = change
                    answered = True
        return answered

    def close(self, run: TestRun, passing: list[str], latest: Mapping[str, bool]) -> None:
        """Close what `run` closes, whose tests in `passing` failed until then.

        `latest` has the latest result of every test, this run's included.
        """
        for test in passing:
            for group in self._waiting.pop(test, ()):
                failing = next((name for name in group.tests if not latest[name]), None)
                if failing is not None:
                    self._waiting[failing].append(group)
                    continue
                del self._by_tests[group.tests]
                for contradiction in group.contradictions:
                    if contradiction.is_open:
                        contradiction.closed_by = run
