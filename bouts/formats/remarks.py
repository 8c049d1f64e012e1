"""What a reader has to say again and again, said once with a number."""

from __future__ import annotations

from bouts.formats.types import Report

MAX_REMARKS = 200  # different ones; a hostile file must not write the report


class Remarks:
    """Gathers remarks while a file is read; a thousand bad times become one note.

    The note carries the place where it was first seen.
    """

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._first: dict[str, str | int | None] = {}
        self._left_out = 0

    def add(self, text: str, place: str | int | None = None) -> None:
        """Take a remark; a whole number as its place is a line, written out only if it is needed."""
        if text in self._times:
            self._times[text] += 1
        elif len(self._times) < MAX_REMARKS:
            self._times[text] = 1
            self._first[text] = place
        else:
            self._left_out += 1

    def write(self, report: Report) -> None:
        for text, times in self._times.items():
            first = self._first[text]
            place = f"line {first}" if isinstance(first, int) else first
            report.note(f"{text} ({times:,} times)" if times > 1 else text, place)
        if self._left_out:
            report.note(f"{self._left_out:,} further remarks of other kinds are left out")
