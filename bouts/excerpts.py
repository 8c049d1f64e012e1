"""The text at a place: what an evidence link shows, read from values or from the file itself.

Django-free: whoever asks says how an artifact's values and bytes are had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, BinaryIO

import orjson

from bouts.evidence import (
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
from bouts.masking import KeyWatch, without_keys

MOST_LINES = 20
LONGEST = 2_000  # characters

Values = Callable[[], Iterable[Any]]
Opened = Callable[[], AbstractContextManager[BinaryIO]]


def excerpt(place: Place, values: Values, opened: Opened) -> str | None:
    """Return what stands at a place, cut to a readable length; None where nothing does.

    ``values`` yields what the artifact's reader gave, ``opened`` opens its bytes.
    """
    match place:
        case EventPlace():
            found = (v for v in values() if isinstance(v, Event) and v.seq == place.seq)
            text = next(map(event_text, found), None)
        case TestPlace():
            found = (v for v in values() if isinstance(v, TestResult) and v.id == place.id)
            text = next((f"{v.id}: {v.outcome.value}\n{v.message}".strip() for v in found), None)
        case DiffPlace():
            changes = (v for v in values() if isinstance(v, FileChange))
            text = next((line for v in changes if (line := _diff_line(v, place))), None)
        case LinePlace() | LinesPlace():
            first, last = (
                (place.line, place.line)
                if isinstance(place, LinePlace)
                else (place.first, place.last)
            )
            with opened() as stream:
                text = "\n".join(lines_of(stream, first, min(last, first + MOST_LINES - 1))) or None
        case JsonPlace():
            with opened() as stream:
                text = _pointed_text(stream, place)
    return None if text is None else shortened(text)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def lines_of(stream: BinaryIO, first: int, last: int) -> Iterator[str]:
    """Yield the lines ``first`` to ``last`` (from 1), split on LF only.

    Those of a private key are masked here, where what stands above them is known.
    """
    watch = KeyWatch()
    for number, line in enumerate(islice(stream, last), start=1):
        is_key = watch.sees(line)
        if number >= first:
            text = line.rstrip(b"\n").decode("utf-8", "replace").replace("\0", "␀")
            yield watch.MASKED if is_key else text


def event_text(event: Event) -> str:
    """Say in one or more lines what an event was."""
    head = " ".join(
        part
        for part in (f"#{event.seq}", event.kind.value, event.tool, event.path or event.signature)
        if part
    )
    return f"{head}\n{event.text}".strip()


def _diff_line(change: FileChange, place: DiffPlace) -> str | None:
    if place.path not in {change.path, change.old_path}:
        return None
    for hunk in change.hunks:
        for at, line in enumerate(hunk.lines):
            if (line.old if place.old else line.new) == place.line:
                return f"{line.sign}{without_keys([each.text for each in hunk.lines])[at]}"
    return None


def _pointed_text(stream: BinaryIO, place: JsonPlace) -> str | None:
    try:
        found = values_at(stream, [place.tokens])
    except TooLarge:
        return None
    return json_text(found[place.tokens]) if found else None


def json_text(value: Any) -> str:
    """Return a value of a JSON document as text to read."""
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
