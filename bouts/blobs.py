"""Files by content: zstd-compressed in Django's storage under their SHA-256."""

from __future__ import annotations

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


@contextmanager
def opened(blob: Blob) -> Iterator[BinaryIO]:
    """Open a blob's uncompressed content as a forward-only stream."""
    with (
        default_storage.open(blob.storage_name) as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
    ):
        yield io.BufferedReader(stream, BLOCK)


def lines(blob: Blob, first: int, last: int) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines ``first`` to ``last`` (from 1), split on LF only."""
    with opened(blob) as stream:
        for number, line in enumerate(stream, start=1):
            if number > last:
                return
            if number >= first:
                yield number, line.rstrip(b"\n")
