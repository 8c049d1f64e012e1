"""The JSON of hyperfine (FORMATS.md, 6): ``--export-json``. All times are seconds.

A benchmark's name is its command, or the name that was given to it. A run that ended with
another exit code than 0, or by a signal, timed something else: it does not count, and a command
without any run that counts is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import items, number, text
from bouts.formats.guard import guarded
from bouts.formats.samples import Sheet
from bouts.formats.types import Kind, Report, Sample

_ROW = "/results/*"


class HyperfineReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "hyperfine"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return (
            "results" in top_keys(head)
            and b'"command"' in head
            and (b'"times"' in head or b'"stddev"' in head)
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        for _, pointer, row in Document(source, report).parts(_ROW):
            if sample := _sample(row, pointer, sheet):
                yield sample
        sheet.finish("/results")


def _sample(row: Any, pointer: str, sheet: Sheet) -> Sample | None:
    name = text(row, "command")
    if not name:
        sheet.remarks.add("a row without a command", pointer)
        return None
    times = sheet.timings(row.get("times"), f"{pointer}/times")
    codes = items(row, "exit_codes")
    median_s = number(row.get("median"))
    if any(code != 0 for code in codes):
        remark = "runs that did not end with exit code 0 do not count"
        sheet.remarks.add(remark, f"{pointer}/exit_codes")
        if len(codes) != len(times):
            sheet.remarks.add("a row of which no run counts", pointer)
            return None
        times = tuple(time for time, code in zip(times, codes, strict=True) if code == 0)
        median_s = None  # the file's own is of all runs
    return sheet.sample(name, pointer, median_s=median_s, samples_s=times, rounds=len(times))
