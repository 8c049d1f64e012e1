"""CTRF, the common JSON of test reporters (FORMATS.md, 1).

- Durations are whole milliseconds by the specification, and some plugins wrote seconds, or
  seconds in ``start`` and ``stop`` alone. The unit is inferred: from the tests' own start and
  stop, else from those of the whole run where durations have fractions. Where it was not
  simply the specification's, ``facts`` and a note say so; where nothing tells, no test has one.
- Names are read in the camel case of the specification and in the snake case of older plugins.
- The outcome is that of the first attempt: a test that is flaky, or passed after a retry,
  failed first. ``pending`` is skipped; ``other`` and whatever is none of the format's words
  is errored, unless the runner's own word tells that the test did not run.
- A test's id is ``suite::name``, or its name alone where it has no suite or begins with it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

from bouts.formats.crashes import crash_signature
from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, items, label, line_number, number, path, short, text
from bouts.formats.guard import guarded
from bouts.formats.tally import LOG_LIMIT, MESSAGE_LIMIT, Tally, whole_numbers
from bouts.formats.text import shorten, shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_ATTEMPTS = 1_000  # of one test

_VERSION = "/specVersion"
_TOOL = "/results/tool"
_SUMMARY = "/results/summary"
_TEST = "/results/tests/*"

_OUTCOMES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
}
# The runner's own words for a test that was not run, or was expected to fail.
_NOT_RUN = frozenset({"disabled", "ignored", "notrun", "skip", "skipped", "todo", "xfailed"})
# pytest's for one that broke before or after itself.
_BROKEN = frozenset({"error", "setup_error", "setup_failed", "teardown_error", "teardown_failed"})
_CLAIMS = {name: name for name in ("tests", *_OUTCOMES, "other")}
_SEVERITIES = ("severity", "criticality")

_MILLISECONDS_FROM = 1e11  # a moment below is in seconds: in milliseconds it was before 1973
_MILLISECOND = 0.001


class CtrfReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "ctrf"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        if keys.get("reportFormat") == "CTRF":
            return True
        return "results" in keys and b'"tool"' in head and b'"summary"' in head

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        return _Reading(report).results(source)


class _Reading:
    """One pass over one file, after a survey of its units and of what it says of itself."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tally = Tally(report)
        self._found: Counter[str] = Counter()  # by the format's own words
        self._unit_s: float | None = _MILLISECOND

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        document = Document(source, self._report)
        claimed = self._survey(document)
        for _, pointer, test in document.parts(_TEST):
            if isinstance(test, dict):
                yield self._tally.add(self._result(test, pointer))
            else:
                self._tally.remarks.add("a test that is no object", pointer)
        if not self._tally.cases:
            tests = claimed.get("tests")
            claim = f", though it claims {tests:,} tests" if tests else ""
            raise Unreadable(f"no test in it{claim}: no evidence", "/results/tests")
        self._tally.compare(claimed, self._found, _SUMMARY)
        self._tally.finish()

    def _survey(self, document: Document) -> dict[str, int]:
        claimed: dict[str, int] = {}
        units = _Units()
        for pattern, _, value in document.parts(_VERSION, _TOOL, _SUMMARY, _TEST):
            if pattern == _VERSION:
                self._report.format_version = short(value) or None
            elif pattern == _TOOL:
                self._report.facts["tool"] = label(value, "name")
            elif pattern == _SUMMARY:
                claimed = whole_numbers(value, _CLAIMS)
                units.span_s = _span(value)
            elif isinstance(value, dict):
                units.see(value)
        self._unit_s, why = units.inferred()
        if why:
            self._report.note(why)
        self._report.facts["duration_unit"] = {1.0: "s", _MILLISECOND: "ms"}.get(
            self._unit_s or 0, "unknown"
        )
        return claimed

    def _result(self, test: Record, pointer: str) -> TestResult:
        first = self._first_attempt(test, pointer)
        outcome = self._outcome(test if first is None else first, pointer)
        attempts = 1 + self._retries(test)
        passed_at_last = test.get("status") == "passed"
        flaky = passed_at_last and (test.get("flaky") is True or attempts > 1)
        if flaky and outcome is Outcome.PASSED:
            outcome = Outcome.FAILED  # it would not have been tried again
        self._count(test)
        told = [each for each in (first, test) if each is not None]
        message = next(filter(None, (text(each, "message") for each in told)), "")
        log = "\n\n".join(filter(None, (_log(each) for each in told)))
        is_bad = outcome in {Outcome.FAILED, Outcome.ERRORED}
        crash = crash_signature(f"{message}\n{log}") if is_bad else None
        taken = number(test.get("duration"))
        return TestResult(
            id=self._id(test, pointer),
            outcome=outcome,
            duration_s=None if taken is None or self._unit_s is None else taken * self._unit_s,
            message=shorten(message.strip(), MESSAGE_LIMIT),
            log=shorten(log, LOG_LIMIT),
            severity=_severity(test),
            file=path(label(test, "filePath", "file_path", limit=1000)),
            line=line_number(test.get("line")),
            attempts=attempts,
            flaky=flaky,
            crash=shorten_id(crash) if crash else None,
        )

    def _first_attempt(self, test: Record, pointer: str) -> Record | None:
        attempts = [
            each
            for each in _either(test, "retryAttempts", "retry_attempts")
            if isinstance(each, dict)
        ]
        if len(attempts) > MAX_ATTEMPTS:
            raise Unreadable(f"more attempts than MAX_ATTEMPTS = {MAX_ATTEMPTS:,}", pointer)
        numbered = [each for each in attempts if type(each.get("attempt")) is int]
        if len(numbered) == len(attempts):
            attempts.sort(key=lambda each: each["attempt"])
        return attempts[0] if attempts else None

    def _retries(self, test: Record) -> int:
        if "file_path" in test:  # an old plugin that takes the parameters of a test for retries
            if test.get("retries"):
                self._tally.remarks.add("retries that are but tests of one name do not count")
            return 0
        retries = test.get("retries")
        told = retries if type(retries) is int and 0 < retries < 2**31 else 0
        listed = len(_either(test, "retryAttempts", "retry_attempts"))
        # The list may hold the last attempt as well, which is no retry.
        return told or max(listed - 1, 0) or int(test.get("flaky") is True)

    def _outcome(self, attempt: Record, pointer: str) -> Outcome:
        status = attempt.get("status")
        raw = text(attempt, "rawStatus", "raw_status").strip().lower()
        outcome = _OUTCOMES.get(status) if isinstance(status, str) else None
        if outcome is Outcome.FAILED and raw in _BROKEN:
            return Outcome.ERRORED
        if outcome is None and raw in _NOT_RUN:
            return Outcome.SKIPPED
        if outcome is None:
            self._tally.remarks.add(
                "a test that neither passed nor failed nor was skipped counts as errored", pointer
            )
            return Outcome.ERRORED
        return outcome

    def _count(self, test: Record) -> None:
        self._found["tests"] += 1
        if (status := test.get("status")) in (*_OUTCOMES, "other"):
            self._found[status] += 1

    def _id(self, test: Record, pointer: str) -> str:
        name = text(test, "name")
        if not name:
            self._tally.remarks.add("a test without a name", pointer)
            name = f"(unnamed test {self._tally.cases + 1})"
        suite = test.get("suite")
        written = suite if isinstance(suite, list) else [suite]
        parts = [part for part in written if isinstance(part, str) and part.strip()]
        if not parts or name.startswith("::".join(parts) + "::"):
            return shorten_id(name)
        return shorten_id(f"{' > '.join(parts)}::{name}")


