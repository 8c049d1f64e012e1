"""TRX, as VSTest and Visual Studio write it (FORMATS.md, 1).

- Results are counted from the leaves: a data-driven or ordered test holds its rows as inner
  results. What the counters claim is kept in ``facts["claimed"]`` and a disagreement is noted.
- An id is ``class::name``. The class stands among the test definitions, at the end of the
  file, and is joined by the test's id: the file is gone through twice.
- A result without an outcome is an error: VSTest leaves that word out, since it is its default.
- An aborted run is an errored result, a crashed test host with its signature; tests that never
  ran stand nowhere in the file.
- A file without any result is unreadable: an empty run is no evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from sys import intern
from typing import BinaryIO, ClassVar, NamedTuple

from bouts.formats.cases import case_id, stated_severity, timespan, told_result, whole
from bouts.formats.guard import guarded
from bouts.formats.tally import MAX_CASES, Tally
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable
from bouts.formats.xml import Element, Step, moves, root_tag

_RESULTS = frozenset(
    {
        *("UnitTestResult", "TestResult", "TestResultAggregation"),
        *("GenericTestResult", "ManualTestResult", "WebTestResult", "LoadTestResult"),
    }
)
_DEFINITIONS = frozenset(
    {"UnitTest", "OrderedTest", "GenericTest", "ManualTest", "WebTest", "LoadTest"}
)

_OUTCOMES = {
    "passed": Outcome.PASSED,
    "passedbutrunaborted": Outcome.PASSED,
    "warning": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "error": Outcome.ERRORED,
    "timeout": Outcome.ERRORED,
    "aborted": Outcome.ERRORED,
    "disconnected": Outcome.ERRORED,
    "notrunnable": Outcome.ERRORED,
    "inprogress": Outcome.ERRORED,
    "notexecuted": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
    "inconclusive": Outcome.SKIPPED,
    "completed": Outcome.SKIPPED,
}
_REMARKS = {
    "passedbutrunaborted": "a test passed, though its run was aborted",
    "warning": "a test that passed with a warning",
    "inprogress": "a test that never ended is an error",
    "inconclusive": "an inconclusive test gave no answer and counts as skipped",
    "completed": "a test that ended with no answer counts as skipped",
}
_RUN_ENDINGS = frozenset({"aborted", "error", "timeout", "disconnected"})
_MAX_INFOS = 1_000  # messages of a run; one a failed test is usual
_CLAIMS = {"total": "tests", "passed": "passed", "failed": "failed"}


class _Definition(NamedTuple):
    group: str | None
    severity: str | None


class TrxReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "trx"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return root_tag(head) == "TestRun"

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        return _Reading(report).results(source)


class _Reading:
    """One file: first its definitions, then its results."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tally = Tally(report)
        self._definitions: Mapping[str, _Definition] = {}
        self._claimed: dict[str, int] = {}
        self._found: Counter[str] = Counter()
        self._outers = 0  # results that hold others
        self._tops = 0  # results that are in no other
        self._ending = ""
        self._infos: list[Element] = []

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        self._definitions = _definitions(source)
        root = ""
        for step, element in moves(
            source, self._report, whole=_RESULTS | {"RunInfo"}, left_out=_DEFINITIONS
        ):
            if not root:
                root = element.tag
                if root != "TestRun":
                    raise Unreadable(f"the root element is {root[:80]}, not TestRun")
            if element.tag == "RunInfo":
                if len(self._infos) < _MAX_INFOS:
                    self._infos.append(element)
            elif step is Step.WHOLE:
                self._tops += 1
                for leaf in self._leaves(element):
                    yield self._tally.add(self._result(leaf))
            elif step is Step.START:
                self._enter(element)
        yield from self._aborted()
        if not self._tally.cases:
            raise Unreadable(self._emptiness())
        self._compare()
        self._tally.finish()

    def _enter(self, element: Element) -> None:
        if element.tag == "ResultSummary":
            self._ending = (element.get("outcome") or "").lower()
        elif element.tag == "Counters":
            for written, name in _CLAIMS.items():
                if (number := whole(element.get(written))) is not None:
                    self._claimed[name] = number

    def _leaves(self, element: Element) -> Iterator[Element]:
        """Yield the results that hold no other."""
        held = element.find("InnerResults")
        inner = [child for child in held.children if child.tag in _RESULTS] if held else []
        if not inner:
            yield element
            return
        self._outers += 1
        for child in inner:
            yield from self._leaves(child)

    def _result(self, element: Element) -> TestResult:
        place = f"line {element.line}"
        outcome = self._outcome(element, place)
        self._found[outcome] += 1
        known = self._definitions.get(element.get("testId") or "", _Definition(None, None))
        name = element.get("testName")
        if not name:
            self._tally.remarks.add("a result without a name", place)
            name = f"(unnamed result {self._tally.cases + 1})"
        error = ("Output", "ErrorInfo")
        return told_result(
            case_id(known.group, name),
            outcome,
            told=[element.text_at(*error, "Message"), element.text_at(*error, "StackTrace")],
            output=[element.text_at("Output", each) for each in ("StdOut", "StdErr", "DebugTrace")],
            duration_s=timespan(element.get("duration"), self._tally.remarks, place),
            severity=known.severity,
        )

    def _outcome(self, element: Element, place: str) -> Outcome:
        word = (element.get("outcome") or "error").strip().lower()
        if remark := _REMARKS.get(word):
            self._tally.remarks.add(remark, place)
        if outcome := _OUTCOMES.get(word):
            return outcome
        self._tally.remarks.add("an outcome that is not known is an error", place)
        return Outcome.ERRORED

    def _aborted(self) -> Iterator[TestResult]:
        """Yield the end of a run that did not end by itself, as its own words tell it."""
        texts = [
            text
            for info in self._infos
            if (info.get("outcome") or "").lower() == "error" and (text := info.text_at("Text"))
        ]
        result = told_result("(test run)", Outcome.ERRORED, told=texts)
        if result.crash or self._ending in _RUN_ENDINGS:
            self._tally.remarks.add("the run was aborted: what never ran stands nowhere in it")
            yield self._tally.add(result)

    # What the counters say

    def _emptiness(self) -> str:
        if claimed := self._claimed.get("tests"):
            return f"no result in it, though it claims {claimed:,} tests"
        return "no result in it: an empty run is no evidence"

    def _compare(self) -> None:
        claimed, found = dict(self._claimed), {name: self._found[name] for name in self._claimed}
        cases = self._found.total()
        found["tests"] = cases
        if self._outers:  # nobody says which of the levels the counters count
            claimed = {name: number for name, number in claimed.items() if name == "tests"}
            if claimed.get("tests") in {self._tops, cases + self._outers}:
                found = claimed
        self._tally.compare(claimed, found, "/TestRun/ResultSummary/Counters")


def _definitions(source: BinaryIO) -> dict[str, _Definition]:
    """Return class and severity by test id, of the definitions that have any."""
    found: dict[str, _Definition] = {}
    # What is wrong with the file is told by the second pass.
    for step, element in moves(source, Report(), whole=_DEFINITIONS, left_out=_RESULTS):
        if step is not Step.WHOLE:
            continue
        if len(found) >= MAX_CASES:
            raise Unreadable(f"more definitions than MAX_CASES = {MAX_CASES:,}")
        method = element.find("TestMethod")
        # Visual Studio writes the assembly behind the class: "Sums, Tests, Version=1.0.0.0".
        group = (method.get("className") or "").partition(",")[0].strip() if method else ""
        severity = _severity(element)
        if (key := element.get("id")) and (group or severity):
            found[key] = _Definition(intern(group) if group else None, severity)
    return found


def _severity(definition: Element) -> str | None:
    properties = definition.find("Properties")
    stated = (
        stated_severity(each.text_at("Key"), each.text_at("Value"))
        for each in (properties.children if properties else [])
    )
    return next((severity for severity in stated if severity), None)
