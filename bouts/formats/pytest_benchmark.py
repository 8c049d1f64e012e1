"""The JSON of pytest-benchmark (FORMATS.md, 6): ``--benchmark-json``. All times are seconds.

Raw timings (``stats.data``) are there only where the file was written with them. A row without
a usable median is left out and noted; a file without any such row is unreadable.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.text import shorten_id, single_line
from bouts.formats.types import Kind, Report, Sample, Unreadable

MAX_BENCHMARKS = 10_000
MAX_TIMINGS = 100_000  # of one benchmark that are kept; above, only its median is

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
        remarks = Remarks()
        counts = Counter(benchmarks=0, timings=0)
        names: Counter[str] = Counter()
        for pattern, pointer, value in Document(source, report).parts(_VERSION, _ROW):
            if pattern == _VERSION:
                report.format_version = single_line(value)[:40] if isinstance(value, str) else None
                continue
            sample = _sample(value, pointer, remarks)
            if sample is None:
                continue
            counts["benchmarks"] += 1
            counts["timings"] += len(sample.samples_s)
            names[sample.name] += 1
            if counts["benchmarks"] > MAX_BENCHMARKS:
                raise Unreadable(f"more benchmarks than MAX_BENCHMARKS = {MAX_BENCHMARKS:,}")
            if names[sample.name] == 2:
                remarks.add("a name that stands for several benchmarks", sample.name[:200])
            yield sample
        if not counts["benchmarks"]:
            raise Unreadable("no benchmark with a median in it", "/benchmarks")
        report.counts.update(counts)
        remarks.write(report)


def _sample(row: Any, pointer: str, remarks: Remarks) -> Sample | None:
    stats = row.get("stats") if isinstance(row, dict) else None
    name = row.get("name") if isinstance(row, dict) else None
    if not isinstance(stats, dict) or not isinstance(name, str) or not name.strip():
        remarks.add("a row without a name or timings", pointer)
        return None
    data = stats.get("data")
    timings = data if isinstance(data, list) else []
    if not all(_is_time(timing) for timing in timings):
        remarks.add(
            "raw timings that are no numbers of seconds are left out", f"{pointer}/stats/data"
        )
        timings = []
    median = stats.get("median", statistics.median(timings) if timings else None)
    if median is None or not _is_time(median):
        remarks.add("a row without a usable median", f"{pointer}/stats/median")
        return None
    if len(timings) > MAX_TIMINGS:
        limit = f"MAX_TIMINGS = {MAX_TIMINGS:,}"
        remarks.add(f"more raw timings than {limit} are left out", f"{pointer}/stats/data")
        timings = []
    rounds, fullname = stats.get("rounds"), row.get("fullname")
    return Sample(
        name=shorten_id(name),
        median_s=float(median),
        samples_s=tuple(float(timing) for timing in timings),
        rounds=rounds if type(rounds) is int and 0 < rounds < 2**31 else None,
        fullname=shorten_id(fullname) if isinstance(fullname, str) else None,
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
