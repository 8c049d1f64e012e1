"""xUnit.net v2 and v3, and what writes the same shape."""

from __future__ import annotations

import pytest

from bouts.formats.sniff import find_reader
from bouts.formats.types import Kind, Outcome, TestResult, Unreadable
from bouts.formats.xunit import XUnitReader
from tests.bouts.formats.reading import FIXTURES, notes, read


def assemblies(*inner: str, attributes: str = 'name="a.dll"') -> str:
    return f"<assemblies><assembly {attributes}>{''.join(inner)}</assembly></assemblies>"


def the_test(
    result: str = "Pass", inner: str = "", attributes: str = 'name="N.C.T" type="N.C"'
) -> str:
    return f'<collection><test {attributes} result="{result}">{inner}</test></collection>'


def only(document: str) -> TestResult:
    (result,) = read(XUnitReader(), document)[0]
    return result


# What the two versions write


def test_v2_is_counted_from_its_tests() -> None:
    found, report = read(XUnitReader(), FIXTURES / "xunit2.xml")
    assert report.format_version == "2"
    assert report.facts["tool"] == "xUnit.net 2.9.2.0"
    assert report.counts == {"cases": 6, "passed": 3, "failed": 1, "errored": 1, "skipped": 1}
    assert "differ" not in notes(report)
    assert [result.id for result in found] == [
        "(assembly-cleanup) /work/Outcomes.dll",
        "Outcomes.SumsTests::Adds",
        "Outcomes.SumsTests::FloatsAddUp",
        "Outcomes.SumsTests::NotToday",
        "Outcomes.SumsTests::IsEven(number: 2)",
        "Outcomes.SumsTests::four is even, too",
    ]


def test_v2_tells_message_trace_output_time_and_severity() -> None:
    found = {result.id: result for result in read(XUnitReader(), FIXTURES / "xunit2.xml")[0]}
    adds = found["Outcomes.SumsTests::Adds"]
    assert (adds.severity, adds.log, adds.duration_s) == ("critical", "adding", 0.0021)
    failed = found["Outcomes.SumsTests::FloatsAddUp"]
    assert failed.message.startswith("Assert.Equal() Failure")
    assert "SumsTests.cs:line 14" in failed.log
    assert found["Outcomes.SumsTests::NotToday"].message == "no network"
    broken = found["(assembly-cleanup) /work/Outcomes.dll"]
    assert broken.message == "System.Exception : cannot clean up"


def test_v3_tells_its_schema_places_and_what_was_not_run() -> None:
    found, report = read(XUnitReader(), FIXTURES / "xunit3.xml")
    assert report.format_version == "3"
    assert report.counts == {"cases": 3, "passed": 1, "failed": 1, "errored": 0, "skipped": 1}
    assert not report.notes
    assert (found[0].file, found[0].line) == ("/work/SumsTests.cs", 9)
    assert found[0].log == "this attribute goes away"
    assert found[2].outcome is Outcome.SKIPPED


# Outcomes and names


@pytest.mark.parametrize("result", ["", "Splendid"])
def test_a_result_that_nobody_knows_is_an_error_and_never_a_pass(result: str) -> None:
    (found,), report = read(XUnitReader(), assemblies(the_test(result)))
    assert found.outcome is Outcome.ERRORED
    assert "without a result that is known" in notes(report)


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ('name="N.C.T(x: 1.5)" type="N.C"', "N.C::T(x: 1.5)"),
        ('name="in words" type="N.C"', "N.C::in words"),
        ('name="N.Cat.T" type="N.C"', "N.C::N.Cat.T"),
        ('name="T"', "T"),
        ('type="N.C" method="T"', "N.C::T"),
        ('type="N.C"', "N.C::(unnamed test 1)"),
    ],
)
def test_the_type_is_taken_off_a_name_that_repeats_it(attributes: str, name: str) -> None:
    assert only(assemblies(the_test(attributes=attributes))).id == name


def test_a_failure_without_a_message_is_told_by_its_type() -> None:
    failure = '<failure exception-type="N.Odd"/>'
    assert only(assemblies(the_test("Fail", failure))).message == "N.Odd"


def test_an_assembly_alone_is_v1_and_another_root_of_that_name_is_not_claimed() -> None:
    document = (
        '<assembly name="a.dll" run-date="2026-11-30"><class name="C">'
        '<test name="C.T" type="C" result="Pass"/></class></assembly>'
    )
    reader = find_reader(Kind.TESTS, document.encode())
    assert isinstance(reader, XUnitReader)
    found, report = read(reader, document)
    assert ([result.id for result in found], report.format_version) == (["C::T"], "1")
    assert find_reader(Kind.TESTS, b'<assembly xmlns="urn:schemas-microsoft-com:asm.v1"/>') is None


# What the assemblies say


def test_assemblies_that_disagree_are_noted_with_both_numbers() -> None:
    _, report = read(XUnitReader(), assemblies(the_test(), attributes='total="22" failed="0"'))
    assert "tests=22 where there are 1" in notes(report)
    assert report.facts["claimed"] == {"tests": 22, "failed": 0}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("<assemblies/>", "an empty run is no evidence"),
        (assemblies(attributes='total="6"'), "claims 6 tests"),
        ("<test/>", "root element is test,"),
        ("<testsuites/>", "root element is testsuites"),
        (assemblies(the_test())[:-3], "ends early"),
        ("<!DOCTYPE a>" + assemblies(the_test()), "document type"),
    ],
)
def test_what_cannot_be_read_is_refused(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(XUnitReader(), document)
