"""TAP 12, 13 and 14: leaves, subtests, directives, and everything a harness fails for."""

from __future__ import annotations

import pytest

from bouts.formats import tap
from bouts.formats.tap import TapReader
from bouts.formats.types import Outcome, Report, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def results(document: str | bytes) -> list[TestResult]:
    return read(TapReader(), document)[0]


def lines(*written: str) -> str:
    return "\n".join(written) + "\n"


def outcomes(*written: str) -> dict[str, str]:
    return {result.id: result.outcome.value for result in results(lines(*written))}


def fixture(name: str) -> tuple[dict[str, TestResult], Report]:
    found, report = read(TapReader(), FIXTURES / f"tap-{name}.tap")
    return {result.id: result for result in found}, report


# What tools write


def test_perl_names_subtests_and_escapes_the_hash() -> None:
    found, report = fixture("perl-outcomes")
    assert report.format_version == "12"
    assert report.counts == {
        **{"subtests": 3, "cases": 10},
        **{"passed": 5, "failed": 2, "errored": 0, "skipped": 3},
    }
    assert {name: result.outcome.value for name, result in found.items()} == {
        "adds": "passed",
        "floats add up": "failed",
        "test 3": "skipped",
        "is finished": "skipped",
        "costs # 5": "passed",
        "a group::inside": "passed",
        "a group::inside, wrong": "failed",
        "a group::deeper::deep down": "passed",
        "left out": "skipped",
        "test 8": "passed",
    }
    assert found["test 3"].message == "SKIP no network"
    assert not report.notes


def test_node_names_each_test_before_it_and_tells_of_it_after_it() -> None:
    found, report = fixture("node")
    assert report.format_version == "13"
    assert report.counts == {
        **{"subtests": 3, "cases": 10},
        **{"passed": 5, "failed": 2, "errored": 1, "skipped": 2},
    }
    failed = found["floats add up"]
    assert failed.message == "0.30000000000000004 == 0.3"
    assert failed.duration_s == pytest.approx(0.001071766)
    assert (failed.file, failed.line) == ("/work/outcomes.test.mjs", 5)
    assert "operator: '=='" in failed.log
    assert found["with subtests::second"].outcome is Outcome.FAILED
    assert "with subtests" not in found  # its subtest tells of it
    broken = found["a group with a broken end"]  # no subtest tells of it
    assert (broken.outcome, broken.message) == (Outcome.ERRORED, "cannot clean up")
    assert "a group::inside as well # 1" in found


def test_node_tap_writes_the_time_behind_a_point() -> None:
    found, report = fixture("node-tap")
    assert report.format_version == "14"
    failed = found["sums::floats add up"]
    assert (failed.outcome, failed.file, failed.line) == (Outcome.FAILED, "nodetap.js", 4)
    assert {name: result.outcome.value for name, result in found.items()} == {
        **{"sums::adds": "passed", "sums::floats add up": "failed"},
        **{"not today": "skipped", "one day": "skipped", "at the end": "passed"},
    }
    assert "+0.30000000000000004" in failed.log  # "--- expected" inside ends no block


def test_checks_of_the_same_words_stay_apart() -> None:
    found, report = fixture("tape")
    assert found["same words"].outcome is Outcome.PASSED
    assert found["same words (2)"].outcome is Outcome.FAILED
    assert report.counts["failed"] == 2
    assert "stands twice gets a number" in notes(report)


def test_what_follows_a_failed_point_is_its_log() -> None:
    found, _ = fixture("bats")
    assert found["is wrong"].message == "(in test file outcomes.bats, line 2)"
    assert "said before it failed" in found["is wrong"].log
    found, report = fixture("mocha")
    assert found["sums floats add up"].message == "0.30000000000000004 == 0.3"
    assert "no TAP and is left out (8 times)" in notes(report)


def test_a_run_that_bailed_out_is_an_errored_result() -> None:
    found, report = fixture("perl-bail")
    assert found["(bail out)"].outcome is Outcome.ERRORED
    assert found["(bail out)"].message == "Bail out! no database"
    assert report.counts["cases"] == 2


def test_a_run_that_stopped_early_is_an_errored_result() -> None:
    found, report = fixture("perl-short")
    assert found["(plan)"].outcome is Outcome.ERRORED
    assert found["(plan)"].message == "3 tests were planned and 1 ran"
    assert report.facts["claimed"] == {"tests": 3}


# Points


