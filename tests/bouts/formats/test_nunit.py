"""NUnit 2 and 3: cases, suites that fail by themselves, and words that are no pass."""

from __future__ import annotations

import pytest

from bouts.formats.nunit import NUnitReader
from bouts.formats.types import Outcome, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def run(*inner: str, attributes: str = "") -> str:
    return f"<test-run {attributes}>{''.join(inner)}</test-run>"


def fixture(*inner: str, attributes: str = 'fullname="N.F"', message: str = "") -> str:
    failure = f"<failure><message>{message}</message></failure>" if message else ""
    return f"<test-suite {attributes}>{failure}{''.join(inner)}</test-suite>"


def case(result: str = "Passed", inner: str = "", attributes: str = "") -> str:
    names = 'name="T" classname="N.F"'
    return f'<test-case {names} result="{result}" {attributes}>{inner}</test-case>'


def results(document: str) -> list[TestResult]:
    return read(NUnitReader(), document)[0]


def outcomes(document: str) -> list[Outcome]:
    return [result.outcome for result in results(document)]


# What the two versions write


def test_nunit_3_is_counted_from_its_cases() -> None:
    found, report = read(NUnitReader(), FIXTURES / "nunit3.xml")
    assert report.format_version == "3"
    assert report.facts["tool"] == "NUnit 3.18.1.0"
    # 8 cases and a tear-down that failed: no case tells of that.
    assert report.counts == {"cases": 9, "passed": 3, "failed": 1, "errored": 3, "skipped": 2}
    assert "differ" not in notes(report)
    assert {result.id: result.outcome for result in found} == {
        "Outcomes.SumsTests::Adds": Outcome.PASSED,
        "Outcomes.SumsTests::FloatsAddUp": Outcome.FAILED,
        "Outcomes.SumsTests::Breaks": Outcome.ERRORED,
        "Outcomes.SumsTests::NotToday": Outcome.SKIPPED,
        "Outcomes.SumsTests::Undecided": Outcome.SKIPPED,
        "Outcomes.SumsTests::IsEven(2)": Outcome.PASSED,
        "Outcomes.NoDatabase::Reads": Outcome.ERRORED,
        "Outcomes.NoCleaning::Reads": Outcome.PASSED,
        "Outcomes.NoCleaning": Outcome.ERRORED,
    }


def test_nunit_3_tells_message_trace_output_time_and_severity() -> None:
    found = {result.id: result for result in results((FIXTURES / "nunit3.xml").read_text())}
    failed = found["Outcomes.SumsTests::FloatsAddUp"]
    assert failed.message.startswith("Expected: 0.3d")
    assert "SumsTests.cs:line 14" in failed.log
    assert failed.duration_s == 0.031
    assert failed.severity == "high"  # of the suite
    passed = found["Outcomes.SumsTests::Adds"]
    assert (passed.severity, passed.log) == ("critical", "adding")
    assert found["Outcomes.SumsTests::NotToday"].message == "no network"
    assert found["Outcomes.NoCleaning::Reads"].severity is None
    assert found["Outcomes.NoCleaning"].message == "TearDown : System.Exception : cannot clean up"


def test_nunit_2_is_counted_from_its_cases() -> None:
    found, report = read(NUnitReader(), FIXTURES / "nunit2.xml")
    assert report.format_version == "2"
    assert report.facts["tool"] == "NUnit 2.6.4.14350"
    assert report.counts == {"cases": 6, "passed": 1, "failed": 1, "errored": 2, "skipped": 2}
    assert report.facts["claimed"] == {"tests": 4, "failed": 1, "errored": 1}
    assert "differ" not in notes(report)
    assert [result.id.rpartition(".")[2] for result in found] == [
        *("Adds", "FloatsAddUp", "Breaks", "Undecided", "NotToday", "WrongSignature")
    ]
    assert found[0].duration_s == 0.003
    assert found[0].severity == "critical"


# Outcomes


