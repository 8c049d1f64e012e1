"""Does the place that an anchor names exist? Asked while a file is read, at no second reading.

An anchor that points nowhere is refused at the door; one into a file that cannot be read
stays *unresolved* (DESIGN.md, "A bundle").
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bouts.evidence import (
    Anchor,
    DiffPlace,
    EventPlace,
    JsonPlace,
    LinePlace,
    LinesPlace,
    Place,
    TestPlace,
)
from bouts.formats.pointers import TooLarge, values_at
from bouts.formats.types import Event, FileChange, TestResult


class PlaceCheck:
    """Tells which of the places wanted of one artifact are missing from it.

    Feed it each value that the artifact's reader yields with `see`, then ask `missing`.
    """

    def __init__(self, anchors: Iterable[Anchor], suite: str = "") -> None:
        self._anchors = list(anchors)
        self._suite = suite
        self._open: set[Place] = {anchor.where for anchor in self._anchors}

    def __bool__(self) -> bool:
        return bool(self._anchors)

    def see(self, value: Any) -> None:
        match value:
            case Event():
                self._open.discard(EventPlace(value.seq))
            case TestResult():
                self._open.discard(TestPlace(self._suite, value.id))  # type: ignore[arg-type]
            case FileChange():
                self._see_change(value)

    def _see_change(self, change: FileChange) -> None:
        wanted = {
            place
            for place in self._open
            if isinstance(place, DiffPlace) and place.path in {change.path, change.old_path}
        }
        if not wanted:
            return
        for hunk in change.hunks:
            for line in hunk.lines:
                if line.new is not None:
                    self._open.discard(DiffPlace(change.path, line.new))
                if line.old is not None:
                    self._open.discard(
                        DiffPlace(change.old_path or change.path, line.old, old=True)
                    )
                    self._open.discard(DiffPlace(change.path, line.old, old=True))

    def missing(self, file: Path) -> list[Anchor]:
        """Return the anchors whose place neither a value nor the file's own text has."""
        self._see_lines(file)
        self._see_pointers(file)
        return [anchor for anchor in self._anchors if anchor.where in self._open]

    def _see_lines(self, file: Path) -> None:
        wanted = {p for p in self._open if isinstance(p, LinePlace | LinesPlace)}
        if not wanted:
            return
        count = line_count(file)
        for place in wanted:
            last = place.line if isinstance(place, LinePlace) else place.last
            if last <= count:
                self._open.discard(place)

    def _see_pointers(self, file: Path) -> None:
        wanted = {p.tokens: p for p in self._open if isinstance(p, JsonPlace)}
        if not wanted:
            return
        with file.open("rb") as source, suppress(TooLarge):
            self._open.difference_update(wanted[found] for found in values_at(source, wanted))


def line_count(file: Path) -> int:
    """Count lines as numbered on the page: split on LF, an unended last line counts."""
    count, last = 0, b"\n"
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")
