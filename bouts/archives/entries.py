"""What the readers of archives give back: members in order, each a stream of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

BLOCK = 1 << 20  # bytes held in memory at a time
LARGEST_WINDOW = 1 << 23  # bytes of memory for zstd: what `zstd -19` needs


class EntryKind(StrEnum):
    FILE = "a file"
    FOLDER = "a folder"
    LINK = "a link"
    SPECIAL = "a device, pipe, sparse file or the like"


@dataclass(frozen=True, slots=True)
class Entry:
    """One member, as the archive tells of it: nothing here is to be trusted.

    ``blocks`` is read before the next entry is asked for, or not at all. It yields exactly
    ``size`` bytes in blocks of at most `BLOCK`, or raises `Broken`. ``packed`` is the
    member's compressed size where the archive compresses each member by itself.
    ``refusal`` is (found, expected) where the member cannot be unpacked, though the ones
    after it can.
    """

    name: str
    kind: EntryKind
    size: int
    blocks: Iterator[bytes]
    packed: int | None = None
    refusal: tuple[str, str] | None = None


class Broken(Exception):
    """An archive cannot be read beyond a place. Raised by readers of archives only."""

    def __init__(self, place: str, found: str, expected: str, member: str | None = None) -> None:
        super().__init__(f"{place}: found {found}, expected {expected}")
        self.place = place
        self.found = found
        self.expected = expected
        self.member = member
