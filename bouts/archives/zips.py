"""Zip files, read without trusting them.

The standard library's reader takes a central directory of any size into memory, believes it
where local headers disagree, and unpacks overlapping members. This one holds the directory
against the limits before it reads it and against the local headers while it reads, and says
at which byte a file breaks off. It knows the methods in use: stored, deflated, and the zstd that
newer tools write.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

import zstandard

from bouts.archives.entries import BLOCK, LARGEST_WINDOW, Broken, Entry, EntryKind
from bouts.archives.limits import Limits

LOCAL = b"PK\x03\x04"
CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"
END64 = b"PK\x06\x06"
LOCATOR64 = b"PK\x06\x07"

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_LOCATOR64 = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")

LONGEST_COMMENT = 0xFFFF
MOST_PER_ENTRY = 2_048  # bytes of the directory that one member may need on average
SEE_EXTRA = 0xFFFFFFFF
ZIP64 = 1  # id of the extra field with 64-bit sizes

ENCRYPTED = 0x0001 | 0x0040 | 0x2000
SIZES_FOLLOW = 0x0008  # the local header has zeros; sizes and checksum come after the data
UTF8 = 0x0800
STORED, DEFLATED, ZSTD = 0, 8, 93
UNIX = 3
PACKED_BLOCK = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Header:
    """What the central directory says of a member. ``end`` is where the next thing begins."""

    raw_name: bytes
    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member, as the directory tells of it; ``read`` may be called in any order and again.

    It yields exactly ``size`` bytes in blocks of at most `BLOCK`, or raises `Broken`.
    """

    name: str
    kind: EntryKind
    size: int
    packed: int
    refusal: tuple[str, str] | None
    read: Callable[[], Iterator[bytes]]


def members(file: BinaryIO, limits: Limits) -> list[Member]:
    """Return the members of a seekable zip file in the order of its directory.

    Raises `Broken` where the file is cut short, corrupt, or contradicts itself.
    """
    return [
        Member(
            name=header.name,
            kind=_kind(header),
            size=header.size,
            packed=header.packed,
            refusal=_refusal(header),
            read=partial(_blocks, file, header),
        )
        for header in _directory(file, limits)
    ]


def entries(file: BinaryIO, limits: Limits) -> Iterator[Entry]:
    """Yield the members one after another, as other archives give them. Raises `Broken`."""
    for member in members(file, limits):
        yield Entry(
            name=member.name,
            kind=member.kind,
            size=member.size,
            packed=member.packed,
            blocks=member.read(),
            refusal=member.refusal,
        )


def _kind(header: _Header) -> EntryKind:
    form = stat.S_IFMT(header.mode)
    if form == stat.S_IFLNK:
        return EntryKind.LINK
    if header.name.endswith("/") and form in {0, stat.S_IFDIR} and not header.size:
        return EntryKind.FOLDER
    if form in {0, stat.S_IFREG} and not header.name.endswith("/"):
        return EntryKind.FILE
    return EntryKind.SPECIAL


def _refusal(header: _Header) -> tuple[str, str] | None:
    if header.flags & ENCRYPTED:
        return "an encrypted member", "A member that opens without a password"
    if header.method not in {STORED, DEFLATED, ZSTD}:
        return f"compression method {header.method}", "A member that is stored, deflated or zstd"
    return None


# The directory


def _directory(file: BinaryIO, limits: Limits) -> list[_Header]:
    length = file.seek(0, os.SEEK_END)
    count, start, size = _end(file, length)
    if size > limits.members * MOST_PER_ENTRY:
        raise Broken(f"byte {start}", f"a directory of {size:,} bytes", limits.count)
    file.seek(start)
    data = file.read(size)
    headers: list[_Header] = []
    at = 0
    while at < len(data):
        header, at = _central(data, at, start)
        headers.append(header)
    if len(headers) != count:
        raise Broken(
            f"byte {start}",
            f"members: {len(headers):,}",
            f"members: {count:,}, as the end record says",
        )
    return _bounded(headers, start)


def _end(file: BinaryIO, length: int) -> tuple[int, int, int]:
    """Find the end record: (number of members, start and size of the directory)."""
    tail_start = max(0, length - LONGEST_COMMENT - _END.size)
    file.seek(tail_start)
    tail = file.read()
    at = tail.rfind(END)
    while at >= 0:
        record = tail[at : at + _END.size]
        if len(record) == _END.size:
            _, disk, first_disk, _, count, size, start, comment = _END.unpack(record)
            if at + _END.size + comment == len(tail):
                break
        at = tail.rfind(END, 0, at)
    else:
        raise _cut(file, length)
    if disk or first_disk:
        raise Broken(f"byte {tail_start + at}", "one part of several", "A zip file in one part")
    end = tail_start + at
    if count == 0xFFFF or SEE_EXTRA in (size, start):
        count, start, size, end = _end64(file, end)
    if start + size != end:
        raise Broken(
            f"byte {end}",
            f"a directory of {size:,} bytes at byte {start}",
            "A directory that reaches up to its end record",
        )
    return count, start, size


