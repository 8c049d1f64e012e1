"""How far the time stamps of a trajectory can be trusted (FORMATS.md, rules 5 and 6)."""

from __future__ import annotations

from datetime import UTC, datetime

from bouts.formats.remarks import Remarks
from bouts.formats.types import Clock, Report

# Rule 6: a converter that stamps steps as it writes them gives all of them one moment.
FABRICATED_SPAN_S = 1.0
FABRICATED_FROM = 6  # stamped steps; fewer may well lie within a second

# Seconds since 1970 that can be a time of ours: 2001 to 2286.
EARLIEST_EPOCH = 1_000_000_000
LATEST_EPOCH = 9_999_999_999

SHORTEST_STAMP = len("2026-01-01T00:00")


def parse_stamp(text: object) -> datetime | None:
    """Return an ISO 8601 date with time, naive where no zone is written; None for all else.

    A time that a reader has made of something else already, such as `from_epoch`, stays.
    """
    if isinstance(text, datetime):
        return text
    if not isinstance(text, str) or not SHORTEST_STAMP <= len(text) <= 64:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def from_epoch(seconds: object) -> datetime | None:
    """Return seconds since 1970 as a time; None for what is no such number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not EARLIEST_EPOCH <= seconds <= LATEST_EPOCH:
        return None
    return datetime.fromtimestamp(seconds, UTC)


class _Span:
    """The stamps of one sort: how many, the first in the file, the earliest and the latest."""

    def __init__(self) -> None:
        self.count = 0
        self.first: datetime | None = None
        self.earliest: datetime | None = None
        self.latest: datetime | None = None

    def add(self, moment: datetime) -> None:
        self.count += 1
        self.first = self.first or moment
        self.earliest = min(self.earliest or moment, moment)
        self.latest = max(self.latest or moment, moment)

    @property
    def seconds(self) -> float:
        if self.earliest is None or self.latest is None:
            return 0.0
        return (self.latest - self.earliest).total_seconds()


class Timekeeper:
    """Surveys all stamps of a file first, then gives seconds since the first trusted one.

    Where some stamps have a zone and some have none, only those with one are trusted: what
    the others mean depends on a machine that we do not know.
    """

    def __init__(self) -> None:
        self._zoned = _Span()
        self._naive = _Span()
        self._broken = 0
        self._origin: datetime | None = None
        self._last = 0.0

    def survey(self, stamp: object) -> None:
        """Take note of one step's stamp, as it is written."""
        moment = parse_stamp(stamp)
        if moment is None:
            self._broken += 1
        elif moment.tzinfo is None:
            self._naive.add(moment)
        else:
            self._zoned.add(moment)

    def settle(self, report: Report) -> None:
        """Decide on the clock and say so in the report; call it once, after the survey."""
        span = self._zoned if self._zoned.count else self._naive
        clock = Clock.ZONED if self._zoned.count else Clock.NAIVE
        if not span.count:
            clock = Clock.NONE
        elif span.count >= FABRICATED_FROM and span.seconds < FABRICATED_SPAN_S:
            clock = Clock.NONE
            report.note(
                f"fabricated clock: all {span.count:,} time stamps lie within "
                f"{span.seconds:.3f} s, so they tell when the file was written, not when "
                "the agent acted"
            )
        else:
            self._origin = span.first
        report.clock = clock
        report.origin = self._origin.isoformat() if self._origin else None
        if self._broken:
            report.note(f"{self._broken:,} time stamps cannot be read; those steps have no time")
        if self._zoned.count and self._naive.count:
            report.note(
                f"{self._naive.count:,} time stamps have no zone while others do; those "
                "steps have no time"
            )

    def seconds(self, stamp: object, remarks: Remarks, place: str) -> float | None:
        """Return the seconds from the file's first trusted stamp to this one."""
        if self._origin is None:
            return None
        if stamp is None:
            remarks.add("a step without a time stamp", place)
            return None
        moment = parse_stamp(stamp)
        if moment is None or (moment.tzinfo is None) != (self._origin.tzinfo is None):
            return None
        seconds = (moment - self._origin).total_seconds()
        if seconds < self._last:
            remarks.add("time runs backwards; it is left as it is written", place)
        self._last = seconds
        return seconds
