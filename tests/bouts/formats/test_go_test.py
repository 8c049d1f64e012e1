"""The events of go test -json: ends, crashes, builds that failed and lines that are no events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats import go_test
from bouts.formats.go_test import GoTestReader
from bouts.formats.sniff import find_reader
from bouts.formats.types import Kind, Outcome, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def event(action: str, test: str | None = None, package: str | None = "m/p", **more: Any) -> str:
    fields = {"Action": action, "Package": package, "Test": test, **more}
    return json.dumps({name: value for name, value in fields.items() if value is not None}) + "\n"


def output(text: str, test: str | None = None) -> str:
    return event("output", test, Output=text)


def results(*events: str) -> list[TestResult]:
    return read(GoTestReader(), "".join(events))[0]


def only(*events: str) -> TestResult:
    (result,) = results(*events)
    return result


# What go writes


def test_tests_and_subtests_are_results_as_go_counts_them() -> None:
    found, report = read(GoTestReader(), FIXTURES / "go-outcomes.jsonl")
    assert report.counts == {
        **{"packages": 2, "cases": 9},
        **{"passed": 4, "failed": 4, "errored": 0, "skipped": 1},
    }
    assert not report.notes
    by_id = {result.id.partition("::")[2]: result for result in found}
    assert by_id["TestFails"].message == "sums_test.go:11: want 4, got 5"
    assert by_id["TestFails"].duration_s == 0
    assert by_id["TestSkipped"].message == "sums_test.go:13: not today"
    assert by_id["TestPrintsWithoutNewline"].outcome is Outcome.PASSED
    assert by_id["TestTable/two_words"].outcome is Outcome.PASSED
    assert by_id["TestTable/three"].outcome is Outcome.FAILED
    assert found[0].id == "example.org/outcomes/sums::TestPasses"


def test_a_package_that_does_not_build_is_an_errored_result() -> None:
    (found,), report = read(GoTestReader(), FIXTURES / "go-build-failed.jsonl")
    assert (found.id, found.outcome) == ("example.org/outcomes/broken", Outcome.ERRORED)
    assert found.message == "it did not build: no test of it ran"
    assert "undefined: missing" in found.log
    assert found.crash is None
    assert "did not build" in notes(report)


def test_a_panic_is_a_crash_of_the_test_that_it_ended() -> None:
    found, _ = read(GoTestReader(), FIXTURES / "go-crash.jsonl")
    assert [result.outcome for result in found] == [Outcome.PASSED, Outcome.FAILED]
    assert found[1].crash == "panic: runtime error: index out of range in crash_test.go"
    assert found[1].message.startswith("panic: runtime error")


def test_a_test_that_never_ended_and_a_package_that_failed_outside_its_tests() -> None:
    found, report = read(GoTestReader(), FIXTURES / "go-exits.jsonl")
    by_id = {result.id.removeprefix("example.org/outcomes/"): result for result in found}
    assert {name: result.outcome.value for name, result in by_id.items()} == {
        "exits::TestPasses": "passed",
        "exits::TestExits": "errored",
        "teardown::TestPasses": "passed",
        "teardown": "errored",
    }
    assert by_id["exits::TestExits"].crash == "ended early in exits"
    assert "cannot remove the database" in by_id["teardown"].log
    assert by_id["teardown"].crash is None
    assert "never ended: it crashed" in notes(report)
    assert "failed outside its tests" in notes(report)


def test_each_run_of_a_test_is_a_result_and_the_first_stands_first() -> None:
    found, report = read(GoTestReader(), FIXTURES / "go-rerun.jsonl")
    flaky = [result.outcome for result in found if result.id.endswith("::TestFlaky")]
    assert flaky == [Outcome.FAILED, Outcome.PASSED]
    assert report.counts["repeated"] == 7
    assert "occurred before" in notes(report)


# Tests without an end

BEGUN = (event("run", "TestA"), output("=== RUN   TestA\n", "TestA"))


def test_the_verdict_behind_output_without_a_newline_counts_where_the_package_passed() -> None:
    swallowed = output("words--- PASS: TestA (0.25s)\n", "TestA")
    (found,), report = read(GoTestReader(), "".join([*BEGUN, swallowed, event("pass")]))
    assert (found.outcome, found.duration_s) == (Outcome.PASSED, 0.25)
    assert "behind its output" in notes(report)


def test_a_test_without_an_end_has_no_result_where_its_package_passed() -> None:
    (found,), report = read(GoTestReader(), "".join([*BEGUN, event("pass")]))
    assert found.outcome is Outcome.SKIPPED
    assert found.message.startswith("no result")
    assert "has no end" in notes(report)


def test_a_test_without_an_end_crashed_where_its_package_failed() -> None:
    found = only(*BEGUN, event("fail"))
    assert (found.outcome, found.crash) == (Outcome.ERRORED, "ended early in p")


def test_no_verdict_saves_a_test_whose_package_failed() -> None:
    swallowed = output("words--- PASS: TestA (0.00s)\n", "TestA")
    found = only(*BEGUN, swallowed, event("fail"))
    assert (found.outcome, found.crash) == (Outcome.ERRORED, None)


@pytest.mark.parametrize(
    ("printed", "signature"),
    [
        ("panic: test timed out after 1s\n", "panic: test timed out after 1s"),
        (
            "fatal error: all goroutines are asleep - deadlock!\n",
            "fatal: all goroutines are asleep",
        ),
        ("signal: killed\n", "signal: killed"),
        ("SIGSEGV: segmentation violation\n", "signal: SIGSEGV"),
    ],
)
@pytest.mark.parametrize("test", ["TestA", None])
def test_the_package_or_the_test_tells_how_it_ended(
    printed: str, signature: str, test: str | None
) -> None:
    crash = only(*BEGUN, output(printed, test), event("fail")).crash
    assert crash is not None
    assert crash.startswith(signature)


def test_a_test_that_begins_again_without_an_end_is_not_lost() -> None:
    found = results(*BEGUN, *BEGUN, event("pass", "TestA"), event("pass"))
    assert [result.outcome for result in found] == [Outcome.SKIPPED, Outcome.PASSED]


# Packages


def test_a_package_that_failed_with_its_tests_is_no_result_of_its_own() -> None:
    found = results(*BEGUN, event("fail", "TestA"), output("FAIL\n"), event("fail"))
    assert [result.outcome for result in found] == [Outcome.FAILED]


def test_a_data_race_after_the_tests_is_an_errored_result() -> None:
    found = results(
        *BEGUN, event("pass", "TestA"), output("testing: race detected\n"), event("fail")
    )
    assert [result.id for result in found] == ["m/p::TestA", "m/p"]
    assert found[1].outcome is Outcome.ERRORED


@pytest.mark.parametrize("printed", ["FAIL\tm/p [build failed]\n", "FAIL\tm/p [setup failed]\n"])
def test_an_older_go_tells_of_builds_in_the_output(printed: str) -> None:
    assert only(output(printed), event("fail")).message.startswith("it did not build")


def test_packages_run_beside_one_another() -> None:
    found = results(
        event("run", "TestA", "a"),
        event("run", "TestA", "b"),
        event("fail", "TestA", "a"),
        event("pass", "TestA", "b"),
        event("pass", None, "b"),
        event("fail", None, "a"),
    )
    assert [(result.id, result.outcome.value) for result in found] == [
        ("a::TestA", "failed"),
        ("b::TestA", "passed"),
    ]


def test_test2json_alone_knows_no_package() -> None:
    found = only(event("pass", "TestA", None), event("pass", None, None))
    assert (found.id, found.outcome) == ("TestA", Outcome.PASSED)


@pytest.mark.parametrize("elapsed", [None, -1, True, "0.1", 1e300])
def test_a_time_that_is_none_is_not_made_up(elapsed: Any) -> None:
    assert only(event("pass", "TestA", Elapsed=elapsed), event("pass")).duration_s is None


# Lines that are no events


def test_lines_that_are_no_events_are_left_out_and_noted() -> None:
    written = ["go: downloading x\n", *BEGUN, '{"Time":"2026\n', '{"Action":"sing"}\n', "[1]\n"]
    (found,), report = read(
        GoTestReader(), "".join([*written, event("pass", "TestA"), event("pass")])
    )
    assert found.outcome is Outcome.PASSED
    assert "no JSON object and is left out (3 times)" in notes(report)
    assert "no event of a test" in notes(report)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([*BEGUN, event("pass", "TestA")], "ends early: package m/p has no end"),
        ([*BEGUN], "ends early"),
        ([event("pass", "TestA", None)], "ends early: a package"),
        ([event("skip")], "an empty run is no evidence"),
        ([event("build-fail", package=None, ImportPath="m/p")], "an empty run is no evidence"),
        (["words\n"], "no line of it is a JSON object"),
        ([], "no line of it is a JSON object"),
    ],
)
def test_what_cannot_be_read_is_refused(events: list[str], reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        results(*events)


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_test, "MAX_OPEN", 5)
    with pytest.raises(Unreadable, match="MAX_OPEN = 5"):
        results(*(event("run", f"Test{number}") for number in range(10)))
    monkeypatch.setattr(go_test, "MAX_KEPT_OUTPUT", 100)
    many = [output("x" * 60 + "\n", "TestA") for _ in range(9)]
    (found,), report = read(
        GoTestReader(), "".join([*BEGUN, *many, event("pass", "TestA"), event("pass")])
    )
    assert len(found.log) < 200
    assert "MAX_KEPT_OUTPUT = 100" in notes(report)


# Recognising it


@pytest.mark.parametrize(
    ("head", "is_go"),
    [
        (event("start"), True),
        ("# m/p\n./a.go:1:2: undefined: x\n" + event("fail"), True),
        (event("build-output", package=None, ImportPath="m/p", Output="x"), True),
        ('{"Action":"open","Package":"p"}\n', False),
        ('{"Action":"pass"}\n', False),
        ('{"Action":["pass"],"Package":"p"}\n', False),
        ('{"type":"run","Package":"p"}\n', False),
        ("ok  \tm/p\t0.1s\n", False),
    ],
)
def test_an_event_is_known_by_its_action_and_what_it_belongs_to(head: str, is_go: bool) -> None:
    assert (find_reader(Kind.TESTS, head.encode()) is not None) is is_go
