"""Runs whose telemetry lies in several files: each goes on where the one before it ends.

Harbor closes a trajectory where an agent sums up what went before, and names the next file in it
(FORMATS.md, 2). The files stay what they are, each an artifact of its own; what they tell is one
run, whose events are numbered through and timed from one start. So a number is one event of the
run, and an anchor, which names the file too, leads to that event's own record.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from bouts.bundles.loading import LoadedBundle
from bouts.bundles.manifest import ArtifactEntry
from bouts.formats.atif import AtifReader, continued_in
from bouts.formats.sniff import reader_of
from bouts.formats.types import Clock, Event, Kind, Report


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run stands as one of its files begins: after so many events, by such a clock."""

    path: str = ""  # of the file before; empty where this one is the first
    events: int = 0
    clock: Clock | None = None
    origin: str | None = None  # ISO time of the run's t = 0

    def after(self, path: str, report: Report) -> Start:
        """Return where the run stands when this file has been read."""
        has_clock = self.origin is None and report.origin is not None
        return Start(
            path,
            self.events + report.counts.get("events", 0),
            report.clock if has_clock else self.clock,
            report.origin if has_clock else self.origin,
        )

    def placed(self, events: Iterator[Event], report: Report) -> Iterator[Event]:
        """Number and time the events of a file as those of the run.

        Its reader settles the clock before the first event (`bouts.formats.telemetry.clock`).
        """
        report.facts.update(continues=self.path, events_before=self.events)
        first = next(events, None)
        shift = self._shift(report)
        report.note(
            f"it goes on where {self.path} ends, as the same run:"
            f" its events are numbered from {self.events + 1:,}"
        )
        if first is None:
            return
        yield self._placed(first, shift)
        for event in events:
            yield self._placed(event, shift)

    def _placed(self, event: Event, shift: float | None) -> Event:
        t = None if event.t is None or shift is None else event.t + shift
        return replace(event, seq=event.seq + self.events, t=t)

    def _shift(self, report: Report) -> float | None:
        """Return the seconds from the run's t = 0 to the file's; None where nobody can say."""
        if self.origin is None or report.origin is None:
            return 0.0
        if report.clock is self.clock:
            begun, origin = map(datetime.fromisoformat, (report.origin, self.origin))
            report.origin = self.origin
            return (begun - origin).total_seconds()
        report.note(
            f"its clock is {report.clock} and that of the run before it {self.clock}:"
            " no time can be carried over, so that its events have none"
        )
        report.clock, report.origin = Clock.NONE, None
        return None


NEW_RUN = Start()


class Runs:
    """Which telemetry of a bundle goes on in which: looked up by name alone, and nowhere else.

    Only what one ATIF trajectory says of another counts. Where two name the same file, it goes
    on from the first of them.
    """

    def __init__(self, loaded: LoadedBundle) -> None:
        self._entries = {entry.path: entry for entry in loaded.manifest.entries}
        self._members = loaded.members
        self._next: dict[str, str] = {}
        trajectories = [path for path in self._entries if self._is_trajectory(path)]
        for path in trajectories if len(trajectories) > 1 else ():
            with self._members[path].file.open("rb") as source:
                named = continued_in(source)
            following = resolved(path, named) if named else ""
            is_taken = following in self._next.values() or path in self._chain(following)
            if following in trajectories and not is_taken:
                self._next[path] = following

    def entries(self) -> Iterator[ArtifactEntry]:
        """Yield the artifacts in the order of the manifest, but each run's files in a row."""
        inner = set(self._next.values())
        for path in self._entries:
            if path not in inner:
                yield from (self._entries[part] for part in self._chain(path))

    def next(self, path: str) -> str | None:
        """Return the file in which a trajectory goes on, where it does and that is read as such."""
        return self._next.get(path)

    def fault(self, path: str, named: str) -> str:
        """Say why the file that a trajectory names does not go on with it."""
        following = resolved(path, named)
        entry = self._entries.get(following)
        if entry is not None and entry.kind is Kind.TELEMETRY:
            return f"{following}, in which it says that it goes on, is no continuation of it alone"
        if following in self._members:
            return f"{following}, in which it goes on, is here but not as telemetry: it is not read"
        return f"{named}, in which it goes on, is not in the bundle: what came after is missing"

    def _chain(self, path: str) -> Iterator[str]:
        following: str | None = path
        while following is not None:
            yield following
            following = self._next.get(following)

    def _is_trajectory(self, path: str) -> bool:
        entry = self._entries[path]
        if entry.kind is not Kind.TELEMETRY:
            return False
        reader = reader_of(self._members[path].file, Kind.TELEMETRY, entry.format)
        return reader is not None and reader.format == AtifReader.format


def resolved(path: str, named: str) -> str:
    """Return the path in the bundle that a file names, relative to itself."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), named))
