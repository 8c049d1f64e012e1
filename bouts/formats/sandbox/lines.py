"""The lines of a sandbox log: those that can be a record at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from bouts.formats.lines import numbered_lines
from bouts.formats.types import Unreadable

SHORTEST = 8  # bytes; no record of any log is shorter
MAX_SHORT_LINES = 1_000_000  # each costs as much time as a record, and there is room for millions


def log_lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number from 1, as `numbered_lines` does."""
    short = 0
    for number, line in numbered_lines(source):
        if len(line) < SHORTEST:
            short += 1
            if short > MAX_SHORT_LINES:
                limit = f"MAX_SHORT_LINES = {MAX_SHORT_LINES:,}"
                raise Unreadable(
                    f"more than {limit} lines have less than {SHORTEST} bytes: no log has",
                    f"line {number}",
                )
        if line and not line.isspace():
            yield number, line
