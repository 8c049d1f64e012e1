"""The JSON of hyperfine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.hyperfine import HyperfineReader
from bouts.formats.types import Sample, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def only(**fields: Any) -> Sample:
    (sample,) = read(HyperfineReader(), json.dumps({"results": [{"command": "x", **fields}]}))[0]
    return sample


def test_what_hyperfine_wrote_is_read_but_for_what_failed() -> None:
    (sample,), report = read(HyperfineReader(), FIXTURES / "hyperfine.json")
    assert (sample.name, sample.rounds, len(sample.samples_s)) == ("true", 4, 4)
    assert sample.median_s == 0.0035687535
    assert "did not end with exit code 0 do not count [/results/1/exit_codes]" in notes(report)
    assert "a row without a usable median [/results/1]" in notes(report)


def test_a_run_that_failed_now_and_then_counts_by_its_good_ones() -> None:
    found, _ = read(HyperfineReader(), FIXTURES / "hyperfine-codes.json")
    assert [(sample.name, sample.rounds) for sample in found] == [("coin 1", 2), ("coin 2", 2)]
    first = found[0]
    assert first.median_s == pytest.approx(sum(first.samples_s) / 2)


@pytest.mark.parametrize("code", [1, None, "0"])
def test_a_run_ended_by_a_signal_or_with_another_code_does_not_count(code: Any) -> None:
    sample = only(times=[1.0, 9.0, 3.0], exit_codes=[0, code, 0], median=3.0)
    assert (sample.samples_s, sample.median_s) == ((1.0, 3.0), 2.0)


def test_codes_that_do_not_belong_to_the_times_leave_the_row_out() -> None:
    document = {"results": [{"command": "x", "times": [1.0], "exit_codes": [0, 1], "median": 1}]}
    with pytest.raises(Unreadable, match="no benchmark"):
        read(HyperfineReader(), json.dumps(document))


def test_a_row_without_timings_has_the_median_that_it_tells() -> None:
    sample = only(median=1.5, stddev=None)
    assert (sample.median_s, sample.samples_s, sample.rounds) == (1.5, (), None)


@pytest.mark.parametrize("row", [{}, {"command": 5, "median": 1}, 5, {"command": "x"}])
def test_a_row_without_a_command_or_a_time_is_left_out(row: Any) -> None:
    with pytest.raises(Unreadable, match="no benchmark"):
        read(HyperfineReader(), json.dumps({"results": [row]}))
