"""Objective: what the tests, the build and the scanner say. No model, no opinion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bouts.bundles.manifest import TestEntry
from bouts.formats.types import Crash, FileChange, Kind, Outcome, Sample, ScanFinding, TestResult
from bouts.rules import Judge, Severity, Suite
from judging.judges.base import Dossier, JsonDict, Opinion, Source, anchor, digest_of
from judging.scoring.exact import exact, plain, score_text
from judging.scoring.objective import (
    GradedTest,
    ObjectiveEvidence,
    ObjectiveOutcome,
    objective,
    performance_bonus,
)
from judging.scoring.policy import Policy

# The two rates of the rule, and the suites of the bundle that each is made of.
RATES = {"static": (Suite.STATIC,), "hidden": (Suite.HIDDEN, Suite.INVARIANT)}

# Outcomes that count neither for a test nor against it.
UNCOUNTED = frozenset({"unreadable", "uncounted"})


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One test with its outcome in every run, as the page and the digest show it.

    ``runs`` says by run whether it passed, None where it does not count: the run cannot be read,
    or the test is skipped or absent there and no list says that it had to run.
    """

    __test__ = False

    id: str
    suite: str
    severity: Severity
    # By run: passed, failed, errored, skipped, missing, or one of `UNCOUNTED`.
    outcomes: tuple[str, ...]
    category: str = ""
    requirement: str = ""
    tampered: bool = False  # the submission changed the file it stands in: counts as failed
    flaky: bool = False  # some run passed it only on a later attempt
    runs: tuple[bool | None, ...] = ()

    @property
    def graded(self) -> GradedTest:
        return GradedTest(self.id, self.severity, self.runs)

    def as_json(self) -> JsonDict:
        return {
            "id": self.id,
            "suite": self.suite,
            "severity": self.severity.value,
            "category": self.category,
            "requirement": self.requirement,
            "outcomes": list(self.outcomes),
            "tampered": self.tampered,
            "flaky": self.flaky,
        }


def passes(test: Mapping[str, Any]) -> bool:
    """Whether a test, as JSON, passed wherever it counts; one whose file was changed never did."""
    counted = [outcome for outcome in test["outcomes"] if outcome not in UNCOUNTED]
    return bool(counted) and not test["tampered"] and set(counted) == {"passed"}


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """A suite's tests, what of them was unlisted, and whether the suite could be read."""

    tests: tuple[TestRecord, ...]
    unlisted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    is_unreadable: bool = False
    has_unreadable_run: bool = False


class ObjectiveJudge:
    """Does the submission do what was asked?"""

    slug = Judge.OBJECTIVE
    title = "Objective"
    version = 1

    def judge(self, dossier: Dossier, policy: Policy) -> Opinion:
        suites = suites_of(dossier)
        crashes = _crashes(dossier)
        critical = _critical_findings(dossier)
        bonus, speed = _performance(dossier, policy)
        evidence = ObjectiveEvidence(
            static=_graded(suites, RATES["static"]),
            hidden=_graded(suites, RATES["hidden"]),
            build_ok=None if dossier.build is None else dossier.build.ok,
            unreadable=tuple(suite.value for suite in Suite if suites[suite].is_unreadable),
            has_unreadable_run=any(suite.has_unreadable_run for suite in suites.values()),
            crashes=len(crashes),
            performance_bonus=bonus,
            critical_findings=len(critical),
        )
        outcome = objective(evidence, policy)
        detail = {
            **_rule_detail(outcome, policy),
            "performance": speed,
            "crashes": crashes,
            "critical_findings": critical,
            "scans": [
                {"artifact": scan.path, "readable": scan.is_readable, "reason": scan.reason}
                for scan in dossier.of_kind(Kind.SCAN)
            ],
            "unlisted": sorted(name for suite in suites.values() for name in suite.unlisted),
            "skipped": sorted(name for suite in suites.values() for name in suite.skipped),
            "evidence": _bundle(dossier, suites, crashes, critical),
        }
        return Opinion(
            judge=Judge.OBJECTIVE,
            score=outcome.score,
            reason=outcome.reason,
            why=outcome.why,
            rationale=_rationale(outcome, suites, crashes, critical, speed),
            detail=detail,
        )


