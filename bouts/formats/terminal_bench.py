"""Terminal-Bench v1's ``results.json``, of one trial or of a run of many (FORMATS.md, 1).

The tests are those of ``parser_results``. In a run of many a test's id is ``task::test``.

A trial whose ``is_resolved`` is null was *not measured*, for example since its tests ran out of
time: alone it makes the file unreadable, among others it is left out and noted. One that has an
outcome and no tests is a single result under its task's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, label, text
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally
from bouts.formats.text import shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_TRIALS = 100_000

_TRIAL = frozenset({"task_id", "is_resolved"})
_RUN = frozenset({"results", "n_resolved"})
_FIELDS = ("task_id", "trial_name", "is_resolved", "failure_mode", "parser_results")
_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}


class TerminalBenchReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "terminal-bench"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        # The totals of a run stand behind its trials, where the head may not reach.
        is_run = "results" in keys and b'"parser_results"' in head and b'"is_resolved"' in head
        return keys.keys() >= _TRIAL or keys.keys() >= _RUN or is_run

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        tally = Tally(report)
        document = Document(source, report)
        alone = {
            part.pattern[1:]: part.value
            for part in document.parts(*(f"/{name}" for name in _FIELDS))
        }
        if "is_resolved" in alone:
            if reason := _unmeasured(alone):
                raise Unreadable(reason, "/is_resolved")
            report.facts["resolved"] = alone["is_resolved"]
            yield from _results(alone, "", "/", tally)
        else:
            yield from _run(document, report, tally)
        tally.finish()


def _run(document: Document, report: Report, tally: Tally) -> Iterator[TestResult]:
    trials = resolved = 0
    for _, pointer, trial in document.parts("/results/*"):
        trials += 1
        if trials > MAX_TRIALS:
            raise Unreadable(f"more trials than MAX_TRIALS = {MAX_TRIALS:,}", pointer)
        if not isinstance(trial, dict):
            tally.remarks.add("a trial that is no object", pointer)
        elif reason := _unmeasured(trial):
            tally.remarks.add(f"a trial is left out: {reason}", pointer)
        else:
            resolved += trial["is_resolved"]
            yield from _results(trial, f"{text(trial, 'task_id')}::", pointer, tally)
    if not tally.cases:
        raise Unreadable("no trial in it was measured: no evidence", "/results")
    report.facts |= {"trials": trials, "resolved": resolved}


def _unmeasured(trial: Record) -> str:
    """Return why a trial has no outcome; empty where it has one."""
    resolved = trial.get("is_resolved")
    if isinstance(resolved, bool):
        return ""
    if resolved is not None:
        return "is_resolved is neither true nor false"
    mode = label(trial, "failure_mode", limit=60) or "no reason"
    return f"not measured: is_resolved is null, with failure mode {mode}"


def _results(trial: Record, prefix: str, pointer: str, tally: Tally) -> Iterator[TestResult]:
    if (mode := label(trial, "failure_mode", limit=60)) and mode not in {"unset", "none"}:
        tally.remarks.add(f"the trial ended with failure mode {mode}", pointer)
    tests = inner(trial, "parser_results")
    if not tests:
        tally.remarks.add("no tests are told, only the task's own outcome", pointer)
        task = Outcome.PASSED if trial["is_resolved"] else Outcome.FAILED
        name = text(trial, "task_id", "trial_name") or "(unnamed task)"
        yield tally.add(TestResult(id=shorten_id(name), outcome=task))
        return
    has_failed = False
    for name, written in tests.items():
        outcome = _OUTCOMES.get(written) if isinstance(written, str) else None
        if outcome is None:
            tally.remarks.add("a test without an outcome that is known counts as errored", pointer)
        has_failed = has_failed or outcome is not Outcome.PASSED
        test = shorten_id(prefix + name) if name.strip() else "(unnamed test)"
        yield tally.add(TestResult(id=test, outcome=outcome or Outcome.ERRORED))
    if trial["is_resolved"] is has_failed:
        tally.remarks.add("is_resolved disagrees with the tests, which count", pointer)
