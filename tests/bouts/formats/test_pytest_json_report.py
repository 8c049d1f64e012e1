"""The JSON of pytest-json-report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.pytest_json_report import PytestJsonReportReader
from bouts.formats.types import Outcome, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def report_file(*tests: Any, **fields: Any) -> str:
    outline = {"created": 1.5, "exitcode": 0, "summary": {"total": len(tests)}}
    return json.dumps({**outline, "tests": list(tests), **fields})


def case(name: str = "a.py::test_x", outcome: str = "passed", **fields: Any) -> dict[str, Any]:
    return {"nodeid": name, "lineno": 4, "outcome": outcome, **fields}


def only(test: Any) -> TestResult:
    (result,) = read(PytestJsonReportReader(), report_file(test))[0]
    return result


def test_what_the_plugin_wrote_is_read() -> None:
    found, report = read(PytestJsonReportReader(), FIXTURES / "pytest-json-report.json")
    outcomes = {result.id.removeprefix("outcomes.py::"): result for result in found}
    assert len(outcomes) == 12
    assert outcomes["test_needs_what_is_broken"].outcome is Outcome.ERRORED
    assert outcomes["test_known_to_fail"].outcome is Outcome.SKIPPED
    assert outcomes["test_passes_after_all"].outcome is Outcome.PASSED
    assert outcomes["test_passes_against_the_rule"].outcome is Outcome.FAILED
    assert outcomes["test_skipped"].message == "not today"
    floats = outcomes["TestSums::test_floats"]
    assert floats.message == "assert (0.1 + 0.2) == 0.3"
    assert "to stderr" in floats.log
    assert (floats.file, floats.line) == ("outcomes.py", 24)
    assert all(result.duration_s and 0 < result.duration_s < 1 for result in found)
    assert report.facts == {"exit_code": 1, "claimed": {"tests": 12}}
    assert not report.notes


def test_a_test_that_passed_when_tried_again_failed_first() -> None:
    found, _ = read(PytestJsonReportReader(), FIXTURES / "pytest-json-report-rerun.json")
    assert [(result.outcome, result.flaky, result.attempts) for result in found] == [
        (Outcome.FAILED, True, 2),
        (Outcome.FAILED, False, 1),
        (Outcome.PASSED, False, 1),
    ]


def test_a_module_that_could_not_be_collected_is_an_error_and_never_no_tests() -> None:
    (result,), report = read(PytestJsonReportReader(), FIXTURES / "pytest-json-report-broken.json")
    assert (result.id, result.outcome) == ("broken_tests.py", Outcome.ERRORED)
    assert "No module named" in result.message
    assert "the run was interrupted: tests may be missing [/exitcode]" in notes(report)
    assert "could not be collected: its tests are missing [/collectors/1]" in notes(report)


def test_the_time_of_a_test_is_that_of_its_stages() -> None:
    stages = {"setup": {"duration": 1}, "call": {"duration": 2.5}, "teardown": {"duration": None}}
    assert only(case(**stages)).duration_s == 3.5
    assert only(case()).duration_s is None


def test_a_severity_comes_from_the_metadata_of_a_test() -> None:
    assert only(case(metadata={"severity": "High"})).severity == "high"
    assert only(case(metadata=["high"])).severity is None


@pytest.mark.parametrize("outcome", [None, "great", ["passed"]])
def test_a_test_without_a_known_outcome_is_errored_and_noted(outcome: Any) -> None:
    (result,), report = read(PytestJsonReportReader(), report_file(case(outcome=outcome)))
    assert result.outcome is Outcome.ERRORED
    assert "counts as errored [/tests/0]" in notes(report)


def test_the_stage_that_went_wrong_speaks_for_the_test() -> None:
    stages = {
        "setup": {"outcome": "passed", "longrepr": "not this"},
        "call": {"outcome": "failed", "crash": {"message": "bad"}, "longrepr": "at length"},
        "teardown": {"outcome": "failed", "crash": {"message": "worse"}},
    }
    assert only(case(outcome="failed", **stages)).message == "bad"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (report_file(), "no test in it: an empty suite"),
        (report_file(summary={"total": 9}), "though it claims 9: a report without tests"),
        (report_file(tests=None), "no test in it"),
    ],
)
def test_a_report_without_tests_is_unreadable(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(PytestJsonReportReader(), document)


def test_a_total_that_disagrees_is_noted() -> None:
    _, report = read(PytestJsonReportReader(), report_file(case(), summary={"total": 2}))
    assert "tests=2 where there are 1 [/summary]" in notes(report)
