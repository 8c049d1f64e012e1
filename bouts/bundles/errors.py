"""Why an upload is refused: every fault at once, each safe to show as it is."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from heapq import nsmallest

LONGEST_FOUND = 120
LONGEST_NAME = 300
LONGEST_EXPECTED = 1_000

# Control and format characters, lone surrogates, line and paragraph separators: what could
# break a line, hide, or turn the text around it. PostgreSQL cannot store the first of them.
_UNSHOWABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def shown(text: str, longest: int = LONGEST_FOUND) -> str:
    """Return the text with unshowable characters escaped, cut to a length with an ellipsis."""
    head = text[: longest + 1]
    if not head.isprintable():
        head = "".join(_escaped(char) for char in head)
    return head if len(head) <= longest else head[: longest - 1] + "…"


def _escaped(char: str) -> str:
    if unicodedata.category(char) not in _UNSHOWABLE:
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def as_found(value: object) -> str:
    """Return a JSON value as a fault shows it: strings bare, the rest as JSON, cut short."""
    match value:
        case str():
            return value or '""'
        case None | bool() | int() | float():
            return json.dumps(value)
        case Decimal():
            return str(value)
        case list():
            return f"a list of {len(value)}"
        case dict():
            keys = ", ".join(str(key) for key in list(value)[:5])
            return f"an object with {keys}" if keys else "an empty object"
    return type(value).__name__


def listed(names: Collection[str], most: int = 20) -> str:
    """Return the names in order, separated by commas, the rest as a count."""
    known = nsmallest(most, names)
    rest = f" and {count - most} more" if (count := len(names)) > most else ""
    return ", ".join(known) + rest if known else "none"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: in which file, in which field, what was found, what was expected.

    ``field`` is a path such as ``artifacts[3].suite``, a place such as ``byte 4096``, or
    ``path`` and ``size`` for the members of an archive. ``expected`` is a phrase that starts
    with a capital: "A number from 0 to 100".
    """

    file: str
    field: str
    found: str
    expected: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", shown(self.file, LONGEST_NAME))
        object.__setattr__(self, "field", shown(self.field, LONGEST_NAME))
        object.__setattr__(self, "found", shown(self.found))
        object.__setattr__(self, "expected", shown(self.expected, LONGEST_EXPECTED))

    def __str__(self) -> str:
        return f"{self.file}: {self.field}: found {self.found}. Expected: {self.expected}."

    def as_json(self) -> dict[str, str]:
        return {
            "file": self.file,
            "field": self.field,
            "found": self.found,
            "expected": self.expected,
        }


class Refused(Exception):
    """An upload is refused, and nothing of it is stored. ``faults`` has all that is wrong."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        return [str(fault) for fault in self.faults]

    def as_json(self) -> list[dict[str, str]]:
        return [fault.as_json() for fault in self.faults]