def _graded(suites: Mapping[Suite, SuiteRecord], names: Iterable[Suite]) -> list[GradedTest]:
    return [test.graded for name in names for test in suites[name].tests]


# Tests


def suites_of(dossier: Dossier) -> dict[Suite, SuiteRecord]:
    """Return every suite with its tests, held against the test manifest."""
    touched = _touched_tests(dossier)
    return {suite: _suite(dossier, suite, touched) for suite in Suite}


def tests_of(dossier: Dossier) -> tuple[TestRecord, ...]:
    """Return every test that counts, with its outcome in every run."""
    return tuple(test for suite in suites_of(dossier).values() for test in suite.tests)


def _suite(dossier: Dossier, suite: Suite, touched: frozenset[str]) -> SuiteRecord:
    """Hold a suite's results against the test manifest, run by run."""
    listed = [test for test in dossier.spec.tests if test.suite is suite]
    runs = _runs(dossier, suite)
    readable = [run for run in runs if run is not None]
    if not readable:
        # Listed tests with no readable result are missing evidence, not failures.
        return SuiteRecord((), is_unreadable=bool(runs or listed))
    if dossier.spec.tests:
        return _by_manifest(suite, listed, runs, touched)
    return _as_collected(suite, runs, touched)


def _runs(dossier: Dossier, suite: Suite) -> list[dict[str, TestResult] | None]:
    """Return the results by run; None for a run of which a file cannot be read."""
    files: dict[int, list[Source]] = defaultdict(list)
    for source in dossier.of_kind(Kind.TESTS):
        if source.suite == suite:
            files[source.run or 1].append(source)
    runs: list[dict[str, TestResult] | None] = []
    for _, sources in sorted(files.items()):
        if not all(source.is_readable for source in sources):
            runs.append(None)
            continue
        results: dict[str, TestResult] = {}
        for source in sources:
            for result in dossier.load(source.path):
                results.setdefault(result.id, result)  # a retry counts as its first attempt
        runs.append(results)
    return runs


def _by_manifest(
    suite: Suite,
    listed: Sequence[TestEntry],
    runs: Sequence[Mapping[str, TestResult] | None],
    touched: frozenset[str],
) -> SuiteRecord:
    names = {test.id for test in listed}
    unlisted = {name for run in runs if run for name in run} - names
    records = []
    for test in listed:
        results = [None if run is None else run.get(test.id, _MISSING) for run in runs]
        files = {test.path} if test.path else {result.file for result in results if result}
        tampered = suite is Suite.STATIC and not test.editable and not touched.isdisjoint(files)
        records.append(_record(test.id, suite, results, tampered=tampered, entry=test))
    return SuiteRecord(
        tuple(records), unlisted=tuple(sorted(unlisted)), has_unreadable_run=None in runs
    )


def _as_collected(
    suite: Suite, runs: Sequence[Mapping[str, TestResult] | None], touched: frozenset[str]
) -> SuiteRecord:
    names = list(dict.fromkeys(name for run in runs if run for name in run))
    records, skipped = [], []
    for name in names:
        known = [run[name] for run in runs if run is not None and name in run]
        if all(result.outcome is Outcome.SKIPPED for result in known):
            skipped.append(name)
            continue
        results = [None if run is None else run.get(name, _MISSING) for run in runs]
        tampered = suite is Suite.STATIC and any(result.file in touched for result in known)
        records.append(_record(name, suite, results, tampered=tampered))
    return SuiteRecord(tuple(records), skipped=tuple(skipped), has_unreadable_run=None in runs)


_MISSING = TestResult(id="", outcome=Outcome.SKIPPED)


def _record(
    name: str,
    suite: Suite,
    results: Sequence[TestResult | None],
    *,
    tampered: bool,
    entry: TestEntry | None = None,
) -> TestRecord:
    stated = next((result.severity for result in results if result and result.severity), None)
    severity = entry.severity.value if entry and entry.severity else stated
    outcomes = tuple(_outcome(result, is_listed=entry is not None) for result in results)
    return TestRecord(
        id=name,
        suite=suite.value,
        severity=Severity.of(severity),
        outcomes=outcomes,
        category=entry.category if entry else "",
        requirement=entry.requirement if entry else "",
        tampered=tampered,
        flaky=any(result is not None and result.flaky for result in results),
        runs=tuple(
            None if outcome in UNCOUNTED else outcome == Outcome.PASSED and not tampered
            for outcome in outcomes
        ),
    )


