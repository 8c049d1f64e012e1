"""The JSON of Google Benchmark (FORMATS.md, 6). The unit stands in each row.

- The time is ``real_time``, of one iteration. Repetitions are rows of the same name and become
  the timings of one benchmark; their aggregates are not mixed with them. Where a file has the
  aggregates alone, the one that is the median is read.
- A row that failed, was skipped, has no unit or no finite time is left out and noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, number, short, text
from bouts.formats.guard import guarded
from bouts.formats.samples import MAX_BENCHMARKS, MAX_TIMINGS, Sheet
from bouts.formats.types import Kind, Report, Sample, Unreadable

_VERSION = "/context/library_version"
_ROW = "/benchmarks/*"
_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# What a row that summarises others is called where it does not say its type, as of old.
_SUMMARIES = ("_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS")

_Key = tuple[object, object, str]


@dataclass(slots=True)
class _Group:
    """The repetitions of one benchmark, or the median of them."""

    pointer: str
    name: str
    times_s: list[float] = field(default_factory=list)
    repetitions: set[int] = field(default_factory=set)
    median_s: float | None = None


class GoogleBenchmarkReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "google-benchmark"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        return "benchmarks" in keys and "context" in keys

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        groups: dict[_Key, list[_Group]] = {}
        aggregates = 0
        document = Document(source, report, forgives_numbers=True)
        for pattern, pointer, row in document.parts(_VERSION, _ROW):
            if pattern == _VERSION:
                report.format_version = short(row) or None
            elif not isinstance(row, dict) or not text(row, "name"):
                sheet.remarks.add("a row without a name", pointer)
            elif _is_aggregate(row):
                aggregates += 1
                _take_aggregate(row, pointer, groups, sheet)
            elif (time_s := _time_s(row, pointer, sheet)) is not None:
                _take(row, time_s, pointer, groups)
            if len(groups) > MAX_BENCHMARKS:
                raise Unreadable(
                    f"more benchmarks than MAX_BENCHMARKS = {MAX_BENCHMARKS:,}", pointer
                )
        for group in (group for same in groups.values() for group in same):
            times = group.times_s
            sample = sheet.sample(
                group.name,
                group.pointer,
                median_s=None if times else group.median_s,
                samples_s=times,
                rounds=len(times),
            )
            if sample:
                yield sample
        sheet.finish("/benchmarks", **({"aggregates": aggregates} if aggregates else {}))


def _is_aggregate(row: Record) -> bool:
    if kind := text(row, "run_type"):
        return kind == "aggregate"
    return text(row, "name").endswith(_SUMMARIES)


def _time_s(row: Record, pointer: str, sheet: Sheet) -> float | None:
    if row.get("error_occurred") is True or row.get("skipped") is True:
        sheet.remarks.add("a benchmark that failed or was skipped is left out", pointer)
        return None
    time, unit = number(row.get("real_time")), row.get("time_unit")
    if time is None:
        sheet.remarks.add("a row without a finite time is left out", pointer)
    elif not isinstance(unit, str) or unit not in _UNITS_S:
        sheet.remarks.add("a row without a unit of time that is known is left out", pointer)
    else:
        return time * _UNITS_S[unit]
    return None


def _key(row: Record, name: str) -> _Key:
    # Two benchmarks may have one name; newer files number them.
    numbers = (row.get("family_index"), row.get("per_family_instance_index"))
    family, instance = (each if type(each) is int else None for each in numbers)
    return family, instance, name


def _take(row: Record, time_s: float, pointer: str, groups: dict[_Key, list[_Group]]) -> None:
    name = text(row, "run_name", "name")
    same = groups.setdefault(_key(row, name), [])
    repetition = row.get("repetition_index")
    index = repetition if type(repetition) is int else None
    # Without a number of its own, a row of the same name is another benchmark.
    if not same or index is None or index in same[-1].repetitions:
        same.append(_Group(pointer, name))
        if len(same) > MAX_BENCHMARKS:
            raise Unreadable(f"more benchmarks than MAX_BENCHMARKS = {MAX_BENCHMARKS:,}", pointer)
    same[-1].times_s.append(time_s)
    if index is not None:
        same[-1].repetitions.add(index)
    if len(same[-1].times_s) > MAX_TIMINGS:
        raise Unreadable(f"more repetitions than MAX_TIMINGS = {MAX_TIMINGS:,}", pointer)


def _take_aggregate(
    row: Record, pointer: str, groups: dict[_Key, list[_Group]], sheet: Sheet
) -> None:
    """Keep a median for the case that the repetitions themselves are not in the file."""
    is_median = row.get("aggregate_name") == "median" and row.get("aggregate_unit") in (
        None,
        "time",
    )
    name = text(row, "run_name")
    if is_median and name and (time_s := _time_s(row, pointer, sheet)) is not None:
        same = groups.setdefault(_key(row, name), [])
        if not same:
            same.append(_Group(pointer, name))
        same[-1].median_s = time_s
