"""Logs and diffs as lines of bytes, split on LF alone (FORMATS.md, rule 9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from bouts.formats.types import Unreadable

MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_LINES = 20_000_000


def numbered_lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number from 1, without its LF; a CR stays where it is.

    Text in UTF-16, as some shells on Windows write it, is refused rather than misread.
    """
    source.seek(0)
    for number in range(1, MAX_LINES + 1):
        line = source.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise Unreadable("the text is UTF-16, not UTF-8", "byte 0")
        text = line.removesuffix(b"\n")
        if len(text) > MAX_LINE_BYTES:
            limit = f"MAX_LINE_BYTES = {MAX_LINE_BYTES:,}"
            raise Unreadable(f"a line is longer than {limit}", f"line {number}")
        yield number, text
    if source.read(1):
        raise Unreadable(f"there are more lines than MAX_LINES = {MAX_LINES:,}")
