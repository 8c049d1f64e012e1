"""Fields of JSON objects as what they should be, or nothing: any of them may be anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bouts.formats.text import shorten_id, single_line

Record = Mapping[str, Any]

_NOTHING: Record = {}


def inner(record: object, *names: str) -> Record:
    """Follow names down through objects; empty where there is none."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record if isinstance(record, dict) else _NOTHING


def items(record: object, name: str) -> list[Any]:
    """Return the list of that name; empty where there is none."""
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def text(record: object, *names: str) -> str:
    """Return the first of these fields that is text with something in it; else nothing."""
    for name in names:
        value = record.get(name) if isinstance(record, dict) else None
        if isinstance(value, str) and value.strip():
            return value
    return ""


def label(record: object, *names: str, limit: int = 200) -> str:
    """Return such a text as a short single line."""
    return short(text(record, *names), limit)


def short(value: object, limit: int = 40) -> str:
    """Return a text, such as a version, as a short single line; nothing where it is no text."""
    return single_line(value.strip())[:limit] if isinstance(value, str) else ""


def word(record: object, *names: str) -> str | None:
    """Return such a text in capitals, as scanners write their severities."""
    return label(record, *names, limit=40).upper() or None


def line_number(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 2**31 else None


def number(value: object) -> float | None:
    """Return a number that a test or a benchmark may have taken in time: not negative, no bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e300 else None


def path(written: str) -> str | None:
    """Return a path for display alone: nothing opens it."""
    return shorten_id(written.removeprefix("./")) if written else None
