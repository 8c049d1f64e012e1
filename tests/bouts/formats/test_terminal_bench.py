"""Terminal-Bench's results, of a trial and of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.terminal_bench import TerminalBenchReader
from bouts.formats.types import Outcome, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def trial(**fields: Any) -> dict[str, Any]:
    tests = {"test_a": "passed", "test_b": "failed"}
    outline = {"task_id": "hello", "trial_name": "hello.1", "is_resolved": False}
    return {**outline, "failure_mode": "unset", "parser_results": tests, **fields}


def test_what_the_harness_wrote_is_read() -> None:
    found, report = read(TerminalBenchReader(), FIXTURES / "terminal-bench.json")
    assert [(result.id, result.outcome) for result in found] == [
        ("test_hello_file_exists", Outcome.PASSED),
        ("test_hello_file_content", Outcome.FAILED),
    ]
    assert "ended with failure mode agent_timeout" in notes(report)


def test_what_was_not_measured_is_unreadable_with_that_reason() -> None:
    with pytest.raises(Unreadable, match=r"not measured: .* test_timeout \(/is_resolved\)"):
        read(TerminalBenchReader(), FIXTURES / "terminal-bench-timeout.json")
    with pytest.raises(Unreadable, match="not measured"):
        read(TerminalBenchReader(), json.dumps(trial(is_resolved=None)))
    with pytest.raises(Unreadable, match="neither true nor false"):
        read(TerminalBenchReader(), json.dumps(trial(is_resolved=1)))


def test_a_run_has_the_tests_of_its_tasks_and_leaves_out_what_was_not_measured() -> None:
    found, report = read(TerminalBenchReader(), FIXTURES / "terminal-bench-run.json")
    assert [result.id for result in found] == [
        "hello-world::test_hello_file_exists",
        "hello-world::test_hello_file_content",
    ]
    assert report.facts == {"trials": 2, "resolved": 1}
    assert "a trial is left out: not measured" in notes(report)


@pytest.mark.parametrize(
    "document",
    [
        {"results": [], "n_resolved": 0},
        {"results": [trial(is_resolved=None)], "n_resolved": 0},
        {"results": [5]},
        {},
    ],
)
def test_a_run_without_a_measured_trial_is_unreadable(document: Any) -> None:
    with pytest.raises(Unreadable, match="no trial in it was measured"):
        read(TerminalBenchReader(), json.dumps(document))


@pytest.mark.parametrize("tests", [None, {}, []])
def test_a_trial_that_tells_no_tests_is_its_tasks_own_outcome(tests: Any) -> None:
    (result,), report = read(TerminalBenchReader(), json.dumps(trial(parser_results=tests)))
    assert (result.id, result.outcome) == ("hello", Outcome.FAILED)
    assert "only the task's own outcome" in notes(report)


@pytest.mark.parametrize("status", ["xfailed", None, 1, ["passed"]])
def test_a_test_of_no_known_outcome_is_errored_and_noted(status: Any) -> None:
    document = json.dumps(trial(parser_results={"a": status}))
    (result,), report = read(TerminalBenchReader(), document)
    assert result.outcome is Outcome.ERRORED
    assert "counts as errored" in notes(report)


def test_a_verdict_that_disagrees_with_the_tests_is_noted() -> None:
    _, report = read(TerminalBenchReader(), json.dumps(trial(is_resolved=True)))
    assert "is_resolved disagrees with the tests" in notes(report)
