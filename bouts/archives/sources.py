"""Where members come from: a zip, a tar.gz, a tar.zst or a folder, told apart by content."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias

import zstandard

from bouts.archives import tars, zips
from bouts.archives.entries import BLOCK, LARGEST_WINDOW, Broken, Entry, EntryKind
from bouts.archives.limits import Limits, size

# A file or folder by its path, an open seekable file, or some files by the names they get.
Source: TypeAlias = Path | BinaryIO | Mapping[str, Path]

HEAD = 512  # bytes by which an archive is recognised

_MAGIC = {
    zips.LOCAL: "zip",
    zips.END: "zip",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
}


def sniff(head: bytes) -> str | None:
    """Name the archive or compressed file that begins like this (`HEAD` bytes), or return None."""
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return name
    return "tar" if head[257:262] == b"ustar" else None


@contextmanager
def opened(source: Source, limits: Limits) -> Iterator[Iterator[Entry]]:
    """Give the members of a source. Raises `Broken` where it is no archive we know."""
    if isinstance(source, Mapping):
        yield (_file(path, name) for name, path in source.items())
    elif isinstance(source, Path):
        if source.is_dir():
            yield _folder(source)
            return
        with source.open("rb") as file:
            yield _members(file, limits)
    else:
        yield _members(source, limits)


def _members(file: BinaryIO, limits: Limits) -> Iterator[Entry]:
    length = file.seek(0, os.SEEK_END)
    if length > limits.bundle_bytes:
        raise Broken("size", size(length), limits.bundle)
    file.seek(0)
    form = sniff(file.read(HEAD))
    file.seek(0)
    match form:
        case "zip":
            return zips.entries(file, limits)
        case "gzip":
            unzipped = gzip.GzipFile(fileobj=file, mode="rb")
            return tars.entries(_Metered(unzipped, length, limits))
        case "zstd":
            decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
            unpacked = decompressor.stream_reader(file, read_across_frames=True, closefd=False)
            return tars.entries(_Metered(unpacked, length, limits))
    found = "an empty file" if not length else f"a {form} file" if form else "something else"
    raise Broken("content", found, "A .zip, .tar.gz or .tar.zst archive")


class _Metered:
    """A decompressed stream that is held against the limits as it flows."""

    def __init__(self, stream: tars.Stream, packed: int, limits: Limits) -> None:
        self.stream = stream
        self.packed = packed
        self.limits = limits
        self.unpacked = 0

    def read(self, count: int, /) -> bytes:
        """Return so many bytes, fewer only at the end."""
        parts: list[bytes] = []
        while count and (part := self._part(min(count, BLOCK))):
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _part(self, count: int) -> bytes:
        try:
            part = self.stream.read(count)
        except EOFError:
            raise Broken(
                f"byte {self.packed}",
                "the end of the file",
                "The rest of the archive: it is cut short",
            ) from None
        except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            needs_memory = "memory" in str(error)
            raise Broken(
                f"byte {self.unpacked} unpacked",
                "a window that is too large" if needs_memory else "corrupt data",
                f"A window of at most {LARGEST_WINDOW >> 20} MB (zstd -19 or lower)"
                if needs_memory
                else "Compressed data with the right checksum",
            ) from None
        self.unpacked += len(part)
        if self.unpacked > self.limits.bundle_bytes:
            raise Broken("size", f"{size(self.unpacked)} or more unpacked", self.limits.bundle)
        if self.limits.is_bomb(self.unpacked, self.packed):
            raise Broken(
                "size",
                f"{size(self.unpacked)} or more from {size(self.packed)}",
                self.limits.compression,
            )
        return part


def _folder(root: Path) -> Iterator[Entry]:
    """Yield what lies under a folder, in order of names. No link is followed."""
    waiting = [root]
    while waiting:
        here = waiting.pop()
        with os.scandir(here) as found:
            items = sorted(found, key=lambda item: item.name)
        for item in items:
            path = Path(item.path)
            name = path.relative_to(root).as_posix()
            if item.is_dir(follow_symlinks=False):
                waiting.append(path)
                yield Entry(name=name, kind=EntryKind.FOLDER, size=0, blocks=iter(()))
            else:
                yield _file(path, name)


def _file(path: Path, name: str) -> Entry:
    status = path.lstat()
    if stat.S_ISREG(status.st_mode):
        length = status.st_size
        blocks = _content(path, name, length)
        return Entry(name=name, kind=EntryKind.FILE, size=length, blocks=blocks)
    kind = EntryKind.LINK if stat.S_ISLNK(status.st_mode) else EntryKind.SPECIAL
    return Entry(name=name, kind=kind, size=0, blocks=iter(()))


def _content(path: Path, name: str, length: int) -> Iterator[bytes]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise Broken(
            "content", error.strerror or "an error", "A file that can be read", name
        ) from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Broken("content", "something else", "A regular file", name)
        left = length
        while left and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block
        if left or file.read(1):
            raise Broken("content", "a file that changes", "A file that stays as it is", name)
