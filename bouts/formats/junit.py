"""JUnit XML, in all the dialects that test runners write (FORMATS.md, 1).

- Results are counted from the ``testcase`` elements. What a suite's own attributes claim is
  kept beside it, in ``facts["claimed"]``, and a disagreement is noted.
- The outcome is that of the first attempt. Surefire's ``flakyFailure`` and ``flakyError``
  stand in a case that passed in the end, ``rerunFailure`` and ``rerunError`` in one that did
  not. Where a runner writes each attempt as a case of its own, each is a result and the
  repeated ids are noted.
- A suite that broke before its tests, with an ``error`` of its own, is one errored result, and
  so is one that only claims failures: jest leaves the rest of a suite that it cannot load away.
- A file without any case is unreadable: an empty suite is no evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar

from bouts.formats.cases import first_line, seconds, stated_severity
from bouts.formats.crashes import crash_signature
from bouts.formats.guard import guarded
from bouts.formats.tally import LOG_LIMIT, MESSAGE_LIMIT, Tally
from bouts.formats.text import shorten, shorten_id, single_line
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable
from bouts.formats.xml import Element, Step, moves, root_tag

MAX_DISAGREEMENTS = 10  # told one by one

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
    "warning": Outcome.ERRORED,  # PHPUnit, whose run fails by it
    "skipped": Outcome.SKIPPED,
}
_FLAKY = frozenset({"flakyFailure", "flakyError"})
_RERUN = frozenset({"rerunFailure", "rerunError"})

# What the attributes `status` (Catch2, CTest, GoogleTest, Boost.UT, behave) and `result`
# (GoogleTest, Qt) say of a case that has no child to tell.
_STATES = (
    dict.fromkeys(
        ("passed", "pass", "success", "ok", "run", "completed", "executed", "bpass"), Outcome.PASSED
    )
    | dict.fromkeys(("failed", "fail", "failure", "xpass"), Outcome.FAILED)
    | dict.fromkeys(
        ("error", "errored", "timeout", "aborted", "crashed", "cancelled", "canceled", "broken"),
        Outcome.ERRORED,
    )
    | dict.fromkeys(("skipped", "skip", "disabled", "notrun", "suppressed"), Outcome.SKIPPED)
    | dict.fromkeys(("ignored", "pending", "inconclusive", "undefined"), Outcome.SKIPPED)
    | dict.fromkeys(("untested", "xfail", "bfail", "bskip"), Outcome.SKIPPED)
)
_STATED = ("status", "result")
_LEFT_OUT = ("skipped", "disabled", "ignored")  # attributes that may be "true"

_CLAIMS = {
    "tests": ("tests",),
    "failures": ("failures",),
    "errors": ("errors", "warnings"),
    "skipped": ("skipped", "skip", "disabled", "ignored"),
}

_CLAIM_OF = {
    Outcome.FAILED: "failures",
    Outcome.ERRORED: "errors",
    Outcome.SKIPPED: "skipped",
}

_OUTPUTS = frozenset({"system-out", "system-err"})


@dataclass(slots=True)
class _Suite:
    """An open ``testsuite``: what it claims, and what is counted in it."""

    element: Element
    severity: str | None
    direct: Counter[str] = field(default_factory=Counter)
    inner: Counter[str] = field(default_factory=Counter)  # in the suites inside it
    has_suites: bool = False

    def claims(self) -> dict[str, int]:
        """Return what the attributes say, by the names of `_CLAIMS`."""
        claimed: dict[str, int] = {}
        for name, attributes in _CLAIMS.items():
            values = [value for key in attributes if (value := self.element.get(key))]
            if values and all(value.isascii() and value.isdigit() for value in values):
                claimed[name] = sum(int(value[:12]) for value in values)
        return claimed

    def claims_some(self, claimed: int, skipped: int) -> bool:
        """Tell whether the attributes speak of disabled cases alone, not of all skipped ones."""
        is_all = any(self.element.get(name) for name in ("skipped", "skip"))
        return not is_all and claimed <= skipped


class JUnitReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "junit"
    version: ClassVar[int] = 2

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
        self._remarks = self._tally.remarks
        self._suites: list[_Suite] = []
        self._claimed: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        for step, element in moves(source, self._report, whole=_WHOLE):
            if step is Step.WHOLE:
                for case in _leaves(element):
                    yield self._result(case)
            elif step is Step.START:
                self._enter(element)
            elif element.tag in _ROOTS:
                if unloaded := self._unloaded(self._suites[-1]):
                    yield self._count(unloaded)
                self._leave()
        if self._tally.cases == (self._counts["unloaded"] if self._claimed["tests"] else 0):
            raise Unreadable(self._emptiness())
        self._finish()

    def _enter(self, element: Element) -> None:
        if element.tag in _ROOTS:
            severity = None
            if self._suites:
                severity = self._suites[-1].severity
                self._suites[-1].has_suites = True
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
            # Runners that try again count by the last attempt.
            and claimed != all_counted[name] - all_counted[f"flaky {name}"]
            and not (name == "skipped" and suite.claims_some(claimed, all_counted[name]))
        ]
        if wrong:
            self._disagree(", ".join(wrong), f"line {suite.element.line}")
        if self._suites:
            self._suites[-1].inner.update(all_counted)
            if self._suites[-1].element.tag == "testsuites" and len(self._suites) == 1:
                self._claimed.update(claims)
        elif claims:
            self._claimed = Counter(claims)  # the root's own word stands for the file

    def _unloaded(self, suite: _Suite) -> TestResult | None:
        """Return a result for a suite without cases whose attributes alone tell of failures."""
        if suite.has_suites or suite.direct["tests"]:
            return None
        claims = suite.claims()
        broken = claims.get("failures", 0) + claims.get("errors", 0)
        if not broken:
            return None
        place = f"line {suite.element.line}"
        self._counts["unloaded"] += 1
        self._remarks.add("a suite that claims failures and has no case is an error", place)
        name = suite.element.get("name") or f"(unnamed suite at {place})"
        message = f"it has no test case, though it claims {broken:,} failures or errors"
        return TestResult(shorten_id(name), Outcome.ERRORED, message=message)

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
        if not self._suites:
            raise Unreadable(f"the root element is {case.tag}, not a test suite")
        place = f"line {case.line}"
        outcome, attempts, flaky = self._outcome(case, place)
        test = self._id(case, place)
        told = [child for child in case.children if child.tag in _OUTCOMES]
        if case.tag != "testcase":  # a suite that broke outside its tests
            told = [case]
        result = TestResult(
            id=test,
            outcome=outcome,
            duration_s=seconds(case.get("time"), self._remarks, place),
            message=_message(told, test),
            log=_log(case, told),
            severity=self._case_severity(case),
            file=single_line(file)[:1000] if (file := self._file(case)) else None,
            line=int(line[:9]) if (line := case.get("line")) and line.isdecimal() else None,
            attempts=attempts,
            flaky=flaky,
            crash=_crash(told) if outcome in {Outcome.FAILED, Outcome.ERRORED} else None,
        )
        return self._count(result)

    def _outcome(self, case: Element, place: str) -> tuple[Outcome, int, bool]:
        """Return the outcome of the first attempt, the number of attempts, and flakiness."""
        if case.tag != "testcase":
            return Outcome.ERRORED, 1, False
        tags = [child.tag for child in case.children if child.tag in _OUTCOMES]
        if not tags:
            return self._stated_outcome(case, place), 1, False
        again = sum(tag in _FLAKY or tag in _RERUN for tag in tags)
        plain = len(tags) - again
        if plain > 1:
            self._remarks.add("a case with several results: the first one counts", place)
        flaky = any(tag in _FLAKY for tag in tags) and not plain
        return _OUTCOMES[tags[0]], again + 1, flaky

    def _stated_outcome(self, case: Element, place: str) -> Outcome:
        """Return the outcome of a case with no child to tell: passed, if nothing says else."""
        stated = [_STATES.get((case.get(name) or "").strip().lower()) for name in _STATED]
        if any((case.get(name) or "").lower() == "true" for name in _LEFT_OUT):
            return Outcome.SKIPPED
        if not any(stated) and (word := case.get("status") or case.get("result")):
            text = f"a state that is not known is read as passed: {single_line(word)[:40]}"
            self._remarks.add(text, place)
        others = (state for state in stated if state and state is not Outcome.PASSED)
        return next(others, Outcome.PASSED)

    def _id(self, case: Element, place: str) -> str:
        name = case.get("name")
        if case.tag != "testcase":
            suite = self._suites[-1].element.get("name")
            return shorten_id(suite or f"(unnamed suite at {place})")
        if not name:
            self._remarks.add("a case without a name", place)
            name = f"(unnamed case {self._tally.cases + 1})"
        group = case.get("classname")
        return shorten_id(f"{group}::{name}" if group else name)

    def _file(self, case: Element) -> str | None:
        """Return the file that the case names, else the suite around it."""
        return case.get("file") or self._suites[-1].element.get("file")

    def _case_severity(self, case: Element) -> str | None:
        for properties in case.children:
            if properties.tag == "properties":
                for each in properties.children:
                    if severity := _severity(each):
                        return severity
        return self._suites[-1].severity

    def _count(self, result: TestResult) -> TestResult:
        suite = self._suites[-1].direct
        suite["tests"] += 1
        if result.outcome is not Outcome.PASSED:
            suite[_CLAIM_OF[result.outcome]] += 1
            suite[f"flaky {_CLAIM_OF[result.outcome]}"] += result.flaky
        return self._tally.add(result)

    def _finish(self) -> None:
        self._report.counts["suites"] = self._counts["suites"]
        if self._claimed:
            self._report.facts["claimed"] = dict(self._claimed)
        self._tally.finish()


def _leaves(case: Element) -> Iterator[Element]:
    """Yield the cases that hold no other; some runners write subtests as cases in a case."""
    inner = [child for child in case.children if child.tag == "testcase"]
    if not inner:
        yield case
    for child in inner:
        yield from _leaves(child)


def _severity(element: Element) -> str | None:
    """Return the value of a property that tells a severity, else None."""
    if element.tag != "property":
        return None
    return stated_severity(element.get("name"), element.get("value") or element.text)


def _message(told: list[Element], test: str) -> str:
    """Return what the first result says in a line or a few: its message, else its first line.

    PHPUnit has no message; the first line of its text is the test's name again.
    """
    for element in told:
        body = _body(element)
        if first_line(body).startswith(test):
            body = body.partition("\n")[2]
        message = element.get("message") or first_line(body) or element.get("type")
        if message:
            return shorten(message.strip(), MESSAGE_LIMIT)
    return ""


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
