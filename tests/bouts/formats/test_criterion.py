"""criterion's two files, and the lines of benchmarks that Rust and it print."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.bencher import BencherReader
from bouts.formats.criterion import CriterionReader
from bouts.formats.types import Sample, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def only(document: Any) -> Sample:
    (sample,) = read(CriterionReader(), json.dumps(document))[0]
    return sample


def test_estimates_and_sample_of_one_run_say_the_same() -> None:
    (estimate,), report = read(CriterionReader(), FIXTURES / "criterion-estimates.json")
    (sample,), _ = read(CriterionReader(), FIXTURES / "criterion-sample.json")
    assert estimate.median_s == pytest.approx(sample.median_s)
    assert 1e-9 < estimate.median_s < 1e-8
    assert (len(sample.samples_s), sample.rounds) == (10, 10)
    assert (estimate.name, sample.name) == ("", "")
    assert "does not name its benchmark" in notes(report)


def test_ratios_are_refused_and_never_read_as_times() -> None:
    with pytest.raises(Unreadable, match="ratios, not times"):
        read(CriterionReader(), FIXTURES / "criterion-change-estimates.json")


def test_the_shapes_of_old_versions_are_read() -> None:
    old = {"Median": {"point_estimate": 5.0}, "StdDev": {"point_estimate": 1.0}}
    assert only(old).median_s == pytest.approx(5e-9)
    assert only([[10.0, 20.0], [50.0, 100.0]]).samples_s == pytest.approx((5e-9, 5e-9))


@pytest.mark.parametrize(
    "document",
    [
        {"median": {"point_estimate": None}, "std_dev": {}},
        {"median": {"point_estimate": -1}, "std_dev": {}},
        {"median": 5, "std_dev": {}},
        {"iters": [1], "times": []},
        {"iters": [], "times": []},
        {"iters": [0], "times": [5]},
        {"iters": [1, 1], "times": [5, None]},
        {"iters": 1, "times": 5},
        [[1.0]],
        [[1.0], 5],
        5,
        None,
    ],
)
def test_what_tells_no_time_is_unreadable(document: Any) -> None:
    with pytest.raises(Unreadable):
        only(document)


# The lines of benchmarks


def test_lines_of_benchmarks_are_read_among_others() -> None:
    (sample,), report = read(BencherReader(), FIXTURES / "criterion-bencher.txt")
    assert (sample.name, sample.median_s) == ("sum of ten", pytest.approx(3e-9))
    assert not report.notes


@pytest.mark.parametrize(
    ("line", "name", "seconds"),
    [
        ("test a::b ... bench:   1,672,496 ns/iter (+/- 10,166)", "a::b", 1.672496e-3),
        ("test x ... bench:         0.51 ns/iter (+/- 0.00)", "x", 0.51e-9),
        ("test a ... b ... bench:  12 ns/iter (+/- 1) = 8 MB/s\r", "a ... b", 12e-9),
    ],
)
def test_a_line_gives_a_name_and_a_median(line: str, name: str, seconds: float) -> None:
    (sample,), _ = read(BencherReader(), line)
    assert (sample.name, sample.median_s) == (name, pytest.approx(seconds))


@pytest.mark.parametrize(
    "line",
    [
        *("test a ... ok", "test a ... ignored", "bench: 12 ns/iter (+/- 1)", ""),
        "test a ... bench: 12 s/iter (+/- 1)",
    ],
)
def test_a_log_without_such_lines_is_unreadable(line: str) -> None:
    assert not BencherReader().recognises(line.encode())
    with pytest.raises(Unreadable, match="no benchmark"):
        read(BencherReader(), line)
