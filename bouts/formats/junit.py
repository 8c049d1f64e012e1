"""JUnit XML, in all the dialects that test runners write (FORMATS.md, 1).

- Results are counted from the ``testcase`` elements. What a suite's own attributes claim is
  kept beside it, in ``facts["claimed"]``, and a disagreement is noted.
- The outcome is that of the first attempt. Surefire's ``flakyFailure`` and ``flakyError``
  stand in a case that passed in the end, ``rerunFailure`` and ``rerunError`` in one that did
  not. Where a runner writes each attempt as a case of its own, each is a result and the
  repeated ids are noted.
- A suite that broke before its tests, with an ``error`` of its own, is one errored result.
- A file without any case is unreadable: an empty suite is no evidence.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar

from bouts.formats.crashes import crash_signature
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.text import shorten, shorten_id, single_line
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable
from bouts.formats.xml import Element, Step, moves, root_tag

MAX_CASES = 1_000_000
MAX_REMEMBERED_IDS = 200_000  # up to which repeated ids are noticed
MAX_DISAGREEMENTS = 10  # told one by one
MESSAGE_LIMIT = 2_000  # characters
LOG_LIMIT = 64 * 1024  # characters

_ROOTS = frozenset({"testsuites", "testsuite"})
_WHOLE = frozenset({"testcase", "error", "failure"})

# What a child of a case says of its first attempt. In a case that has both, the element that
# comes first was the first attempt.
_OUTCOMES = {
    "failure": Outcome.FAILED,
    "flakyFailure": Outcome.FAILED,
    "rerunFailure": Outcome.FAILED,
    "error": Outcome.ERRORED,
    "flakyError": Outcome.ERRORED,
    "rerunError": Outcome.ERRORED,
    "skipped": Outcome.SKIPPED,
}
_FLAKY = frozenset({"flakyFailure", "flakyError"})
_RERUN = frozenset({"rerunFailure", "rerunError"})

# What the attributes `status` (Catch2, CTest, GoogleTest, Boost.UT) and `result` (GoogleTest)
# say of a case that has no child to tell.
_STATES = {
    "failed": Outcome.FAILED,
    "fail": Outcome.FAILED,
    "failure": Outcome.FAILED,
    "error": Outcome.ERRORED,
    "errored": Outcome.ERRORED,
    "skipped": Outcome.SKIPPED,
    "disabled": Outcome.SKIPPED,
    "notrun": Outcome.SKIPPED,
    "suppressed": Outcome.SKIPPED,
    "ignored": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
}

_CLAIMS = {
    "tests": ("tests",),
    "failures": ("failures",),
    "errors": ("errors",),
    "skipped": ("skipped", "skip", "disabled", "ignored"),
}

_CLAIM_OF = {
    Outcome.FAILED: "failures",
    Outcome.ERRORED: "errors",
    Outcome.SKIPPED: "skipped",
}

_SEVERITIES = frozenset({"severity", "criticality"})
_OUTPUTS = frozenset({"system-out", "system-err"})

_SECONDS = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+")


@dataclass(slots=True)
class _Suite:
    """An open ``testsuite``: what it claims, and what is counted in it."""

    element: Element
    severity: str | None
    direct: Counter[str] = field(default_factory=Counter)
    inner: Counter[str] = field(default_factory=Counter)  # in the suites inside it

    def claims(self) -> dict[str, int]:
        """Return what the attributes say, by the names of `_CLAIMS`."""
        claimed: dict[str, int] = {}
        for name, attributes in _CLAIMS.items():
            values = [value for key in attributes if (value := self.element.get(key))]
            if values and all(value.isascii() and value.isdigit() for value in values):
                claimed[name] = sum(int(value[:12]) for value in values)
        return claimed


class JUnitReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "junit"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return root_tag(head) in _ROOTS

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        return _Reading(report).results(source)


class _Reading:
    """One pass over one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._suites: list[_Suite] = []
        self._claimed: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._ids: set[int] = set()  # hashes of the ids seen

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        for step, element in moves(source, self._report, whole=_WHOLE):
            if step is Step.WHOLE:
                for case in _leaves(element):
                    yield self._result(case)
            elif step is Step.START:
                self._enter(element)
            elif element.tag in _ROOTS:
                self._leave()
        if not self._counts["cases"]:
            raise Unreadable(self._emptiness())
        self._finish()

    def _enter(self, element: Element) -> None:
        if element.tag in _ROOTS:
            severity = self._suites[-1].severity if self._suites else None
            self._suites.append(_Suite(element, severity))
            self._counts["suites"] += element.tag == "testsuite"
        elif not self._suites:
            raise Unreadable(f"the root element is {element.tag[:80]}, not a test suite")
        elif element.tag == "property" and (severity := _severity(element)):
            self._suites[-1].severity = severity

    def _leave(self) -> None:
        """Compare what the closing suite claims with what was counted in it.

        Some runners count the suites inside as well and some do not: either will do.
        """
        suite = self._suites.pop()
        all_counted = suite.direct + suite.inner
        claims = suite.claims()
        wrong = [
            f"{name}={claimed:,} where there are {all_counted[name]:,}"
            for name, claimed in claims.items()
            if claimed not in {suite.direct[name], all_counted[name]}
        ]
        if wrong:
            self._disagree(", ".join(wrong), f"line {suite.element.line}")
        if self._suites:
            self._suites[-1].inner.update(all_counted)
            if self._suites[-1].element.tag == "testsuites" and len(self._suites) == 1:
                self._claimed.update(claims)
        elif claims:
            self._claimed = Counter(claims)  # the root's own word stands for the file

    def _disagree(self, wrong: str, place: str) -> None:
        self._counts["disagreeing"] += 1
        is_told = self._counts["disagreeing"] <= MAX_DISAGREEMENTS
        detail = f": it says {wrong}" if is_told else ", like others before"
        self._remarks.add(
            f"a suite's own numbers differ from its cases, which count{detail}", place
        )

    def _emptiness(self) -> str:
        claimed = self._claimed["tests"]
        if claimed:
            return f"no test case in it, though it claims {claimed:,} tests"
        return "no test case in it: an empty suite is no evidence"

    def _result(self, case: Element) -> TestResult:
        self._counts["cases"] += 1
        number = self._counts["cases"]
        if number > MAX_CASES:
            raise Unreadable(f"more test cases than MAX_CASES = {MAX_CASES:,}")
        if not self._suites:
            raise Unreadable(f"the root element is {case.tag}, not a test suite")
        place = f"line {case.line}"
        outcome, attempts, flaky = self._outcome(case, place)
        test = self._id(case, number, place)
        told = [child for child in case.children if child.tag in _OUTCOMES]
        if case.tag != "testcase":  # a suite that broke outside its tests
            told = [case]
        result = TestResult(
            id=test,
            outcome=outcome,
            duration_s=self._duration(case, place),
            message=_message(told),
            log=_log(case, told),
            severity=self._case_severity(case),
            file=single_line(file)[:1000] if (file := case.get("file")) else None,
            line=int(line[:9]) if (line := case.get("line")) and line.isdecimal() else None,
            attempts=attempts,
            flaky=flaky,
            crash=_crash(told) if outcome in {Outcome.FAILED, Outcome.ERRORED} else None,
        )
        self._count(result)
        return result

    def _outcome(self, case: Element, place: str) -> tuple[Outcome, int, bool]:
        """Return the outcome of the first attempt, the number of attempts, and flakiness."""
        if case.tag != "testcase":
            return Outcome.ERRORED, 1, False
        tags = [child.tag for child in case.children if child.tag in _OUTCOMES]
        if not tags:
            return _stated_outcome(case), 1, False
        again = sum(tag in _FLAKY or tag in _RERUN for tag in tags)
        plain = len(tags) - again
        if plain > 1:
            self._remarks.add("a case with several results: the first one counts", place)
        flaky = any(tag in _FLAKY for tag in tags) and not plain
        return _OUTCOMES[tags[0]], again + 1, flaky

    def _id(self, case: Element, number: int, place: str) -> str:
        name = case.get("name")
        if case.tag != "testcase":
            suite = self._suites[-1].element.get("name")
            return shorten_id(suite or f"(unnamed suite at {place})")
        if not name:
            self._remarks.add("a case without a name", place)
            name = f"(unnamed case {number})"
        group = case.get("classname")
        return shorten_id(f"{group}::{name}" if group else name)

    def _duration(self, case: Element, place: str) -> float | None:
        """Return the seconds, or None where the file does not say, or not clearly."""
        written = (case.get("time") or "").strip()
        if not written:
            return None
        if _THOUSANDS.fullmatch(written):
            return float(written.replace(",", ""))
        if _SECONDS.fullmatch(written) and math.isfinite(seconds := float(written)):
            return seconds
        if "," in written:
            self._remarks.add("a time whose comma may mean either is not read", place)
        else:
            self._remarks.add("a time that is no number of seconds is not read", place)
        return None

    def _case_severity(self, case: Element) -> str | None:
        for properties in case.children:
            if properties.tag == "properties":
                for each in properties.children:
                    if severity := _severity(each):
                        return severity
        return self._suites[-1].severity

    def _count(self, result: TestResult) -> None:
        self._counts[result.outcome] += 1
        if result.flaky:
            self._counts["flaky"] += 1
        suite = self._suites[-1].direct
        suite["tests"] += 1
        if result.outcome is not Outcome.PASSED:
            suite[_CLAIM_OF[result.outcome]] += 1
        key = hash(result.id)
        if key in self._ids:
            self._counts["repeated"] += 1
            self._remarks.add("an id that occurred before in this file", f"test {result.id[:200]}")
        elif len(self._ids) < MAX_REMEMBERED_IDS:
            self._ids.add(key)

    def _finish(self) -> None:
        self._report.counts.update(
            {str(name): self._counts[name] for name in ("suites", "cases", *Outcome)}
        )
        for name in ("flaky", "repeated"):
            if self._counts[name]:
                self._report.counts[name] = self._counts[name]
        if self._claimed:
            self._report.facts["claimed"] = dict(self._claimed)
        if len(self._ids) == MAX_REMEMBERED_IDS:
            limit = f"MAX_REMEMBERED_IDS = {MAX_REMEMBERED_IDS:,}"
            self._report.note(f"repeated ids were looked for among the first {limit} only")
        self._remarks.write(self._report)


