"""Read a bundle's artifacts: every file by its reader, each to a state and a report.

Used alike by ingest, which spools the values into the database, and by `manage.py score`,
which keeps them. What cannot be read is a state with a reason, never an exception and never
an empty result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from bouts.bundles.errors import Fault, Refused
from bouts.bundles.loading import LoadedBundle
from bouts.bundles.manifest import ArtifactEntry
from bouts.bundles.places import PlaceCheck
from bouts.bundles.runs import NEW_RUN, Runs, Start
from bouts.evidence import Anchor
from bouts.formats.sniff import READERS, reader_of
from bouts.formats.types import Kind, Reader, Report, Unreadable

# Structured input to the judges: parsed with the manifest, refused with it.
DOCUMENTS = {Kind.VERDICTS, Kind.CLAIMS}
READABLE = {reader.kind for reader in READERS}


class State(StrEnum):
    READ = "read"
    UNREADABLE = "unreadable"
    STORED = "stored"  # kept as it came: no reader turns its kind into values


@dataclass(slots=True)
class Reading:
    """How one artifact was read."""

    entry: ArtifactEntry
    state: State
    reader: Reader | None = None
    reason: str = ""
    place: str = ""
    report: Report = field(default_factory=Report)
    missing: list[Anchor] = field(default_factory=list)  # evidence that points nowhere


def readings(
    loaded: LoadedBundle, sink_of: Callable[[ArtifactEntry], Callable[[Any], None]]
) -> Iterator[Reading]:
    """Read every artifact of a bundle; each value goes to its artifact's sink.

    They come in the order of the manifest, but for the files of one run, which come in a row.
    """
    anchors: dict[str, list[Anchor]] = defaultdict(list)
    for _, _, anchor in loaded.anchors():
        anchors[anchor.artifact].append(anchor)
    runs = Runs(loaded)
    start = NEW_RUN
    for entry in runs.entries():
        file = loaded.members[entry.path].file
        reading = read_artifact(entry, file, sink_of(entry), anchors[entry.path], start)
        following = runs.next(entry.path)
        _note_continuation(reading, runs, following)
        start = start.after(entry.path, reading.report) if following else NEW_RUN
        yield reading


def _note_continuation(reading: Reading, runs: Runs, following: str | None) -> None:
    """Say whether the file that a trajectory goes on in came along, and what becomes of it."""
    if (named := reading.report.facts.get("continued_in")) is None:
        return
    if following:
        text = f"{following} goes on with it: both are one run"
    else:
        text = runs.fault(reading.entry.path, named)
    reading.report.note(text, "/continued_trajectory_ref")


def refuse_dangling(loaded: LoadedBundle, read: Iterable[Reading]) -> None:
    """Raise `Refused` where evidence points to a place that its artifact does not have."""
    missing = {anchor for reading in read for anchor in reading.missing}
    faults = [
        Fault(path, f"{where}.place", anchor.place, f"A place that {anchor.artifact} has")
        for path, where, anchor in loaded.anchors()
        if anchor in missing
    ]
    if faults:
        raise Refused(faults)


def read_artifact(
    entry: ArtifactEntry,
    file: Path,
    sink: Callable[[Any], None],
    anchors: Iterable[Anchor] = (),
    start: Start = NEW_RUN,
) -> Reading:
    """Feed every value of a file to ``sink`` and say how it went.

    Where the state comes back unreadable, the values that went to ``sink`` do not count.
    ``anchors`` are those that name this artifact. ``start`` tells of the files before, where
    the artifact goes on with their run.
    """
    check = PlaceCheck(anchors, entry.suite or "")
    kind = Kind(entry.kind)
    reading = Reading(entry, State.STORED)
    if kind in DOCUMENTS:
        reading.state = State.READ
    elif kind in READABLE:
        _read(reading, kind, file, sink, check, start)
    if check and reading.state is not State.UNREADABLE:
        reading.missing = check.missing(file)
    return reading


def _read(
    reading: Reading,
    kind: Kind,
    file: Path,
    sink: Callable[[Any], None],
    check: PlaceCheck,
    start: Start,
) -> None:
    report = reading.report
    try:
        reading.reader = reader_of(file, kind, reading.entry.format)
        if reading.reader is None:
            raise Unreadable(f"no reader of {kind} recognises the content")
        with file.open("rb") as source:
            values = reading.reader.read(source, report)
            for value in start.placed(values, report) if start.path else values:
                check.see(value)
                sink(value)
    except Unreadable as error:
        reading.state = State.UNREADABLE
        reading.reason, reading.place = error.reason, error.place or ""
    else:
        reading.state = State.READ
