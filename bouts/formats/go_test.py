"""The events of ``go test -json``, which ``go tool test2json`` writes (FORMATS.md, 1).

- A result is a test with an end of its own, subtests and the tests around them alike, as Go
  itself counts them. Its id is ``package::Test``; one that ran several times gives a result a
  run, of which the first counts.
- A package that failed with no failed test to tell of it (it did not build, ``TestMain`` or the
  race detector ended it) is an errored result under the package's name: never zero tests.
- A test that began and never ended crashed where its package failed. Where the package passed,
  it has no result, unless its verdict stands behind output that lacks a newline.
- Lines that are no events are left out and noted. A package without an end is a file cut short.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

import orjson

from bouts.formats.cases import case_id
from bouts.formats.crashes import crash_signature
from bouts.formats.fields import number
from bouts.formats.guard import guarded
from bouts.formats.jsonl import JsonLines, Record
from bouts.formats.tally import LOG_LIMIT, MESSAGE_LIMIT, Tally
from bouts.formats.text import Clipper, shorten, shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_OPEN = 100_000  # tests and packages that have begun and not ended
MAX_KEPT_OUTPUT = 64 * 1024 * 1024  # characters, of all that is open
_HEAD_LINES = 200  # among which the first event must be

_ENDS = {
    "pass": Outcome.PASSED,
    "bench": Outcome.PASSED,
    "fail": Outcome.FAILED,
    "skip": Outcome.SKIPPED,
}
_ACTIONS = frozenset(
    {*_ENDS, "start", "run", "pause", "cont", "output", "attr", "artifacts"}
    | {"build-output", "build-fail"}
)

# What Go prints around a test's own output; a message is what stands between.
_FRAMING = re.compile(r"^(?:=== |\s*--- |FAIL$|FAIL\t|PASS$|ok  \t|exit status )")
_VERDICT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \((\d{1,9}\.\d{1,9})s\)$", re.ASCII)
_VERDICTS = {"PASS": Outcome.PASSED, "FAIL": Outcome.FAILED, "SKIP": Outcome.SKIPPED}


class GoTestReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "go-test-json"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        """Other programs may print before the first event: Go writes both to one stream."""
        lines = head.split(b"\n", _HEAD_LINES)[:_HEAD_LINES]
        return any(_is_event(line) for line in lines if line.startswith(b'{"'))

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        return _Reading(report).results(source)


def _is_event(line: bytes) -> bool:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(event, dict) or _text(event, "Action") not in _ACTIONS:
        return False
    return any(isinstance(event.get(name), str) for name in ("Package", "ImportPath", "Test"))


class _Open:
    """A test that runs, or a package: what it printed so far."""

    __slots__ = ("line", "output", "verdict")

    def __init__(self, line: int) -> None:
        self.line = line
        self.output = Clipper(LOG_LIMIT)
        self.verdict: tuple[Outcome, float] | None = None  # one that stands behind other output


class _Package(_Open):
    """A package whose end is not there yet."""

    __slots__ = ("failed", "tests")

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.tests: dict[str, _Open] = {}
        self.failed = 0  # tests of it


class _Reading:
    """One pass over one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tally = Tally(report)
        self._packages: dict[str, _Package] = {}
        self._builds: dict[str, Clipper] = {}
        self._open = 0
        self._kept = 0
        self._counts: Counter[str] = Counter()

    def results(self, source: BinaryIO) -> Iterator[TestResult]:
        for record in JsonLines(source, self._report).records():
            for result in self._take(record):
                yield self._tally.add(result)
        if self._packages:
            name, package = next(iter(self._packages.items()))
            left = f"package {name[:200]}" if name else "a package"
            reason = f"the file ends early: {left} has no end"
            raise Unreadable(reason, f"begun in line {package.line}")
        if not self._tally.cases:
            raise Unreadable("no test in it: an empty run is no evidence")
        self._report.counts["packages"] = self._counts["packages"]
        self._tally.finish()

    def _take(self, record: Record) -> Iterator[TestResult]:
        event, place = record.value, f"line {record.line}"
        action, name, test = (_text(event, key) for key in ("Action", "Package", "Test"))
        if action in {"build-output", "build-fail"}:
            self._add_build_output(event)
            return
        if action not in _ACTIONS:
            self._tally.remarks.add("a line that is no event of a test is left out", place)
            return
        package = self._packages.get(name)  # "" where test2json ran without go around it
        if package is None:
            package = self._packages[name] = _Package(record.line)
            self._make_room(place)
        if test:
            yield from self._take_of_test(event, action, name, package, test, record.line)
        elif action == "output":
            self._add_output(event, package, package)
        elif action in _ENDS:
            del self._packages[name]
            self._open -= 1 + len(package.tests)
            self._counts["packages"] += 1
            yield from self._end_package(event, action, name, package)
            self._kept -= sum(each.output.kept for each in (package, *package.tests.values()))

    def _take_of_test(
        self, event: dict[str, Any], action: str, name: str, package: _Package, test: str, line: int
    ) -> Iterator[TestResult]:
        running = package.tests.get(test)
        if action == "run" and running:  # again, without an end of the first time
            yield self._endless(name, test, package.tests.pop(test))
            self._forget(running)
            running = None
        if running is None:
            if action == "output" and not _text(event, "Output").startswith("=== "):
                # What comes after a test's end, such as a goroutine's, is the package's.
                self._add_output(event, package, package)
                return
            running = package.tests[test] = _Open(line)
            self._make_room(f"line {line}")
        if action == "output":
            self._add_output(event, package, running)
        elif outcome := _ENDS.get(action):
            del package.tests[test]
            self._forget(running)
            package.failed += outcome is Outcome.FAILED
            yield _ended(name, test, running, outcome, number(event.get("Elapsed")))

    def _make_room(self, place: str) -> None:
        self._open += 1
        if self._open > MAX_OPEN:
            limit = f"MAX_OPEN = {MAX_OPEN:,}"
            raise Unreadable(f"more tests than {limit} have begun and not ended", place)

    def _forget(self, ended: _Open) -> None:
        self._open -= 1
        self._kept -= ended.output.kept

    # Output

    def _add_output(self, event: dict[str, Any], package: _Package, to: _Open) -> None:
        text = _text(event, "Output")
        if found := _VERDICT.search(text.rstrip("\n")):
            self._note_verdict(found, package)
        if self._kept < MAX_KEPT_OUTPUT:
            before = to.output.kept
            to.output.add(text)
            self._kept += to.output.kept - before
        else:
            limit = f"MAX_KEPT_OUTPUT = {MAX_KEPT_OUTPUT:,}"
            self._tally.remarks.add(f"output beyond {limit} characters is left out")

    def _note_verdict(self, found: re.Match[str], package: _Package) -> None:
        """Keep a verdict for the test that it names, which has no end of its own so far."""
        test = package.tests.get(found[2])
        if test:
            test.verdict = _VERDICTS[found[1]], float(found[3])

    def _add_build_output(self, event: dict[str, Any]) -> None:
        path = _text(event, "ImportPath")
        if path not in self._builds:
            if len(self._builds) >= MAX_OPEN:
                raise Unreadable(f"more builds than MAX_OPEN = {MAX_OPEN:,}")
            self._builds[path] = Clipper(LOG_LIMIT)
        if self._kept < MAX_KEPT_OUTPUT:
            text = _text(event, "Output")
            self._kept += len(text)
            self._builds[path].add(text)

    # Ends

    def _end_package(
        self, event: dict[str, Any], action: str, name: str, package: _Package
    ) -> Iterator[TestResult]:
        has_failed = action == "fail"
        for test, running in package.tests.items():
            if has_failed:
                package.failed += 1
                yield self._crashed(name, package, test, running)
            else:
                yield self._endless(name, test, running)
        if has_failed and not package.failed:
            yield self._broken(event, name, package)

    def _endless(self, name: str, test: str, running: _Open) -> TestResult:
        """Return what became of a test without an end whose package went on or passed."""
        place = f"line {running.line}"
        if running.verdict:
            self._tally.remarks.add("a test's verdict stands behind its output", place)
            return _ended(name, test, running, *running.verdict)
        self._tally.remarks.add("a test has no end, though its package went on", place)
        message = "no result: it has no end in the file, though its package went on"
        return _result(case_id(name, test), Outcome.SKIPPED, message, running.output.text())

    def _crashed(self, name: str, package: _Package, test: str, running: _Open) -> TestResult:
        self._tally.remarks.add("a test began and never ended: it crashed", f"line {running.line}")
        printed, around = running.output.text(), package.output.text()
        crash = crash_signature(printed) or crash_signature(around)
        if crash is None and running.verdict is None:
            crash = f"ended early in {name.rpartition('/')[2] or test}"
        message = "no result: it began and never ended, and its package failed"
        return _result(case_id(name, test), Outcome.ERRORED, message, printed, around, crash=crash)

    def _broken(self, event: dict[str, Any], name: str, package: _Package) -> TestResult:
        """Return the failure of a package of which no test tells."""
        place = f"line {package.line}"
        build = self._builds.get(_text(event, "FailedBuild"))
        printed = package.output.text()
        crash = None
        if build is not None or "[build failed]" in printed or "[setup failed]" in printed:
            self._tally.remarks.add("a package did not build: no test of it ran", place)
            message = "it did not build: no test of it ran"
        else:
            self._tally.remarks.add("a package failed outside its tests", place)
            message = "it failed outside its tests"
            crash = crash_signature(printed)
        built = build.text() if build else ""
        group = name or "(unnamed package)"
        return _result(case_id(None, group), Outcome.ERRORED, message, built, printed, crash=crash)


def _ended(
    name: str, test: str, running: _Open, outcome: Outcome, duration_s: float | None
) -> TestResult:
    printed = running.output.text()
    said = (line.strip() for line in printed.splitlines() if not _FRAMING.match(line))
    message = "" if outcome is Outcome.PASSED else next(filter(None, said), "")
    crash = crash_signature(printed) if outcome is Outcome.FAILED else None
    test_id = case_id(name, test)
    return _result(test_id, outcome, message, printed, crash=crash, duration_s=duration_s)


def _result(
    test_id: str,
    outcome: Outcome,
    message: str,
    *printed: str,
    crash: str | None = None,
    duration_s: float | None = None,
) -> TestResult:
    return TestResult(
        id=test_id,
        outcome=outcome,
        duration_s=duration_s,
        message=shorten(message, MESSAGE_LIMIT),
        log=shorten("\n".join(text.strip() for text in printed if text.strip()), LOG_LIMIT),
        crash=shorten_id(crash) if crash else None,
    )


def _text(event: dict[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""