def _leaves(case: Element) -> Iterator[Element]:
    """Yield the cases that hold no other; some runners write subtests as cases in a case."""
    inner = [child for child in case.children if child.tag == "testcase"]
    if not inner:
        yield case
    for child in inner:
        yield from _leaves(child)


def _stated_outcome(case: Element) -> Outcome:
    """Return the outcome of a case that has no child to tell: passed, if nothing says else."""
    for name in ("status", "result"):
        if (written := case.get(name)) and (state := _STATES.get(written.lower())):
            return state
    return Outcome.PASSED


def _severity(element: Element) -> str | None:
    """Return the value of a property that tells a severity, else None."""
    if element.tag != "property" or (element.get("name") or "").lower() not in _SEVERITIES:
        return None
    value = element.get("value") or element.text
    return single_line(value.strip().lower())[:40] or None


def _message(told: list[Element]) -> str:
    """Return what the first result says in a line or a few: its message, else its first line."""
    for element in told:
        message = element.get("message") or _first_line(_body(element)) or element.get("type")
        if message:
            return shorten(message.strip(), MESSAGE_LIMIT)
    return ""


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _body(element: Element) -> str:
    """Return a result's own text; Surefire puts that of reruns into ``stackTrace``."""
    traces = (child.text for child in element.children if child.tag == "stackTrace")
    return element.text.strip() or "\n".join(traces).strip()


def _log(case: Element, told: list[Element]) -> str:
    """Return all that a case says at length: its results one after another, then its output."""
    if not case.children and not told:
        return ""
    texts = [_body(element) for element in told]
    for element in [*told, case]:
        texts += [out.text.strip() for out in element.children if out.tag in _OUTPUTS]
    return shorten("\n\n".join(text for text in texts if text), LOG_LIMIT)


def _crash(told: list[Element]) -> str | None:
    for element in told:
        parts = (element.get("type"), element.get("message"), _body(element))
        if signature := crash_signature("\n".join(part for part in parts if part)):
            return shorten_id(signature)
    return None
