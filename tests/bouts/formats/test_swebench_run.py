"""SWE-bench's report of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.swebench_run import SwebenchRunReader
from bouts.formats.types import Outcome, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def run_file(**lists: Any) -> str:
    return json.dumps({"completed_instances": 1, **lists})


def outcomes(**lists: Any) -> dict[str, Outcome]:
    found, _ = read(SwebenchRunReader(), run_file(**lists))
    return {result.id: result.outcome for result in found}


def test_what_the_harness_wrote_is_read() -> None:
    found, report = read(SwebenchRunReader(), FIXTURES / "swebench-run.json")
    assert {result.id: (result.outcome, result.message) for result in found} == {
        "proj__p-1": (Outcome.PASSED, ""),
        "proj__p-2": (Outcome.FAILED, "not resolved"),
        "proj__p-3": (Outcome.SKIPPED, "not measured: the environment failed"),
        "proj__p-4": (Outcome.FAILED, "the patch is empty"),
        "proj__p-5": (Outcome.SKIPPED, "not submitted"),
    }
    assert report.format_version == "2"
    assert not report.notes


def test_completed_is_not_resolved() -> None:
    assert outcomes(completed_ids=["a", "b"], resolved_ids=["a"], unresolved_ids=["b"]) == {
        "a": Outcome.PASSED,
        "b": Outcome.FAILED,
    }


def test_a_cause_stands_before_what_only_says_not_resolved() -> None:
    assert outcomes(unresolved_ids=["a"], infra_failure_ids=["a"]) == {"a": Outcome.SKIPPED}
    assert outcomes(infra_failure_ids=["a"], resolved_ids=["a"]) == {"a": Outcome.PASSED}


def test_the_reports_of_2024_are_read() -> None:
    old = {
        "no_generation": ["a"],
        "generated": ["b", "c", "d", "e"],
        "with_logs": ["b", "c", "d", "e"],
        "install_fail": ["d"],
        "no_apply": ["c"],
        "applied": ["b", "e"],
        "test_timeout": ["e"],
        "resolved": ["b"],
    }
    assert SwebenchRunReader().recognises(json.dumps(old).encode())
    found, _ = read(SwebenchRunReader(), json.dumps(old))
    assert {result.id: result.outcome for result in found} == {
        "a": Outcome.FAILED,
        "b": Outcome.PASSED,
        "c": Outcome.FAILED,
        "d": Outcome.SKIPPED,
        "e": Outcome.ERRORED,
    }


def test_an_ambiguous_failure_counts_and_is_noted() -> None:
    document = run_file(unresolved_ids=["a"], ambiguous_failure_ids=["a"])
    (result,), report = read(SwebenchRunReader(), document)
    assert result.outcome is Outcome.FAILED
    assert "may be the environment's counts all the same" in notes(report)


def test_totals_that_disagree_and_names_that_are_none_are_noted() -> None:
    document = run_file(resolved_instances=2, resolved_ids=["a", 5, " "])
    _, report = read(SwebenchRunReader(), document)
    assert "resolved_ids=2 where there are 1" in notes(report)
    assert "an instance without a name (2 times) [/resolved_ids/1]" in notes(report)


def test_a_number_of_instances_is_refused_with_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bouts.formats.swebench_run.MAX_INSTANCES", 1)
    with pytest.raises(Unreadable, match=r"MAX_INSTANCES = 1 \(/resolved_ids/1\)"):
        outcomes(resolved_ids=["a", "b"])


@pytest.mark.parametrize("document", [run_file(), run_file(resolved_ids=[]), "{}", "[]"])
def test_a_report_without_instances_is_unreadable(document: str) -> None:
    with pytest.raises(Unreadable, match="no instance in it"):
        read(SwebenchRunReader(), document)
