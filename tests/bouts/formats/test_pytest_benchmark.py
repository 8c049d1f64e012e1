"""The JSON of pytest-benchmark."""

from __future__ import annotations

import json
import statistics
from typing import Any

import pytest

from bouts.formats import samples as shared
from bouts.formats.pytest_benchmark import PytestBenchmarkReader
from bouts.formats.types import Sample, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def benchmark_file(*rows: Any) -> str:
    return json.dumps({"machine_info": {}, "benchmarks": list(rows), "version": "5.3.1"})


def row(name: str = "test_x", **stats: Any) -> dict[str, Any]:
    return {
        "name": name,
        "fullname": f"a.py::{name}",
        "stats": {"median": 0.5, "rounds": 3, **stats},
    }


def samples(*rows: Any) -> list[Sample]:
    return read(PytestBenchmarkReader(), benchmark_file(*rows))[0]


def test_what_the_tool_wrote_is_read() -> None:
    found, report = read(PytestBenchmarkReader(), FIXTURES / "benchmark.json")
    assert [(sample.name, sample.fullname, sample.rounds) for sample in found] == [
        ("test_sum[10]", "speed.py::test_sum[10]", 7),
        ("test_sum[100]", "speed.py::test_sum[100]", 7),
    ]
    assert all(0 < sample.median_s < 1 for sample in found)
    assert report.format_version == "5.3.1"


def test_raw_timings_are_kept_where_they_were_saved() -> None:
    found, report = read(PytestBenchmarkReader(), FIXTURES / "benchmark-data.json")
    for sample in found:
        assert len(sample.samples_s) == 7
        assert statistics.median(sample.samples_s) == pytest.approx(sample.median_s)
    assert report.counts == {"benchmarks": 2, "timings": 14}


def test_a_median_is_taken_from_the_timings_where_it_is_missing() -> None:
    (sample,) = samples({"name": "x", "stats": {"data": [1, 3, 2.0]}})
    assert (sample.median_s, sample.samples_s, sample.rounds) == (2.0, (1.0, 3.0, 2.0), None)


@pytest.mark.parametrize("median", [None, "0.5", -0.1, True, [0.5]])
def test_a_row_without_a_usable_median_is_left_out_and_noted(median: object) -> None:
    found, report = read(PytestBenchmarkReader(), benchmark_file(row(median=median), row("test_y")))
    assert [sample.name for sample in found] == ["test_y"]
    assert "without a usable median [/benchmarks/0/stats/median]" in notes(report)


@pytest.mark.parametrize(
    "odd", [1, {}, {"name": "x"}, {"stats": {"median": 1}}, {"name": 5, "stats": {}}]
)
def test_a_row_that_is_none_is_left_out_and_noted(odd: object) -> None:
    found, report = read(PytestBenchmarkReader(), benchmark_file(odd, row()))
    assert len(found) == 1
    assert "without a name or timings [/benchmarks/0]" in notes(report)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_time_that_is_no_number_refuses_the_file(number: str) -> None:
    document = benchmark_file(row()).replace("0.5", number)
    with pytest.raises(Unreadable, match=r"no number in JSON|not valid JSON"):
        read(PytestBenchmarkReader(), document)


@pytest.mark.parametrize(
    "document", ["{}", '{"benchmarks": []}', '{"benchmarks": {}}', benchmark_file(1)]
)
def test_a_file_without_benchmarks_is_unreadable(document: str) -> None:
    with pytest.raises(Unreadable, match="no benchmark with a median"):
        read(PytestBenchmarkReader(), document)


def test_a_name_that_occurs_twice_is_noted() -> None:
    _, report = read(PytestBenchmarkReader(), benchmark_file(row(), row(), row()))
    assert "stands for several benchmarks [test_x]" in notes(report)


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "MAX_TIMINGS", 2)
    (sample,), report = read(PytestBenchmarkReader(), benchmark_file(row(data=[0.1, 0.2, 0.3])))
    assert (sample.median_s, sample.samples_s) == (0.5, ())
    assert "MAX_TIMINGS = 2" in notes(report)
    monkeypatch.setattr(shared, "MAX_BENCHMARKS", 1)
    with pytest.raises(Unreadable, match="MAX_BENCHMARKS = 1"):
        samples(row(), row("test_y"))
