"""The JSON of JMH."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.jmh import JmhReader
from bouts.formats.types import Sample, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def row(unit: Any = "ms/op", data: Any = None, **fields: Any) -> dict[str, Any]:
    metric = {"scoreUnit": unit, "rawData": [[4.0, 2.0]] if data is None else data}
    return {"benchmark": "a.B.run", "mode": "avgt", "primaryMetric": metric, **fields}


def samples(*rows: Any) -> list[Sample]:
    return read(JmhReader(), json.dumps(list(rows)))[0]


def test_a_result_file_is_read() -> None:
    found, report = read(JmhReader(), FIXTURES / "jmh.json")
    assert [(s.name, s.rounds, s.median_s) for s in found] == [
        ("org.example.Sums.ten", 4, pytest.approx(4.5e-6)),
        ("org.example.Sums.many:n=100", 3, pytest.approx(4e-6)),
        ("org.example.Sums.spread", None, pytest.approx(1.5e-3)),
    ]
    assert found[2].samples_s == ()
    assert report.format_version == "1.37"
    assert "turned into a time for an operation [/1/primaryMetric]" in notes(report)


@pytest.mark.parametrize(
    ("unit", "median_s"),
    [
        *(("ns/op", 3e-9), ("us/op", 3e-6), ("ms/op", 3e-3), ("s/op", 3.0), ("min/op", 180.0)),
        # Two and four in a time: a half and a quarter of it for each.
        *(("ops/s", 0.375), ("ops/ms", 0.375e-3), ("ops/min", 22.5)),
    ],
)
def test_a_score_is_a_time_for_an_operation(unit: str, median_s: float) -> None:
    (sample,) = samples(row(unit))
    assert sample.median_s == pytest.approx(median_s)


@pytest.mark.parametrize("unit", ["MB/sec", "ops", "fortnights/op", "ops/fortnight", None, 5])
def test_a_score_of_another_unit_is_left_out_and_noted(unit: Any) -> None:
    found, report = read(JmhReader(), json.dumps([row(unit), row(benchmark="a.C")]))
    assert [sample.name for sample in found] == ["a.C"]
    assert "whose unit is no time is left out [/0/primaryMetric/scoreUnit]" in notes(report)


@pytest.mark.parametrize("data", [[["NaN"]], [[0]], [[-1]], [[None]], [[True]]])
def test_raw_scores_that_are_no_positive_numbers_are_left_out(data: Any) -> None:
    metric = {"scoreUnit": "s/op", "rawData": data, "scorePercentiles": {"50.0": 3}}
    (sample,), report = read(JmhReader(), json.dumps([row(primaryMetric=metric)]))
    assert (sample.samples_s, sample.median_s) == ((), 3)
    assert "raw scores that are no positive numbers" in notes(report)


@pytest.mark.parametrize("odd", [5, {}, {"benchmark": "x"}, {"primaryMetric": {}}])
def test_a_row_that_is_none_is_left_out(odd: Any) -> None:
    assert len(samples(odd, row())) == 1
    with pytest.raises(Unreadable, match="no benchmark"):
        samples(odd)
