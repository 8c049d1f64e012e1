"""Evidence: an anchor names an artifact and a place in it.

A place is written ``test:SUITE/ID``, ``event:SEQ``, ``line:N``, ``lines:A-B``,
``diff:PATH:LINE`` (line in the new file; ``-LINE`` in the old) or ``json:POINTER``. Every
place has exactly one spelling, so that equal text means the same place: ``str()`` gives
back what `parse_place` read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from bouts.rules import Suite

LONGEST_PLACE = 4_000
FORMS = "test:SUITE/ID, event:SEQ, line:N, lines:A-B, diff:PATH:LINE, json:POINTER"

# No leading zeros and no other scripts' digits: one spelling a number. Ten digits are enough
# for any line of any file we take, and keep a number within a database's bigint.
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,9})")
_TOKEN = re.compile(r"(?:[^~/]|~0|~1)*", re.DOTALL)


class BadPlace(ValueError):
    """A place cannot be read. The message is what was expected, as a phrase."""


@dataclass(frozen=True, slots=True)
class TestPlace:
    """A test by its suite and id; the id may hold any character."""

    __test__ = False  # not a test class, whatever pytest thinks

    suite: Suite
    id: str

    def __str__(self) -> str:
        return f"test:{self.suite}/{self.id}"


@dataclass(frozen=True, slots=True)
class EventPlace:
    """An event of the timeline by its sequence number."""

    seq: int

    def __str__(self) -> str:
        return f"event:{self.seq}"


@dataclass(frozen=True, slots=True)
class LinePlace:
    """One line of a text file, from 1."""

    line: int

    def __str__(self) -> str:
        return f"line:{self.line}"


@dataclass(frozen=True, slots=True)
class LinesPlace:
    """Several lines of a text file, from 1, both ends included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"lines:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class DiffPlace:
    """A line of a file in a diff: in the file as it became, or ``old`` as it was."""

    path: str
    line: int
    old: bool = False

    def __str__(self) -> str:
        return f"diff:{self.path}:{'-' * self.old}{self.line}"


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """A value in a JSON document, by JSON pointer (RFC 6901); the empty pointer is the whole."""

    pointer: str

    def __str__(self) -> str:
        return f"json:{self.pointer}"

    @property
    def tokens(self) -> tuple[str, ...]:
        """The keys and indices on the way from the root, unescaped."""
        return tuple(
            token.replace("~1", "/").replace("~0", "~") for token in self.pointer.split("/")[1:]
        )


Place: TypeAlias = TestPlace | EventPlace | LinePlace | LinesPlace | DiffPlace | JsonPlace


def parse_place(text: str) -> Place:
    """Read a place, or raise `BadPlace` saying how it is written."""
    if len(text) > LONGEST_PLACE:
        raise BadPlace(f"A place of at most {LONGEST_PLACE:,} characters")
    if "\0" in text:
        raise BadPlace("A place without NUL characters")
    form, colon, rest = text.partition(":")
    match form if colon else "":
        case "test":
            return _test(rest)
        case "event":
            return EventPlace(_number(rest, "event:SEQ, with a number from 0"))
        case "line":
            return LinePlace(_number(rest, "line:N, with a number from 1", least=1))
        case "lines":
            return _lines(rest)
        case "diff":
            return _diff(rest)
        case "json":
            return _json(rest)
    raise BadPlace(f"One of {FORMS}")


def _test(rest: str) -> TestPlace:
    suite, slash, test_id = rest.partition("/")
    if not slash or not test_id or suite not in set(Suite):
        raise BadPlace(f"test:SUITE/ID, with a suite of {', '.join(Suite)}")
    return TestPlace(Suite(suite), test_id)


def _lines(rest: str) -> LinesPlace:
    expected = "lines:A-B, with numbers from 1, the smaller first"
    first, _, last = rest.partition("-")
    place = LinesPlace(_number(first, expected, least=1), _number(last, expected, least=1))
    if place.first > place.last:
        raise BadPlace(expected)
    return place


def _diff(rest: str) -> DiffPlace:
    expected = "diff:PATH:LINE, with a line from 1 of the new file, or -LINE of the old"
    path, colon, line = rest.rpartition(":")
    if not colon or not path:
        raise BadPlace(expected)
    number = _number(line.removeprefix("-"), expected, least=1)
    return DiffPlace(path, number, old=line.startswith("-"))


def _json(rest: str) -> JsonPlace:
    head, *tokens = rest.split("/")
    if head or not all(_TOKEN.fullmatch(token) for token in tokens):
        raise BadPlace("json:POINTER, with a JSON pointer such as /runs/0/results/3")
    return JsonPlace(rest)


def _number(text: str, expected: str, *, least: int = 0) -> int:
    if not _NUMBER.fullmatch(text) or int(text) < least:
        raise BadPlace(expected)
    return int(text)


@dataclass(frozen=True, slots=True)
class Anchor:
    """An artifact of a bundle, by its path, and a place in it as it is written."""

    artifact: str
    place: str

    def __str__(self) -> str:
        return f"{self.artifact}#{self.place}"

    @property
    def where(self) -> Place:
        """The place, read. Raises `BadPlace` where an anchor was made without a check."""
        return parse_place(self.place)