def _end64(file: BinaryIO, end: int) -> tuple[int, int, int, int]:
    expected = "The 64-bit end record that the end record announces"
    where = max(0, end - _LOCATOR64.size)
    locator = _record(file, where, _LOCATOR64, LOCATOR64, expected)
    at: int = locator[2]
    if at >= end:
        raise Broken(f"byte {where}", f"byte {at}", expected)
    record = _record(file, at, _END64, END64, expected)
    return record[7], record[9], record[8], at


def _record(
    file: BinaryIO, at: int, form: struct.Struct, signature: bytes, expected: str
) -> tuple[int, ...]:
    file.seek(at)
    data = file.read(form.size)
    if len(data) < form.size or not data.startswith(signature):
        raise Broken(f"byte {at}", "something else", expected)
    return form.unpack(data)


def _central(data: bytes, at: int, start: int) -> tuple[_Header, int]:
    """Read one entry of the directory; return it and where the next begins."""
    place = f"byte {start + at}"
    record = data[at : at + _CENTRAL.size]
    if len(record) < _CENTRAL.size or not record.startswith(CENTRAL):
        raise Broken(place, "something else", "An entry of the directory")
    (_, made_by, _, flags, method, _, _, crc, packed, size,
     name_length, extra_length, comment_length, _, _, attributes, offset) = _CENTRAL.unpack(record)  # fmt: skip
    name_end = at + _CENTRAL.size + name_length
    extra_end = name_end + extra_length
    if extra_end + comment_length > len(data):
        raise Broken(place, "the end of the directory", "A whole entry of the directory")
    raw_name = data[at + _CENTRAL.size : name_end]
    size, packed, offset = _widened(data[name_end:extra_end], size, packed, offset, place)
    header = _Header(
        raw_name=raw_name,
        name=_name(raw_name, flags),
        flags=flags,
        method=method,
        crc=crc,
        packed=packed,
        size=size,
        mode=attributes >> 16 if made_by >> 8 == UNIX else 0,
        offset=offset,
        end=0,
    )
    return header, extra_end + comment_length


def _name(raw: bytes, flags: int) -> str:
    """Decode a name. Without the flag it may be UTF-8 all the same (Finder), else code page 437."""
    if flags & UTF8:
        return raw.decode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp437")


def _widened(extra: bytes, *values: int | str) -> tuple[int, int, int]:
    """Replace the sizes (and offset) that point to the 64-bit extra field by what it says."""
    *numbers, place = values
    wide = _zip64(extra)
    result = []
    for number in numbers:
        if number == SEE_EXTRA:
            if len(wide) < 8:
                raise Broken(
                    str(place), "no 64-bit size", "The 64-bit size that the entry announces"
                )
            number, wide = int.from_bytes(wide[:8], "little"), wide[8:]
        result.append(int(number))
    return result[0], result[1], result[2]


def _zip64(extra: bytes) -> bytes:
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<2H", extra, at)
        if tag == ZIP64:
            return extra[at + 4 : at + 4 + length]
        at += 4 + length
    return b""


def _bounded(headers: list[_Header], start: int) -> list[_Header]:
    """Give each member the byte where the next one begins, and refuse members that overlap."""
    by_offset = sorted(headers, key=lambda header: header.offset)
    ends = [header.offset for header in by_offset[1:]] + [start]
    bounds: dict[int, int] = {}
    for header, end in zip(by_offset, ends, strict=False):
        least = header.offset + _LOCAL.size + len(header.raw_name) + header.packed
        if least > end:
            raise Broken(
                f"byte {header.offset}",
                f"{header.packed:,} bytes of data",
                f"A member that ends before byte {end}, where the next thing begins",
                member=header.name,
            )
        bounds[header.offset] = end
    return [replace(header, end=bounds[header.offset]) for header in headers]


def _cut(file: BinaryIO, length: int) -> Broken:
    """Walk a file without an end record by its local headers, to say where it breaks off."""
    at, member = 0, None
    while at + _LOCAL.size <= length:
        file.seek(at)
        record = file.read(_LOCAL.size)
        if not record.startswith(LOCAL):
            break
        fields = _LOCAL.unpack(record)
        flags, packed, name_length, extra_length = fields[2], fields[7], fields[9], fields[10]
        member = _name(file.read(name_length), flags)
        end = at + _LOCAL.size + name_length + extra_length + packed
        if flags & SIZES_FOLLOW or end > length:
            break
        at = end
    return Broken(
        f"byte {length}", "the end of the file", "The rest of the archive: it is cut short", member
    )


