"""Tables as CSV, streamed: a download of any length takes the memory of a few rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from django.http import StreamingHttpResponse

CONTENT_TYPE = "text/csv; charset=utf-8"
# A spreadsheet takes a cell that begins so for a formula, and uploaded text is hostile.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
BLOCK = 200  # rows that are sent together


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def csv_response(rows: Iterable[Sequence[object]], name: str) -> StreamingHttpResponse:
    """Send rows, the first of them the names of the columns, as a file of this name."""
    return StreamingHttpResponse(
        csv_blocks(rows),
        content_type=CONTENT_TYPE,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def csv_blocks(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield rows as CSV, some hundred at a time.

    None is an empty cell, a list its items with blanks between. Texts that a spreadsheet would
    run get an apostrophe before them; numbers are left alone.
    """
    write = csv.writer(_Echo()).writerow
    lines = (write(map(_cell, row)) for row in rows)
    while block := "".join(islice(lines, BLOCK)):
        yield block


def _cell(value: object) -> object:
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if isinstance(value, str) and value.startswith(FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace(".", "", 1).isdecimal()
