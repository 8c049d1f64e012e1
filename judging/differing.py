"""Where two values differ that ought to be equal, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

LONGEST = 120  # characters of a value that a difference shows


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that does not come out as it is stored."""

    where: str  # "bundle 1, strategy, seat openai"
    field: str
    stored: Any
    recomputed: Any

    def __str__(self) -> str:
        return (
            f"{self.where}, {self.field}: stored {_short(self.stored)}, "
            f"recomputed {_short(self.recomputed)}"
        )


def plain(value: Any) -> Any:
    """Return a value as it comes back from a column of JSON."""
    return orjson.loads(orjson.dumps(value))


def unequal(stored: Any, again: Any, place: str) -> list[tuple[str, Any, Any]]:
    """Return the places at which two JSON values differ, as paths, with both values."""
    if isinstance(stored, dict) and isinstance(again, dict):
        return [
            found
            for key in sorted(stored.keys() | again.keys())
            for found in unequal(stored.get(key), again.get(key), f"{place}.{key}")
        ]
    if isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        return [
            found
            for at, (one, other) in enumerate(zip(stored, again, strict=True))
            for found in unequal(one, other, f"{place}[{at}]")
        ]
    return [] if stored == again else [(place, stored, again)]


def unequal_fields(stored: Any, again: Any, fields: Iterable[str]) -> list[tuple[str, Any, Any]]:
    """Return where some fields of two rows differ, of which one is stored and the other is not."""
    found: list[tuple[str, Any, Any]] = []
    for name in fields:
        one, other = getattr(stored, name), getattr(again, name)
        if isinstance(one, dict | list):
            found += unequal(one, plain(other), name)
        elif one != other:
            found.append((name, one, other))
    return found


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value) if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
