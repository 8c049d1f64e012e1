"""Safe unpacking: an upload, whatever it really is, to files that we named ourselves.

A zip, a tar.gz, a tar.zst or a folder gives the same members. Everything streams; every
bound of `Limits` is held while it does, and each member's SHA-256 is known once it is
written. Faults are gathered rather than raised, so that a refusal can name them together
with those of the manifest.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from bouts.archives import sources
from bouts.archives.entries import Broken, Entry, EntryKind
from bouts.archives.limits import Limits, size
from bouts.archives.sources import Source
from bouts.bundles import names
from bouts.bundles.errors import Fault, Refused

MOST_FAULTS = 500  # of one archive; then reading stops


class Walk:
    """The files of an archive in order: safe names, none twice, all bounds held.

    Iterating yields (path, blocks); the blocks are read before the next file is asked for.
    Nothing is raised for what is wrong with the archive. ``faults`` says it; ``refused``
    has the names that were left out, which a reader of blocks looks at after reading, since
    the last file may break off in the middle; where not ``complete``, so did the archive.
    """

    def __init__(self, source: Source, *, name: str, limits: Limits) -> None:
        self.source = source
        self.name = name
        self.limits = limits
        self.faults: list[Fault] = []
        self.refused: set[str] = set()
        self.complete = True
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._bytes = 0

    def __iter__(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        path = None
        try:
            with sources.opened(self.source, self.limits) as entries:
                for number, entry in enumerate(entries, start=1):
                    path = names.normal(entry.name.rstrip("/"))
                    self._hold(number, entry)
                    if self._is_welcome(path, entry):
                        yield path, self._guarded(path, entry.blocks)
                    if not self.complete:
                        return
        except Broken as broken:
            self._break_off(broken, path)

    def _hold(self, number: int, entry: Entry) -> None:
        """Raise `Broken` where the archive as a whole is over a bound."""
        if number > self.limits.members:
            raise Broken("members", f"{number:,} or more", self.limits.count)
        self._bytes += entry.size
        if self._bytes > self.limits.bundle_bytes:
            raise Broken("size", f"{size(self._bytes)} or more unpacked", self.limits.bundle)
        if len(self.faults) >= MOST_FAULTS:
            raise Broken("members", f"{MOST_FAULTS} faults", "An archive with fewer faults")

    def _is_welcome(self, path: str, entry: Entry) -> bool:
        """Say whether to unpack a member; note the fault where there is one."""
        if not path and entry.kind is EntryKind.FOLDER:
            return False  # "./", the root itself
        if wrong := self._wrong(path, entry):
            self.faults.append(Fault(entry.name, *wrong))
            self.refused.add(path)
            return False
        if entry.kind is EntryKind.FOLDER:
            self._folders.add(path)
            return False
        self._files.add(path)
        self._folders.update(_parents(path))
        return True

    def _wrong(self, path: str, entry: Entry) -> tuple[str, str, str] | None:
        """Return what is wrong with a member as (field, found, expected), or None."""
        if found := names.odd(path):
            return ("path", *found)
        if entry.kind not in {EntryKind.FILE, EntryKind.FOLDER}:
            return "kind", entry.kind, "A regular file or a folder"
        if path in self._files:
            return "path", "the same name twice", "One member of each name"
        is_mixed = entry.kind is EntryKind.FILE and path in self._folders
        if is_mixed or any(parent in self._files for parent in _parents(path)):
            return "path", "a file and a folder of one name", "One member of each name"
        if entry.refusal:
            return ("data", *entry.refusal)
        if entry.size > self.limits.member_bytes:
            return "size", size(entry.size), self.limits.member
        if entry.packed is not None and self.limits.is_bomb(entry.size, entry.packed):
            ratio = entry.size // max(entry.packed, 1)
            return (
                "size",
                f"{size(entry.size)}, packed {ratio:,} times smaller",
                (self.limits.compression),
            )
        return None

    def _guarded(self, path: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from blocks
        except Broken as broken:
            self.refused.add(path)
            self._break_off(broken, path)

    def _break_off(self, broken: Broken, path: str | None) -> None:
        self.complete = False
        found = broken.found
        if broken.member:
            found += f", in {broken.member}"
        elif path and broken.place.startswith("byte"):
            found += f", after {path}"
        self.faults.append(Fault(self.name, broken.place, found, broken.expected))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an unpacked upload. ``archive`` names the format where it is one itself."""

    path: str
    size: int
    sha256: str
    file: Path
    archive: str | None = None

    def open(self) -> BinaryIO:
        return self.file.open("rb")


