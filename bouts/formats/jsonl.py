"""JSON Lines: a record a line, read one after another in bounded memory.

A place in such a file is a JSON pointer as if the file were an array of its lines (see
`bouts.formats.pointers`): ``/0/message/content`` is in line 1. Blank and broken lines keep their
index, so that ``/N`` is line N + 1 whatever became of the lines before it.

A line that is no JSON object is left out and noted: programs print between the records, and a
run that was ended leaves half a line. Only a file without a single record is unreadable.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

import orjson

from bouts.formats.crumbs import Crumbs
from bouts.formats.documents import JSON, MAX_BYTES, WHOLE_LIMIT, built
from bouts.formats.mending import byte_order_mark, mended
from bouts.formats.remarks import Remarks
from bouts.formats.types import Report, Unreadable

MAX_RECORD_BYTES = 64 * 1024 * 1024  # of a line; one with a picture in it has some millions
MAX_RECORDS = 2_000_000
BYTES_EACH = 32  # that lines have on average: see `Crumbs`

NO_OBJECT = "a line is no JSON object and is left out"


class Record(NamedTuple):
    line: int  # from 1
    pointer: str  # "/0" for line 1
    value: dict[str, Any]


class JsonLines:
    """One file of JSON lines. `records` may be asked several times."""

    def __init__(self, source: BinaryIO, report: Report) -> None:
        size = source.seek(0, io.SEEK_END)
        if size > MAX_BYTES:
            raise Unreadable(f"{size:,} bytes are more than MAX_BYTES = {MAX_BYTES:,}")
        self._size = size
        self._source = mended(source, JSON, report)
        self._report = report
        self._is_noted = False

    def records(self) -> Iterator[Record]:
        """Yield the objects in the order of their lines. What is left out is noted once."""
        remarks, count = Remarks(), 0
        crumbs = Crumbs(self._size, "lines", BYTES_EACH)
        for line, data in _lines(self._source, crumbs):
            value = _parsed(data, line)
            if isinstance(value, dict):
                count += 1
                if count > MAX_RECORDS:
                    limit = f"MAX_RECORDS = {MAX_RECORDS:,}"
                    raise Unreadable(f"there are more records than {limit}", f"line {line}")
                yield Record(line, f"/{line - 1}", value)
            else:
                remarks.add(NO_OBJECT, line)
        if not count:
            raise Unreadable("no line of it is a JSON object")
        if not self._is_noted:
            remarks.write(self._report)
            self._is_noted = True


@lru_cache(maxsize=8)  # each reader of a kind asks about the same head
def head_records(head: bytes) -> tuple[Mapping[str, Any], ...]:
    """Return the records with which a file begins, as far as the head shows whole lines.

    Empty where it does not begin with a line that is a JSON object of its own, such as where
    the file is one document over many lines. The first line may end with the head.
    """
    encoding, start = byte_order_mark(head)
    text = head[start:].decode(encoding or "utf-8", errors="ignore").encode()
    first, *others = [line for line in text.split(b"\n") if line.strip()] or [b""]
    records = [record for line in (first, *others) if isinstance(record := _small(line), dict)]
    return tuple(records) if isinstance(_small(first), dict) else ()


def _small(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _lines(source: BinaryIO, crumbs: Crumbs) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their numbers from 1, split on LF alone.

    Blank ones cost time too: each counts as a crumb.
    """
    source.seek(0)
    line = 0
    while data := source.readline(MAX_RECORD_BYTES + 1):
        line += 1
        crumbs.add()
        if len(data) > MAX_RECORD_BYTES:
            limit = f"MAX_RECORD_BYTES = {MAX_RECORD_BYTES:,}"
            raise Unreadable(f"a line is longer than {limit}", f"line {line}")
        if not data.isspace():
            yield line, data


def _parsed(data: bytes, line: int) -> Any:
    """Return what a line holds, None where it is not JSON; a long one is built within bounds."""
    if len(data) <= WHOLE_LIMIT:
        return _small(data)
    return built(data, f"/{line - 1}")
