"""The seats of this installation, as its settings have them, and what is wrong with those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from bouts.bundles.manifest import ChallengeFile
from bouts.rules import Judge
from judging.panel.seats import BadSeats, Panel, Seat, panel_of

READER = "reader"
"""The seat of the one model that is asked for Process, Recovery and Integrity."""

READING = (Judge.PROCESS, Judge.RECOVERY, Judge.INTEGRITY)


@dataclass(frozen=True, slots=True)
class Seating:
    """The seats that may be asked. Where the settings cannot be used there are none."""

    panel: Panel
    trouble: str = ""  # why they cannot be used

    @property
    def is_anybody(self) -> bool:
        return bool(self.panel.seats) or self.panel.reader is not None

    @property
    def unpriced(self) -> tuple[Seat, ...]:
        """The seats whose cost nobody knows, so that no budget can hold them back."""
        return tuple(seat for seat in self.panel.seats if seat.price is None)

    def seat(self, name: str) -> Seat | None:
        return self.panel.reader if name == READER else self.panel.seat(name)

    def asks_of(self, spec: ChallengeFile) -> Iterator[tuple[Judge, str]]:
        """Yield what is asked about a match: a judge and a seat each."""
        if self.panel.reader:
            yield from ((judge, READER) for judge in READING if judge in spec.judges)
        if Judge.STRATEGY in spec.judges:
            yield from ((Judge.STRATEGY, seat.name.value) for seat in self.panel.seats)


NOBODY = Panel((), None)


def seating() -> Seating:
    """Return the seats as configured now."""
    if not any(values["key"] for values in settings.SEATS.values()):
        return Seating(NOBODY)
    try:
        panel = panel_of(
            settings.SEATS,
            reader=settings.READER_SEAT,
            allows_same_vendor=settings.PANEL_SAME_VENDOR,
        )
    except BadSeats as error:
        return Seating(NOBODY, str(error))
    return Seating(panel)