def _outcome(result: TestResult | None, *, is_listed: bool) -> str:
    if result is None:
        return "unreadable"
    if not is_listed and result.outcome is Outcome.SKIPPED:
        return "uncounted"
    return "missing" if result is _MISSING else result.outcome.value


def _touched_tests(dossier: Dossier) -> frozenset[str]:
    """Return the paths of files that the submission changes or takes away."""
    changes = (change for _, change in dossier.values(Kind.DIFF) if isinstance(change, FileChange))
    return frozenset(
        path
        for change in changes
        if change.status != "added"
        for path in (change.path, change.old_path)
        if path
    )


# Crashes, the scan, speed


def _crashes(dossier: Dossier) -> list[JsonDict]:
    """Return the crashes of graded runs, once a signature, each with where it shows."""
    logs = {source.log for source in dossier.of_kind(Kind.TESTS) if source.log}
    found: dict[str, JsonDict] = {}
    for source, crash in dossier.values(Kind.LOG):
        if source.path in logs and isinstance(crash, Crash):
            place = anchor(source.path, f"line:{crash.line}")
            found.setdefault(crash.signature, {"signature": crash.signature, **place})
    for source, result in dossier.values(Kind.TESTS):
        if isinstance(result, TestResult) and result.crash:
            place = anchor(source.path, f"test:{source.suite}/{result.id}")
            found.setdefault(result.crash, {"signature": result.crash, **place})
    return list(found.values())


def _critical_findings(dossier: Dossier) -> list[JsonDict]:
    """Return the scanner's critical findings, once a place, without those known at the start."""
    known = dossier.spec.starting_findings
    found: dict[tuple[str, str, str], JsonDict] = {}
    for source, finding in dossier.values(Kind.SCAN):
        if not isinstance(finding, ScanFinding) or not finding.critical:
            continue
        line = _normalised(finding.snippet) or str(finding.line or "")
        is_known = any(
            start.rule == finding.rule
            and start.path == finding.path
            and (
                _normalised(start.snippet) == line
                if start.snippet is not None
                else start.line in {None, finding.line}
            )
            for start in known
        )
        if not is_known:
            key = (finding.rule, finding.path or "", line)
            found.setdefault(
                key,
                {
                    "rule": finding.rule,
                    "path": finding.path,
                    "line": finding.line,
                    "message": finding.message,
                    "artifact": source.path,
                },
            )
    return list(found.values())


def _normalised(line: str | None) -> str:
    return " ".join((line or "").split())


def _performance(dossier: Dossier, policy: Policy) -> tuple[Fraction, JsonDict | None]:
    """Return the bonus that was measured, and how, where the challenge states a baseline."""
    wanted = dossier.spec.benchmark
    if wanted is None:
        return Fraction(0), None
    baseline = exact(wanted.baseline_s)
    shown: JsonDict = {"name": wanted.name, "baseline_s": _seconds(baseline), "median_s": None}
    found = [
        (source.path, sample)
        for source, sample in dossier.values(Kind.BENCHMARK)
        if isinstance(sample, Sample) and _is_of(wanted.name, sample, source.path)
    ]
    if not found:
        return Fraction(0), {**shown, "reason": "no readable timing of that name"}
    path, sample = found[0]
    if sum(other == path for other, _ in found) > 1:
        return Fraction(0), {**shown, "reason": "several timings of that name in one file"}
    samples = [exact(value) for value in sample.samples_s or (sample.median_s,)]
    try:
        bonus = performance_bonus(baseline, samples, policy)
    except ValueError:
        return Fraction(0), {**shown, "reason": "a time that is not positive"}
    shown |= {
        "median_s": _seconds(exact(sample.median_s)),
        "bonus": score_text(bonus),
        "artifact": path,
    }
    return bonus, shown


