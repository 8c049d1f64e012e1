"""Files that are ground to crumbs: more records than their bytes can hold anything in.

A record costs the same ten microseconds or more however small it is, so that a file of a few
megabytes could keep a worker for a minute. What real tools write is far above the bounds here,
which leave ``FREE`` records to any file and then ask for so many bytes a record.
"""

from __future__ import annotations

from bouts.formats.types import Unreadable

FREE = 50_000


class Crumbs:
    """Counts the records of one file."""

    def __init__(self, size: int, what: str, bytes_each: int) -> None:
        self.most = FREE + size // bytes_each
        self._what = what
        self._bytes_each = bytes_each
        self._count = 0

    def add(self, place: str | None = None) -> None:
        """Take one more; raise `Unreadable` where there are more than the file has room for."""
        self._count += 1
        if self._count > self.most:
            self.refuse(place)

    def refuse(self, place: str | None = None) -> None:
        raise Unreadable(
            f"{self._what} of less than {self._bytes_each} bytes each: more than FREE = {FREE:,}"
            " of them are no file of this format",
            place,
        )
