"""The JSON of BenchmarkDotNet (FORMATS.md, 6). All times are nanoseconds.

A benchmark's name is its ``FullName``: namespace, type, method and parameters. One that failed
has no statistics and is left out; NaN, which it writes where a figure is not defined, is null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import inner, number, short, text
from bouts.formats.guard import guarded
from bouts.formats.samples import Sheet
from bouts.formats.types import Kind, Report, Sample

_NANOSECOND = 1e-9
_VERSION = "/HostEnvironmentInfo/BenchmarkDotNetVersion"
_ROW = "/Benchmarks/*"


class BenchmarkDotNetReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "benchmarkdotnet"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        return "Benchmarks" in keys and ("HostEnvironmentInfo" in keys or "Title" in keys)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        document = Document(source, report, forgives_numbers=True)
        for pattern, pointer, value in document.parts(_VERSION, _ROW):
            if pattern == _VERSION:
                report.format_version = short(value) or None
            elif sample := _sample(value, pointer, sheet):
                yield sample
        sheet.finish("/Benchmarks")


def _sample(row: Any, pointer: str, sheet: Sheet) -> Sample | None:
    name, statistics = text(row, "FullName", "DisplayInfo"), inner(row, "Statistics")
    if not name:
        sheet.remarks.add("a row without a name", pointer)
        return None
    if not statistics:
        sheet.remarks.add("a benchmark without statistics, such as one that failed", pointer)
        return None
    place = f"{pointer}/Statistics"
    timings = sheet.timings(
        statistics.get("OriginalValues"), f"{place}/OriginalValues", unit_s=_NANOSECOND
    )
    median_ns = number(statistics.get("Median"))
    return sheet.sample(
        name,
        place,
        median_s=None if median_ns is None else median_ns * _NANOSECOND,
        samples_s=timings,
        rounds=statistics.get("N"),
        fullname=text(row, "DisplayInfo") or None,
    )
