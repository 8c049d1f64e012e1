"""Stored content is read from near a line, not from its beginning."""

from __future__ import annotations

import random

import pytest
import zstandard
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from bouts import blobs
from bouts.blobs import BLOCK
from bouts.models import Blob

pytestmark = pytest.mark.django_db
KEY = b"-----BEGIN PRIVATE KEY-----\n" + b"MIIBVQ\n" * 5 + b"-----END PRIVATE KEY-----\n"


def log(size: int, *, longest: int = 300) -> bytes:
    """Return lines of random length, some of them empty, the last of them without an end."""
    chance = random.Random(7)
    lines, length = [], 0
    while length < size:
        lines.append(f"{len(lines) + 1} ".encode() * chance.randrange(longest // 4))
        length += len(lines[-1]) + 1
    return b"\n".join(lines)


def read(blob: Blob, line: int) -> tuple[int, bytes]:
    """Return which line was read first, and the one that was wanted."""
    with blobs.opened_before(blob, line) as lines:
        first = None
        for number, data, _ in lines:
            first = first or number
            if number == line:
                return first, data.rstrip(b"\n")
    raise AssertionError("no such line")


def test_every_line_is_found_from_near_it() -> None:
    content = log(5 * BLOCK)
    blob = blobs.put(content)
    lines = content.split(b"\n")
    per_block = len(lines) // 5
    for number in {1, 2, len(lines) - 1, len(lines), *range(1, len(lines), per_block // 7)}:
        first, data = read(blob, number)
        assert data == lines[number - 1], number
        assert number - first < 2 * per_block, number
    assert read(blob, len(lines))[0] > len(lines) - 2 * per_block
    with blobs.opened(blob) as stream:
        assert stream.read() == content == blobs.whole(blob)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n" * (2 * BLOCK + 3),
        b"x" * (3 * BLOCK),
        b"x" * BLOCK + b"\n" + b"y" * BLOCK + b"\nlast",
        b"x" * (BLOCK - 1) + b"\n" + b"y\n" * BLOCK,
    ],
    ids=["nothing", "ends alone", "one line", "ends after blocks", "an end at the end of a block"],
)
def test_lines_and_blocks_may_lie_as_they_will(content: bytes) -> None:
    blob = blobs.put(content)
    lines = content.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    for number in {n for n in (1, 2, 3, len(lines) // 2, len(lines)) if 0 < n <= len(lines)}:
        assert read(blob, number)[1] == lines[number - 1][: blobs.LONGEST_LINE]
    with blobs.opened_before(blob, len(lines) + 9) as found:
        assert max((number for number, _, _ in found), default=0) <= len(lines)


def test_what_was_stored_in_one_frame_is_read_all_the_same() -> None:
    """As it was before blocks had frames of their own."""
    content = log(2 * BLOCK)
    blob = Blob(digest="0" * 64, size=len(content))
    packed = zstandard.ZstdCompressor().compress(content)
    default_storage.save(blob.storage_name, ContentFile(packed))
    lines = content.split(b"\n")
    assert read(blob, len(lines)) == (1, lines[-1])


def test_behind_a_private_key_everything_is_read_from_before_it() -> None:
    """Whether a line is part of a key is told by those above it."""
    first = log(BLOCK)
    before = BLOCK - len(first) % BLOCK - 9  # so that the word lies across the end of a block
    content = first + b"\n" + b"x" * (before - 1) + b"\n" + KEY + log(3 * BLOCK)
    blob = blobs.put(content)
    lines = content.split(b"\n")
    begins = lines.index(b"-----BEGIN PRIVATE KEY-----") + 1
    assert read(blob, len(lines))[0] <= begins
