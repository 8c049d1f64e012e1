"""The Objective score: what the tests, the build and the scanner say (SCORING.md, 2).

The caller has already applied the test manifest: a listed test that a readable result file
lacks, skips or deselects arrives as failed, and a test that is not listed does not arrive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from bouts.rules import Severity
from judging.scoring.exact import HUNDRED, ZERO, clamp, median, plain
from judging.scoring.policy import ObjectiveRules, Policy
from judging.scoring.reasons import Reason


class Gate(StrEnum):
    """What decided whether the tests count at all."""

    OPEN = "open"
    BUILD_FAILED = "build_failed"
    REDUCED_EVIDENCE = "reduced_evidence"  # only one of the two suites has tests
    UNREADABLE = "unreadable"
    NO_TESTS = "no_tests"


class Mark(StrEnum):
    """What a reader of the score should know beside it."""

    BUILD_UNREPORTED = "build_unreported"
    REDUCED_EVIDENCE = "reduced_evidence"
    UNREADABLE_RUN = "unreadable_run"
    NONDETERMINISTIC = "nondeterministic"


@dataclass(frozen=True, slots=True)
class GradedTest:
    """One test of a suite, with whether it passed, by run.

    None stands for a run in which nothing of it counts: its file could not be read, or the
    test was left out. Runs are in the same order for every test of a suite.
    """

    id: str
    severity: Severity
    runs: tuple[bool | None, ...]

    @property
    def known(self) -> tuple[bool, ...]:
        return tuple(passed for passed in self.runs if passed is not None)

    @property
    def fraction(self) -> Fraction:
        """The share of known runs in which it passed; needs one known run."""
        return Fraction(sum(self.known), len(self.known))

    @property
    def is_nondeterministic(self) -> bool:
        return len(set(self.known)) > 1


@dataclass(frozen=True, slots=True)
class ObjectiveEvidence:
    """All that the Objective score rests on.

    `hidden` holds the hidden tests and the invariant checks. `unreadable` names the suites
    that should be there and whose files are absent or cannot be read. `build_ok` is None
    where no build was reported. `performance_bonus` is as measured, before its limits.
    `crashes` and `critical_findings` are counted once per signature, without those of the
    starting tree. `has_unreadable_run` says that one run among several could not be read.
    """

    static: Sequence[GradedTest] = ()
    hidden: Sequence[GradedTest] = ()
    build_ok: bool | None = None
    unreadable: tuple[str, ...] = ()
    has_unreadable_run: bool = False
    crashes: int = 0
    performance_bonus: Fraction = ZERO
    critical_findings: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """The tests of one severity in one suite: `passed` and `failed` in every known run."""

    total: int
    passed: int
    failed: int
    nondeterministic: int


@dataclass(frozen=True, slots=True)
class ObjectiveOutcome:
    """The score with its parts. Rates, base and score are points from 0 to 100.

    `bonus` and `deductions` are the points added and taken (both ≥ 0) before the limits of
    0 and 100. `run_scores` has the score that each single run would give, None for a run
    that could not be read; `is_reproducible` is None where there are not two to compare.
    """

    score: Fraction | None
    reason: Reason | None
    gate: Gate
    marks: tuple[Mark, ...]
    static_rate: Fraction | None
    hidden_rate: Fraction | None
    base: Fraction | None
    bonus: Fraction
    deductions: Fraction
    counts: Mapping[str, Mapping[Severity, Tally]]
    run_scores: tuple[Fraction | None, ...]
    is_reproducible: bool | None
    why: str


def objective(evidence: ObjectiveEvidence, policy: Policy) -> ObjectiveOutcome:
    """Score a submission by its tests.

    A failed build scores 0 whatever else is there. Where a suite cannot be read, or a test
    has no readable run, there is no score: unreadable is not zero.
    """
    rules = policy.objective
    bonus = clamp(evidence.performance_bonus, ZERO, Fraction(rules.performance_bonus))
    deductions = Fraction(
        rules.crash_penalty * evidence.crashes
        + rules.critical_finding_penalty * evidence.critical_findings
    )
    gate = _gate(evidence)
    if gate in (Gate.BUILD_FAILED, Gate.UNREADABLE, Gate.NO_TESTS):
        return _closed(gate, evidence, bonus, deductions)

    static_rate = _rate(evidence.static, rules)
    hidden_rate = _rate(evidence.hidden, rules)
    base = _base(static_rate, hidden_rate, rules)
    score = clamp(base + bonus - deductions)
    run_scores = tuple(
        None if base_of_run is None else clamp(base_of_run + bonus - deductions)
        for base_of_run in _bases_by_run(evidence, rules)
    )
    compared = [run for run in run_scores if run is not None]
    return ObjectiveOutcome(
        score=score,
        reason=None,
        gate=gate,
        marks=_marks(evidence, gate),
        static_rate=static_rate,
        hidden_rate=hidden_rate,
        base=base,
        bonus=bonus,
        deductions=deductions,
        counts=_counts(evidence),
        run_scores=run_scores,
        is_reproducible=(
            max(compared) - min(compared) <= rules.reproducible_within
            if len(compared) > 1
            else None
        ),
        why=_why(evidence, static_rate, hidden_rate, bonus, rules),
    )


def performance_bonus(
    baseline_s: Fraction, samples_s: Sequence[Fraction], policy: Policy
) -> Fraction:
    """The bonus for a benchmark against the challenge's baseline, both in seconds.

    Linear in how many times as fast the median of the samples is: nothing at the
    baseline's speed or below, all of it at twice the speed. Raises `ValueError` for times
    that are not positive, and for no samples.
    """
    if baseline_s <= 0 or not samples_s or min(samples_s) <= 0:
        raise ValueError("a bonus needs a baseline and samples of more than 0 seconds")
    rules = policy.objective
    times_as_fast = baseline_s / median(samples_s)
    share = (times_as_fast - 1) / (rules.performance_full_at - 1)
    return clamp(share, ZERO, Fraction(1)) * rules.performance_bonus


def _gate(evidence: ObjectiveEvidence) -> Gate:
    if evidence.build_ok is False:
        return Gate.BUILD_FAILED
    if evidence.unreadable or any(not test.known for test in _all_tests(evidence)):
        return Gate.UNREADABLE
    if not evidence.static and not evidence.hidden:
        return Gate.NO_TESTS
    return Gate.OPEN if evidence.static and evidence.hidden else Gate.REDUCED_EVIDENCE


def _closed(
    gate: Gate, evidence: ObjectiveEvidence, bonus: Fraction, deductions: Fraction
) -> ObjectiveOutcome:
    reason = Reason(gate.value)
    named = f": {', '.join(evidence.unreadable)}" if evidence.unreadable else ""
    return ObjectiveOutcome(
        score=ZERO if gate is Gate.BUILD_FAILED else None,
        reason=reason,
        gate=gate,
        marks=_marks(evidence, gate),
        static_rate=None,
        hidden_rate=None,
        base=None,
        bonus=bonus,
        deductions=deductions,
        counts=_counts(evidence),
        run_scores=(),
        is_reproducible=None,
        why=reason.sentence.capitalize() + (named if gate is Gate.UNREADABLE else ""),
    )


def _all_tests(evidence: ObjectiveEvidence) -> tuple[GradedTest, ...]:
    return (*evidence.static, *evidence.hidden)


def _rate(tests: Sequence[GradedTest], rules: ObjectiveRules) -> Fraction | None:
    """The pass rate of a suite, weighed by severity, times 100; None for no tests."""
    if not tests:
        return None
    weights = rules.severity_weights
    earned = sum((weights[test.severity] * test.fraction for test in tests), ZERO)
    return HUNDRED * earned / sum(weights[test.severity] for test in tests)


def _base(static: Fraction | None, hidden: Fraction | None, rules: ObjectiveRules) -> Fraction:
    if static is None or hidden is None:
        alone = static if hidden is None else hidden
        assert alone is not None  # the gate is closed where neither suite has tests
        return alone
    shares = rules.static_share + rules.hidden_share
    return (rules.static_share * static + rules.hidden_share * hidden) / shares


def _bases_by_run(
    evidence: ObjectiveEvidence, rules: ObjectiveRules
) -> tuple[Fraction | None, ...]:
    """The base that each single run would give.

    A suite with fewer runs than the other stands with its whole rate where it has none.
    """
    suites = [suite for suite in (evidence.static, evidence.hidden) if suite]
    lengths = [max(len(test.runs) for test in suite) for suite in suites]
    bases: list[Fraction | None] = []
    for run in range(max(lengths)):
        rates = [
            _rate_of_run(suite, run, rules) if run < length else _rate(suite, rules)
            for suite, length in zip(suites, lengths, strict=True)
        ]
        if any(rate is None for rate in rates):
            bases.append(None)
        else:
            bases.append(_base(rates[0], rates[1] if len(rates) > 1 else None, rules))
    return tuple(bases)


def _rate_of_run(tests: Sequence[GradedTest], run: int, rules: ObjectiveRules) -> Fraction | None:
    outcomes = [
        GradedTest(test.id, test.severity, test.runs[run : run + 1])
        for test in tests
        if test.runs[run : run + 1] not in ((), (None,))
    ]
    return _rate(outcomes, rules)


def _marks(evidence: ObjectiveEvidence, gate: Gate) -> tuple[Mark, ...]:
    tests = _all_tests(evidence)
    marks = {
        Mark.BUILD_UNREPORTED: evidence.build_ok is None,
        Mark.REDUCED_EVIDENCE: gate is Gate.REDUCED_EVIDENCE,
        Mark.UNREADABLE_RUN: evidence.has_unreadable_run,
        Mark.NONDETERMINISTIC: any(test.is_nondeterministic for test in tests),
    }
    return tuple(mark for mark, applies in marks.items() if applies)


def _counts(evidence: ObjectiveEvidence) -> Mapping[str, Mapping[Severity, Tally]]:
    return {"static": _tallies(evidence.static), "hidden": _tallies(evidence.hidden)}


def _tallies(tests: Sequence[GradedTest]) -> Mapping[Severity, Tally]:
    tallies = {}
    for severity in Severity:
        alike = [test for test in tests if test.severity is severity]
        if alike:
            tallies[severity] = Tally(
                total=len(alike),
                passed=sum(bool(test.known) and all(test.known) for test in alike),
                failed=sum(bool(test.known) and not any(test.known) for test in alike),
                nondeterministic=sum(test.is_nondeterministic for test in alike),
            )
    return tallies


def _why(
    evidence: ObjectiveEvidence,
    static: Fraction | None,
    hidden: Fraction | None,
    bonus: Fraction,
    rules: ObjectiveRules,
) -> str:
    parts = []
    if static is not None:
        parts.append(f"visible tests {plain(static)}")
    if hidden is not None:
        parts.append(f"hidden tests {plain(hidden)}")
    if evidence.crashes:
        parts.append(f"{evidence.crashes} × crash −{evidence.crashes * rules.crash_penalty}")
    if bonus:
        parts.append(f"speed +{plain(bonus)}")
    if evidence.critical_findings:
        points = evidence.critical_findings * rules.critical_finding_penalty
        parts.append(f"{evidence.critical_findings} × critical finding −{points}")
    return ", ".join(parts).capitalize()
