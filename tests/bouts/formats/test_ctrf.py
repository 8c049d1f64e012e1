"""CTRF: whose units, whose first attempt, whose words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats import ctrf
from bouts.formats.ctrf import CtrfReader
from bouts.formats.types import Outcome, Report, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read

DAY = 1_767_225_600_000  # 2026-01-01, in milliseconds


def ctrf_file(*tests: Any, summary: dict[str, Any] | None = None, **fields: Any) -> str:
    results = {"tool": {"name": "a tool"}, "summary": summary or {}, "tests": list(tests)}
    return json.dumps({"results": results, **fields})


def case(name: str = "adds", status: str = "passed", duration: float = 5, **fields: Any) -> Any:
    return {"name": name, "status": status, "duration": duration, **fields}


def only(test: Any, **summary: Any) -> TestResult:
    (result,) = read(CtrfReader(), ctrf_file(test, summary=summary))[0]
    return result


def report_of(*tests: Any, **summary: Any) -> Report:
    return read(CtrfReader(), ctrf_file(*tests, summary=summary))[1]


# What the tools themselves wrote


def test_pytests_plugin_is_read_as_pytests_own_file_is() -> None:
    found, report = read(CtrfReader(), FIXTURES / "ctrf-pytest.json")
    outcomes = {result.id.removeprefix("outcomes.py::"): result.outcome for result in found}
    assert len(outcomes) == 12
    assert outcomes["TestSums::test_two_and_two"] is Outcome.PASSED
    assert outcomes["test_parameters[1]"] is Outcome.FAILED
    assert outcomes["test_needs_what_is_broken"] is Outcome.ERRORED  # in its setup
    assert outcomes["test_known_to_fail"] is Outcome.SKIPPED
    assert (report.format_version, report.facts["tool"]) == ("1.0.0", "pytest")
    assert report.facts["duration_unit"] == "ms"
    assert not report.notes


def test_a_retried_test_counts_as_its_first_attempt() -> None:
    found, report = read(CtrfReader(), FIXTURES / "ctrf-pytest-rerun.json")
    assert [(r.outcome, r.attempts, r.flaky) for r in found] == [
        (Outcome.FAILED, 3, True),
        (Outcome.FAILED, 4, False),
        (Outcome.PASSED, 1, False),
    ]
    assert found[0].message.startswith("assert 1 == 3")  # of the first attempt
    assert report.counts["flaky"] == 1


def test_jests_words_for_what_did_not_run_are_known() -> None:
    found, report = read(CtrfReader(), FIXTURES / "ctrf-jest.json")
    assert found[0].id == "sums.test.js > sums::sums adds"
    assert [result.outcome for result in found[3:]] == [Outcome.SKIPPED, Outcome.SKIPPED]
    assert (found[2].flaky, found[2].outcome) == (True, Outcome.FAILED)
    assert not report.notes


@pytest.mark.parametrize(
    ("name", "unit", "duration_s", "noted"),
    [
        ("ctrf-pytest-0.1.json", "s", 0.00044274300125835, "unit inferred: seconds"),
        ("ctrf-pytest-0.3.json", "ms", 0.00040241500028058, "unit inferred: milliseconds"),
    ],
)
def test_an_old_plugins_unit_is_inferred_from_start_and_stop_and_said(
    name: str, unit: str, duration_s: float, noted: str
) -> None:
    found, report = read(CtrfReader(), FIXTURES / name)
    assert found[1].duration_s == pytest.approx(duration_s)
    assert report.facts["duration_unit"] == unit
    assert noted in notes(report)
    # It counts the parameters of a test as its retries.
    assert {(result.attempts, result.flaky) for result in found} == {(1, False)}
    assert "retries that are but tests of one name" in notes(report)


# Units


@pytest.mark.parametrize(
    ("test", "summary", "seconds", "unit"),
    [
        (case(duration=5), {}, 0.005, "ms"),
        (case(duration=2, start=DAY, stop=DAY + 2000), {}, 2, "s"),
        (case(duration=2000, start=DAY, stop=DAY + 2000), {}, 2, "ms"),
        (case(duration=2000, start=DAY / 1000, stop=DAY / 1000 + 2), {}, 2, "ms"),
        (case(duration=2.5, start=DAY / 1000, stop=DAY / 1000 + 2.5), {}, 2.5, "s"),
        (case(duration=0.8), {"start": DAY, "stop": DAY + 1000}, 0.8, "s"),
        (case(duration=800.5), {"start": DAY, "stop": DAY + 1000}, 0.8005, "ms"),
        (case(duration=0.8), {}, None, "unknown"),
        (case(duration=0.8), {"start": DAY, "stop": DAY}, None, "unknown"),
        (case(duration=0), {}, 0, "ms"),
        # Nonsense beside it decides nothing.
        (case(duration=5, start=DAY, stop=DAY + 10**9), {}, 0.005, "ms"),
        (case(duration=5, start="x", stop=None), {}, 0.005, "ms"),
    ],
)
def test_a_duration_is_in_the_unit_that_fits(
    test: Any, summary: dict[str, Any], seconds: float | None, unit: str
) -> None:
    (result,), report = read(CtrfReader(), ctrf_file(test, summary=summary))
    assert result.duration_s == (None if seconds is None else pytest.approx(seconds))
    assert report.facts["duration_unit"] == unit


@pytest.mark.parametrize("duration", [-1, "5", None, True, [5]])
def test_a_duration_that_is_none_is_not_known(duration: Any) -> None:
    assert only(case(duration=duration)).duration_s is None


# Outcomes


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"status": "passed"}, Outcome.PASSED),
        ({"status": "failed"}, Outcome.FAILED),
        ({"status": "skipped"}, Outcome.SKIPPED),
        ({"status": "pending"}, Outcome.SKIPPED),
        ({"status": "other"}, Outcome.ERRORED),
        ({"status": "other", "rawStatus": "todo"}, Outcome.SKIPPED),
        ({"status": "other", "rawStatus": "timedOut"}, Outcome.ERRORED),
        ({"status": "failed", "raw_status": "setup_failed"}, Outcome.ERRORED),
        ({"status": "great"}, Outcome.ERRORED),
        ({"status": ["passed"]}, Outcome.ERRORED),
        ({"status": "passed", "flaky": True}, Outcome.FAILED),
        ({"status": "passed", "retries": 1}, Outcome.FAILED),
        ({"status": "failed", "retries": 1}, Outcome.FAILED),
        ({"status": "passed", "flaky": False, "retries": 0}, Outcome.PASSED),
        (
            {"status": "passed", "retryAttempts": [{"attempt": 1, "status": "passed"}]},
            Outcome.PASSED,
        ),
        (
            {
                "status": "passed",
                "retryAttempts": [
                    {"attempt": 2, "status": "passed"},
                    {"attempt": 1, "status": "other"},
                ],
            },
            Outcome.ERRORED,
        ),
    ],
)
def test_an_outcome_is_the_first_attempts(fields: dict[str, Any], outcome: Outcome) -> None:
    assert only({"name": "x", "duration": 1, **fields}).outcome is outcome


def test_what_neither_passed_nor_failed_is_noted_with_its_place() -> None:
    assert "counts as errored [/results/tests/1]" in notes(report_of(case(), case("b", "other")))


# Names and the rest


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "adds"),
        ({"suite": "sums"}, "sums::adds"),
        ({"suite": ["a.py", "Sums"]}, "a.py > Sums::adds"),
        ({"suite": ["a.py"], "name": "a.py::adds"}, "a.py::adds"),
        ({"suite": []}, "adds"),
        ({"suite": [5, " "]}, "adds"),
        ({"name": ""}, "(unnamed test 1)"),
        ({"name": 5}, "(unnamed test 1)"),
    ],
)
def test_a_test_is_named_by_its_suite_and_its_name(fields: dict[str, Any], name: str) -> None:
    assert only({**case(), **fields}).id == name


def test_severity_place_and_output_are_kept() -> None:
    result = only(
        case(
            status="failed",
            filePath="./a.py",
            line=7,
            message="bad\n",
            trace="at a.py:7",
            stdout=["said"],
            extra={"severity": "Critical"},
        )
    )
    assert (result.file, result.line, result.severity) == ("a.py", 7, "critical")
    assert (result.message, result.log) == ("bad", "at a.py:7\nsaid")


def test_a_crash_is_known_by_its_trace() -> None:
    trace = 'Fatal Python error: Segmentation fault\n\nFile "/x/app.py", line 3 in run\n'
    crash = only(case(status="failed", trace=trace)).crash
    assert crash == "fatal: Segmentation fault in app.py:run"
    assert only(case(status="passed", trace=trace)).crash is None


def test_a_summary_that_disagrees_is_kept_and_noted() -> None:
    report = report_of(case(), case("b", "failed"), tests=3, passed=2, failed=1, other=-1)
    assert report.facts["claimed"] == {"tests": 3, "passed": 2, "failed": 1}
    assert "it says tests=3 where there are 2, passed=2 where there are 1" in notes(report)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (ctrf_file(), "no test in it: no evidence"),
        (ctrf_file(summary={"tests": 6}), "no test in it, though it claims 6 tests"),
        (ctrf_file(5), "no test in it"),
        ('{"results": null}', "no test in it"),
        ('{"results": {"tests": {"a": 1}}}', "no test in it"),
        ("", "the file is empty"),
        (ctrf_file(case(duration=5)).replace("5", "NaN"), "NaN is no number"),
    ],
)
def test_a_file_without_tests_is_unreadable(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(CtrfReader(), document)


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bouts.formats.tally.MAX_CASES", 1)
    with pytest.raises(Unreadable, match="MAX_CASES = 1"):
        report_of(case(), case("b"))
    monkeypatch.setattr(ctrf, "MAX_ATTEMPTS", 2)
    with pytest.raises(Unreadable, match=r"MAX_ATTEMPTS = 2 \(/results/tests/0\)"):
        report_of(case(retryAttempts=[{}, {}, {}]))
