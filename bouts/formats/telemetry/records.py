"""Records that a tool writes a line each, and others export as an array in one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from bouts.formats.documents import Document, top_keys
from bouts.formats.jsonl import JsonLines
from bouts.formats.remarks import Remarks
from bouts.formats.types import Report, Unreadable

_HEAD_BYTES = 64 * 1024


class Records:
    """The records of one file with their pointers; may be gone through several times.

    ``patterns`` say where a document has them: ``/*``, ``/messages/*``.
    """

    def __init__(self, source: BinaryIO, report: Report, *patterns: str) -> None:
        source.seek(0)
        head = source.read(_HEAD_BYTES)
        arrays = {pattern.split("/")[1] for pattern in patterns} - {"*"}
        begins_with_array = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        self._patterns = patterns
        self._report = report
        self._is_noted = False
        self._document: Document | None = None
        if begins_with_array or not arrays.isdisjoint(top_keys(head)):
            self._document = Document(source, report)
        else:
            self._lines = JsonLines(source, report)

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if self._document is None:
            for record in self._lines.records():
                yield record.pointer, record.value
            return
        remarks, count = Remarks(), 0
        for part in self._document.parts(*self._patterns):
            if isinstance(part.value, dict):
                count += 1
                yield part.pointer, part.value
            else:
                remarks.add("a record is no object and is left out", part.pointer)
        if not count:
            raise Unreadable("no records in it")
        if not self._is_noted:
            remarks.write(self._report)
            self._is_noted = True