@pytest.mark.parametrize(
    ("line", "name", "outcome"),
    [
        ("ok 1 - adds", "adds", "passed"),
        ("ok 1 adds", "adds", "passed"),
        ("ok - adds", "adds", "passed"),
        ("ok adds", "adds", "passed"),
        ("ok", "test 1", "passed"),
        ("ok 1 -", "test 1", "passed"),
        ("not ok 1 - adds", "adds", "failed"),
        ("not ok", "test 1", "failed"),
        ("ok 1 - adds # SKIP later", "adds", "skipped"),
        ("ok 1 - adds # skipped: later", "adds", "skipped"),
        ("not ok 1 - adds # SKIP", "adds", "skipped"),
        ("not ok 1 - adds # TODO later", "adds", "skipped"),
        ("ok 1 - adds # todo later", "adds", "skipped"),
        ("not ok 1 # TODO", "test 1", "skipped"),
        ("not ok 1 - adds # TODOS are many", "adds", "skipped"),
        (r"not ok 1 - adds \# TODO", "adds # TODO", "failed"),
        ("not ok 1 - issue#TODO", "issue#TODO", "failed"),
        (r"ok 1 - a \\ b \# c", r"a \ b # c", "passed"),
        ("ok 1 - adds # time=12.5ms", "adds", "passed"),
        ("ok 1 - adds # 3 of 4", "adds", "passed"),
        ("ok 1 - adds\r", "adds", "passed"),
        ("ok 1 - a::b c", "a::b c", "passed"),
    ],
)
def test_a_point_has_a_name_and_an_outcome(line: str, name: str, outcome: str) -> None:
    assert outcomes("1..1", line) == {name: outcome}


@pytest.mark.parametrize(("written", "seconds"), [("12.5ms", 0.0125), ("2s", 2.0), ("2", None)])
def test_a_time_behind_a_point_needs_its_unit(written: str, seconds: float | None) -> None:
    (found,) = results(lines("1..1", f"ok 1 - adds # time={written}"))
    assert found.duration_s == seconds


@pytest.mark.parametrize("line", ["okay 1", "ok1 - adds", "Ok 1", "notok 1", " ok 1", "  ok 1"])
def test_what_looks_like_a_point_is_none(line: str) -> None:
    found, report = read(TapReader(), lines("1..1", "ok 1 - adds", line))
    assert [result.id for result in found] == ["adds"]
    assert "no TAP" in notes(report)


# Diagnoses


def test_fields_are_found_in_a_diagnosis_and_text_over_many_lines() -> None:
    (found,) = results(
        lines(
            *("TAP version 13", "1..1", "not ok 1 - adds", "  ---", "  message: >-"),
            *("    they differ", "    in the end", "  severity: critical", "  duration_ms: 1500"),
            *("  at:", "    file: sums.c", "    line: 7", "  data:", "    message: inner", "  ..."),
        )
    )
    assert found.message == "they differ"
    assert (found.severity, found.duration_s) == ("critical", 1.5)
    assert (found.file, found.line) == ("sums.c", 7)
    assert "in the end" in found.log


def test_the_severities_of_tap_itself_are_none() -> None:
    (found,) = results(lines("1..1", "not ok 1", "  ---", "  severity: fail", "  ..."))
    assert found.severity is None


def test_tap_inside_a_diagnosis_is_text() -> None:
    inside = ["  ---", "  got: |", "    ok 1 - fake", "    1..9", "  Bail out!", "  ..."]
    assert outcomes("1..2", "not ok 1 - a", *inside, "ok 2 - b") == {"a": "failed", "b": "passed"}


def test_a_diagnosis_that_is_never_closed_ends_where_its_indentation_does() -> None:
    assert outcomes("1..2", "not ok 1 - a", "  ---", "  got: 1", "ok 2 - b") == {
        **{"a": "failed", "b": "passed"},
    }


# Subtests


def test_subtests_are_named_by_the_point_that_closes_them() -> None:
    assert outcomes("    ok 1 - x", "    1..1", "ok 1 - bare", "1..1") == {"bare::x": "passed"}


def test_a_subtest_in_braces_comes_after_its_point() -> None:
    found = outcomes(
        "ok 1 - outer # time=1ms {", "    ok 1 - x", "    not ok 2 - y", "    1..2", "}", "1..1"
    )
    assert found == {"outer::x": "passed", "outer::y": "failed"}


def test_a_brace_that_opens_nothing_is_a_leaf() -> None:
    assert outcomes("1..2", "ok 1 - a {", "not ok 2 - b") == {"a": "passed", "b": "failed"}


def test_a_subtest_that_failed_outside_its_tests_is_an_errored_result() -> None:
    found = outcomes("    ok 1 - x", "    1..2", "not ok 1 - outer", "1..1")
    assert found == {"outer::x": "passed", "outer": "errored"}


def test_one_failure_is_not_told_again_by_the_subtests_around_it() -> None:
    found = outcomes(
        *("        not ok 1 - x", "        1..1", "    not ok 1 - inner", "    1..1"),
        *("not ok 1 - outer", "1..1"),
    )
    assert found == {"outer::inner::x": "failed"}


def test_what_failed_in_a_subtest_to_be_done_is_no_failure() -> None:
    found = outcomes("    not ok 1 - x", "    ok 2 - y", "    1..2", "not ok 1 - o # TODO", "1..1")
    assert found == {"o::x": "skipped", "o::y": "passed"}


def test_a_subtest_in_which_all_was_skipped_is_one_skipped_leaf() -> None:
    assert outcomes("    1..0 # skip no", "ok 1 - outer # skip no", "1..1") == {"outer": "skipped"}


