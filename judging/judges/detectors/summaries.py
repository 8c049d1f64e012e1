"""Summaries of test runs in a text: how many passed and failed, as the runners write it.

Lines that pytest, unittest, jest, vitest and cargo end with, and the head of a JUnit report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# pytest, unittest, jest and vitest, cargo; each as a line of its own would have it.
_PYTEST = re.compile(
    r"(?:(?P<failed>\d{1,6}) failed, )?(?P<passed>\d{1,6}) passed(?:, \d{1,6} \w{1,20}){0,9} in [\d.]{1,12} ?s(?:econds)?\b"
)
_JEST = re.compile(
    r"\bTests:\s+(?:(?P<failed>\d{1,6}) failed,? (?:\| )?)?(?P<passed>\d{1,6}) passed(?:, | \()\d+"
)
_CARGO = re.compile(r"test result: \w+\. (?P<passed>\d{1,6}) passed; (?P<failed>\d{1,6}) failed")
_UNITTEST = re.compile(r"\bRan (?P<passed>\d{1,6}) tests? in [\d.]{1,12}s\b")
_FORMS = (_PYTEST, _JEST, _CARGO, _UNITTEST)
_JUNIT = re.compile(r"<testsuites?\b(?P<counts>[^<>]{1,1000})>")
_COUNT = re.compile(r"\b(?P<what>tests|failures|errors|skipped)=[\"'](?P<number>\d{1,6})[\"']")
# What every summary has; lines without it are not looked at.
_HINT = re.compile(r"passed|\bRan \d|<testsuite")


@dataclass(frozen=True, slots=True)
class Summary:
    passed: int
    failed: int
    text: str

    @property
    def counts(self) -> tuple[int, int]:
        return self.passed, self.failed


def summaries(text: str) -> Iterator[Summary]:
    if not _HINT.search(text):
        return
    for form in _FORMS:
        for found in form.finditer(text):
            groups = found.groupdict()
            yield Summary(int(found["passed"]), int(groups.get("failed") or 0), found[0])
    for found in _JUNIT.finditer(text):
        counts = {c["what"]: int(c["number"]) for c in _COUNT.finditer(found["counts"])}
        if "tests" in counts:
            failed = counts.get("failures", 0) + counts.get("errors", 0)
            passed = counts["tests"] - failed - counts.get("skipped", 0)
            yield Summary(passed, failed, found[0])
