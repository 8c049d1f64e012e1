"""Test results in what a test command printed: parsed from text, and marked so.

Ids are written as the same tests have them in a JUnit file, so that a run by the agent and a
graded run speak of the same test: ``tests/test_a.py::TestB::test_c[1]`` is
``tests.test_a.TestB::test_c[1]``. Skipped tests and expected failures are no results.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bouts.formats.text import shorten_id

MAX_OUTPUT_CHARS = 4_000_000  # of an output, what is looked at: its end, where the sums are
MAX_RESULTS = 20_000  # ids of one run; the counts are of all

_COLOURS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


@dataclass(slots=True)
class ParsedRun:
    """What one run told: the results by id, which may be of some tests only, and the counts."""

    results: dict[str, bool] = field(default_factory=dict)
    passed: int | None = None
    failed: int | None = None

    def add(self, test: str, *, passed: bool) -> None:
        """Note a result; a test that failed once in a run has failed."""
        test = shorten_id(test)
        if test in self.results or len(self.results) < MAX_RESULTS:
            self.results[test] = passed and self.results.get(test, True)

    def count(self, passed: int, failed: int) -> None:
        """Add the sums of a run; a command may start several."""
        self.passed = (self.passed or 0) + passed
        self.failed = (self.failed or 0) + failed


def parse_test_output(text: str) -> ParsedRun | None:
    """Return what a test command's output tells; None where it tells of no run at all.

    A run that collected nothing tells just that: none passed, none failed.
    """
    text = _COLOURS.sub("", text[-MAX_OUTPUT_CHARS:]).replace("\r\n", "\n")
    for parse in _PARSERS:
        run = parse(text)
        if run.passed is None and run.results:
            passed = sum(run.results.values())
            run.count(passed, len(run.results) - passed)
        if run.passed is not None:
            return run
    return None


# pytest

_PYTEST_ID = r"(?P<id>[^\s:]+\.py(?:::[^\[\n]+?(?:\[.*?\])?)?)"
_PYTEST_OUTCOME = r"(?P<outcome>PASSED|FAILED|ERROR|XPASS)"
_PYTEST_RESULT = re.compile(
    # The short summary, and pytest-xdist with -v: `PASSED tests/test_a.py::test_b - why`.
    rf"^(?:\[gw\d+\] \[ *\d+%\] )?{_PYTEST_OUTCOME} {_PYTEST_ID}(?: - .*| <- .*)?[ \t]*$"
    # With -v: `tests/test_a.py::test_b PASSED  [ 50%]`.
    rf"|^{_PYTEST_ID.replace('<id>', '<first_id>')} (?:<- \S+ )?"
    rf"{_PYTEST_OUTCOME.replace('<outcome>', '<last_outcome>')}(?: +\(.*\))?(?: +\[ *\d+%\])?[ \t]*$",
    re.MULTILINE,
)
_PYTEST_SUM = re.compile(
    r"^=* ?(no tests ran|(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)"
    r"(?:, )?)+) in [\d.]+s\b",
    re.MULTILINE,
)
_PYTEST_COUNT = re.compile(r"(\d+) ([a-z]+)")


def junit_id(node: str) -> str:
    """Return a pytest node id as JUnit has it; a module that did not load has its own name."""
    address, bracket, parameters = node.partition("[")
    path, *classes = address.split("::")
    module = path.removeprefix("./").removesuffix(".py").replace("/", ".").replace("\\", ".")
    if not classes:
        return module
    name = classes.pop()
    return f"{'.'.join([module, *classes])}::{name}{bracket}{parameters}"


def _pytest(text: str) -> ParsedRun:
    run = ParsedRun()
    for found in _PYTEST_RESULT.finditer(text):
        node = found["id"] or found["first_id"]
        outcome = found["outcome"] or found["last_outcome"]
        run.add(junit_id(node), passed=outcome in {"PASSED", "XPASS"})
    for sums in _PYTEST_SUM.finditer(text):
        counts = {word: int(count[:9]) for count, word in _PYTEST_COUNT.findall(sums[1])}
        failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
        run.count(counts.get("passed", 0) + counts.get("xpassed", 0), failed)
    return run


# unittest, and Django's runner

_UNITTEST_NAME = r"(?P<name>[\w.]+) \((?P<where>[\w.]+)\)"
_UNITTEST_RESULT = re.compile(
    # With -v, where a docstring takes a line of its own before the dots.
    rf"^{_UNITTEST_NAME}.*(?:\n.*)? \.\.\. (?P<outcome>ok|FAIL|ERROR|unexpected success)$",
    re.MULTILINE,
)
_UNITTEST_FAILURE = re.compile(rf"^(?:FAIL|ERROR): {_UNITTEST_NAME}", re.MULTILINE)
_UNITTEST_SUM = re.compile(
    r"^Ran (?P<ran>\d+) tests? in [\d.]+s\s+(?:OK|FAILED)(?: \((?P<counts>[^)\n]*)\))?",
    re.MULTILINE,
)
_UNITTEST_COUNT = re.compile(r"([a-z ]+)=(\d+)")
_UNITTEST_FAILED = ("failures", "errors", "unexpected successes")


def _unittest_id(name: str, where: str) -> str:
    if where.startswith("unittest.loader._FailedTest"):
        return name  # a module that did not load
    return f"{where.removesuffix(f'.{name}')}::{name}"


def _unittest(text: str) -> ParsedRun:
    run = ParsedRun()
    for found in _UNITTEST_RESULT.finditer(text):
        run.add(_unittest_id(found["name"], found["where"]), passed=found["outcome"] == "ok")
    for found in _UNITTEST_FAILURE.finditer(text):
        run.add(_unittest_id(found["name"], found["where"]), passed=False)
    for sums in _UNITTEST_SUM.finditer(text):
        counted = _UNITTEST_COUNT.findall(sums["counts"] or "")
        counts = {word.strip(): int(count[:9]) for word, count in counted}
        failed = sum(counts.get(word, 0) for word in _UNITTEST_FAILED)
        rest = failed + counts.get("skipped", 0) + counts.get("expected failures", 0)
        run.count(max(int(sums["ran"][:9]) - rest, 0), failed)
    return run


# go test

_GO_LINE = re.compile(
    r"^ *--- (?P<outcome>PASS|FAIL): (?P<name>\S+) \("
    r"|^(?P<sum>ok|FAIL)[ \t]+(?P<package>[^\s\[]+)[ \t]+(?:[\d.]+s|\(cached\)|\[build failed\])",
    re.MULTILINE,
)


def _go(text: str) -> ParsedRun:
    """Read results by package; without -v a package that passed is one result of its own."""
    run = ParsedRun()
    waiting: list[tuple[str, bool]] = []
    for found in _GO_LINE.finditer(text):
        if found["name"]:
            waiting.append((found["name"], found["outcome"] == "PASS"))
            continue
        package = found["package"]
        if not waiting:
            run.add(package, passed=found["sum"] == "ok")
        for name, passed in waiting:
            run.add(f"{package}::{name}", passed=passed)
        waiting.clear()
    for name, passed in waiting:
        run.add(name, passed=passed)
    return run


# cargo test

_CARGO_RESULT = re.compile(
    r"^test (?P<name>\S+)(?: - .*)? \.\.\. (?P<outcome>ok|FAILED)$", re.MULTILINE
)
_CARGO_SUM = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.MULTILINE)


def _cargo(text: str) -> ParsedRun:
    run = ParsedRun()
    for found in _CARGO_RESULT.finditer(text):
        run.add(found["name"], passed=found["outcome"] == "ok")
    for passed, failed in _CARGO_SUM.findall(text):
        run.count(int(passed[:9]), int(failed[:9]))
    return run


# Jest, Vitest and Mocha: sums only

_SCRIPT_SUM = re.compile(r"^ *Tests:? +.*$|^ *\d+ (?:passing|failing)\b", re.MULTILINE)
_SCRIPT_COUNT = re.compile(r"(\d+) (passed|failed|passing|failing)")


def _script(text: str) -> ParsedRun:
    run = ParsedRun()
    for line in _SCRIPT_SUM.findall(text):
        for count, word in _SCRIPT_COUNT.findall(line):
            number = int(count[:9])
            run.count(*((number, 0) if word.startswith("pass") else (0, number)))
    return run


_PARSERS: tuple[Callable[[str], ParsedRun], ...] = (_pytest, _unittest, _go, _cargo, _script)
