"""Rust's own lines of benchmarks, which criterion writes as well (FORMATS.md, 6).

``test NAME ... bench: 1,234 ns/iter (+/- 56)`` gives the median in nanoseconds. Everything else
that a run prints around such lines is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.criterion import NANOSECOND
from bouts.formats.guard import guarded
from bouts.formats.lines import numbered_lines
from bouts.formats.samples import Sheet
from bouts.formats.text import decode
from bouts.formats.types import Kind, Report, Sample

_LINE = re.compile(  # a name ends in no space, so that a run of them is looked at once
    rb"^test (?P<name>\S.{0,2000}?)(?<=\S) +\.\.\. bench: +(?P<time>[\d,]{1,30}(?:\.\d{1,9})?) ns/iter \(\+/- ",
    re.MULTILINE,
)


class BencherReader:
    kind: ClassVar[Kind] = Kind.BENCHMARK
    format: ClassVar[str] = "bencher"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return _LINE.search(head) is not None

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Sample]:
        sheet = Sheet(report)
        for number, line in numbered_lines(source):
            if found := _LINE.match(line):
                place = f"line {number}"
                name = decode(found["name"], sheet.remarks, place)
                time_s = float(found["time"].replace(b",", b"")) * NANOSECOND
                if sample := sheet.sample(name, place, median_s=time_s):
                    yield sample
        sheet.finish("line 1")