# The data


def _blocks(file: BinaryIO, header: _Header) -> Iterator[bytes]:
    """Yield a member's content, held against its size, its checksum and its local header."""
    at = _data_start(file, header)
    place = f"byte {at}"
    unpacked = _from_zstd if header.method == ZSTD else _inflated
    crc = written = 0
    for block in unpacked(file, header, at):
        written += len(block)
        if written > header.size:
            raise Broken(place, "more bytes", f"{header.size:,} bytes, as announced", header.name)
        crc = zlib.crc32(block, crc)
        yield block
    if written != header.size:
        raise Broken(
            place, f"{written:,} bytes", f"{header.size:,} bytes, as announced", header.name
        )
    if crc != header.crc:
        raise Broken(place, f"checksum {crc:08x}", f"Checksum {header.crc:08x}", header.name)


def _inflated(file: BinaryIO, header: _Header, at: int) -> Iterator[bytes]:
    """Yield the blocks of a member that is stored or deflated."""
    place = f"byte {at}"
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if header.method == DEFLATED else None
    left = header.packed
    data = b""
    while True:
        if not data and left:
            data = _packed(file, header, at, left)
            at += len(data)
            left -= len(data)
        if inflate is None:
            block, data = data, b""
            done = not left
        else:
            try:
                block = inflate.decompress(data, BLOCK)
            except zlib.error:
                raise Broken(place, "corrupt data", "Deflated data", header.name) from None
            data = inflate.unconsumed_tail
            done = inflate.eof
            if not done and not block and not data and not left:
                raise Broken(f"byte {at}", "the end of the data", "More data", header.name)
        if block:
            yield block
        if done:
            break
    if left or data or (inflate and inflate.unused_data):
        raise Broken(place, "data after its end", "Nothing more", header.name)


def _from_zstd(file: BinaryIO, header: _Header, at: int) -> Iterator[bytes]:
    """Yield the blocks of a member that is packed with zstd.

    The stream reader bounds what one read gives; what it is fed does not, since a few bytes of
    zstd may stand for megabytes.
    """
    packed = _Packed(file, header, at)
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
    stream = decompressor.stream_reader(packed, read_across_frames=True)  # type: ignore[arg-type]  # it only reads
    while True:
        try:
            block = stream.read(BLOCK)
        except zstandard.ZstdError:
            raise Broken(f"byte {at}", "corrupt data", "Data of zstd", header.name) from None
        if not block:
            return
        yield block


class _Packed:
    """A member's packed bytes as a stream. Each read seeks, since readers of others go between."""

    def __init__(self, file: BinaryIO, header: _Header, at: int) -> None:
        self._file, self._header = file, header
        self._at, self._left = at, header.packed

    def read(self, size: int) -> bytes:
        if not self._left:
            return b""
        data = _packed(self._file, self._header, self._at, min(size, self._left))
        self._at += len(data)
        self._left -= len(data)
        return data


def _packed(file: BinaryIO, header: _Header, at: int, most: int) -> bytes:
    file.seek(at)
    data = file.read(min(PACKED_BLOCK, most))
    if not data:
        raise Broken(f"byte {at}", "the end of the file", "More data", header.name)
    return data


def _data_start(file: BinaryIO, header: _Header) -> int:
    """Hold the local header against the directory; return where the data begins."""
    place = f"byte {header.offset}"
    expected = "A local header that agrees with the directory"
    file.seek(header.offset)
    record = file.read(_LOCAL.size)
    if len(record) < _LOCAL.size or not record.startswith(LOCAL):
        raise Broken(place, "no local header", expected, header.name)
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack(record)
    raw_name = file.read(name_length)
    extra = file.read(extra_length)
    if raw_name != header.raw_name:
        raise Broken(place, f"the name {_name(raw_name, flags)}", expected, header.name)
    if method != header.method or (flags ^ header.flags) & ENCRYPTED:
        raise Broken(place, f"method {method}, flags {flags:#06x}", expected, header.name)
    if not flags & SIZES_FOLLOW:
        size, packed, _ = _widened(extra, size, packed, 0, place)
        if (crc, packed, size) != (header.crc, header.packed, header.size):
            raise Broken(
                place, f"{packed:,} bytes packed, {size:,} unpacked", expected, header.name
            )
    start: int = header.offset + _LOCAL.size + name_length + extra_length
    if start + header.packed > header.end:
        raise Broken(
            place, "data that runs into the next member", "Members that lie apart", header.name
        )
    return start
