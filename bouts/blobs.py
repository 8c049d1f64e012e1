"""Files by content: zstd-compressed in Django's storage under their SHA-256."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard
from django.core.files.base import File
from django.core.files.storage import default_storage

from bouts.models import Blob

BLOCK = 1 << 20
LONGEST_LINE = 64 * 1024  # bytes
LEVEL = 3


class _Compressed(File):
    """A file that is compressed block by block while the storage reads it."""

    def __init__(self, source: BinaryIO) -> None:
        super().__init__(source)
        self._source = source

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        compressor = zstandard.ZstdCompressor(level=LEVEL).compressobj()
        while block := self._source.read(BLOCK):
            if packed := compressor.compress(block):
                yield packed
        yield compressor.flush()


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
    found = hashlib.sha256(data).hexdigest()
    if found != blob.digest:
        raise Tampered(f"the content stored as {blob.digest} has the digest {found}")
    return data


@contextmanager
def opened(blob: Blob) -> Iterator[BinaryIO]:
    """Open a blob's uncompressed content as a forward-only stream."""
    with (
        default_storage.open(blob.storage_name) as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
    ):
        yield io.BufferedReader(stream, BLOCK)


def numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes, int]]:
    """Yield the lines of a stream, numbered from 1 and split on LF only.

    Of a line longer than `LONGEST_LINE` the head is given, with the number of bytes that were
    passed over: one line of a hundred megabytes costs no more memory than many.
    """
    number = 0
    while head := stream.readline(LONGEST_LINE):
        number += 1
        passed, piece = 0, head
        while not piece.endswith(b"\n") and (piece := stream.readline(LONGEST_LINE)):
            passed += len(piece) - piece.endswith(b"\n")
        yield number, head, passed


def lines(blob: Blob, first: int, last: int) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines ``first`` to ``last`` of a blob, without their ends."""
    with opened(blob) as stream:
        for number, line, _ in numbered(stream):
            if number > last:
                return
            if number >= first:
                yield number, line.rstrip(b"\n")
