"""The JSON of pytest-benchmark (FORMATS.md, 6): ``--benchmark-json``. All times are seconds.

Raw timings (``stats.data``) are there only where the file was written with them. A row without
a usable median is left out and noted; a file without any such row is unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import inner, number, short, text
from bouts.formats.guard import guarded
from bouts.formats.samples import Sheet
from bouts.formats.types import Kind, Report, Sample

_VERSION = "/version"
_ROW = "/benchmarks/*"


class PytestBenchmarkReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "pytest-benchmark"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        return "benchmarks" in keys and ("machine_info" in keys or "commit_info" in keys)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        for pattern, pointer, value in Document(source, report).parts(_VERSION, _ROW):
            if pattern == _VERSION:
                report.format_version = short(value) or None
            elif sample := _sample(value, pointer, sheet):
                yield sample
        sheet.finish("/benchmarks")


def _sample(row: Any, pointer: str, sheet: Sheet) -> Sample | None:
    stats = inner(row, "stats")
    name = text(row, "name")
    if not stats or not name:
        sheet.remarks.add("a row without a name or timings", pointer)
        return None
    timings = sheet.timings(stats.get("data"), f"{pointer}/stats/data")
    median_s = number(stats.get("median"))
    if median_s is None and "median" in stats:
        sheet.remarks.add("a row without a usable median", f"{pointer}/stats/median")
        return None
    return sheet.sample(
        name,
        f"{pointer}/stats",
        median_s=median_s,
        samples_s=timings,
        rounds=stats.get("rounds"),
        fullname=text(row, "fullname") or None,
    )
