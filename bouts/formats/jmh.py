"""The JSON of JMH (FORMATS.md, 6): ``-rf json``. The unit of a score stands beside it.

- A score is a time for an operation or operations in a time; the second is turned into the
  first, timing by timing, and noted.
- A benchmark's name is its method, with its parameters where it has some: ``a.B.run:n=10``.
- The raw data of all forks are the timings. A benchmark without them (mode *sample* has a
  histogram) has the median that the percentiles tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document
from bouts.formats.fields import Record, inner, items, label, number, text
from bouts.formats.guard import guarded
from bouts.formats.samples import Sheet
from bouts.formats.types import Kind, Report, Sample

_ROW = "/*"
_UNITS_S = {
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "day": 86400.0,
}  # fmt: skip
_TIME = re.compile(r"([a-z]+)/op")
_RATE = re.compile(r"ops/([a-z]+)")


class JmhReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "jmh"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" and b'"primaryMetric"' in head

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        document = Document(source, report, forgives_numbers=True)
        for _, pointer, row in document.parts(_ROW):
            report.format_version = label(row, "jmhVersion", limit=40) or report.format_version
            if sample := _sample(row, pointer, sheet):
                yield sample
        sheet.finish("/")


def _sample(row: Any, pointer: str, sheet: Sheet) -> Sample | None:
    name, metric = text(row, "benchmark"), inner(row, "primaryMetric")
    if not name or not metric:
        sheet.remarks.add("a row without a name or a score", pointer)
        return None
    place = f"{pointer}/primaryMetric"
    unit = text(metric, "scoreUnit")
    found = _TIME.fullmatch(unit) or _RATE.fullmatch(unit)
    if found is None or found[1] not in _UNITS_S:
        sheet.remarks.add("a score whose unit is no time is left out", f"{place}/scoreUnit")
        return None
    unit_s = _UNITS_S[found[1]]
    is_rate = found.re is _RATE
    if is_rate:
        sheet.remarks.add("operations in a time are turned into a time for an operation", place)
    scores = [number(each) for each in _raw(metric)]
    times = [_seconds(score, unit_s, is_rate=is_rate) for score in scores]
    timings = tuple(time for time in times if time is not None)
    if len(timings) < len(times):
        sheet.remarks.add(
            "raw scores that are no positive numbers are left out", f"{place}/rawData"
        )
        timings = ()
    median = number(inner(metric, "scorePercentiles").get("50.0"))
    return sheet.sample(
        name + _parameters(row),
        place,
        median_s=None if timings else _seconds(median, unit_s, is_rate=is_rate),
        samples_s=timings,
        rounds=len(timings),
        fullname=f"{name} ({mode})" if (mode := label(row, "mode", limit=20)) else None,
    )


def _raw(metric: Record) -> list[Any]:
    """Return the scores of every iteration of every fork."""
    return [score for fork in items(metric, "rawData") if isinstance(fork, list) for score in fork]


def _seconds(score: float | None, unit_s: float, *, is_rate: bool) -> float | None:
    if not score:
        return None
    return unit_s / score if is_rate else score * unit_s


def _parameters(row: Record) -> str:
    given = inner(row, "params")
    told = ",".join(f"{name}={value}" for name, value in given.items() if isinstance(value, str))
    return f":{told}" if told else ""