@dataclass(slots=True)
class Unpacked:
    """What an upload held, in files under ``root`` that go when `unpack` ends.

    ``faults``, ``refused`` and ``complete`` are those of the `Walk`.
    """

    name: str
    root: Path
    members: dict[str, Member] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    complete: bool = True

    def means_missing(self, path: str) -> bool:
        """Say whether a path that is no member was not sent at all, rather than left out."""
        return self.complete and path not in self.refused

    def enter(self, document: str) -> None:
        """Step into the one enclosing folder, where the document lies there and not at the root.

        What macOS adds beside it (``__MACOSX``) is no second folder.
        """
        if document in self.members:
            return
        tops = {path.partition("/")[0] for path in self.members} - {"__MACOSX", ".DS_Store"}
        prefix = f"{min(tops, default='')}/"
        if len(tops) == 1 and prefix + document in self.members:
            self.members = {
                inner.path: inner
                for path, member in self.members.items()
                if path.startswith(prefix)
                for inner in [replace(member, path=path.removeprefix(prefix))]
            }
            self.refused = {path.removeprefix(prefix) for path in self.refused}


@contextmanager
def unpack(
    source: Source, *, name: str, limits: Limits, into: Path | None = None
) -> Iterator[Unpacked]:
    """Unpack an upload to a new folder under ``into``; remove it in the end, whatever happens.

    ``name`` is what faults call the upload. Nothing is raised for what is wrong with it:
    see ``faults``.
    """
    with tempfile.TemporaryDirectory(prefix="bundle-", dir=into) as folder:
        walk = Walk(source, name=name, limits=limits)
        members: dict[str, Member] = {}
        for path, blocks in walk:
            member = _written(path, blocks, Path(folder, f"{len(members):05}"))
            if path not in walk.refused:
                members[path] = member
        yield Unpacked(
            name=name,
            root=Path(folder),
            members=members,
            faults=walk.faults,
            refused=walk.refused,
            complete=walk.complete,
        )


def _written(path: str, blocks: Iterator[bytes], file: Path) -> Member:
    digest = hashlib.sha256()
    head, total = b"", 0
    with file.open("wb") as out:
        for block in blocks:
            digest.update(block)
            out.write(block)
            total += len(block)
            if len(head) < sources.HEAD:
                head += block[: sources.HEAD]
    return Member(path, total, digest.hexdigest(), file, sources.sniff(head))


def tree_digests(source: Source, *, name: str, limits: Limits) -> dict[str, str]:
    """Return path → SHA-256 of each file of an archive, without unpacking it to disk.

    Paths stand as the archive has them: diffs name the same. Raises `Refused`.
    """
    walk = Walk(source, name=name, limits=limits)
    digests = {}
    for path, blocks in walk:
        digest = hashlib.sha256()
        for block in blocks:
            digest.update(block)
        digests[path] = digest.hexdigest()
    if walk.faults:
        raise Refused(walk.faults)
    return digests


def tree_contents(source: Source, *, name: str, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of each file of an archive, one in memory at a time.

    Raises `Refused`, in the end or at the place where the archive breaks off.
    """
    walk = Walk(source, name=name, limits=limits)
    for path, blocks in walk:
        content = b"".join(blocks)
        if path not in walk.refused:
            yield path, content
    if walk.faults:
        raise Refused(walk.faults)
