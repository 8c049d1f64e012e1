"""The XML of NUnit, 3 (``test-run``) and 2 (``test-results``) (FORMATS.md, 1).

- Results are counted from the ``test-case`` elements; what the root claims is kept in
  ``facts["claimed"]`` and a disagreement is noted.
- An id is ``classname::name``; NUnit 2 writes no class, there it is the full name alone.
- A suite that failed by itself (an assembly that does not load, a tear-down that throws) is an
  errored result, unless its cases tell of the failure, as they do after a broken set-up.
- Inconclusive is no answer, which counts as skipped; a warning is a pass. Both are noted.
- A file without any case is unreadable: an empty run is no evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from bouts.formats.cases import case_id, seconds, stated_severity, told_result, whole
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally
from bouts.formats.text import count, single_line
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable
from bouts.formats.xml import Element, Step, moves, root_tag

_ROOTS = {"test-run": "3", "test-results": "2"}
_SUITES = frozenset({"test-suite", *_ROOTS})
_WHOLE = frozenset({"test-case", "failure", "reason", "property"})

_OUTCOMES = {
    # NUnit 3
    "passed": Outcome.PASSED,
    "warning": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "inconclusive": Outcome.SKIPPED,
    # NUnit 2
    "success": Outcome.PASSED,
    "failure": Outcome.FAILED,
    "error": Outcome.ERRORED,
    "notrunnable": Outcome.ERRORED,
    "cancelled": Outcome.ERRORED,
    "ignored": Outcome.SKIPPED,
}
_ERROR_LABELS = frozenset({"error", "invalid", "cancelled"})  # NUnit 3, beside "Failed"
_REMARKS = {
    "inconclusive": "an inconclusive test gave no answer and counts as skipped",
    "warning": "a test that passed with a warning",
}

_CLAIMS = {
    "test-run": {name: name for name in ("failed", "inconclusive", "skipped")} | {"total": "tests"},
    "test-results": {"total": "tests", "failures": "failed", "errors": "errored"},
}

# FailureSite: "Child" and "Parent" are told of where it happened.
_ELSEWHERE = frozenset({"child", "parent"})


@dataclass(slots=True)
class _Suite:
    """An open suite: what it says of itself, and whether a case in it tells of a failure."""

    element: Element
    severity: str | None
    failure: Element | None = None
    is_told_of: bool = False


class NUnitReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "nunit"
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
        self._tally = Tally(report)
        self._root: Element | None = None
        self._suites: list[_Suite] = []  # the root is the outermost
        self._words: Counter[str] = Counter()  # results of cases as they are written

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        for step, element in moves(source, self._report, whole=_WHOLE):
            if step is Step.START:
                self._enter(element)
            elif step is Step.END:
                if element.tag in _SUITES and (broken := self._leave()):
                    yield self._tally.add(broken)
            elif not self._suites:
                raise Unreadable(f"the root element is {element.tag}, not a test run")
            elif element.tag == "test-case":
                yield self._tally.add(self._case(element))
            elif element.tag == "failure":
                self._suites[-1].failure = element
            elif element.tag == "property":
                suite = self._suites[-1]
                suite.severity = _property_severity(element) or suite.severity
        if not self._tally.cases:
            raise Unreadable(self._emptiness())
        self._tally.compare(self._claims(), self._found(), "the root's attributes")
        self._tally.finish()

    def _enter(self, element: Element) -> None:
        if self._root is None:
            if element.tag not in _ROOTS:
                raise Unreadable(f"the root element is {element.tag[:80]}, not a test run")
            self._root = element
            self._report.format_version = _ROOTS[element.tag]
            self._note_tool(element.get("engine-version"))
        elif element.tag == "environment":
            self._note_tool(element.get("nunit-version") or element.get("framework-version"))
        if element.tag in _SUITES:
            severity = self._suites[-1].severity if self._suites else None
            self._suites.append(_Suite(element, severity))

    def _note_tool(self, version: str | None) -> None:
        if version:
            self._report.facts.setdefault("tool", f"NUnit {single_line(version)[:80]}")

    def _leave(self) -> TestResult | None:
        """Close a suite; return a result for one that failed with no case to tell of it."""
        suite = self._suites.pop()
        site = (suite.element.get("site") or "").lower()
        is_own = suite.failure is not None and site not in _ELSEWHERE
        if is_own and (site == "teardown" or not suite.is_told_of):
            suite.is_told_of = True
        else:
            is_own = False
        if self._suites:
            self._suites[-1].is_told_of |= suite.is_told_of
        return self._broken(suite) if is_own else None

    def _broken(self, suite: _Suite) -> TestResult:
        place = f"line {suite.element.line}"
        self._tally.remarks.add("a suite that failed outside its cases is a result", place)
        name = suite.element.get("fullname") or suite.element.get("name")
        return told_result(
            case_id(None, name or f"(unnamed suite at {place})"),
            Outcome.ERRORED,
            told=_texts(suite.failure),
            severity=suite.severity,
        )

    def _case(self, case: Element) -> TestResult:
        place = f"line {case.line}"
        outcome = self._outcome(case, place)
        if outcome in {Outcome.FAILED, Outcome.ERRORED}:
            self._suites[-1].is_told_of = True
        name = case.get("name") or case.get("fullname")
        if not name:
            self._tally.remarks.add("a case without a name", place)
            name = f"(unnamed case {self._tally.cases + 1})"
        return told_result(
            case_id(case.get("classname"), name),
            outcome,
            told=_texts(case.find("failure")) or _texts(case.find("reason")),
            output=[case.text_at("output")],
            duration_s=seconds(
                case.get("duration") or case.get("time"), self._tally.remarks, place
            ),
            severity=self._severity(case),
        )

    def _outcome(self, case: Element, place: str) -> Outcome:
        word = _word(case)
        self._words[word] += 1
        outcome = _OUTCOMES.get(word)
        if remark := _REMARKS.get(word):
            self._tally.remarks.add(remark, place)
        if outcome is None:
            self._tally.remarks.add("a case without a result that is known is an error", place)
            return Outcome.ERRORED
        is_error = (case.get("label") or "").lower() in _ERROR_LABELS
        return Outcome.ERRORED if outcome is Outcome.FAILED and is_error else outcome

    def _severity(self, case: Element) -> str | None:
        properties = case.find("properties")
        stated = (_property_severity(each) for each in (properties.children if properties else []))
        return next((severity for severity in stated if severity), self._suites[-1].severity)

    # What the root says

    def _emptiness(self) -> str:
        if claimed := self._claims().get("tests"):
            return f"no test case in it, though it claims {count(claimed, 'test')}"
        return "no test case in it: an empty run is no evidence"

    def _claims(self) -> dict[str, int]:
        root = self._root
        names = _CLAIMS[root.tag] if root else {}
        written = {ours: whole(root.get(theirs)) for theirs, ours in names.items()} if root else {}
        return {name: number for name, number in written.items() if number is not None}

    def _found(self) -> dict[str, int]:
        words = self._words
        cases = sum(words.values())
        if self._report.format_version == "3":
            return {**words, "tests": cases}
        not_run = sum(words[word] for word in ("ignored", "skipped", "notrunnable"))
        # NUnit 2 means the tests that it ran; what imitates it means them all.
        tests = cases if self._claims().get("tests") == cases else cases - not_run
        return {"tests": tests, "failed": words["failure"], "errored": words["error"]}


def _word(case: Element) -> str:
    """Return a case's result in lower case; before NUnit 2.5 two yes or no told it."""
    if written := case.get("result"):
        return written.strip().lower()
    if (case.get("executed") or "").lower() == "false":
        return "skipped"
    is_success = {"true": "success", "false": "failure"}
    return is_success.get((case.get("success") or "").lower(), "")


def _texts(element: Element | None) -> list[str]:
    if element is None:
        return []
    texts = [element.text_at("message"), element.text_at("stack-trace")]
    return [text for text in texts if text.strip()]


def _property_severity(element: Element) -> str | None:
    return stated_severity(element.get("name"), element.get("value"))
