"""The XML of xUnit.net, v2 and v3, and of what writes the same shape, such as Fixie (FORMATS.md, 1).

- Results are counted from the ``test`` elements; what an assembly claims is kept in
  ``facts["claimed"]`` and a disagreement is noted.
- A test's id is ``type::name``. xUnit writes the type into the name as well, from which it is
  taken off: ``Sums::Adds(x: 1)``.
- An ``error`` of an assembly, such as a fixture that could not be disposed of, is no test's
  fault and stands nowhere else: it is an errored result.
- A file without any test is unreadable: an empty run is no evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.cases import case_id, seconds, stated_severity, told_result, whole
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally
from bouts.formats.text import single_line
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable
from bouts.formats.xml import Element, Step, moves, root_tag

_ROOTS = frozenset({"assemblies", "assembly"})
_CONTAINERS = _ROOTS | {"collection", "class", "errors"}
_WHOLE = frozenset({"test", "error"})

_OUTCOMES = {
    "pass": Outcome.PASSED,
    "fail": Outcome.FAILED,
    "skip": Outcome.SKIPPED,
    "notrun": Outcome.SKIPPED,
}

_CLAIMS = {
    "total": "tests",
    "failed": "failed",
    "errors": "errored",
    "skipped": "skipped",
    "not-run": "skipped",
}


class XUnitReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "xunit"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        """An ``assembly`` alone may be anything: only a tested one names when it was run."""
        root = root_tag(head)
        return root == "assemblies" or (root == "assembly" and b"run-date" in head)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        return _Reading(report).results(source)


class _Reading:
    """One pass over one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tally = Tally(report)
        self._open: list[Element] = []
        self._claimed: Counter[str] = Counter()
        self._found: Counter[str] = Counter()

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        for step, element in moves(source, self._report, whole=_WHOLE):
            if step is Step.WHOLE:
                yield self._result(element)
            elif step is Step.START:
                self._enter(element)
            else:
                self._open.pop()
        if not self._tally.cases:
            raise Unreadable(self._emptiness())
        place = "the assemblies' attributes"
        self._tally.compare(self._claimed, self._found, place)
        self._tally.finish()

    def _enter(self, element: Element) -> None:
        if not self._open and element.tag not in _ROOTS:
            raise Unreadable(f"the root element is {element.tag[:80]}, not assemblies")
        self._open.append(element)
        if element.tag == "assemblies":
            if schema := element.get("schema-version"):
                self._report.format_version = single_line(schema)[:40]
        elif element.tag == "assembly":
            for written, name in _CLAIMS.items():
                if (number := whole(element.get(written))) is not None:
                    self._claimed[name] += number
            if framework := element.get("test-framework"):
                self._report.facts.setdefault("tool", single_line(framework)[:200])
        elif element.tag in {"collection", "class"} and self._report.format_version is None:
            self._report.format_version = "2" if element.tag == "collection" else "1"

    def _emptiness(self) -> str:
        if claimed := self._claimed["tests"]:
            return f"no test in it, though it claims {claimed:,} tests"
        return "no test in it: an empty run is no evidence"

    def _result(self, element: Element) -> TestResult:
        if not self._open:
            raise Unreadable(f"the root element is {element.tag}, not assemblies")
        make = self._test if element.tag == "test" else self._broken
        return self._tally.add(make(element, f"line {element.line}"))

    def _test(self, test: Element, place: str) -> TestResult:
        outcome = self._outcome(test, place)
        self._found["tests"] += 1
        self._found[outcome] += 1
        return told_result(
            self._id(test, place),
            outcome,
            told=_told(test) or [test.text_at("reason")],
            output=[test.text_at("output"), *_warnings(test)],
            duration_s=seconds(test.get("time"), self._tally.remarks, place),
            severity=_severity(test),
            file=test.get("source-file"),
            line=whole(test.get("source-line")),
        )

    def _outcome(self, test: Element, place: str) -> Outcome:
        written = (test.get("result") or "").strip().lower()
        if outcome := _OUTCOMES.get(written):
            return outcome
        self._tally.remarks.add("a test without a result that is known is an error", place)
        return Outcome.ERRORED

    def _id(self, test: Element, place: str) -> str:
        name = test.get("name") or test.get("method")
        if not name:
            self._tally.remarks.add("a test without a name", place)
            name = f"(unnamed test {self._tally.cases + 1})"
        return case_id(test.get("type"), name)

    def _broken(self, error: Element, place: str) -> TestResult:
        """Return what went wrong outside the tests as a result of its own."""
        self._found["errored"] += 1
        self._tally.remarks.add("an error outside the tests is a result of its own", place)
        assembly = next((each for each in self._open if each.tag == "assembly"), None)
        name = error.get("name") or (assembly and assembly.get("name")) or ""
        kind = error.get("type") or "error"
        return told_result(
            case_id(None, f"({kind}) {name}".strip()), Outcome.ERRORED, told=_told(error)
        )


def _told(element: Element) -> list[str]:
    """Return message, type and trace of a failure: what it says first comes first."""
    failure = element.find("failure")
    if failure is None:
        return []
    told = [failure.text_at("message"), failure.text_at("stack-trace")]
    kind = failure.get("exception-type") or ""
    return told if any(text.strip() for text in told) else [kind, failure.text]


def _warnings(test: Element) -> list[str]:
    warnings = test.find("warnings")
    return [warning.text for warning in warnings.children] if warnings else []


def _severity(test: Element) -> str | None:
    traits = test.find("traits")
    stated = (
        stated_severity(trait.get("name"), trait.get("value"))
        for trait in (traits.children if traits else [])
    )
    return next((severity for severity in stated if severity), None)