def test_a_subtest_that_passed_against_its_tests_is_noted() -> None:
    _, report = read(TapReader(), lines("    not ok 1 - x", "    1..3", "ok 1 - outer", "1..1"))
    assert "passed, though a test in it failed" in notes(report)
    assert "passed, though its plan was not kept" in notes(report)


def test_a_subtest_that_is_never_closed_keeps_its_results() -> None:
    found, report = read(TapReader(), lines("# Subtest: a", "    not ok 1 - x", "1..0"))
    assert next((result.id, result.outcome) for result in found) == ("a::x", Outcome.FAILED)
    assert "never closed" in notes(report)


def test_words_of_a_program_are_no_subtest() -> None:
    found = outcomes("1..1", "    ok so far", "  1..2", "ok 1 - a")
    assert found == {"a": "passed"}


# The plan


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (["1..0", "ok 1", "ok 2"], "0 tests were planned and 2 ran"),
        (["1..3", "ok 1"], "3 tests were planned and 1 ran"),
        (["ok 1", "ok 2", "1..1"], "1 test was planned and 2 ran"),
        (["1..3"], "3 tests were planned and none ran"),
        (["ok 1"], "there is no plan"),
        (["1..2", "ok 1", "ok 3"], "not planned"),
        (["1..2", "ok 2", "ok 2"], "stands twice"),
        (["1..1", "ok 1", "1..1"], "more than one plan"),
    ],
)
def test_what_a_harness_fails_for_is_an_errored_result(written: list[str], fault: str) -> None:
    found, report = read(TapReader(), lines(*written))
    assert (found[-1].id, found[-1].outcome) == ("(plan)", Outcome.ERRORED)
    assert fault in found[-1].message
    assert fault in notes(report)


@pytest.mark.parametrize("written", [["1..2", "ok 2", "ok 1"], ["ok", "ok", "1..2"]])
def test_points_may_come_in_any_order_and_the_plan_at_the_end(written: list[str]) -> None:
    assert set(outcomes(*written)) == {"test 1", "test 2"}


@pytest.mark.parametrize("before", [[], ["1..5"], ["1..5", "ok 1 - a"], ["# words"]])
def test_bailing_out_is_an_error_and_no_skip(before: list[str]) -> None:
    found = results(lines(*before, "bail out!  the disk is full"))
    assert (found[-1].id, found[-1].outcome) == ("(bail out)", Outcome.ERRORED)
    assert found[-1].message == "Bail out! the disk is full"
    assert len(found) == 1 + ("ok 1 - a" in before)


def test_bailing_out_of_a_subtest_is_bailing_out() -> None:
    found = outcomes("# Subtest: a", "    ok 1 - x", "    Bail out! no", "Bail out! no")
    assert found == {"a::x": "passed", "(bail out)": "errored"}


def test_several_documents_in_one_file_each_keep_their_plan() -> None:
    first, second = ["TAP version 14", "1..1", "ok 1 - a"], ["TAP version 14", "1..2", "ok 1 - b"]
    assert outcomes(*first, *second) == {"a": "passed", "b": "passed", "(plan)": "errored"}


# What cannot be read


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("", "an empty run is no evidence"),
        ("TAP version 14\n", "an empty run is no evidence"),
        ("1..0 # SKIP no network\n", "all of it was skipped, no network"),
        ("1..0 # no network\n", "all of it was skipped, no network"),
        ("words\n" * 9, "an empty run is no evidence"),
        ("ok 1\n1..1\n".encode("utf-16").decode("latin-1"), "no test in it"),
        ("".join(f"{' ' * 4 * depth}ok 1\n" for depth in range(60)), "MAX_DEPTH"),
    ],
)
def test_what_holds_no_test_is_refused(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        results(document)


def test_utf_16_is_refused_with_its_place() -> None:
    with pytest.raises(Unreadable, match="UTF-16") as refusal:
        results("1..1\nok 1\n".encode("utf-16"))
    assert refusal.value.place == "byte 0"


def test_points_beyond_the_limit_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap, "MAX_WAITING", 10)
    inner = [f"    not ok {number}" for number in range(1, 41)]
    found, report = read(
        TapReader(), lines("# Subtest: a", *inner, "    1..40", "not ok 1 - a # TODO", "1..1")
    )
    assert len(found) == 40
    assert {result.id.partition("::")[0] for result in found} == {"a"}
    assert "MAX_WAITING = 10 points is not seen" in notes(report)


# Recognising it


@pytest.mark.parametrize(
    ("head", "is_tap"),
    [
        (b"TAP version 13\n", True),
        (b"> test\n> node --test\n\nTAP version 13\n", True),
        (b"1..4\r\n", True),
        (b"\xef\xbb\xbf1..4\n", True),
        (b"not ok 2 - x\n", True),
        (b"ok  \tgolang.org/x/net\t0.1s\n", False),
        (b"ok\n", False),
        (b"    1..4\n", False),
        (b"<a>\nok 1 - x\n</a>", False),
        (b'{"a": 1}\nok 1 - x\n', False),
        (b"1..4 apples\n", False),
    ],
)
def test_one_line_of_tap_is_enough(head: bytes, is_tap: bool) -> None:
    assert TapReader().recognises(head) is is_tap
