"""Test results in what a test command printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.junit import JUnitReader
from bouts.formats.telemetry.test_output import junit_id, parse_test_output
from bouts.formats.types import Outcome
from tests.bouts.formats.reading import FIXTURES, read


def results_of_junit() -> dict[str, bool]:
    """What the graded file of the same run says, skipped ones left out."""
    found, _ = read(JUnitReader(), FIXTURES / "pytest.xml")
    return {r.id: r.outcome is Outcome.PASSED for r in found if r.outcome is not Outcome.SKIPPED}


@pytest.mark.parametrize("name", ["pytest-v.txt", "pytest-ra.txt"])
def test_the_ids_and_results_are_those_of_the_junit_file_of_the_same_run(name: str) -> None:
    run = parse_test_output((FIXTURES / name).read_text())
    assert run is not None
    # pytest writes control characters into the names of a JUnit file in a way of its own.
    odd = {test for test in results_of_junit() if "x1B" in test or "x1b" in test}
    expected = {test: passed for test, passed in results_of_junit().items() if test not in odd}
    assert {test: run.results[test] for test in expected} == expected
    assert (run.passed, run.failed) == (6, 4)


def test_a_quiet_run_names_what_failed_and_counts_the_rest() -> None:
    run = parse_test_output((FIXTURES / "pytest-q.txt").read_text())
    assert run is not None
    assert set(run.results.values()) == {False}
    assert len(run.results) == 4
    assert (run.passed, run.failed) == (6, 4)


def test_unittest_results_are_read_with_their_docstrings() -> None:
    run = parse_test_output((FIXTURES / "unittest-v.txt").read_text())
    assert run is not None
    assert run.results == {
        "unit.Sums::test_adds": True,
        "unit.Sums::test_adds_with_words": True,
        "unit.Sums::test_fails": False,
        "unit.Sums::test_breaks": False,
    }
    assert (run.passed, run.failed) == (2, 2)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("tests/test_x.py::TestA::test_b", "tests.test_x.TestA::test_b"),
        ("test_x.py::test_b", "test_x::test_b"),
        ("./a/b.py::C::D::test_e[x::y/z]", "a.b.C.D::test_e[x::y/z]"),
        ("tests/test_x.py", "tests.test_x"),
        ("my.pypkg/test_x.py::t", "my.pypkg.test_x::t"),
    ],
)
def test_a_pytest_node_is_named_as_in_a_junit_file(node: str, expected: str) -> None:
    assert junit_id(node) == expected


@pytest.mark.parametrize(
    ("text", "results", "passed", "failed"),
    [
        ("=== 1 failed, 2 passed, 1 error in 0.12s ===", {}, 2, 2),
        ("3 passed, 1 skipped, 2 deselected in 61.00s (0:01:01)", {}, 3, 0),
        ("\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m", {}, 5, 0),
        ("2 passed in 0.1s\nand\n1 failed in 0.2s", {}, 2, 1),
        (
            "[gw1] [ 50%] PASSED tests/a.py::t\n[gw0] [100%] FAILED tests/a.py::u\n",
            {"tests.a::t": True, "tests.a::u": False},
            1,
            1,
        ),
        ("ERROR tests/a.py - ImportError: no\n1 error in 0.1s", {"tests.a": False}, 0, 1),
        (
            "FAILED tests/a.py::t[a - b] - assert [1] == [2]\n1 failed in 0.1s",
            {"tests.a::t[a - b]": False},
            0,
            1,
        ),
        ("a.py::t PASSED\na.py::t FAILED\n", {"a::t": False}, 0, 1),
        ("a.py::t FAILED\na.py::t PASSED\n", {"a::t": False}, 0, 1),
        ("Ran 3 tests in 0.001s\n\nOK (skipped=1)", {}, 2, 0),
        (
            "ERROR: setUpClass (m.T)\nRan 0 tests in 0.000s\n\nFAILED (errors=1)",
            {"m.T::setUpClass": False},
            0,
            1,
        ),
        (
            "ERROR: tests.m (unittest.loader._FailedTest.tests.m)\nRan 1 test in 0.0s\n\nFAILED (errors=1)",
            {"tests.m": False},
            0,
            1,
        ),
        (
            "Ran 4 tests in 1.2s\n\nFAILED (failures=1, expected failures=1, unexpected successes=1)",
            {},
            1,
            2,
        ),
        (
            "--- FAIL: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\nFAIL\nFAIL\tpkg/x\t0.01s\nok  \tpkg/y\t0.2s",
            {"pkg/x::TestA": False, "pkg/x::TestA/sub": True, "pkg/y": True},
            2,
            1,
        ),
        ("FAIL\tpkg/z [build failed]\n", {"pkg/z": False}, 0, 1),
        (
            "test a::b ... ok\ntest c ... FAILED\ntest d ... ignored\ntest result: FAILED. 1 passed; 1 failed; 1 ignored",
            {"a::b": True, "c": False},
            1,
            1,
        ),
        ("Tests:       1 failed, 2 skipped, 3 passed, 6 total", {}, 3, 1),
        ("  Tests  2 failed | 3 passed (5)", {}, 3, 2),
        ("  5 passing (20ms)\n  1 failing\n", {}, 5, 1),
    ],
)
def test_each_runner_is_understood(
    text: str, results: dict[str, bool], passed: int, failed: int
) -> None:
    run = parse_test_output(text)
    assert run is not None
    assert (run.results, run.passed, run.failed) == (results, passed, failed)


@pytest.mark.parametrize(
    "text",
    [
        "no tests ran in 0.01s",
        "3 deselected in 0.01s",
        "=== 2 skipped in 0.01s ===",
        "Ran 0 tests in 0.000s\n\nOK",
        "test result: ok. 0 passed; 0 failed; 3 ignored",
    ],
)
def test_a_run_that_collected_nothing_tells_just_that(text: str) -> None:
    run = parse_test_output(text)
    assert run is not None
    assert (run.results, run.passed, run.failed) == ({}, 0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ERROR: file or directory not found: tests",
        "?   \tpkg\t[no test files]",
        "all tests passed",
        "I think 3 passed",
        "Traceback (most recent call last):\nImportError: no",
    ],
)
def test_an_output_that_tells_of_no_run_is_none(text: str) -> None:
    assert parse_test_output(text) is None


@given(st.text(st.sampled_from("apy.:[]- \nPASSEDFIL()ok01s="), max_size=200))
def test_no_output_is_too_odd(text: str) -> None:
    parse_test_output(text)


@pytest.mark.parametrize("part", ["a.py::", "a.py::\n", "a.py::x[", "[", "1 passed, ", "x (y"])
def test_a_long_hostile_output_is_gone_through_once(part: str) -> None:
    """A pattern that goes back over half a megabyte each time meets the time-out of all tests."""
    parse_test_output(part * (500_000 // len(part)))
