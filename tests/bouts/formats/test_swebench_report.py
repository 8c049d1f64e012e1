"""SWE-bench's report of single instances, wrapped and flat."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats import documents, swebench_report
from bouts.formats.swebench_report import SwebenchReportReader
from bouts.formats.types import Outcome, TestResult, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def instance(
    mended: tuple[list[Any], list[Any]] = ([], []),
    kept: tuple[list[Any], list[Any]] = ([], []),
    **fields: Any,
) -> dict[str, Any]:
    groups = {"FAIL_TO_PASS": mended, "PASS_TO_PASS": kept}
    status = {
        name: {"success": passed, "failure": failed} for name, (passed, failed) in groups.items()
    }
    return {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": not (mended[1] or kept[1]),
        "tests_status": status,
        **fields,
    }


def results(document: Any) -> list[TestResult]:
    return read(SwebenchReportReader(), json.dumps(document))[0]


GOOD = instance((["mended"], []), (["kept"], ["other"]))
EXPECTED = [
    ("mended", Outcome.PASSED),
    ("kept", Outcome.PASSED),
    ("other", Outcome.FAILED),
]


@pytest.mark.parametrize("document", [GOOD, {"proj__p-1": GOOD}], ids=["flat", "wrapped"])
def test_the_flat_shape_and_the_wrapped_one_are_the_same(document: Any) -> None:
    assert SwebenchReportReader().recognises(json.dumps(document).encode())
    assert [(result.id, result.outcome) for result in results(document)] == EXPECTED


def test_what_the_harness_wrote_is_read() -> None:
    found, report = read(SwebenchReportReader(), FIXTURES / "swebench-report.json")
    assert {result.id: result.outcome for result in found} == {
        "test_mended": Outcome.PASSED,
        "test_other": Outcome.PASSED,
        "test_kept": Outcome.FAILED,
    }
    assert report.facts == {"resolved": 0}
    assert not report.notes


def test_the_tests_of_several_instances_bear_the_names_of_theirs() -> None:
    found, report = read(SwebenchReportReader(), FIXTURES / "swebench-reports.json")
    assert [result.id for result in found][::3] == [
        "proj__p-1::test_mended",
        "proj__p-2::test_mended",
    ]
    assert (len(found), report.facts) == (6, {"resolved": 1})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"tests_status": {}}, "inconclusive: tests_status is empty"),
        ({"tests_status": None, "resolved": True}, "inconclusive: tests_status is empty"),
        ({"tests_status": instance()["tests_status"]}, "inconclusive: tests_status is empty"),
        ({"tests_status": {}, "patch_successfully_applied": False}, "inconclusive"),
        (
            {"tests_status": {}, "infra_failure_reason": "network_unreachable"},
            "the harness says network_unreachable",
        ),
        ({"patch_is_None": True}, "no patch was submitted"),
    ],
)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_an_instance_without_any_test_is_inconclusive(
    fields: dict[str, Any], reason: str, is_wrapped: bool
) -> None:
    document = {**GOOD, **fields}
    with pytest.raises(Unreadable, match=reason):
        results({"proj__p-1": document} if is_wrapped else document)


def test_an_inconclusive_one_among_others_is_left_out_and_noted() -> None:
    document = {"a": GOOD, "b": instance()}
    found, report = read(SwebenchReportReader(), json.dumps(document))
    assert [result.id for result in found] == ["a::mended", "a::kept", "a::other"]
    assert "an instance is left out: inconclusive" in notes(report)
    with pytest.raises(Unreadable, match="every instance is inconclusive"):
        results({"a": instance(), "b": instance()})


def test_groups_that_the_harness_does_not_grade_are_noted_and_no_results() -> None:
    document = instance((["mended"], []))
    document["tests_status"]["PASS_TO_FAIL"] = {"success": [], "failure": ["x"]}
    found, report = read(SwebenchReportReader(), json.dumps(document))
    assert [result.id for result in found] == ["mended"]
    assert "PASS_TO_FAIL are not graded" in notes(report)


def test_a_verdict_that_disagrees_with_the_tests_is_noted() -> None:
    _, report = read(SwebenchReportReader(), json.dumps({**GOOD, "resolved": True}))
    assert "resolved disagrees with the tests" in notes(report)


@pytest.mark.parametrize("document", [{}, [], {"a": 1}, None])
def test_a_document_without_an_instance_is_unreadable(document: Any) -> None:
    with pytest.raises(Unreadable, match="no instance in it"):
        results(document)


def test_a_large_document_is_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = results({"a/b~c": GOOD, "d": GOOD})
    monkeypatch.setattr(documents, "WHOLE_LIMIT", 0)
    assert results({"a/b~c": GOOD, "d": GOOD}) == whole
    monkeypatch.setattr(swebench_report, "MAX_INSTANCES", 1)
    with pytest.raises(Unreadable, match="MAX_INSTANCES = 1"):
        results({"a": GOOD, "d": GOOD})
