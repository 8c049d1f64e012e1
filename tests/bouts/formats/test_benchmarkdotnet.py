"""The JSON of BenchmarkDotNet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.benchmarkdotnet import BenchmarkDotNetReader
from bouts.formats.types import Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def document(*rows: Any) -> str:
    return json.dumps({"Title": "x", "HostEnvironmentInfo": {}, "Benchmarks": list(rows)})


def test_a_full_export_is_read_with_its_figures_that_are_none() -> None:
    (sample,), report = read(BenchmarkDotNetReader(), FIXTURES / "benchmarkdotnet.json")
    assert (sample.name, sample.rounds) == ("Example.Sums.Ten", 3)
    assert sample.samples_s == pytest.approx((10.5e-9, 11.5e-9, 12.5e-9))
    assert sample.median_s == pytest.approx(11.5e-9)
    assert report.format_version == "0.15.4"
    assert "not finite are taken for null (4 times)" in notes(report)
    assert "such as one that failed [/Benchmarks/1]" in notes(report)


def test_a_brief_export_has_the_median_alone() -> None:
    (sample,), _ = read(
        BenchmarkDotNetReader(), document({"FullName": "A.B", "Statistics": {"Median": 2.0}})
    )
    assert (sample.median_s, sample.samples_s, sample.rounds) == (2e-9, (), None)


@pytest.mark.parametrize(
    "row",
    [
        {},
        5,
        {"FullName": "x", "Statistics": None},
        {"Statistics": {"Median": 1}},
        {"FullName": "x", "Statistics": {"Median": None}},
        {"FullName": "x", "Statistics": {"Median": "1"}},
    ],
)
def test_a_row_that_tells_no_time_is_left_out(row: Any) -> None:
    with pytest.raises(Unreadable, match="no benchmark"):
        read(BenchmarkDotNetReader(), document(row))
