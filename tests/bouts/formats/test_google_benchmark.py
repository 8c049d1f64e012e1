"""The JSON of Google Benchmark."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.google_benchmark import GoogleBenchmarkReader
from bouts.formats.types import Sample, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def document(*rows: Any) -> str:
    return json.dumps({"context": {}, "benchmarks": list(rows)})


def row(name: str = "BM", real_time: Any = 5, time_unit: Any = "ns", **fields: Any) -> Any:
    return {"name": name, "real_time": real_time, "time_unit": time_unit, **fields}


def samples(*rows: Any) -> list[Sample]:
    return read(GoogleBenchmarkReader(), document(*rows))[0]


def test_repetitions_are_the_timings_of_one_benchmark() -> None:
    found, report = read(GoogleBenchmarkReader(), FIXTURES / "google-benchmark.json")
    assert [(sample.name, sample.rounds) for sample in found] == [
        ("summing/10", 3),
        ("summing/100", 3),
    ]
    assert found[0].samples_s[0] == pytest.approx(3.2240030035264872e-07)
    assert found[0].median_s == pytest.approx(2.4962393502907868e-07)
    assert (report.counts["timings"], report.counts["aggregates"]) == (6, 8)
    assert "failed or was skipped is left out (3 times) [/benchmarks/14]" in notes(report)
    assert report.format_version == "1.9.5"


def test_aggregates_are_read_where_they_stand_alone_and_only_the_median() -> None:
    found, report = read(GoogleBenchmarkReader(), FIXTURES / "google-benchmark-aggregates.json")
    assert [(sample.name, sample.samples_s) for sample in found] == [
        ("summing/10", ()),
        ("summing/100", ()),
    ]
    assert found[0].median_s == pytest.approx(6.037290706190952e-07)
    assert report.counts["timings"] == 0


@pytest.mark.parametrize(
    ("unit", "seconds"), [("ns", 5e-9), ("us", 5e-6), ("ms", 5e-3), ("s", 5.0)]
)
def test_each_row_has_a_unit_of_its_own(unit: str, seconds: float) -> None:
    found = samples(row(time_unit=unit), row("other", time_unit="s"))
    assert [sample.median_s for sample in found] == [pytest.approx(seconds), 5.0]


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (row(time_unit=None), "without a unit of time"),
        (row(time_unit="fortnight"), "without a unit of time"),
        (row(time_unit=["ns"]), "without a unit of time"),
        (row(real_time=None), "without a finite time"),
        (row(real_time=-1), "without a finite time"),
        (row(error_occurred=True), "failed or was skipped"),
        (row(skipped=True), "failed or was skipped"),
        ({"real_time": 1, "time_unit": "s"}, "without a name"),
        (5, "without a name"),
    ],
)
def test_a_row_that_tells_no_time_is_left_out_and_noted(odd: Any, reason: str) -> None:
    found, report = read(GoogleBenchmarkReader(), document(odd, row("other")))
    assert [sample.name for sample in found] == ["other"]
    assert reason in notes(report)
    with pytest.raises(Unreadable, match="no benchmark"):
        samples(odd)


@pytest.mark.parametrize("number", ["inf", "-nan", "NaN", "Infinity"])
def test_bare_numbers_that_are_not_finite_are_null_and_noted(number: str) -> None:
    text = document(row("inf, nan", real_time=9.25), row("other")).replace("9.25", number)
    found, report = read(GoogleBenchmarkReader(), text)
    assert [sample.name for sample in found] == ["other"]
    assert "not finite are taken for null (1 time)" in notes(report)


@pytest.mark.parametrize("summary", ["mean", "median", "stddev", "cv", "BigO", "RMS"])
def test_a_summary_is_known_by_its_type_and_in_old_files_by_its_name(summary: str) -> None:
    for aggregate in (
        row("BM_" + summary, run_name="BM", run_type="aggregate", aggregate_name=summary),
        row("BM_" + summary),
    ):
        found = samples(row("BM"), row("BM", 7), aggregate)
        assert [sample.name for sample in found] == ["BM", "BM"]
    assert [sample.name for sample in samples(row("x_mean", run_type="iteration"))] == ["x_mean"]


def test_two_benchmarks_of_one_name_stay_two_and_are_noted() -> None:
    found, report = read(GoogleBenchmarkReader(), document(row(), row(real_time=7)))
    assert [len(sample.samples_s) for sample in found] == [1, 1]
    assert "a name that stands for several benchmarks [BM]" in notes(report)
    numbered = [
        row(repetition_index=index, family_index=family) for family in (0, 1) for index in (0, 1)
    ]
    assert [len(sample.samples_s) for sample in samples(*numbered)] == [2, 2]
