"""Files by content: zstd-compressed in Django's storage under their SHA-256."""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

import zstandard
from django.core.cache import cache
from django.core.files.base import File
from django.core.files.storage import default_storage

from bouts.masking import KeyWatch
from bouts.models import Blob

BLOCK = 1 << 20
LONGEST_LINE = 64 * 1024  # bytes
LEVEL = 3


class _Compressed(File):
    """A file that is compressed while the storage reads it, a frame a block.

    Frames are unpacked one without the other: the end of a long log can be read without all
    that stands before it.
    """

    def __init__(self, source: BinaryIO) -> None:
        super().__init__(source)
        self._source = source

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        compressor = zstandard.ZstdCompressor(level=LEVEL)
        block = self._source.read(BLOCK)
        while True:
            yield compressor.compress(block)
            if not (block := self._source.read(BLOCK)):
                return


def save(path: Path, digest: str) -> None:
    """Store a file's content unless it is there already.

    Contents are written before the rows that name them. Where the transaction then fails
    they stay behind unnamed: another upload of the same content may already rely on them.
    """
    name = Blob(digest=digest).storage_name
    if not default_storage.exists(name):
        with path.open("rb") as source:
            default_storage.save(name, _Compressed(source))


def put(data: bytes) -> Blob:
    """Store some bytes, row and content, unless they are there already."""
    blob = Blob(digest=hashlib.sha256(data).hexdigest(), size=len(data))
    if not default_storage.exists(blob.storage_name):
        default_storage.save(blob.storage_name, _Compressed(io.BytesIO(data)))
    Blob.objects.bulk_create([blob], ignore_conflicts=True)
    return blob


class Tampered(Exception):
    """What is stored under a digest is not what was stored there."""


def whole(blob: Blob) -> bytes:
    """Return a blob's content, held against its digest. Raises `Tampered` and `OSError`."""
    try:
        with opened(blob) as stream:
            data = stream.read()
    except zstandard.ZstdError as error:
        raise Tampered(f"{blob.digest} cannot be unpacked: {error}") from error
    _refuse_other(hashlib.sha256(data).hexdigest(), blob)
    return data


def copy(blob: Blob, path: Path) -> None:
    """Write a blob's content to a file, held against its digest. Raises as `whole` does."""
    found = hashlib.sha256()
    try:
        with opened(blob) as stream, path.open("wb") as file:
            while block := stream.read(BLOCK):
                found.update(block)
                file.write(block)
    except zstandard.ZstdError as error:
        raise Tampered(f"{blob.digest} cannot be unpacked: {error}") from error
    _refuse_other(found.hexdigest(), blob)


def _refuse_other(found: str, blob: Blob) -> None:
    if found != blob.digest:
        raise Tampered(f"the content stored as {blob.digest} has the digest {found}")


@contextmanager
def opened(blob: Blob, packed_at: int = 0) -> Iterator[BinaryIO]:
    """Open a blob's uncompressed content as a forward-only stream.

    ``packed_at`` is where one of its frames begins in what is stored; it starts there.
    """
    with default_storage.open(blob.storage_name) as packed:
        packed.seek(packed_at)
        unpacker = zstandard.ZstdDecompressor()
        with unpacker.stream_reader(packed, read_across_frames=True) as stream:
            yield io.BufferedReader(stream, BLOCK)


@dataclass(frozen=True, slots=True)
class Mark:
    """A line from which on a blob can be read: its number, the frame that it begins in, and
    the bytes of that frame before it."""

    line: int
    packed_at: int
    skipped: int


START = Mark(1, 0, 0)
# What a line may open after which only a reader who saw it can tell what may be shown.
SECRETIVE = b"PRIVATE KEY-----"


@contextmanager
def opened_before(blob: Blob, line: int) -> Iterator[Iterator[tuple[int, bytes, int]]]:
    """Open a blob near a line, at it or before; yield its lines as `numbered` does.

    At most a block is read in vain. Of a file with a private key in it, all that follows the
    key is read from before it: whether a line is part of it is told by the lines above.
    """
    marks = _marks(blob) if blob.size > BLOCK and line > 1 else (START,)
    mark = marks[bisect_right(marks, line, key=attrgetter("line")) - 1]
    with opened(blob, mark.packed_at) as stream:
        stream.read(mark.skipped)
        yield numbered(stream, mark.line)


def _marks(blob: Blob) -> tuple[Mark, ...]:
    """Return a mark for each frame in which a line begins. Read once, and kept."""
    key = f"marks:{blob.digest}"
    marks: tuple[Mark, ...] | None = cache.get(key)
    if marks is None:
        marks = tuple(_marked(blob))
        cache.set(key, marks)
    return marks


def _marked(blob: Blob) -> Iterator[Mark]:
    yield START
    ends, tail, since = 0, b"", 0
    for packed_at, content in _frames(blob):
        if SECRETIVE in tail + content:
            return
        if packed_at != since and (end := content.find(b"\n")) >= 0:
            yield Mark(ends + 2, packed_at, end + 1)
        since = packed_at
        ends += content.count(b"\n")
        tail = (tail + content)[-len(SECRETIVE) :]


def _frames(blob: Blob) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces of a blob's content, each with where its frame begins in what is stored."""
    with default_storage.open(blob.storage_name) as packed:
        begins, read = 0, 0
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        while block := packed.read(BLOCK):
            read += len(block)
            while block:
                if content := unpacker.decompress(block):
                    yield begins, content
                block = unpacker.unused_data if unpacker.eof else b""
                if unpacker.eof:
                    begins = read - len(block)
                    unpacker = zstandard.ZstdDecompressor().decompressobj()


def numbered(stream: BinaryIO, number: int = 1) -> Iterator[tuple[int, bytes, int]]:
    """Yield the lines of a stream, numbered from a ``number`` on and split on LF only.

    Of a line longer than `LONGEST_LINE` the head is given, with the number of bytes that were
    passed over: one line of a hundred megabytes costs no more memory than many.
    """
    while head := stream.readline(LONGEST_LINE):
        passed, piece = 0, head
        while not piece.endswith(b"\n") and (piece := stream.readline(LONGEST_LINE)):
            passed += len(piece) - piece.endswith(b"\n")
        yield number, head, passed
        number += 1


def lines(blob: Blob, first: int, last: int) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines ``first`` to ``last`` of a blob, without their ends.

    Those that hold some of a private key are masked: no line tells by itself that it does.
    """
    watch = KeyWatch()
    with opened_before(blob, first) as found:
        for number, line, _ in found:
            if number > last:
                return
            is_key = watch.sees(line)
            if number >= first:
                yield number, watch.MASKED.encode() if is_key else line.rstrip(b"\n")
