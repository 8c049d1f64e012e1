"""The times of a sandbox log: each sort of stamp to seconds since the first one.

A log has one sort, which the first stamp settles. A stamp of another sort is remarked on and
tells no time: between a date with a zone and an uptime there is no number of seconds.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from bouts.formats.remarks import Remarks
from bouts.formats.types import Clock

_DAY_S = 86_400
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_LEAP_YEAR = 2024  # stands in for a year that is not written; it has all days
_NEW_YEAR_S = 200 * _DAY_S  # a stamp so far before the last one is of the next year
# A nanosecond has nine digits, of which `fromisoformat` reads six.
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))? ?(Z|[+-]\d\d:?\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Stamps:
    def __init__(self, remarks: Remarks) -> None:
        self.grade = Clock.NONE
        self.origin: str | None = None
        self._sort: str | None = None
        self._first = 0.0
        self._last = 0.0
        self._remarks = remarks

    def epoch(self, seconds: float, line: int) -> float | None:
        """Seconds since 1970."""
        return self._since("epoch", Clock.ZONED, seconds, line)

    def iso(self, text: str, line: int) -> float | None:
        """A date with time, to the nanosecond, with or without a zone."""
        found = _ISO.fullmatch(text)
        if found is None:
            return self._unknown(line)
        date, time, fraction, zone = found.groups()
        try:
            moment = datetime.fromisoformat(f"{date}T{time}{zone or ''}")
        except ValueError:
            return self._unknown(line)
        seconds = (moment - (_EPOCH if zone else _EPOCH.replace(tzinfo=None))).total_seconds()
        seconds += float(f"0.{fraction or 0}")
        if zone:
            return self.epoch(seconds, line)
        return self._since("local", Clock.NAIVE, seconds, line)

    def calendar(self, month: str | int, day: int, time: str, line: int) -> float | None:
        """A local day and time without a year, the month as a number or an English word."""
        try:
            number = month if isinstance(month, int) else _MONTHS[month]
            moment = datetime(_LEAP_YEAR, number, day) - datetime(_LEAP_YEAR, 1, 1)
        except (KeyError, ValueError):
            return self._unknown(line)
        stamp = moment.total_seconds() + _of_day(time)
        year = timedelta(days=366).total_seconds()
        if self._sort is not None:
            if stamp < self._last - _NEW_YEAR_S:
                stamp += year * round((self._last - stamp) / year)
            elif stamp > self._last + _NEW_YEAR_S and self._last:
                stamp -= year  # a little out of order, just after a new year
        return self._since("calendar", Clock.NAIVE, stamp, line)

    def of_day(self, time: str, line: int) -> float | None:
        """A time of day; past midnight it goes on from the day before."""
        stamp = _of_day(time)
        stamp += _DAY_S * round((self._last - stamp) / _DAY_S) if self._sort else 0
        return self._since("of day", Clock.NAIVE, stamp, line)

    def elapsed(self, seconds: float, line: int) -> float | None:
        """Seconds since an unknown moment, such as the start of the machine."""
        return self._since("elapsed", Clock.RELATIVE, seconds, line)

    def after_last(self, seconds: float, line: int) -> float | None:
        """Seconds since the line before."""
        return self._since("after last", Clock.RELATIVE, self._last + seconds, line)

    def _since(self, sort: str, grade: Clock, stamp: float, line: int) -> float | None:
        if self._sort is None:
            self._sort, self.grade, self._first = sort, grade, stamp
            if grade is Clock.ZONED:
                self.origin = (_EPOCH + timedelta(seconds=stamp)).isoformat()
        elif sort != self._sort:
            self._remarks.add("a stamp of another sort than the first one's", line)
            return None
        self._last = stamp
        return round(stamp - self._first, 6)

    def _unknown(self, line: int) -> float | None:
        self._remarks.add("a time that cannot be read", line)
        return None


def _of_day(text: str) -> float:
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
