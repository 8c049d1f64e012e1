"""The run that is judged: what one file of telemetry tells, or several that go on with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bouts.formats.types import Clock, Event, Kind
from judging.judges.base import Dossier, JsonDict, Source, anchor


class Part(Protocol):
    """A file of a run: what judges read, or the row that is shown. See `Source`."""

    @property
    def path(self) -> str: ...
    @property
    def clock(self) -> str | None: ...
    @property
    def continues(self) -> str: ...
    @property
    def events_before(self) -> int: ...
    @property
    def is_readable(self) -> bool: ...


PartT = TypeVar("PartT", bound=Part)


@dataclass(frozen=True, slots=True)
class Run(Generic[PartT]):
    """Files of telemetry of which each goes on where the one before it ends.

    Their events are numbered through (`bouts.bundles.runs`), so that a number stands in one of
    them. What one part of a run says means nothing without the others: it can be read where all
    of them can.
    """

    parts: tuple[PartT, ...]

    @property
    def path(self) -> str:
        """The path of the file in which it begins."""
        return self.parts[0].path

    @property
    def is_readable(self) -> bool:
        return all(part.is_readable for part in self.parts)

    @property
    def clock(self) -> Clock:
        """The clock that its times are told by: of the first part that has one."""
        clocks = (Clock(part.clock) for part in self.parts if part.clock)
        return next((clock for clock in clocks if clock is not Clock.NONE), Clock.NONE)

    @property
    def has_clock(self) -> bool:
        return self.clock is not Clock.NONE

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(part.path for part in self.parts)

    def events(self, dossier: Dossier) -> Iterator[Event]:
        for part in self.parts:
            yield from (value for value in dossier.load(part.path) if isinstance(value, Event))

    def part_of(self, seq: int) -> PartT:
        """Return the file that an event stands in."""
        before = [part.events_before for part in self.parts]
        return self.parts[max(0, bisect_right(before, seq - 1) - 1)]

    def anchor(self, seq: int) -> JsonDict:
        return anchor(self.part_of(seq).path, f"event:{seq}")


def runs_of(files: Sequence[PartT]) -> list[Run[PartT]]:
    """Put files of telemetry together to runs, in the order of the files that these begin in."""
    known = {file.path for file in files}
    following = {file.continues: file for file in files if file.continues in known}
    runs = []
    for file in files:
        if file.continues not in known:
            parts = [file]
            while (after := following.get(parts[-1].path)) is not None:
                parts.append(after)
            runs.append(Run(tuple(parts)))
    return runs


def main_run(dossier: Dossier) -> Run[Source] | None:
    """Return the run that is scored: the first that can be read, else the first."""
    runs = runs_of(dossier.of_kind(Kind.TELEMETRY))
    return next((run for run in runs if run.is_readable), next(iter(runs), None))
