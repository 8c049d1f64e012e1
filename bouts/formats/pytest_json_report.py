"""The JSON of pytest-json-report (FORMATS.md, 1). All times are seconds.

- A test's id is its node id, as pytest prints it. Its time is that of its three stages.
- ``xfailed`` is skipped and ``xpassed`` passed, as in pytest's own JUnit file. ``rerun`` is
  what a test has that passed only when it was tried again: its first attempt failed.
- A module that could not be collected is one errored result, since its tests are missing.
- A report without tests, such as one that was told to leave them out, is unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.crashes import crash_signature
from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, items, label, number, path, short, text
from bouts.formats.guard import guarded
from bouts.formats.tally import LOG_LIMIT, MESSAGE_LIMIT, Tally, whole_numbers
from bouts.formats.text import shorten, shorten_id
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable

_EXIT_CODE = "/exitcode"
_SUMMARY = "/summary"
_PLUGIN = "/environment/Plugins/json-report"
_COLLECTOR = "/collectors/*"
_TEST = "/tests/*"
_OUTLINE = frozenset({"created", "exitcode", "summary"})

_OUTCOMES = {
    "passed": Outcome.PASSED,
    "xpassed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "rerun": Outcome.FAILED,
    "error": Outcome.ERRORED,
    "skipped": Outcome.SKIPPED,
    "xfailed": Outcome.SKIPPED,
}
_SKIP = re.compile(r"\(.{1,2000}, \d{1,9}, ['\"]Skipped: (.*)['\"]\)")  # place and reason
_STAGES = ("setup", "call", "teardown")
_OUTPUTS = ("stdout", "stderr")
_CLAIMS = {"total": "tests"}

# pytest's exit codes after which tests may be missing from the report.
_BROKE_OFF = {
    2: "the run was interrupted",
    3: "pytest broke off with an internal error",
    4: "pytest was called in a wrong way",
}


class PytestJsonReportReader:
    kind: ClassVar[Kind] = Kind.TESTS
    format: ClassVar[str] = "pytest-json-report"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return top_keys(head).keys() >= _OUTLINE

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[TestResult]:
        tally = Tally(report)
        claimed: dict[str, int] = {}
        tests = 0
        parts = Document(source, report).parts(_EXIT_CODE, _SUMMARY, _PLUGIN, _COLLECTOR, _TEST)
        for pattern, pointer, value in parts:
            if pattern == _SUMMARY:
                claimed = whole_numbers(value, _CLAIMS)
            elif pattern == _PLUGIN:
                report.format_version = short(value) or None
            elif pattern == _EXIT_CODE:
                report.facts["exit_code"] = value if type(value) is int else None
                if type(value) is int and value in _BROKE_OFF:
                    remark = f"{_BROKE_OFF[value]}: tests may be missing"
                    tally.remarks.add(remark, pointer)
            elif not isinstance(value, dict):
                tally.remarks.add("an entry that is no object", pointer)
            elif pattern == _TEST:
                tests += 1
                yield tally.add(_result(value, pointer, tally))
            elif value.get("outcome") == "failed":
                tally.remarks.add(
                    "a module that could not be collected: its tests are missing", pointer
                )
                yield tally.add(_uncollected(value, tally))
        if not tally.cases:
            raise Unreadable(_emptiness(claimed), "/tests")
        tally.compare(claimed, {"tests": tests}, _SUMMARY)
        tally.finish()


def _emptiness(claimed: Record) -> str:
    if total := claimed.get("tests"):
        return f"no test in it, though it claims {total:,}: a report without tests is no evidence"
    return "no test in it: an empty suite is no evidence"


def _result(test: Record, pointer: str, tally: Tally) -> TestResult:
    name = text(test, "nodeid")
    if not name:
        tally.remarks.add("a test without a name", pointer)
        name = f"(unnamed test {tally.cases + 1})"
    written = test.get("outcome")
    outcome = _OUTCOMES.get(written) if isinstance(written, str) else None
    if outcome is None:
        tally.remarks.add("a test without an outcome that is known counts as errored", pointer)
        outcome = Outcome.ERRORED
    stages = [stage for name in _STAGES if (stage := inner(test, name))]
    # The stage that decided comes first: a test may fail and its teardown as well.
    told = [stage for stage in stages if stage.get("outcome") != "passed"]
    message = next(filter(None, (_message(stage) for stage in told)), "")
    log = _log(stages)
    times = [number(stage.get("duration")) for stage in stages]
    known = [time for time in times if time is not None]
    line = test.get("lineno")
    is_bad = outcome in {Outcome.FAILED, Outcome.ERRORED}
    crash = crash_signature(f"{message}\n{log}") if is_bad else None
    return TestResult(
        id=shorten_id(name),
        outcome=outcome,
        duration_s=sum(known) if known else None,
        message=shorten(message, MESSAGE_LIMIT),
        log=shorten(log, LOG_LIMIT),
        severity=label(inner(test, "metadata"), "severity", "criticality", limit=40).lower()
        or None,
        file=path(name.partition("::")[0][:1000]),
        line=line + 1 if type(line) is int and 0 <= line < 2**31 - 1 else None,  # counted from 0
        attempts=1 + (written == "rerun"),  # or more: the last one alone is in the file
        flaky=written == "rerun" and not told,
        crash=shorten_id(crash) if crash else None,
    )


def _uncollected(collector: Record, tally: Tally) -> TestResult:
    name = text(collector, "nodeid") or f"(unnamed collector {tally.cases + 1})"
    log = text(collector, "longrepr").strip()
    crash = crash_signature(log)
    return TestResult(
        id=shorten_id(name),
        outcome=Outcome.ERRORED,
        message=shorten(_last_line(log), MESSAGE_LIMIT),
        log=shorten(log, LOG_LIMIT),
        file=path(name.partition("::")[0][:1000]),
        crash=shorten_id(crash) if crash else None,
    )


def _message(stage: Record) -> str:
    said = text(inner(stage, "crash"), "message").strip() or _last_line(text(stage, "longrepr"))
    skip = _SKIP.fullmatch(said)
    return skip[1] if skip else said


def _last_line(log: str) -> str:
    lines = log.strip().rsplit("\n", 1)
    return lines[-1].strip()


def _log(stages: list[Record]) -> str:
    """Return all that the stages say at length: failures first, then output and log records."""
    texts = [text(stage, "longrepr") for stage in stages]
    texts += [text(stage, name) for name in _OUTPUTS for stage in stages]
    texts += [text(record, "msg") for stage in stages for record in items(stage, "log")]
    return "\n\n".join(each.strip("\n") for each in texts if each)
