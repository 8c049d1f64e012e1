"""SWE-bench's report of single instances: every test by name (FORMATS.md, 1).

It circulates wrapped, ``{instance id: {...}}``, and flat. Of the four groups of tests only the
two that decide are results: those that the patch has to mend and those that it must not break.
Where several instances stand in one file, a test's id is ``instance::test``.

An instance without any test is *inconclusive*, whatever its ``resolved`` says: the harness
finds no test also where its parser does not know the log. One alone is unreadable; among others
it is left out and noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, items, label
from bouts.formats.guard import guarded
from bouts.formats.tally import Tally
from bouts.formats.text import shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

MAX_INSTANCES = 10_000

_GROUPS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_UNGRADED = ("FAIL_TO_FAIL", "PASS_TO_FAIL")  # which the harness lists and does not grade
_SIDES = {"success": Outcome.PASSED, "failure": Outcome.FAILED}
_MARKS = frozenset({"patch_exists", "patch_is_None", "patch_successfully_applied", "tests_status"})
_FLAT = tuple(f"/{name}" for name in (*sorted(_MARKS), "infra_failure_reason", "resolved"))


class SwebenchReportReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "swebench-report"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        if len(keys.keys() & _MARKS) >= 2:
            return True
        return (
            bool(keys)
            and all(value is None for value in keys.values())  # objects, each an instance
            and b'"patch_successfully_applied"' in head
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        tally = Tally(report)
        instances = 0
        for name, instance, pointer, is_alone in _instances(Document(source, report)):
            instances += 1
            if instances > MAX_INSTANCES:
                raise Unreadable(f"more instances than MAX_INSTANCES = {MAX_INSTANCES:,}", pointer)
            if reason := _inconclusive(instance):
                if is_alone:
                    raise Unreadable(reason, pointer)
                tally.remarks.add(f"an instance is left out: {reason}", pointer)
                continue
            resolved = instance.get("resolved")
            report.facts["resolved"] = report.facts.get("resolved", 0) + (resolved is True)
            yield from _results(instance, "" if is_alone else f"{name}::", pointer, tally)
        if not instances:
            raise Unreadable("no instance in it: no evidence")
        if not tally.cases:
            raise Unreadable("every instance is inconclusive: no test has an outcome")
        tally.finish()


def _instances(document: Document) -> Iterator[tuple[str, Record, str, bool]]:
    """Yield id, report and place of each instance, and whether it is the only one."""
    objects = 0
    is_flat = False
    for _, pointer, shape in document.parts("/{}?"):
        objects += shape == "object"
        is_flat = is_flat or pointer in _FLAT
    if is_flat:
        yield "", {pointer[1:]: value for _, pointer, value in document.parts(*_FLAT)}, "/", True
        return
    for _, pointer, value in document.parts("/{}"):
        if isinstance(value, dict):
            yield pointer[1:], value, pointer, objects == 1


def _inconclusive(instance: Record) -> str:
    """Return why an instance tells nothing of any test; empty where it does."""
    if instance.get("patch_is_None") is True:
        return "no patch was submitted, so no test ran"
    if any(items(group, side) for group in _groups(instance) for side in _SIDES):
        return ""
    if reason := label(instance, "infra_failure_reason"):
        return f"inconclusive: no test has an outcome, and the harness says {reason}"
    return "inconclusive: tests_status is empty, so no test has an outcome"


def _groups(instance: Record) -> list[Record]:
    return [inner(instance, "tests_status", name) for name in _GROUPS]


def _results(instance: Record, prefix: str, pointer: str, tally: Tally) -> Iterator[TestResult]:
    has_failed = False
    for group in _groups(instance):
        for side, outcome in _SIDES.items():
            for name in items(group, side):
                if isinstance(name, str) and name.strip():
                    has_failed = has_failed or outcome is Outcome.FAILED
                    yield tally.add(TestResult(id=shorten_id(prefix + name), outcome=outcome))
                else:
                    tally.remarks.add("a test without a name", pointer)
    for name in _UNGRADED:
        if any(items(inner(instance, "tests_status", name), side) for side in _SIDES):
            tally.remarks.add(f"the tests of {name} are not graded", pointer)
    if instance.get("resolved") is has_failed:
        tally.remarks.add("resolved disagrees with the tests, which count", pointer)
