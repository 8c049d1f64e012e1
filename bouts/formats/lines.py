"""Logs and diffs as lines of bytes, split on LF alone (FORMATS.md, rule 9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from bouts.formats.types import Unreadable

BLOCK = 64 * 1024  # bytes that are split at once, which takes a fifth of `readline`
MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_LINES = 20_000_000
# A line costs half a microsecond or more however short it is. So many a file may have of any
# length; from then on they have so many bytes on average, in what was read so far.
SHORT_LINES = 1_000_000
BYTES_EACH = 16


def numbered_lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number from 1, without its LF; a CR stays where it is.

    Text in UTF-16, as some shells on Windows write it, is refused rather than misread.
    """
    source.seek(0)
    number, size, begun = 0, 0, b""
    while block := source.read(BLOCK):
        if not size and block.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise Unreadable("the text is UTF-16, not UTF-8", "byte 0")
        size += len(block)
        *lines, begun = (begun + block).split(b"\n")
        _check_number(number + len(lines), size)
        if lines:
            _check_length(number + 1, lines[0])  # no other is longer than a block
        for line in lines:
            number += 1
            yield number, line
        _check_length(number + 1, begun)
    if begun:
        yield number + 1, begun


def _check_number(count: int, size: int) -> None:
    if count > MAX_LINES:
        raise Unreadable(f"there are more lines than MAX_LINES = {MAX_LINES:,}")
    if count > SHORT_LINES + size // BYTES_EACH:
        raise Unreadable(
            f"{count:,} lines in {size:,} bytes: more than SHORT_LINES = {SHORT_LINES:,} of less"
            f" than {BYTES_EACH} bytes each"
        )


def _check_length(number: int, line: bytes) -> None:
    if len(line) > MAX_LINE_BYTES:
        limit = f"MAX_LINE_BYTES = {MAX_LINE_BYTES:,}"
        raise Unreadable(f"a line is longer than {limit}", f"line {number}")
