"""Logs of JSON objects: one a line as they are written, or over many lines as people print them.

An object over many lines begins with a line ``{`` and ends with the first that begins with ``}``,
as every pretty-printer writes it. What is neither is left out and remarked on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import orjson

from bouts.formats.documents import JSON, top_keys
from bouts.formats.lines import numbered_lines
from bouts.formats.mending import mended
from bouts.formats.remarks import Remarks
from bouts.formats.sandbox.lines import MAX_SHORT_LINES, SHORTEST
from bouts.formats.types import Report, Unreadable

MAX_OBJECT_BYTES = 4 * 1024 * 1024
_FAR = 4096  # bytes of other lines that may stand before the first object

Object = dict[str, Any]


def first_keys(head: bytes) -> Mapping[str, Any]:
    """Return the keys of the first object in a file's head; programs print before it."""
    start = head.find(b"{", 0, _FAR)
    return top_keys(head[start:]) if start >= 0 else {}


def json_objects(
    source: BinaryIO, report: Report, remarks: Remarks
) -> Iterator[tuple[int, Object]]:
    """Yield each object with the line on which it begins, from 1."""
    begun: list[bytes] = []
    size = start = short = 0
    for number, line in numbered_lines(mended(source, JSON, report)):
        if not begun:
            if len(line) < SHORTEST:
                short += 1
                if short > MAX_SHORT_LINES:
                    limit = f"MAX_SHORT_LINES = {MAX_SHORT_LINES:,}"
                    raise Unreadable(f"more than {limit} lines are too short", f"line {number}")
            if (value := _parsed(line)) is not None:
                yield number, value
            elif line.strip() == b"{":
                begun, size, start = [line], len(line), number
            elif line.strip():
                remarks.add("a line that is no JSON object is passed over", number)
            continue
        size += len(line)
        if size > MAX_OBJECT_BYTES:
            limit = f"MAX_OBJECT_BYTES = {MAX_OBJECT_BYTES:,}"
            remarks.add(f"an object longer than {limit} is passed over", start)
            begun = []
        elif line.startswith(b"}"):
            begun.append(b"}")
            if (value := _parsed(b"\n".join(begun))) is not None:
                yield start, value
            else:
                remarks.add("an object that is not valid JSON is passed over", start)
            # Files that were joined without a line break between them.
            begun, size, start = ([b"{"], 1, number) if line[1:].strip() == b"{" else ([], 0, 0)
        else:
            begun.append(line)
    if begun:
        remarks.add("the last object is cut off and is passed over", start)


def _parsed(text: bytes) -> Object | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def text_of(value: object) -> str:
    """Return a value as text, empty where there is none; Falco writes ``<NA>`` for that."""
    return value if isinstance(value, str) and value != "<NA>" else ""


def number_of(value: object) -> int | None:
    """Return a whole number, which protobuf writes as a string where it has 64 bits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and 0 < len(value) < 20 and value.lstrip("-").isdecimal():
        return int(value) if value.count("-") <= 1 else None
    return None


def mapping_of(value: object) -> Object:
    return value if isinstance(value, dict) else {}