def _is_of(name: str, sample: Sample, path: str) -> bool:
    """Whether a timing is of the benchmark of that name, or of that name with its file.

    criterion's files bear no name: it is that of the folder around ``new/estimates.json``.
    """
    if sample.name:
        return name in {sample.name, sample.fullname}
    folder = path.rpartition("/")[0].removesuffix("/new")
    return f"/{folder}".endswith(f"/{name}")


def _seconds(value: Fraction) -> str:
    """A time for a sentence: six places, and more where it is so short that they say nothing."""
    places = 6
    while value * 10 ** (places - 3) < 1 and places < 18:
        places += 3
    return plain(value, places)


# What is kept and said


def _rule_detail(outcome: ObjectiveOutcome, policy: Policy) -> JsonDict:
    weights = policy.objective.severity_weights
    return {
        "gate": outcome.gate.value,
        "marks": [mark.value for mark in outcome.marks],
        "static_rate": score_text(outcome.static_rate),
        "hidden_rate": score_text(outcome.hidden_rate),
        "base": score_text(outcome.base),
        "bonus": score_text(outcome.bonus),
        "deductions": score_text(outcome.deductions),
        "run_scores": [score_text(score) for score in outcome.run_scores],
        "reproducible": outcome.is_reproducible,
        "counts": {
            suite: {
                severity.value: {
                    "total": tally.total,
                    "passed": tally.passed,
                    "failed": tally.failed,
                    "nondeterministic": tally.nondeterministic,
                    "weight": weights[severity],
                }
                for severity, tally in tallies.items()
            }
            for suite, tallies in outcome.counts.items()
        },
    }


def _bundle(
    dossier: Dossier,
    suites: Mapping[Suite, SuiteRecord],
    crashes: list[JsonDict],
    critical: list[JsonDict],
) -> JsonDict:
    """Return the evidence that is part of the verdict, under one digest."""
    build = dossier.build
    bundle: JsonDict = {
        "tests": [test.as_json() for suite in Suite for test in suites[suite].tests],
        "build": None if build is None else {"ok": build.ok, "log": build.log},
        "logs": [
            {"suite": source.suite, "run": source.run, "artifact": source.log}
            for source in dossier.of_kind(Kind.TESTS)
            if source.log
        ],
        "crashes": crashes,
        "scan": critical,
    }
    return {**bundle, "digest": digest_of(bundle)}


def _rationale(
    outcome: ObjectiveOutcome,
    suites: Mapping[Suite, SuiteRecord],
    crashes: list[JsonDict],
    critical: list[JsonDict],
    speed: JsonDict | None,
) -> str:
    """Say in sentences what the figures say, by counts alone: no hidden test is named."""
    if outcome.reason is not None:
        return f"{outcome.why}."
    sentences = []
    for label, rate in (("visible tests", "static"), ("hidden tests and invariants", "hidden")):
        tests = [test for name in RATES[rate] for test in suites[name].tests]
        if tests:
            passed = sum(all(test.graded.known) for test in tests)
            sentences.append(f"{passed} of {len(tests)} {label} pass in every run.")
    lost = [
        f"{count} {severity.value}"
        for severity in Severity
        if (count := _failed(outcome, severity))
    ]
    if lost:
        sentences.append(f"Failing in every run: {', '.join(lost)}.")
    tampered = sum(test.tampered for test in suites[Suite.STATIC].tests)
    if tampered:
        sentences.append(
            f"{tampered} visible {'test counts' if tampered == 1 else 'tests count'} as failed: "
            "the submission changed the file."
        )
    if crashes:
        sentences.append(f"{len(crashes)} crash{'es' * (len(crashes) > 1)} of a graded run.")
    if critical:
        sentences.append(
            f"{len(critical)} critical finding{'s' * (len(critical) > 1)} of the scan."
        )
    if outcome.bonus and speed:
        sentences.append(
            f"{speed['name']} takes {speed['median_s']} s against a baseline of "
            f"{speed['baseline_s']} s."
        )
    return " ".join(sentences)


def _failed(outcome: ObjectiveOutcome, severity: Severity) -> int:
    return sum(
        tallies[severity].failed for tallies in outcome.counts.values() if severity in tallies
    )
