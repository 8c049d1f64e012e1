"""Tar streams, read without trusting them.

The standard library's reader takes extension headers of any size into memory, expands sparse
files and does not say at which byte a stream breaks off. A bundle needs none of tar's past:
regular files, folders, and long names in either of the two spellings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from bouts.archives.entries import BLOCK, Broken, Entry, EntryKind

RECORD = 512
LARGEST_EXTENSION = 64 * 1024  # bytes of a long name or of pax records
MOST_EXTENSIONS = 8  # in a row, before a member

_FILE = {b"0", b"\0", b"7"}
_FOLDER = b"5"
_LINK = {b"1", b"2"}
_LONG_NAME, _LONG_LINK = b"L", b"K"
_PAX, _PAX_GLOBAL = b"x", b"g"


class Stream(Protocol):
    """Bytes in order. ``read`` gives fewer than asked for only at the end."""

    def read(self, size: int, /) -> bytes: ...


class _Tape:
    """A stream that knows how far it has been read."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.at = 0

    def take(self, size: int, expected: str, member: str | None = None) -> bytes:
        """Return exactly so many bytes, or raise `Broken` where the stream ends."""
        try:
            data = self.stream.read(size)
        except Broken as broken:
            broken.member = member
            raise
        self.at += len(data)
        if len(data) < size:
            raise Broken(f"byte {self.at} unpacked", "the end of the file", expected, member)
        return data


def entries(stream: Stream) -> Iterator[Entry]:
    """Yield the members of an unpacked tar stream in order.

    Data that the caller leaves unread is passed over. Raises `Broken` where the stream is
    cut short, corrupt, or goes on after its end.
    """
    tape = _Tape(stream)
    while (header := _header(tape)) is not None:
        name, kind, size = header
        body = _blocks(tape, name, size)
        yield Entry(name=name, kind=kind, size=size, blocks=body)
        for _ in body:
            pass
        tape.take(-size % RECORD, "The padding of a member: the archive is cut short")
    _only_zeros(tape)


def _blocks(tape: _Tape, name: str, size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = tape.take(min(BLOCK, left), f"{left:,} more bytes: the archive is cut short", name)
        left -= len(block)
        yield block


def _header(tape: _Tape) -> tuple[str, EntryKind, int] | None:
    """Read up to the next member: (name, kind, size), or None at the end of the archive."""
    long_name: str | None = None
    long_size: int | None = None
    sparse = False
    for _ in range(MOST_EXTENSIONS):
        start = tape.at
        record = tape.take(RECORD, "A member or the end mark: the archive is cut short")
        if not any(record):
            return None
        _verify(record, start)
        form, size = record[156:157], _number(record[124:136], start)
        if form in {_LONG_NAME, _LONG_LINK}:
            data = _extension(tape, size, start)
            if form == _LONG_NAME:
                long_name = _text(data)
        elif form in {_PAX, _PAX_GLOBAL}:
            records = dict(_pax(_extension(tape, size, start), start))
            if form == _PAX:
                sparse = any(key.startswith(b"GNU.sparse.") for key in records)
                if b"path" in records:
                    long_name = records[b"path"].decode("utf-8", "surrogateescape")
                if b"size" in records:
                    long_size = _decimal(records[b"size"], start)
        else:
            kind = EntryKind.SPECIAL if sparse else _kind(form, record)
            name = long_name if long_name is not None else _short_name(record)
            if kind is EntryKind.FILE and name.endswith("/"):
                kind = EntryKind.FOLDER if form == b"\0" else EntryKind.SPECIAL
            if kind in {EntryKind.FOLDER, EntryKind.LINK}:
                return name, kind, 0  # whatever the header says, no data follows
            return name, kind, size if long_size is None else long_size
    raise Broken(
        f"byte {tape.at} unpacked", "extension after extension", "A member after its extensions"
    )


def _verify(record: bytes, start: int) -> None:
    found = sum(record) - sum(record[148:156]) + 8 * ord(" ")
    if found != _number(record[148:156], start):
        raise Broken(f"byte {start} unpacked", "something else", "The header of a tar member")


def _number(field: bytes, start: int) -> int:
    """Read an octal number, or a large one in base 256."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b"\0 ")
    if not all(digit in b"01234567" for digit in digits):
        raise Broken(f"byte {start} unpacked", "something else", "The header of a tar member")
    return int(digits or b"0", 8)


def _decimal(digits: bytes, start: int) -> int:
    if not digits.isdigit() or len(digits) > 19:
        raise Broken(f"byte {start} unpacked", "no number", "A size in a pax record")
    return int(digits)


def _kind(form: bytes, record: bytes) -> EntryKind:
    if form in _FILE:
        return EntryKind.FILE
    if form == _FOLDER:
        return EntryKind.FOLDER
    return EntryKind.LINK if form in _LINK else EntryKind.SPECIAL


def _short_name(record: bytes) -> str:
    name = _text(record[:100])
    is_posix = record[257:263] == b"ustar\0"
    prefix = _text(record[345:500]) if is_posix else ""
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _extension(tape: _Tape, size: int, start: int) -> bytes:
    if size > LARGEST_EXTENSION:
        raise Broken(
            f"byte {start} unpacked",
            f"an extension of {size:,} bytes",
            f"At most {LARGEST_EXTENSION:,} bytes of extension",
        )
    data = tape.take(size, "The rest of an extension: the archive is cut short")
    tape.take(-size % RECORD, "The padding of an extension: the archive is cut short")
    return data


def _pax(data: bytes, start: int) -> Iterator[tuple[bytes, bytes]]:
    """Read pax records, each ``LENGTH KEY=VALUE`` and a line end, the length counting itself."""
    while data:
        digits, space, _ = data.partition(b" ")
        length = _decimal(digits, start) if space else 0
        record = data[len(digits) + 1 : length]
        key, equals, value = record.partition(b"=")
        if length > len(data) or not equals or not value.endswith(b"\n"):
            raise Broken(f"byte {start} unpacked", "something else", "A pax record")
        yield key, value[:-1]
        data = data[length:]


def _only_zeros(tape: _Tape) -> None:
    """Read to the end, so that a checksum there is checked; nothing may hide after the end."""
    while block := tape.stream.read(BLOCK):
        if block.count(0) != len(block):
            raise Broken(f"byte {tape.at} unpacked", "more data", "Nothing after the end mark")
        tape.at += len(block)
