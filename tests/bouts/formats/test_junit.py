"""JUnit XML: dialects, first attempts, and everything that is wrong with such files."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bouts.formats import tally, xml
from bouts.formats.junit import JUnitReader
from bouts.formats.sniff import find_reader
from bouts.formats.types import Kind, Outcome, Report, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def suite(*cases: str, attributes: str = 'name="s"') -> str:
    return f"<testsuites><testsuite {attributes}>{''.join(cases)}</testsuite></testsuites>"


def case(inner: str = "", attributes: str = 'classname="m.C" name="t"') -> str:
    return f"<testcase {attributes}>{inner}</testcase>"


def results(document: str | bytes | Path) -> list[TestResult]:
    return read(JUnitReader(), document)[0]


def only(document: str | bytes) -> TestResult:
    (result,) = results(document)
    return result


# What pytest itself wrote


def test_pytest_results_are_counted_from_its_cases() -> None:
    found, report = read(JUnitReader(), FIXTURES / "pytest.xml")
    assert report.counts == {
        **{"suites": 1, "cases": 12},
        **{"passed": 6, "failed": 3, "errored": 1, "skipped": 2},
    }
    assert report.facts["claimed"] == {"tests": 12, "failures": 3, "errors": 1, "skipped": 2}
    assert not report.notes
    assert len(found) == 12


def test_each_pytest_outcome_is_told_apart() -> None:
    found = {result.id: result for result in results(FIXTURES / "pytest.xml")}
    outcomes = {name: result.outcome for name, result in found.items()}
    assert outcomes["outcomes.TestSums::test_two_and_two"] is Outcome.PASSED
    assert outcomes["outcomes.TestSums::test_floats"] is Outcome.FAILED
    assert outcomes["outcomes::test_needs_what_is_broken"] is Outcome.ERRORED
    assert outcomes["outcomes::test_skipped"] is Outcome.SKIPPED
    assert outcomes["outcomes::test_known_to_fail"] is Outcome.SKIPPED
    assert outcomes["outcomes::test_passes_after_all"] is Outcome.PASSED
    assert outcomes["outcomes::test_passes_against_the_rule"] is Outcome.FAILED
    assert outcomes["outcomes::test_parameters[p/q::r]"] is Outcome.PASSED


def test_message_log_duration_and_severity_come_from_the_case() -> None:
    found = {result.id: result for result in results(FIXTURES / "pytest.xml")}
    passed = found["outcomes.TestSums::test_two_and_two"]
    assert passed.severity == "critical"
    assert "adding" in passed.log
    assert passed.duration_s is not None
    failed = found["outcomes.TestSums::test_floats"]
    assert failed.message.startswith("assert (0.1 + 0.2) == 0.3")
    assert "def test_floats(self):" in failed.log
    assert "to stderr" in failed.log
    assert found["outcomes::test_skipped"].message == "not today"


# What other runners wrote


@pytest.mark.parametrize(
    ("name", "counts", "noted"),
    [
        # Cases, passed, failed, errored and skipped, each counted by hand.
        ("surefire", (7, 2, 3, 1, 1), ("own numbers differ",)),  # the header counts tests=4
        ("gradle", (4, 2, 1, 0, 1), ()),
        ("jest", (6, 2, 2, 1, 1), ("own numbers differ", "occurred before", "differ", "differ")),
        ("jest-default", (4, 2, 1, 0, 1), ("own numbers differ",)),  # a test to be done is no test
        ("gotestsum", (16, 5, 10, 0, 1), ("occurred before",)),
        ("gotestsum-broken", (3, 1, 2, 0, 0), ("own numbers differ", "differ")),
        ("nextest", (5, 2, 3, 0, 0), ()),
        ("phpunit", (7, 2, 2, 1, 2), ()),
        ("unittest", (6, 2, 1, 1, 2), ()),
        ("googletest", (7, 2, 2, 0, 3), ("several results",)),
        ("node", (9, 5, 2, 0, 2), ("several results", "occurred before")),
        ("mocha", (5, 2, 2, 0, 1), ("own numbers differ",)),  # it calls failures errors
        ("bats", (3, 1, 1, 0, 1), ()),
    ],
)
def test_each_dialect_is_counted_from_its_cases(
    name: str, counts: tuple[int, ...], noted: tuple[str, ...]
) -> None:
    _, report = read(JUnitReader(), FIXTURES / f"junit-{name}.xml")
    found = [report.counts[key] for key in ("cases", *Outcome)]
    assert tuple(found) == counts
    assert len(report.notes) == len(noted), notes(report)
    for note, expected in zip(report.notes, noted, strict=True):
        assert expected in note.text


def test_what_surefire_ran_again_counts_as_it_was_at_first() -> None:
    found = {result.id: result for result in results(FIXTURES / "junit-surefire.xml")}
    flaky = found["bouts.OutcomesTest::passesOnTheThirdTry"]
    assert (flaky.outcome, flaky.attempts, flaky.flaky) == (Outcome.FAILED, 3, True)
    assert flaky.message.startswith("try 1")
    failed = found["bouts.OutcomesTest::floatsAddUp"]
    assert (failed.outcome, failed.attempts, failed.flaky) == (Outcome.FAILED, 3, False)


def test_what_nextest_ran_again_or_saw_abort_is_told() -> None:
    found = {result.id: result for result in results(FIXTURES / "junit-nextest.xml")}
    flaky = found["outcomes::tests::flaky"]
    assert (flaky.outcome, flaky.attempts, flaky.flaky) == (Outcome.FAILED, 2, True)
    assert found["outcomes::tests::aborts"].crash == "nextest: abort"
    assert found["outcomes::tests::floats_add_up"].attempts == 2


def test_what_gotestsum_ran_again_stands_first_as_it_was_at_first() -> None:
    flaky = [
        result.outcome
        for result in results(FIXTURES / "junit-gotestsum.xml")
        if result.id.endswith("::TestFlaky")
    ]
    assert flaky == [Outcome.FAILED, Outcome.PASSED]


def test_gotestsum_tells_of_a_panic_and_of_a_package_that_did_not_build() -> None:
    found = {result.id: result for result in results(FIXTURES / "junit-gotestsum-broken.xml")}
    assert "[build failed]" in found["TestMain"].log
    crashed = found["example.org/outcomes/crash::TestCrashes"]
    assert crashed.crash == "panic: runtime error: index out of range in crash_test.go"


def test_phpunit_says_what_is_wrong_after_the_name_of_the_test() -> None:
    found = {result.id: result for result in results(FIXTURES / "junit-phpunit.xml")}
    assert found["OutcomesTest::testBreaks"].message == "RuntimeException: broken"
    failed = found['OutcomesTest::testIsEven with data set "three"']
    assert failed.message == "Failed asserting that 1 is identical to 0."
    assert (failed.file, failed.line) == ("/work/OutcomesTest.php", 12)


def test_googletest_tells_disabled_from_skipped_and_severities() -> None:
    found = {result.id: result for result in results(FIXTURES / "junit-googletest.xml")}
    assert found["Sums::DISABLED_OneDay"].outcome is Outcome.SKIPPED
    assert found["Sums::NotToday"].outcome is Outcome.SKIPPED
    assert found["Sums::Adds"].severity == "critical"


def test_gradle_parts_thousands_by_a_comma() -> None:
    found = {result.id: result for result in results(FIXTURES / "junit-gradle.xml")}
    assert found["org.example.OutcomesTest::adds()"].duration_s == 1203.031


# Names


def test_an_id_is_class_and_name_or_the_name_alone() -> None:
    assert only(suite(case())).id == "m.C::t"
    assert only(suite(case(attributes='name="t"'))).id == "t"
    assert only(suite(case(attributes='classname="" name="t"'))).id == "t"


def test_a_case_without_a_name_gets_one_that_says_so() -> None:
    found, report = read(JUnitReader(), suite("<testcase/>", "<testcase/>"))
    assert [result.id for result in found] == ["(unnamed case 1)", "(unnamed case 2)"]
    assert "without a name (2 times)" in notes(report)


def test_a_name_is_one_line_of_bounded_length() -> None:
    long = only(suite(case(attributes=f'name="a&#10;b{"ä" * 5000}"'))).id
    assert long.startswith("a␊bä")
    assert len(long.encode()) <= 2000


def test_two_long_names_stay_two() -> None:
    names = [f'name="{"x" * 5000}{end}"' for end in "ab"]
    found, report = read(JUnitReader(), suite(*(case(attributes=name) for name in names)))
    assert len({result.id for result in found}) == 2
    assert "repeated" not in report.counts


def test_an_id_that_occurs_twice_is_noted_and_both_results_are_given() -> None:
    found, report = read(JUnitReader(), suite(case("<failure/>"), case()))
    assert [result.outcome for result in found] == [Outcome.FAILED, Outcome.PASSED]
    assert report.counts["repeated"] == 1
    assert "occurred before" in notes(report)


def test_file_and_line_are_kept_where_they_are_written() -> None:
    found = only(suite(case(attributes='name="t" file="a/b.py" line="12"')))
    assert (found.file, found.line) == ("a/b.py", 12)
    assert only(suite(case(attributes='name="t" line="twelve"'))).line is None
    assert only(suite(case(attributes='name="t"'), attributes='file="a/b.py"')).file == "a/b.py"


# Outcomes


@pytest.mark.parametrize(
    ("inner", "outcome", "attempts", "flaky"),
    [
        ("", Outcome.PASSED, 1, False),
        ("<failure/>", Outcome.FAILED, 1, False),
        ("<error/>", Outcome.ERRORED, 1, False),
        ("<skipped/>", Outcome.SKIPPED, 1, False),
        ("<system-out>words</system-out>", Outcome.PASSED, 1, False),
        # Surefire: it failed once, then passed.
        ("<flakyFailure/>", Outcome.FAILED, 2, True),
        ("<flakyError/><flakyFailure/>", Outcome.ERRORED, 3, True),
        # Surefire: it never passed.
        ("<failure/><rerunFailure/>", Outcome.FAILED, 2, False),
        ("<error/><rerunFailure/><rerunError/>", Outcome.ERRORED, 3, False),
    ],
)
def test_the_first_attempt_counts(inner: str, outcome: Outcome, attempts: int, flaky: bool) -> None:
    found = only(suite(case(inner)))
    assert (found.outcome, found.attempts, found.flaky) == (outcome, attempts, flaky)


def test_several_results_in_one_case_are_noted_and_the_first_counts() -> None:
    (found,), report = read(
        JUnitReader(), suite(case('<failure message="a"/><error message="b"/>'))
    )
    assert (found.outcome, found.message) == (Outcome.FAILED, "a")
    assert "several results" in notes(report)


@pytest.mark.parametrize(
    ("attributes", "outcome"),
    [
        ('status="notrun"', Outcome.SKIPPED),
        ('status="run" result="suppressed"', Outcome.SKIPPED),
        ('status="run" result="completed"', Outcome.PASSED),
        ('status="FAILED"', Outcome.FAILED),
        ('status="errored"', Outcome.ERRORED),
        ('status="something else"', Outcome.PASSED),
        ('status="run" result="xpass"', Outcome.FAILED),
        ('result="xfail"', Outcome.SKIPPED),
        ('status="timeout"', Outcome.ERRORED),
        ('status="Inconclusive"', Outcome.SKIPPED),
        ('status="undefined"', Outcome.SKIPPED),
        ('disabled="true"', Outcome.SKIPPED),
        ('skipped="True"', Outcome.SKIPPED),
        ('skipped="false"', Outcome.PASSED),
    ],
)
def test_a_case_without_children_may_tell_its_state_in_attributes(
    attributes: str, outcome: Outcome
) -> None:
    assert only(suite(case(attributes=f'name="t" {attributes}'))).outcome is outcome


def test_a_state_that_nobody_knows_is_noted() -> None:
    _, report = read(JUnitReader(), suite(case(attributes='name="t" status="something else"')))
    assert "not known is read as passed: something else" in notes(report)
    _, report = read(JUnitReader(), suite(case(attributes='name="t" status="run"')))
    assert not report.notes


def test_a_warning_of_phpunit_is_no_pass() -> None:
    (found,), report = read(
        JUnitReader(),
        suite(case("<warning>no tests</warning>"), attributes='errors="0" warnings="1"'),
    )
    assert (found.outcome, found.message) == (Outcome.ERRORED, "no tests")
    assert not report.notes


def test_a_suite_that_broke_before_its_tests_is_an_errored_result() -> None:
    (found,), report = read(JUnitReader(), suite('<error message="cannot import"/>'))
    assert (found.id, found.outcome, found.message) == ("s", Outcome.ERRORED, "cannot import")
    assert report.counts["cases"] == 1


@pytest.mark.parametrize("claims", ['tests="0" errors="1"', 'tests="3" failures="2"', 'errors="1"'])
def test_a_suite_that_only_claims_failures_is_an_errored_result(claims: str) -> None:
    broken = f'<testsuite name="broken.test.js" {claims}/>'
    found, report = read(
        JUnitReader(), f"<testsuites><testsuite>{case()}</testsuite>{broken}</testsuites>"
    )
    assert [(result.id, result.outcome.value) for result in found] == [
        ("m.C::t", "passed"),
        ("broken.test.js", "errored"),
    ]
    assert "has no case is an error" in notes(report)


def test_a_file_of_suites_that_did_not_load_is_no_empty_file() -> None:
    (found,), _ = read(
        JUnitReader(),
        '<testsuites tests="0" errors="1"><testsuite tests="0" errors="1"/></testsuites>',
    )
    assert (found.id, found.outcome) == ("(unnamed suite at line 1)", Outcome.ERRORED)


def test_what_the_suites_around_a_broken_one_claim_is_not_told_again() -> None:
    document = (
        '<testsuites errors="1"><testsuite errors="1"><testsuite errors="1"/>'
        f'</testsuite><testsuite failures="0">{case()}</testsuite></testsuites>'
    )
    assert len(results(document)) == 2


def test_cases_inside_a_case_are_the_ones_that_count() -> None:
    found = results(suite(case(case(attributes='name="a"') + case(attributes='name="b"'))))
    assert [result.id for result in found] == ["a", "b"]


# Suites


@pytest.mark.parametrize(("claimed", "agrees"), [(1, True), (2, True), (3, False)])
def test_nested_suites_are_counted_once_whether_their_outer_claims_them_or_not(
    claimed: int, agrees: bool
) -> None:
    inner = f'<testsuite name="inner" tests="1">{case()}</testsuite>'
    _, report = read(JUnitReader(), suite(inner, case(), attributes=f'tests="{claimed}"'))
    assert report.counts["cases"] == 2
    assert ("differ" not in notes(report)) is agrees


def test_a_header_that_disagrees_with_its_cases_is_noted_with_both_numbers() -> None:
    _, report = read(JUnitReader(), suite(case("<failure/>"), attributes='tests="6" failures="0"'))
    assert "tests=6 where there are 1" in notes(report)
    assert "failures=0 where there are 1" in notes(report)
    assert report.facts["claimed"] == {"tests": 6, "failures": 0}


@pytest.mark.parametrize(("claimed", "agrees"), [(0, True), (1, True), (2, False)])
def test_a_flaky_test_may_count_as_failed_or_as_passed_in_the_header(
    claimed: int, agrees: bool
) -> None:
    _, report = read(
        JUnitReader(), suite(case("<flakyFailure/>"), attributes=f'failures="{claimed}"')
    )
    assert ("differ" not in notes(report)) is agrees


def test_disabled_cases_alone_may_be_claimed() -> None:
    skipped = (case("<skipped/>"), case(attributes='name="t" status="notrun"'))
    _, report = read(JUnitReader(), suite(*skipped, attributes='disabled="1"'))
    assert "differ" not in notes(report)
    _, report = read(JUnitReader(), suite(*skipped, attributes='disabled="3"'))
    assert "skipped=3 where there are 2" in notes(report)


def test_a_thousand_disagreeing_suites_do_not_write_a_thousand_notes() -> None:
    suites = "".join(f'<testsuite tests="2">{case()}</testsuite>' for _ in range(1000))
    _, report = read(JUnitReader(), f"<testsuites>{suites}</testsuites>")
    assert len([note for note in report.notes if "differ" in note.text]) <= 11


@pytest.mark.parametrize(
    "document",
    [
        "<testsuites/>",
        "<testsuite tests='0'/>",
        "<testsuites><testsuite><properties/></testsuite></testsuites>",
    ],
)
def test_an_empty_suite_is_unreadable_and_never_zero_tests(document: str) -> None:
    with pytest.raises(Unreadable, match="empty suite is no evidence"):
        results(document)


def test_counts_without_cases_are_unreadable_and_say_what_was_claimed() -> None:
    with pytest.raises(Unreadable, match="claims 6 tests"):
        results("<testsuites tests='6'><testsuite tests='6'/></testsuites>")
    with pytest.raises(Unreadable, match="claims 6 tests"):
        results("<testsuites tests='6'><testsuite tests='6' failures='1'/></testsuites>")


def test_another_root_is_refused() -> None:
    with pytest.raises(Unreadable, match="root element is html"):
        results("<html><testcase name='t'/></html>")
    with pytest.raises(Unreadable, match="root element is testcase"):
        results("<testcase name='t'/>")


# Severity


def test_a_severity_is_found_in_all_the_places_where_it_is_written() -> None:
    inside = '<properties><property name="Severity" value=" HIGH "/></properties>'
    assert only(suite(case(inside))).severity == "high"
    as_text = '<properties><property name="criticality">critical</property></properties>'
    assert only(suite(case(as_text))).severity == "critical"
    assert only(suite(inside, case())).severity == "high"
    assert only(suite(case())).severity is None


def test_the_case_has_the_last_word_on_severity_and_a_suite_not_on_its_neighbour() -> None:
    def properties(value: str) -> str:
        return f'<properties><property name="severity" value="{value}"/></properties>'

    first = (
        f'<testsuite name="a">{properties("high")}{case()}{case(properties("medium"))}</testsuite>'
    )
    second = f'<testsuite name="b">{case()}</testsuite>'
    found = results(f"<testsuites>{first}{second}</testsuites>")
    assert [result.severity for result in found] == ["high", "medium", None]


# Times


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1.5", 1.5),
        ("0", 0.0),
        (".25", 0.25),
        ("1e-05", 1e-05),
        ("14,029.255", 14029.255),
        ("1,234,567.5", 1234567.5),
        ("", None),
        ("0,03", None),
        ("2,120", None),
        ("-345245.0", None),
        ("80.803us", None),
        ("NaN", None),
        ("1e999", None),
        ("12.5.1", None),
    ],
)
def test_a_time_is_read_where_it_is_clear_and_only_there(
    written: str, seconds: float | None
) -> None:
    (found,), report = read(JUnitReader(), suite(case(attributes=f'name="t" time="{written}"')))
    assert found.duration_s == seconds
    assert bool(report.notes) is (seconds is None and written != "")


def test_a_comma_that_may_mean_either_is_noted_as_that() -> None:
    _, report = read(JUnitReader(), suite(case(attributes='name="t" time="0,03"')))
    assert "comma may mean either" in notes(report)


# Crashes


@pytest.mark.parametrize(
    ("failure", "signature"),
    [
        (
            "<error message=\"worker 'gw0' crashed while running 'a.py::t'\"/>",
            "worker: crashed",
        ),
        (
            "<failure>Fatal Python error: Segmentation fault\n\nCurrent thread:\n"
            '  File "/x/site-packages/a.py", line 1 in deep\n'
            '  File "/w/app/core.py", line 7 in compute\n'
            '  File "/w/tests/test_core.py", line 3 in test_it</failure>',
            "fatal: Segmentation fault in core.py:compute",
        ),
        (
            "<failure>panic: runtime error: index out of range [5]\n\ngoroutine 7 [running]:\n"
            "main.f(...)\n\t/usr/local/go/src/testing/testing.go:1 +0x1\n\t/w/calc.go:42 +0x1d</failure>",
            "panic: runtime error: index out of range in calc.go",
        ),
        (
            '<error message="The forked VM terminated without saying properly goodbye"/>',
            "forked VM: terminated",
        ),
        ('<failure type="test abort">SIGABRT</failure>', "nextest: abort"),
        (
            "<error>INTERNALERROR> Traceback (most recent call last):\n"
            'INTERNALERROR>   File "/w/conftest.py", line 3, in pytest_runtest_setup\n'
            "INTERNALERROR> ValueError: no</error>",
            "outside a test: ValueError in conftest.py:pytest_runtest_setup",
        ),
    ],
)
def test_the_end_of_the_process_is_told_from_a_failed_test(failure: str, signature: str) -> None:
    assert only(suite(case(failure))).crash == signature


@pytest.mark.parametrize(
    "inner",
    [
        "<failure>assert 'Segmentation fault' in output</failure>",
        "<failure>E   panic: not at the start of a line</failure>",
        "<failure>thread 'main' panicked at src/lib.rs</failure>",
        "<system-out>Fatal Python error: Segmentation fault</system-out>",
        "<skipped>panic: skipped for now</skipped>",
    ],
)
def test_a_test_that_only_talks_of_a_crash_is_none(inner: str) -> None:
    assert only(suite(case(inner))).crash is None


# Damage


def test_control_characters_are_repaired_once_and_said() -> None:
    document = suite(case('<failure message="\x1b[31mred\x00">&#x1b;[0m &#0; &#10;ok</failure>'))
    (found,), report = read(JUnitReader(), document)
    assert found.message == "␛[31mred␀"
    assert found.log == "␛[0m ␀ \nok"
    assert len(report.notes) == 1
    assert "repaired" in report.notes[0].text
    assert report.notes[0].place == f"byte {document.index(chr(27))}"


def test_bytes_that_are_not_utf_8_are_repaired_and_said() -> None:
    document = suite(case('<failure message="na?ve"/>')).encode().replace(b"?", b"\xef")
    (found,), report = read(JUnitReader(), document)
    assert found.message == "na\N{REPLACEMENT CHARACTER}ve"
    assert "repaired" in notes(report)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1", "cp1252"])
def test_declared_and_marked_encodings_are_read(encoding: str) -> None:
    name = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{name}"?>' + suite(case(attributes='name="grün"'))
    (found,), report = read(JUnitReader(), text.encode(encoding))
    assert found.id == "grün"
    assert not report.notes


def test_a_declaration_that_lies_about_utf_16_is_seen_through() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?>' + suite(case(attributes='name="grün"'))
    assert only(text).id == "grün"


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(Unreadable, match="unknown encoding no-such"):
        results('<?xml version="1.0" encoding="no-such"?>' + suite(case()))


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_short_is_unreadable_with_its_place(cut: float) -> None:
    document = (FIXTURES / "pytest.xml").read_bytes().rstrip()
    with pytest.raises(Unreadable, match="ends early") as refusal:
        results(document[: int(len(document) * cut)])
    assert refusal.value.place is not None
    assert refusal.value.place.startswith("line ")


def test_text_in_a_long_log_is_cut_in_the_middle() -> None:
    words = "<failure>first</failure><system-out>" + "x" * 300_000 + "last</system-out>"
    log = only(suite(case(words))).log
    assert len(log) <= tally.LOG_LIMIT + 100
    assert log.startswith("first")
    assert log.endswith("last")
    assert "characters cut" in log


# Hostility


def test_an_external_entity_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    document = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><testsuites>&x;</testsuites>'
    with pytest.raises(Unreadable, match="document type or entities"):
        results(document)


def test_any_document_type_is_refused_even_an_empty_one() -> None:
    with pytest.raises(Unreadable, match="document type or entities"):
        results("<!DOCTYPE testsuites>" + suite(case()))


def test_a_billion_laughs_are_refused_before_the_first() -> None:
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)
    )
    document = f"<!DOCTYPE a [{entities}]>" + suite(case("<failure>&a9;</failure>"))
    assert find_reader(Kind.TESTS, document.encode()) is not None
    with pytest.raises(Unreadable, match="document type or entities"):
        results(document)


def test_an_undeclared_entity_is_refused() -> None:
    with pytest.raises(Unreadable, match="not well-formed XML: undefined entity"):
        results(suite(case("&nbsp;")))


@pytest.mark.parametrize(
    ("document", "limit"),
    [
        ("<testsuites>" + "<testsuite>" * 200, "MAX_DEPTH"),
        (suite(case("<a>" * 150 + "</a>" * 150)), "MAX_DEPTH"),
        (suite(case("<a/>" * 20_001)), "MAX_WHOLE_ELEMENTS"),
        ('<testsuites><testsuite name="' + "x" * 5_000_000, "MAX_TAG_BYTES"),
    ],
)
def test_limits_are_named_in_the_refusal(document: str, limit: str) -> None:
    with pytest.raises(Unreadable, match=limit):
        results(document)


def test_limits_of_number_are_named_in_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    document = suite(*(case() for _ in range(30)))
    monkeypatch.setattr(tally, "MAX_CASES", 10)
    with pytest.raises(Unreadable, match="MAX_CASES = 10"):
        results(document)
    monkeypatch.setattr(xml, "MAX_ELEMENTS", 5)
    with pytest.raises(Unreadable, match="MAX_ELEMENTS = 5"):
        results(document)
    monkeypatch.setattr(xml, "MAX_BYTES", 100)
    with pytest.raises(Unreadable, match="MAX_BYTES = 100"):
        results(document)


def test_results_come_while_the_file_is_still_being_read() -> None:
    class Counting(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1) -> bytes:
            self.reads += 1
            return super().read(size)

    source = Counting(suite(*(case("x" * 1000) for _ in range(2000))).encode())
    stream = JUnitReader().read(source, Report())
    next(stream)
    early = source.reads
    assert sum(1 for _ in stream) == 1999
    assert source.reads > early + 10


def test_a_large_file_takes_little_memory() -> None:
    import tracemalloc

    body = case("<system-out>" + "line of output\n" * 400 + "</system-out>")
    document = suite(*(body for _ in range(1500))).encode()
    assert len(document) > 8_000_000
    tracemalloc.start()
    try:
        for _ in JUnitReader().read(io.BytesIO(document), Report()):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000