@pytest.mark.parametrize(
    ("result", "label", "outcome"),
    [
        ("Passed", "", Outcome.PASSED),
        ("Warning", "", Outcome.PASSED),
        ("Failed", "", Outcome.FAILED),
        ("Failed", "Error", Outcome.ERRORED),
        ("Failed", "Invalid", Outcome.ERRORED),
        ("Failed", "Cancelled", Outcome.ERRORED),
        ("Skipped", "Explicit", Outcome.SKIPPED),
        ("Inconclusive", "", Outcome.SKIPPED),
        ("Success", "", Outcome.PASSED),
        ("Failure", "", Outcome.FAILED),
        ("NotRunnable", "", Outcome.ERRORED),
        ("Ignored", "", Outcome.SKIPPED),
    ],
)
def test_each_result_has_its_outcome(result: str, label: str, outcome: Outcome) -> None:
    assert outcomes(run(case(result, attributes=f'label="{label}"'))) == [outcome]


@pytest.mark.parametrize("result", ["", "Splendid"])
def test_a_result_that_nobody_knows_is_an_error_and_never_a_pass(result: str) -> None:
    (found,), report = read(NUnitReader(), run(case(result)))
    assert found.outcome is Outcome.ERRORED
    assert "without a result that is known" in notes(report)


@pytest.mark.parametrize(
    ("attributes", "outcome"),
    [
        ('executed="True" success="True"', Outcome.PASSED),
        ('executed="True" success="False"', Outcome.FAILED),
        ('executed="False"', Outcome.SKIPPED),
        ('executed="True"', Outcome.ERRORED),
    ],
)
def test_before_nunit_2_5_two_words_told_the_result(attributes: str, outcome: Outcome) -> None:
    assert outcomes(f'<test-results><test-case name="N.T" {attributes}/></test-results>') == [
        outcome
    ]


# Suites


def test_a_suite_that_could_not_be_loaded_is_an_errored_result() -> None:
    suite = fixture(attributes='fullname="/w/a.dll" runstate="NotRunnable"', message="no file")
    (found,), report = read(NUnitReader(), run(suite, attributes='total="0"'))
    assert (found.id, found.outcome, found.message) == ("/w/a.dll", Outcome.ERRORED, "no file")
    assert "failed outside its cases" in notes(report)


def test_a_suite_that_failed_for_its_cases_is_no_result_of_its_own() -> None:
    inner = fixture(case("Failed"), attributes='site="Child"', message="One or more failed")
    assert outcomes(run(fixture(inner, message="Child test failed"))) == [Outcome.FAILED]


def test_a_broken_set_up_is_told_by_the_cases() -> None:
    broken = fixture(
        case("Failed", attributes='site="Parent"'), attributes='site="SetUp"', message="x"
    )
    assert outcomes(run(broken)) == [Outcome.FAILED]


def test_a_broken_set_up_without_cases_is_a_result() -> None:
    assert outcomes(run(fixture(attributes='site="SetUp"', message="x"))) == [Outcome.ERRORED]


def test_a_broken_tear_down_is_a_result_beside_whatever_its_cases_say() -> None:
    broken = fixture(case("Failed"), case(), attributes='site="TearDown"', message="x")
    assert outcomes(run(broken)) == [Outcome.FAILED, Outcome.PASSED, Outcome.ERRORED]


def test_one_failure_is_not_told_again_by_the_suites_around_it() -> None:
    broken = fixture(case(), attributes='name="inner" site="TearDown"', message="x")
    assert outcomes(run(fixture(fixture(broken, message="y"), message="z"))) == [
        *(Outcome.PASSED, Outcome.ERRORED)
    ]


# What the root says


def test_a_root_that_disagrees_is_noted_with_both_numbers() -> None:
    _, report = read(NUnitReader(), run(case(), attributes='total="22" failed="0"'))
    assert "tests=22 where there are 1" in notes(report)
    assert report.facts["claimed"] == {"tests": 22, "failed": 0}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (run(), "an empty run is no evidence"),
        (run(attributes='total="6"'), "claims 6 tests"),
        ("<test-results total='3'/>", "claims 3 tests"),
        ("<test-case/>", "root element is test-case"),
        ("<testsuites/>", "root element is testsuites"),
        (run(case())[:-3], "ends early"),
        ("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>" + run(case()), "document type"),
    ],
)
def test_what_cannot_be_read_is_refused(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        results(document)
