"""TRX: the join of results with their definitions, data rows, and runs that were aborted."""

from __future__ import annotations

import pytest

from bouts.formats.trx import TrxReader
from bouts.formats.types import Outcome, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def run(*inner: str, summary: str = "") -> str:
    space = 'xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"'
    return f"<TestRun {space}><Results>{''.join(inner)}</Results>{summary}</TestRun>"


def result(outcome: str = 'outcome="Passed"', inner: str = "", name: str = "T") -> str:
    return f'<UnitTestResult testId="1" testName="{name}" {outcome}>{inner}</UnitTestResult>'


def only(document: str) -> TestResult:
    (found,) = read(TrxReader(), document)[0]
    return found


# What MSTest writes


def test_results_are_counted_from_the_leaves_and_named_by_their_definitions() -> None:
    found, report = read(TrxReader(), FIXTURES / "mstest.trx")
    assert report.counts == {"cases": 8, "passed": 2, "failed": 2, "errored": 2, "skipped": 2}
    assert report.facts["claimed"] == {"tests": 7}  # the test of two rows is one there
    assert "differ" not in notes(report)
    assert {each.id: each.outcome for each in found} == {
        "Outcomes.SumsTests::Adds": Outcome.PASSED,
        "Outcomes.SumsTests::FloatsAddUp": Outcome.FAILED,
        "Outcomes.SumsTests::IsEven (2)": Outcome.PASSED,
        "Outcomes.SumsTests::IsEven (3)": Outcome.FAILED,
        "NotToday": Outcome.SKIPPED,
        "Undecided": Outcome.SKIPPED,
        "Hangs": Outcome.ERRORED,
        "HasNoWord": Outcome.ERRORED,
    }


def test_message_trace_output_time_and_severity_are_told() -> None:
    found = {each.id: each for each in read(TrxReader(), FIXTURES / "mstest.trx")[0]}
    failed = found["Outcomes.SumsTests::FloatsAddUp"]
    assert failed.message.startswith("Assert.AreEqual failed.")
    assert "SumsTests.cs:line 14" in failed.log
    assert failed.log.endswith("adding")
    assert failed.duration_s == 0.034
    assert found["Outcomes.SumsTests::Adds"].severity == "critical"


def test_a_crashed_test_host_is_an_errored_result_with_its_signature() -> None:
    found, report = read(TrxReader(), FIXTURES / "mstest-crashed.trx")
    assert [each.outcome for each in found] == [Outcome.PASSED, Outcome.ERRORED]
    assert (found[1].id, found[1].crash) == ("(test run)", "test host: crashed")
    assert "the run was aborted" in notes(report)
    assert "differ" not in notes(report)


# Outcomes


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("Passed", Outcome.PASSED),
        ("PassedButRunAborted", Outcome.PASSED),
        ("Warning", Outcome.PASSED),
        ("Failed", Outcome.FAILED),
        ("Error", Outcome.ERRORED),
        ("Timeout", Outcome.ERRORED),
        ("Aborted", Outcome.ERRORED),
        ("NotRunnable", Outcome.ERRORED),
        ("Disconnected", Outcome.ERRORED),
        ("InProgress", Outcome.ERRORED),
        ("NotExecuted", Outcome.SKIPPED),
        ("Pending", Outcome.SKIPPED),
        ("Inconclusive", Outcome.SKIPPED),
        ("Completed", Outcome.SKIPPED),
        ("Splendid", Outcome.ERRORED),
    ],
)
def test_each_word_has_its_outcome(word: str, outcome: Outcome) -> None:
    assert only(run(result(f'outcome="{word}"'))).outcome is outcome


def test_a_result_without_a_word_is_an_error_since_that_is_what_vstest_leaves_out() -> None:
    assert only(run(result(outcome=""))).outcome is Outcome.ERRORED


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("00:00:00.0011482", 0.0011482),
        ("01:02:03", 3723.0),
        ("1.00:00:00.5", 86400.5),
        ("", None),
        ("-00:00:01", None),
        ("12", None),
    ],
)
def test_a_time_span_is_read_where_it_is_one(written: str, seconds: float | None) -> None:
    (found,), report = read(TrxReader(), run(result(f'outcome="Passed" duration="{written}"')))
    assert found.duration_s == seconds
    assert bool(report.notes) is (seconds is None and written != "")


def test_rows_in_rows_are_counted_at_the_innermost() -> None:
    rows = f"<InnerResults>{result(name='a')}{result(name='b')}</InnerResults>"
    outer = f"<InnerResults>{result(inner=rows)}</InnerResults>"
    found, _ = read(TrxReader(), run(result(inner=outer)))
    assert [each.id for each in found] == ["a", "b"]


def test_definitions_may_stand_before_the_results() -> None:
    definition = (
        '<TestDefinitions><UnitTest id="1"><TestMethod className="N.C, a.dll" name="T"/>'
        "</UnitTest></TestDefinitions>"
    )
    document = run(result()).replace("<Results>", definition + "<Results>")
    assert only(document).id == "N.C::T"


# Runs that did not end by themselves


@pytest.mark.parametrize("outcome", ["Aborted", "Error", "Timeout", "Disconnected"])
def test_a_run_that_was_aborted_is_an_errored_result(outcome: str) -> None:
    summary = (
        f'<ResultSummary outcome="{outcome}"><RunInfos><RunInfo outcome="Error">'
        "<Text>the disk is full</Text></RunInfo></RunInfos></ResultSummary>"
    )
    found, _ = read(TrxReader(), run(result(), summary=summary))
    assert [each.outcome for each in found] == [Outcome.PASSED, Outcome.ERRORED]
    assert (found[1].message, found[1].crash) == ("the disk is full", None)


def test_a_run_that_failed_for_its_tests_is_no_result_of_its_own() -> None:
    summary = (
        '<ResultSummary outcome="Failed"><RunInfos><RunInfo outcome="Error">'
        "<Text>[xUnit.net] T [FAIL]</Text></RunInfo></RunInfos></ResultSummary>"
    )
    found, report = read(TrxReader(), run(result('outcome="Failed"'), summary=summary))
    assert (len(found), report.notes) == (1, [])


# What the counters say


def test_counters_that_disagree_are_noted_with_both_numbers() -> None:
    summary = '<ResultSummary><Counters total="22" passed="1"/></ResultSummary>'
    _, report = read(TrxReader(), run(result(), summary=summary))
    assert "tests=22 where there are 1" in notes(report)
    assert report.facts["claimed"] == {"tests": 22, "passed": 1}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (run(), "an empty run is no evidence"),
        (run(summary='<ResultSummary><Counters total="6"/></ResultSummary>'), "claims 6 tests"),
        ("<UnitTestResult/>", "root element is UnitTestResult"),
        ("<RunInfo/>", "root element is RunInfo"),
        ("<testsuites/>", "root element is testsuites"),
        (run(result())[:-3], "ends early"),
        ("<!DOCTYPE a>" + run(result()), "document type"),
    ],
)
def test_what_cannot_be_read_is_refused(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(TrxReader(), document)
