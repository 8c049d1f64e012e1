"""What stands at JSON pointers in a file: a document, JSON lines as an array of its lines, or a
ZIP file as an object of its members.

Of JSON lines and members only those that are pointed into are parsed, so that their number is no
matter.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

import orjson

from bouts.formats.documents import JSON
from bouts.formats.mending import mended
from bouts.formats.types import Report, Unreadable
from bouts.formats.zipped import MAGIC, ZipFile

LARGEST_DOCUMENT = 20_000_000  # bytes of a document, or of one line, that is parsed for this

Pointer = tuple[str, ...]  # keys and indices on the way from the root, unescaped

_INDEX = re.compile("0|[1-9][0-9]{0,9}")


class TooLarge(Exception):
    """The document is larger than `LARGEST_DOCUMENT` and is not looked into."""


def values_at(source: BinaryIO, pointers: Collection[Pointer]) -> dict[Pointer, Any]:
    """Return the values at those of the pointers that lead somewhere.

    ``source`` is read once, forwards. Raises `TooLarge`.
    """
    data = source.read(LARGEST_DOCUMENT + 1)
    is_all = len(data) <= LARGEST_DOCUMENT
    if data.startswith(MAGIC):
        if not is_all:
            raise TooLarge
        return _in_members(data, pointers)
    is_one_line = b"\n" not in data.strip()
    if not is_all and (is_one_line or not isinstance(_parsed(_first_line(data)), dict)):
        raise TooLarge
    found: dict[Pointer, Any] = {}
    document = _parsed(data) if is_all else None
    if document is not None:
        found = _followed(document, pointers)
    if document is None or is_one_line:  # a single line may be either
        found = _in_lines(_lines(data, source), pointers) | found
    return found


def _in_members(data: bytes, pointers: Collection[Pointer]) -> dict[Pointer, Any]:
    wanted: dict[str, list[Pointer]] = defaultdict(list)
    for pointer in pointers:
        if pointer:
            wanted[pointer[0]].append(pointer)
    found: dict[Pointer, Any] = {}
    try:
        archive = ZipFile(io.BytesIO(data))
        for name in wanted.keys() & set(archive.names):
            with archive.opened(name) as member:
                document = member.read(LARGEST_DOCUMENT + 1)
            if len(document) > LARGEST_DOCUMENT:
                raise TooLarge
            inner = _followed(_parsed(document), [pointer[1:] for pointer in wanted[name]])
            found |= {(name, *rest): value for rest, value in inner.items()}
    except Unreadable:
        return {}
    return found


def _followed(value: Any, pointers: Collection[Pointer]) -> dict[Pointer, Any]:
    found: dict[Pointer, Any] = {}
    for pointer in pointers:
        here, is_there = value, True
        for token in pointer:
            if isinstance(here, dict) and token in here:
                here = here[token]
            elif isinstance(here, list) and _INDEX.fullmatch(token) and int(token) < len(here):
                here = here[int(token)]
            else:
                is_there = False
                break
        if is_there:
            found[pointer] = here
    return found


def _in_lines(lines: Iterator[bytes], pointers: Collection[Pointer]) -> dict[Pointer, Any]:
    wanted: dict[int, list[Pointer]] = defaultdict(list)
    for pointer in pointers:
        if pointer and _INDEX.fullmatch(pointer[0]):
            wanted[int(pointer[0])].append(pointer)
    found: dict[Pointer, Any] = {}
    last = max(wanted, default=-1)
    for index, line in enumerate(lines):
        if index > last:
            break
        if index in wanted and isinstance(record := _parsed(line), dict):
            inner = _followed(record, [pointer[1:] for pointer in wanted[index]])
            found |= {(str(index), *rest): value for rest, value in inner.items()}
    return found


def _lines(data: bytes, source: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of what was read already and of the rest, split on LF alone."""
    *lines, begun = data.split(b"\n")
    yield from lines
    line = begun + source.readline(LARGEST_DOCUMENT)
    while line:
        if len(line) >= LARGEST_DOCUMENT and not line.endswith(b"\n"):
            raise TooLarge
        yield line
        line = source.readline(LARGEST_DOCUMENT)


def _first_line(data: bytes) -> bytes:
    return data.lstrip().partition(b"\n")[0]


def _parsed(data: bytes) -> Any:
    """Return the JSON value as readers see it, its unfit characters marked; None where it is none."""
    try:
        return orjson.loads(mended(io.BytesIO(data), JSON, Report()).read())
    except (orjson.JSONDecodeError, Unreadable):
        return None
