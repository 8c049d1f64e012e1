"""A ZIP file's members as documents of their own, read where they lie, never unpacked to disk.

A place in one is a JSON pointer as if the file were an object of its members by their names:
``/samples~11_epoch_1.json/events/4``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from bouts.archives import zips
from bouts.archives.entries import BLOCK, Broken, EntryKind
from bouts.archives.limits import Limits, size
from bouts.formats.blocks import BlockStream
from bouts.formats.documents import WHOLE_LIMIT
from bouts.formats.types import Unreadable

MAGIC = zips.LOCAL
# What DESIGN.md bounds. An installation's own bounds are held when the bundle comes in.
LIMITS = Limits()
# What is unpacked costs as much as a file of that size, and a member may be packed two hundred
# times smaller. Real logs are packed four to five times: so many bytes any archive may unpack to,
# and beyond them so many times its own size.
FREE_BYTES = 16 * 1024 * 1024
MOST_TIMES = 20


class ZipFile:
    """The files in a ZIP by their names, in the order of its directory. All bounds hold."""

    def __init__(self, source: BinaryIO) -> None:
        try:
            members = zips.members(source, LIMITS)
        except Broken as broken:
            raise _unreadable(broken) from None
        _check(members, source.seek(0, io.SEEK_END))
        self._members = {member.name: member for member in members if member.kind is EntryKind.FILE}

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def opened(self, name: str) -> BinaryIO:
        """Return a member as a stream that goes back to its start as often as it is asked to.

        A small one is in memory, of a larger one only a block. Reading either raises
        `Unreadable` where the archive breaks its word.
        """
        member = self._members[name]
        if member.size > WHOLE_LIMIT:
            return io.BufferedReader(BlockStream(lambda: _blocks(member), member.size), BLOCK)
        return io.BytesIO(b"".join(_blocks(member)))


def _check(members: list[zips.Member], packed: int) -> None:
    """Refuse an archive that is over a bound before any of it is unpacked."""
    if len(members) > LIMITS.members:
        raise Unreadable(f"{len(members):,} members; at most {LIMITS.members:,} are read")
    total = sum(member.size for member in members)
    if total > LIMITS.bundle_bytes:
        bound = size(LIMITS.bundle_bytes)
        raise Unreadable(f"{size(total)} when unpacked; at most {bound} are read")
    if total > FREE_BYTES + MOST_TIMES * packed:
        bound = f"more than {size(FREE_BYTES)} and {MOST_TIMES} times its size"
        raise Unreadable(f"{size(packed)} unpack to {size(total)}: {bound}")
    names: set[str] = set()
    for member in members:
        place = f"member {member.name[:200]!r}"
        if member.name in names:
            raise Unreadable("two members of one name", place)
        names.add(member.name)
        if member.kind not in {EntryKind.FILE, EntryKind.FOLDER}:
            raise Unreadable(f"{member.kind} in the archive", place)
        if member.refusal:
            raise Unreadable(member.refusal[0], place)
        if member.size > LIMITS.member_bytes:
            bound = size(LIMITS.member_bytes)
            raise Unreadable(f"{size(member.size)}; at most {bound} of a member are read", place)
        if LIMITS.is_bomb(member.size, member.packed):
            raise Unreadable(f"packed more than {LIMITS.ratio:,} times smaller", place)


def _blocks(member: zips.Member) -> Iterator[bytes]:
    try:
        yield from member.read()
    except Broken as broken:
        raise _unreadable(broken) from None


def _unreadable(broken: Broken) -> Unreadable:
    inside = f", in {broken.member[:200]!r}" if broken.member else ""
    reason = f"not a sound ZIP file: found {broken.found}{inside}, expected {broken.expected}"
    return Unreadable(reason[:900], broken.place)