@dataclass(slots=True)
class _Units:
    """What the tests tell of the unit of their durations."""

    span_s: float | None = None  # of the whole run
    seconds: int = 0  # tests whose own start and stop say so
    milliseconds: int = 0
    total: float = 0  # of the durations as they are written
    has_fractions: bool = False

    def see(self, test: Record) -> None:
        taken = number(test.get("duration"))
        if not taken:
            return
        self.total += taken
        self.has_fractions = self.has_fractions or taken != int(taken)
        if span_s := _span(test):
            as_seconds = abs(math.log10(taken / span_s))
            as_milliseconds = abs(math.log10(taken * _MILLISECOND / span_s))
            if min(as_seconds, as_milliseconds) < 1:
                self.seconds += as_seconds < as_milliseconds
                self.milliseconds += as_seconds > as_milliseconds

    def inferred(self) -> tuple[float | None, str]:
        """Return the unit in seconds, None where nothing tells, and a note where it is needed."""
        if self.seconds > self.milliseconds:
            return 1.0, "unit inferred: seconds, from the tests' start and stop"
        if not self.has_fractions:
            return _MILLISECOND, ""
        if self.milliseconds:
            return _MILLISECOND, "unit inferred: milliseconds, from the tests' start and stop"
        if self.span_s is None:
            return None, "durations have fractions and no start or stop: their unit is unknown"
        # The tests of a run take no longer than the run, if they do not run side by side.
        if self.total <= self.span_s * 1.1 + 1:
            return 1.0, "unit inferred: seconds, from fractions and the run's start and stop"
        return _MILLISECOND, "unit inferred: milliseconds, from the run's start and stop"


def _span(record: object) -> float | None:
    """Return the seconds from ``start`` to ``stop``, each in a unit of its own."""
    moments = (
        [number(record.get(name)) for name in ("start", "stop")]
        if isinstance(record, dict)
        else [None]
    )
    if any(not moment for moment in moments):
        return None
    start, stop = (
        moment * (_MILLISECOND if moment >= _MILLISECONDS_FROM else 1)
        for moment in moments
        if moment
    )
    return stop - start if stop > start else None


def _either(test: Record, *names: str) -> list[Any]:
    return next(filter(None, (items(test, name) for name in names)), [])


def _log(attempt: Record) -> str:
    """Return what a test says at length: its trace, then its output."""
    texts = [text(attempt, "trace")]
    for name in ("stdout", "stderr"):
        lines = attempt.get(name)
        texts += (
            [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        )
    return "\n".join(filter(None, texts)).strip()


def _severity(test: Record) -> str | None:
    for holder in ("extra", "labels"):
        if severity := label(inner(test, holder), *_SEVERITIES, limit=40):
            return severity.lower()
    return None
