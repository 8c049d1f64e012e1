"""The files of criterion (FORMATS.md, 6): ``estimates.json`` and ``sample.json``, in nanoseconds.

Neither names its benchmark: the folder does, ``<name>/new/estimates.json``, so the name comes
back empty and whoever knows the file's path supplies it. An estimate is a point with no
timings; a sample has, for each measurement, a number of iterations and the time of all of them.
The ``estimates.json`` of a folder ``change`` has ratios, not times, and is refused.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import inner, items, number
from bouts.formats.guard import guarded
from bouts.formats.samples import MAX_TIMINGS, Sheet
from bouts.formats.types import Kind, Report, Sample, Unreadable

NANOSECOND = 1e-9

_MEDIANS = ("median", "Median")  # the second is what versions up to 0.3 wrote
_DEVIATIONS = ("std_dev", "StdDev")
_MEASURED = frozenset({"sampling_mode", "iters", "times"})
_UNNAMED = "the file does not name its benchmark: its folder does"


class CriterionReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "criterion"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head).keys()
        if "iters" in keys and keys <= _MEASURED:
            return True
        is_estimate = bool(keys & {"mean", "Mean"}) and b'"point_estimate"' in head
        # Numbers of iterations and times, as versions up to 0.3 wrote them.
        return is_estimate or (head.lstrip()[:2] == b"[[" and head.lstrip()[2:3].isdigit())

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        (document,) = Document(source, report).parts("")
        root = document.value
        if isinstance(root, dict) and "iters" not in root:
            sample = _of_estimates(root, sheet)
        else:
            sample = _of_measurements(root, sheet)
        if sample:
            sheet.remarks.add(_UNNAMED)
            yield sample
        sheet.finish("/")


def _of_estimates(root: dict[str, Any], sheet: Sheet) -> Sample | None:
    if not any(name in root for name in _DEVIATIONS):
        raise Unreadable("estimates of a change are ratios, not times")
    estimate = next(filter(None, (inner(root, name) for name in _MEDIANS)), {})
    median_ns = number(estimate.get("point_estimate"))
    median_s = None if median_ns is None else median_ns * NANOSECOND
    return sheet.sample("", "/median/point_estimate", median_s=median_s)


def _of_measurements(root: Any, sheet: Sheet) -> Sample | None:
    columns = root if isinstance(root, list) else [items(root, "iters"), items(root, "times")]
    if len(columns) != 2 or not all(isinstance(column, list) for column in columns):
        raise Unreadable("neither estimates nor a sample of criterion")
    iterations, times = ([number(each) for each in column] for column in columns)
    if len(iterations) != len(times) or not times:
        raise Unreadable("the numbers of iterations and of times differ, or there are none")
    each_s = [
        time * NANOSECOND / count
        for count, time in zip(iterations, times, strict=True)
        if count and time is not None
    ]
    if len(each_s) < len(times):
        raise Unreadable("a measurement without a number of iterations or a time")
    if len(each_s) > MAX_TIMINGS:
        return sheet.sample("", "/times", median_s=statistics.median(each_s), samples_s=each_s)
    return sheet.sample("", "/times", samples_s=each_s, rounds=len(each_s))
