"""Objective on bundles whose files are in many formats, from the bytes to the score."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from judging.judges.objective import passes
from tests import matches
from tests.bouts.formats.reading import FIXTURES

pytestmark = pytest.mark.django_db

PASSED = {"t": True}


def objective(
    folder: Path,
    challenge: dict[str, Any] | None = None,
    more: dict[str, str] | None = None,
    **options: Any,
) -> Any:
    """Return what `manage.py score` says of Objective for such a bundle.

    ``more`` holds further files, by path, of the first run of the visible tests.
    """
    folder.mkdir(exist_ok=True)
    path = folder / "challenge.json"
    path.write_text(json.dumps(matches.challenge(**{"tests": [], **(challenge or {})})))
    suites = {"static": [PASSED], "hidden": [PASSED]}
    bundle = matches.write_bundle(folder / "bundle", **{**suites, **options})
    manifest = json.loads((bundle / "match.json").read_text())
    for name, content in (more or {}).items():
        (bundle / name).write_text(content)
        manifest["artifacts"].append({"path": name, "kind": "tests", "suite": "static", "run": 1})
    (bundle / "match.json").write_text(json.dumps(manifest))
    out = io.StringIO()
    call_command("score", bundle, challenge=path, json=True, stdout=out)
    return json.loads(out.getvalue())["judges"]["objective"]


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def counted(judged: Any) -> dict[str, int]:
    """Return how many tests of each suite count, and how many of them passed."""
    tests = judged["evidence"]["tests"]
    of_suite = [
        [test for test in tests if test["suite"] == suite] for suite in ("static", "hidden")
    ]
    passed = [sum(test["outcomes"] == ["passed"] for test in suite) for suite in of_suite]
    return {"static": len(of_suite[0]), "hidden": len(of_suite[1]), "passed": sum(passed)}


# Tests


@pytest.mark.parametrize(
    ("static", "hidden", "tests"),
    [
        # Skipped ones are left out, a retried one counts as its first attempt.
        ("ctrf-pytest.json", "pytest-json-report.json", {"static": 10, "hidden": 10, "passed": 12}),
        ("ctrf-jest.json", "ctrf-pytest-rerun.json", {"static": 3, "hidden": 3, "passed": 2}),
        ("swebench-report.json", "swebench-run.json", {"static": 3, "hidden": 3, "passed": 3}),
        ("terminal-bench.json", "harbor-result.json", {"static": 2, "hidden": 2, "passed": 2}),
        ("reward.txt", "reward.json", {"static": 1, "hidden": 2, "passed": 2}),
    ],
)
def test_results_count_in_whatever_format_they_come(
    tmp_path: Path, static: str, hidden: str, tests: dict[str, int]
) -> None:
    judged = objective(tmp_path, static=[fixture(static)], hidden=[fixture(hidden)])
    assert counted(judged) == tests
    assert judged["raw"] is not None


def test_the_challenges_list_finds_a_test_by_the_name_that_its_format_gives(tmp_path: Path) -> None:
    listed = [
        {"id": "outcomes.py::TestSums::test_two_and_two", "suite": "static", "severity": "high"},
        {"id": "outcomes.py::test_skipped", "suite": "static"},
        {"id": "proj__p-1", "suite": "hidden"},
    ]
    judged = objective(
        tmp_path,
        {"tests": listed},
        static=[fixture("pytest-json-report.json")],
        hidden=[fixture("swebench-run.json")],
    )
    outcomes = {test["id"]: test["outcomes"] for test in judged["evidence"]["tests"]}
    assert outcomes == {
        "outcomes.py::TestSums::test_two_and_two": ["passed"],
        "outcomes.py::test_skipped": ["skipped"],
        "proj__p-1": ["passed"],
    }


@pytest.mark.parametrize(
    "written",
    ["terminal-bench-timeout.json", "harbor-result-unverified.json", "harbor-result-invalid.json"],
)
def test_what_was_not_measured_is_no_score_and_never_zero(tmp_path: Path, written: str) -> None:
    judged = objective(tmp_path, static=[fixture(written)])
    assert (judged["raw"], judged["reason"]) == (None, "unreadable")


def test_a_reward_that_is_a_fraction_leaves_the_suite_without_tests(tmp_path: Path) -> None:
    judged = objective(tmp_path, static=["0.75"], hidden=[])
    assert (judged["raw"], judged["reason"]) == (None, "no_tests")


# Lists, runs, and what the submission did to the tests

ONCE, TWICE = "tests.test_a::test_once", "tests.test_a::test_twice"
VISIBLE = {"id": ONCE, "suite": "static", "path": "tests/test_a.py"}


def outcomes(judged: Any) -> dict[str, list[str]]:
    return {test["id"]: test["outcomes"] for test in judged["evidence"]["tests"]}


def test_a_listed_test_that_is_missing_or_skipped_fails_and_no_other_counts(tmp_path: Path) -> None:
    """Of 3 + 2 + 1 points of severity the critical test alone earns its 3: 50."""
    listed = [
        {"id": ONCE, "suite": "static", "severity": "critical"},
        {"id": TWICE, "suite": "static", "severity": "high"},
        {"id": "tests.test_a::test_gone", "suite": "static"},
    ]
    run = {ONCE: True, TWICE: "skip", "tests.test_a::test_more": True}
    judged = objective(tmp_path, {"tests": listed}, static=[run], hidden=[])
    assert outcomes(judged) == {
        ONCE: ["passed"],
        TWICE: ["skipped"],
        "tests.test_a::test_gone": ["missing"],
    }
    assert judged["unlisted"] == ["tests.test_a::test_more"]
    assert (judged["static_rate"], judged["raw"]) == ("50.00", "50.00")


def test_a_listed_suite_without_a_file_is_no_score(tmp_path: Path) -> None:
    listed = [VISIBLE, {"id": "inv::t", "suite": "invariant"}]
    judged = objective(tmp_path, {"tests": listed}, static=[{ONCE: True}], hidden=[])
    assert (judged["raw"], judged["reason"]) == (None, "unreadable")


def test_without_a_list_a_run_that_skips_or_lacks_a_test_does_not_count_for_it(
    tmp_path: Path,
) -> None:
    """Test once fails 1 of its 2 runs, twice passes all: 75. The runs alone: 100, 100 and 50."""
    runs = [{ONCE: "skip", TWICE: True}, {ONCE: True}, {ONCE: False, TWICE: True}]
    judged = objective(tmp_path, static=runs, hidden=[])
    assert outcomes(judged) == {
        ONCE: ["uncounted", "passed", "failed"],
        TWICE: ["passed", "uncounted", "passed"],
    }
    assert judged["raw"] == "75.00"
    assert judged["run_scores"] == ["100.00", "100.00", "50.00"]
    assert judged["reproducible"] is False
    assert "unreadable_run" not in judged["marks"]


def test_what_every_run_skips_is_left_out_and_reported(tmp_path: Path) -> None:
    judged = objective(tmp_path, static=[{ONCE: True, TWICE: "skip"}], hidden=[])
    assert outcomes(judged) == {ONCE: ["passed"]}
    assert (judged["skipped"], judged["raw"]) == ([TWICE], "100.00")


@pytest.mark.parametrize("tests", [[], [VISIBLE]])
def test_one_run_among_several_that_cannot_be_read_is_left_out_and_marked(
    tmp_path: Path, tests: list[Any]
) -> None:
    runs = [{ONCE: True}, "<testsuite", {ONCE: False}]
    judged = objective(tmp_path, {"tests": tests}, static=runs, hidden=[])
    assert outcomes(judged) == {ONCE: ["passed", "unreadable", "failed"]}
    assert judged["raw"] == "50.00"
    assert "unreadable_run" in judged["marks"]


def test_a_run_of_several_files_is_as_readable_as_each_of_them(tmp_path: Path) -> None:
    """Two files are one run: together 1 of 2 pass; with one that cannot be read there is none."""
    both = objective(
        tmp_path / "both", more={"b.xml": matches.junit({TWICE: False})}, static=[{ONCE: True}]
    )
    assert both["static_rate"] == "50.00"
    broken = objective(tmp_path / "broken", more={"b.xml": "<testsuite"}, static=[{ONCE: True}])
    assert (broken["raw"], broken["reason"]) == (None, "unreadable")


def test_of_a_test_that_one_run_has_twice_the_first_attempt_counts(tmp_path: Path) -> None:
    again = {"b.xml": matches.junit({ONCE: True})}
    judged = objective(tmp_path, more=again, static=[{ONCE: False}], hidden=[])
    assert (outcomes(judged), judged["raw"]) == ({ONCE: ["failed"]}, "0.00")


@pytest.mark.parametrize(
    ("outcomes", "tampered", "passed"),
    [
        (["passed", "passed"], False, True),
        (["uncounted", "passed", "unreadable"], False, True),
        (["passed", "failed"], False, False),
        (["passed", "skipped"], False, False),
        (["passed", "missing"], False, False),
        (["passed"], True, False),
        (["unreadable"], False, False),
    ],
)
def test_a_test_passes_that_passed_wherever_it_counts(
    outcomes: list[str], tampered: bool, passed: bool
) -> None:
    assert passes({"outcomes": outcomes, "tampered": tampered}) is passed


def touching(path: str, status: str = "") -> str:
    """Return a diff that changes, adds or deletes a file."""
    old = "/dev/null" if status == "new file" else f"a/{path}"
    new = "/dev/null" if status == "deleted file" else f"b/{path}"
    mode = f"{status} mode 100644\n" if status else ""
    hunk = {"new file": "@@ -0,0 +1 @@\n+x\n", "deleted file": "@@ -1 +0,0 @@\n-x\n"}
    lines = hunk.get(status, "@@ -1 +1 @@\n-x\n+y\n")
    return f"diff --git a/{path} b/{path}\n{mode}--- {old}\n+++ {new}\n{lines}"


@pytest.mark.parametrize(
    ("diff", "changes", "tampered"),
    [
        (touching("tests/test_a.py"), {}, True),
        (touching("tests/test_a.py", "deleted file"), {}, True),
        (touching("tests/test_a.py"), {"editable": True}, False),
        (touching("tests/test_b.py"), {}, False),
        (touching("tests/test_a.py", "new file"), {}, False),
    ],
)
def test_a_visible_test_whose_file_the_submission_changes_fails(
    tmp_path: Path, diff: str, changes: dict[str, Any], tampered: bool
) -> None:
    judged = objective(
        tmp_path, {"tests": [{**VISIBLE, **changes}]}, static=[{ONCE: True}], hidden=[], diff=diff
    )
    (test,) = judged["evidence"]["tests"]
    assert (test["outcomes"], test["tampered"]) == (["passed"], tampered)
    assert judged["raw"] == ("0.00" if tampered else "100.00")


@pytest.mark.parametrize("tests", [[], [{"id": ONCE, "suite": "static"}]])
def test_where_no_list_says_in_which_file_a_test_stands_its_result_does(
    tmp_path: Path, tests: list[Any]
) -> None:
    results = (
        '<testsuite><testcase classname="tests.test_a" name="test_once" '
        'file="tests/test_a.py"/></testsuite>'
    )
    judged = objective(
        tmp_path, {"tests": tests}, static=[results], hidden=[], diff=touching("tests/test_a.py")
    )
    assert judged["raw"] == "0.00"


def test_severity_comes_from_the_list_then_from_the_result_else_it_is_medium(
    tmp_path: Path,
) -> None:
    def case(name: str, severity: str) -> str:
        told = f'<properties><property name="severity" value="{severity}"/></properties>'
        return f'<testcase classname="c" name="{name}">{told if severity else ""}</testcase>'

    results = (
        f"<testsuite>{case('a', 'critical')}{case('b', 'critical')}{case('c', '')}</testsuite>"
    )
    listed = [
        {"id": "c::a", "suite": "static", "severity": "high"},
        {"id": "c::b", "suite": "static"},
        {"id": "c::c", "suite": "static"},
    ]
    judged = objective(tmp_path, {"tests": listed}, static=[results], hidden=[])
    severities = {test["id"]: test["severity"] for test in judged["evidence"]["tests"]}
    assert severities == {"c::a": "high", "c::b": "critical", "c::c": "medium"}


# The scan


@pytest.mark.parametrize(
    ("scans", "critical"),
    [
        (["bandit.json"], {"B602", "B324"}),
        # The same faults, told in another format by the same tool.
        (["bandit.json", "bandit.sarif"], {"B602", "B324"}),
        (["trivy.json"], {"CVE-2000-0001", "aws-access-key-id"}),
        (["semgrep.json"], set()),
    ],
)
def test_critical_findings_count_once_in_whatever_format_they_come(
    tmp_path: Path, scans: list[str], critical: set[str]
) -> None:
    judged = objective(tmp_path, files={name: ("scan", fixture(name)) for name in scans})
    found = judged["evidence"]["scan"]
    assert {finding["rule"] for finding in found} == critical
    # One advisory about two packages is two.
    assert len(found) == (3 if "trivy.json" in scans else len(critical))


def test_what_the_starting_tree_had_does_not_count(tmp_path: Path) -> None:
    known = [
        {"rule": "B602", "path": "flawed.py", "snippet": "subprocess.call(command, shell=True)"},
        {"rule": "CVE-2000-0001", "path": "requirements.txt", "snippet": "second 2.0"},
    ]
    names = ("bandit.json", "trivy.json")
    judged = objective(
        tmp_path,
        {"starting_findings": known},
        files={name: ("scan", fixture(name)) for name in names},
    )
    found = [finding["rule"] for finding in judged["evidence"]["scan"]]
    assert sorted(found) == ["B324", "CVE-2000-0001", "aws-access-key-id"]


@pytest.mark.parametrize(
    ("known", "score"),
    [
        ([], "90.00"),  # two critical findings
        ([{"rule": "B602", "path": "flawed.py"}], "95.00"),
        ([{"rule": "B602", "path": "elsewhere.py"}], "90.00"),
        ([{"rule": "B999", "path": "flawed.py"}], "90.00"),
    ],
)
def test_each_critical_finding_costs_five_unless_the_starting_tree_has_that_rule_there(
    tmp_path: Path, known: list[Any], score: str
) -> None:
    files = {"bandit.json": ("scan", fixture("bandit.json"))}
    assert objective(tmp_path, {"starting_findings": known}, files=files)["raw"] == score


# Crashes

CRASH = 'Fatal Python error: Segmentation fault\n  File "/w/refunds/pay.py", line 3 in pay\n'


def test_a_crash_of_graded_runs_costs_ten_once_a_signature(tmp_path: Path) -> None:
    judged = objective(tmp_path, hidden=[PASSED, PASSED], hidden_log=CRASH)
    assert len(judged["crashes"]) == 1
    assert judged["raw"] == "90.00"


def test_what_crashed_while_the_agent_worked_costs_nothing(tmp_path: Path) -> None:
    judged = objective(tmp_path, files={"agent.log": ("log", CRASH)})
    assert (judged["crashes"], judged["raw"]) == ([], "100.00")


# Speed


@pytest.mark.parametrize(
    ("path", "written", "name", "median_s"),
    [
        ("b.json", "hyperfine.json", "true", "0.003569"),
        ("b.json", "google-benchmark.json", "summing/10", "0.000000249624"),
        ("b.json", "jmh.json", "org.example.Sums.many:n=100", "0.000004"),
        ("b.json", "benchmarkdotnet.json", "Example.Sums.Ten", "0.0000000115"),
        ("b.txt", "criterion-bencher.txt", "sum of ten", "0.000000003"),
        ("criterion/sum of ten/new/estimates.json", "criterion-estimates.json", "sum of ten", None),
        ("criterion/sums/ten/new/sample.json", "criterion-sample.json", "sums/ten", None),
    ],
)
def test_a_benchmark_is_found_by_its_name_and_told_in_seconds(
    tmp_path: Path, path: str, written: str, name: str, median_s: str | None
) -> None:
    judged = objective(
        tmp_path,
        {"benchmark": {"name": name, "baseline_s": 1}},
        files={path: ("benchmark", fixture(written))},
    )
    speed = judged["performance"]
    assert (speed["bonus"], speed["artifact"]) == ("5.00", path)
    assert float(speed["median_s"]) > 0
    assert median_s in {None, speed["median_s"]}
    assert f"{name} takes {speed['median_s']} s" in judged["rationale"]


def test_a_short_baseline_is_told_in_digits_that_say_something(tmp_path: Path) -> None:
    judged = objective(
        tmp_path,
        {"benchmark": {"name": "Example.Sums.Ten", "baseline_s": 1.5e-8}},
        files={"b.json": ("benchmark", fixture("benchmarkdotnet.json"))},
    )
    assert judged["performance"]["baseline_s"] == "0.000000015"
    assert judged["performance"]["bonus"] == "1.52"  # 15 / 11.5 times as fast


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("criterion/sum of ten/base/estimates.json", "sum of ten"),  # of the run before
        ("criterion/sum of ten/new/estimates.json", "of ten"),
        ("estimates.json", "sum of ten"),
    ],
)
def test_a_file_of_another_folder_is_of_another_benchmark(
    tmp_path: Path, path: str, name: str
) -> None:
    judged = objective(
        tmp_path,
        {"benchmark": {"name": name, "baseline_s": 1}},
        files={path: ("benchmark", fixture("criterion-estimates.json"))},
    )
    assert judged["performance"]["reason"] == "no readable timing of that name"


def test_a_name_of_several_benchmarks_earns_nothing(tmp_path: Path) -> None:
    rows = [{"name": "BM", "real_time": time, "time_unit": "ms"} for time in (1, 900)]
    content = json.dumps({"context": {}, "benchmarks": rows})
    judged = objective(
        tmp_path,
        {"benchmark": {"name": "BM", "baseline_s": 1}},
        files={"b.json": ("benchmark", content)},
    )
    assert judged["performance"]["reason"] == "several timings of that name in one file"
    assert judged["raw"] == "100.00"
