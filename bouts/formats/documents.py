"""JSON documents, read by their parts: whole up to 4 MB, as a stream above.

A reader names the parts that it wants by patterns, JSON pointers in which ``*`` stands for
any index and ``{}`` for any key: ``/runs/*/results/*``. It gets them in the order of the file,
each with its own pointer, and does not know in which of the two ways they came. Only what is odd anyway differs:
a streamed document is refused for a whole number of more than 64 bits, which is a float in one
that is loaded whole, and for a part that stands twice, of which the last counts there.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, BinaryIO, NamedTuple

import ijson  # type: ignore[import-untyped]
import orjson

from bouts.formats.crumbs import Crumbs
from bouts.formats.mending import Notation, byte_order_mark, mended
from bouts.formats.text import NUL_MARK, UNKNOWN_MARK, count, single_line
from bouts.formats.types import Report, Unreadable

WHOLE_LIMIT = 4 * 1024 * 1024  # bytes up to which a document is loaded whole
MAX_BYTES = 512 * 1024 * 1024
MAX_DEPTH = 1024  # of nesting in a document that is loaded whole; orjson's own limit
MAX_STREAMED_DEPTH = 128  # tools write less than 20 levels
MAX_STRING_BYTES = 64 * 1024 * 1024  # of one string as it is written in a streamed document
MAX_PART_CHARS = 16 * 1024 * 1024  # of text in one part of a streamed document
BYTES_EACH = 96  # that parts have on average: see `Crumbs`
BYTES_EACH_INSIDE = 16  # that objects and arrays have which are built inside streamed parts
MAX_PART_VALUES = 1_000_000  # in one part of a streamed document
MAX_STEP = 200  # characters of a key that a pointer keeps

_BOUNDS = (
    f"MAX_PART_CHARS = {MAX_PART_CHARS:,}, MAX_PART_VALUES = {MAX_PART_VALUES:,}, "
    f"MAX_STREAMED_DEPTH = {MAX_STREAMED_DEPTH:,}"
)

_STARTS = frozenset({"start_map", "start_array"})
_ENDS = frozenset({"end_map", "end_array"})

Events = Iterator[tuple[str, Any]]


class Part(NamedTuple):
    """A value of the document, the pattern that asked for it, and the pointer to it."""

    pattern: str
    pointer: str
    value: Any


class Document:
    """One JSON document. `parts` may be asked several times.

    ``forgives_numbers`` takes NaN and Infinity, which are no JSON, for null and notes it:
    for formats in which they stand beside numbers that count, and only in a document that
    is loaded whole.
    """

    def __init__(self, source: BinaryIO, report: Report, *, forgives_numbers: bool = False) -> None:
        size = source.seek(0, io.SEEK_END)
        if size > MAX_BYTES:
            raise Unreadable(f"{size:,} bytes are more than MAX_BYTES = {MAX_BYTES:,}")
        self._size = size
        self._source = mended(source, JSON, report)
        self._is_whole = size <= WHOLE_LIMIT
        if self._is_whole:
            data = self._source.read()
            self._whole = _parsed(_without_odd_numbers(data, report) if forgives_numbers else data)

    def parts(self, *patterns: str) -> Iterator[Part]:
        """Yield the parts that match, none of which may lie inside another.

        A pattern that meets something else on its way, such as an object where it expects
        an array, yields nothing. The empty pattern asks for the document itself. One that ends in ``?`` asks for no value but for what is
        there: "object", "array" or "plain"; other patterns may go on below it.
        """
        wanted = _Wanted.of(patterns)
        crumbs = Crumbs(self._size, "values", BYTES_EACH)
        if self._is_whole:
            parts = [Part("", "", self._whole)] if wanted.pattern == "" else []
            _gather(self._whole, wanted, "", parts, crumbs)
            return iter(parts)
        inside = Crumbs(self._size, "objects and arrays", BYTES_EACH_INSIDE)
        return _streamed(self._source, wanted, crumbs, inside)


@lru_cache(maxsize=8)  # each reader of a kind asks about the same head
def top_keys(head: bytes) -> Mapping[str, Any]:
    """Return the keys of the object with which a file begins, as far as the head shows them.

    Plain values are given, those of containers are None. Empty where the file does not
    begin with a JSON object.
    """
    return _keys(head, "start_map")


@lru_cache(maxsize=8)
def first_item_keys(head: bytes) -> Mapping[str, Any]:
    """Return the same of the first item of an array; empty where the file begins with none."""
    return _keys(head, "start_array", "start_map")


def _keys(head: bytes, *starts: str) -> Mapping[str, Any]:
    encoding, start = byte_order_mark(head)
    text = head[start:].decode(encoding or "utf-8", errors="ignore")
    keys: dict[str, Any] = {}
    events = _events(io.BytesIO(text.encode()))
    try:
        if any(next(events)[0] != expected for expected in starts):
            return {}
        for event, key in events:
            if event == "end_map":
                break
            keys[key] = None
            event, keys[key] = next(events)
            _skip(events, event)
    except ijson.JSONError:
        pass  # the head ends somewhere in the middle
    return keys


# How JSON writes characters by number


def _mended_escape(escape: re.Match[bytes]) -> bytes:
    """Mark NUL, which PostgreSQL cannot store, and half a surrogate pair, which is no text."""
    backslashes, escaped = escape[1], escape[0][len(escape[1]) :]
    is_text = len(backslashes) % 2 == 0  # an escaped backslash, and then a plain "u0000"
    is_pair = len(escaped) > len(b"u0000")
    if is_text or is_pair:
        return escape[0]
    mark = NUL_MARK if escaped == b"u0000" else UNKNOWN_MARK
    return backslashes[:-1] + mark.encode()


def _json_cut(data: bytes) -> int:
    """Cut before the last run of backslashes, and not between the halves of a pair."""
    last = data.rfind(b"\\", max(len(data) - len(rb"\ud83d\ude00"), 0))
    if last < 0:
        return len(data)
    cut = len(data[: last + 1].rstrip(b"\\"))
    if _HIGH_HALF.match(data, max(cut - len(rb"\ud83d"), 0), cut):
        cut = len(data[: cut - len("ud83d")].rstrip(b"\\"))
    return cut


_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")

JSON = Notation(
    name="JSON",
    openers=(rb"\u",),
    unfit=re.compile(
        rb"(\\+)u(?:0000"
        rb"|[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
        rb"|[dD][c-fC-F][0-9a-fA-F]{2})"
    ),
    mend=_mended_escape,
    cut=_json_cut,
)


def built(data: bytes, pointer: str) -> Any:
    """Return a large JSON value, built within the bounds of a part; None where it is not valid."""
    events = _events(io.BytesIO(data))
    try:
        event, value = next(events)
        inside = Crumbs(len(data), "objects and arrays", BYTES_EACH_INSIDE)
        whole = _built(events, event, value, pointer, inside)
        for _ in events:  # to the end, where the parser refuses what does not belong there
            pass
    except ijson.JSONError:
        return None
    return whole


# Patterns


class _Wanted:
    """The patterns as a tree: whether this is a part, and where to go on from here."""

    def __init__(self) -> None:
        self.pattern: str | None = None
        self.question: str | None = None  # the pattern that asks what is here
        self.of_keys: dict[str, _Wanted] = {}
        self.of_items: _Wanted | None = None
        self.of_others: _Wanted | None = None  # of keys that are not named

    @classmethod
    def of(cls, patterns: tuple[str, ...]) -> _Wanted:
        root = cls()
        for pattern in patterns:
            here = root
            for step in pattern.removesuffix("?").split("/")[1:]:
                here = here._next(step)
            if pattern.endswith("?"):
                here.question = pattern
            else:
                here.pattern = pattern
        return root

    @cached_property
    def ways(self) -> frozenset[str]:
        """The events that begin what there is something to be looked for in."""
        maps = {"start_map"} if self.of_keys or self.of_others else set()
        return frozenset(maps | ({"start_array"} if self.of_items else set()))

    def of_key(self, key: str) -> _Wanted | None:
        return self.of_keys.get(key) or self.of_others

    def _next(self, step: str) -> _Wanted:
        if step == "*":
            self.of_items = self.of_items or _Wanted()
            return self.of_items
        if step == "{}":
            self.of_others = self.of_others or _Wanted()
            return self.of_others
        return self.of_keys.setdefault(step, _Wanted())


# Whole documents


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        if not data.strip():
            raise Unreadable("the file is empty") from None
        if number := re.match(
            "-?(?:NaN|Infinity)", error.doc[max(error.pos - 1, 0) :].lstrip("[:, \t\r\n")
        ):
            raise Unreadable(f"{number[0]} is no number in JSON", place) from None
        raise Unreadable(f"not valid JSON: {error.msg}", place) from None


# A string is matched so that what looks like a number in it is passed over.
_ODD_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|(?<![\w.+-])[-+]?(?:nan|inf(?:inity)?)(?![\w.])',
    re.IGNORECASE | re.DOTALL,
)


def _without_odd_numbers(data: bytes, report: Report) -> bytes:
    found = 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal found
        if match[0].startswith(b'"'):
            return match[0]
        found += 1
        return b"null"

    data = _ODD_NUMBER.sub(replaced, data)
    if found:
        report.note(f"numbers that are not finite are taken for null ({count(found, 'time')})")
    return data


def _gather(value: Any, wanted: _Wanted, pointer: str, parts: list[Part], crumbs: Crumbs) -> None:
    """Append the parts of a loaded value; as a list, since a generator a level costs most."""
    all_of_it = wanted.of_others if isinstance(value, dict) else wanted.of_items
    if all_of_it and isinstance(value, dict | list) and len(parts) + len(value) > crumbs.most:
        crumbs.refuse(pointer)
    if isinstance(value, dict):
        steps = [
            (step_of(key), child, step)
            for key, child in value.items()
            if (step := wanted.of_key(key))
        ]
    elif isinstance(value, list) and (of_items := wanted.of_items):
        steps = [(str(index), child, of_items) for index, child in enumerate(value)]
    else:
        return
    for key, child, step in steps:
        if step.question is not None:
            parts.append(Part(step.question, f"{pointer}/{key}", _shape(child)))
        if step.pattern is not None:
            parts.append(Part(step.pattern, f"{pointer}/{key}", child))
        else:
            _gather(child, step, f"{pointer}/{key}", parts, crumbs)


def step_of(key: str) -> str:
    """Return a key as a step of a JSON pointer, bounded: it may be any text at all."""
    step = key.replace("~", "~0").replace("/", "~1")
    return step if step.isprintable() and len(step) <= MAX_STEP else single_line(step)[:MAX_STEP]


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "plain"


# Streamed documents

_SHAPES = {"start_map": "object", "start_array": "array"}


def _events(source: BinaryIO) -> Events:
    # With `use_float` the C parser converts numbers itself. Without, ijson 3.6 hands them to
    # Python, whose refusal of 4,301 digits it does not notice: the process dies.
    events: Events = ijson.basic_parse(_Pieces(source), use_float=True, buf_size=PIECE)
    return events


PIECE = 64 * 1024  # bytes; all events of one are held at once
_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class _Pieces:
    """A document in pieces for the parser: a long string in pieces that grow with it.

    With each piece the parser looks again at all that it has of an unfinished string. In pieces
    of one size that is quadratic, and ten megabytes of escapes take five seconds.
    """

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._held = io.BytesIO()  # what was read too far, behind a string's end
        self._string = 0  # bytes so far of the string that is open
        self._is_open = False

    def read(self, size: int) -> bytes:
        """Return some bytes, no more than ``size`` unless all of them are of one string."""
        data = self._take(max(size, self._string) if size else 0)
        if (len(data) - len(data.rstrip(b"\\"))) % 2:
            data += self._take(1)  # never half of an escape
        if len(data) > size and self._is_open and (end := _STRING_END.match(data)):
            self._held = io.BytesIO(data[end.end() :] + self._held.read())
            data = data[: end.end()]
        bare = data.replace(b"\\\\", b"")
        quotes = bare.count(b'"') - bare.count(b'\\"')
        self._is_open ^= quotes % 2 == 1
        self._string = self._string + len(data) if self._is_open and not quotes else 0
        if self._string > MAX_STRING_BYTES:
            raise Unreadable(f"a string is longer than MAX_STRING_BYTES = {MAX_STRING_BYTES:,}")
        return data

    def _take(self, size: int) -> bytes:
        return self._held.read(min(size, PIECE)) or self._source.read(size)


def _streamed(source: BinaryIO, wanted: _Wanted, crumbs: Crumbs, inside: Crumbs) -> Iterator[Part]:
    source.seek(0)
    events = _events(source)
    try:
        yield from _walk(events, wanted, crumbs, inside)
    except ijson.JSONError as error:
        reason = str(error).partition("\n")[0]
        place = f"before byte {source.tell():,}"
        raise Unreadable(f"not valid JSON: {reason}", place) from None


@dataclass(slots=True)
class _Level:
    """An object or array that is being gone through, and how far."""

    wanted: _Wanted
    pointer: str
    seen: set[str] | None = None  # keys that were given away; None in an array
    items: int = 0


def _walk(events: Events, root: _Wanted, crumbs: Crumbs, inside: Crumbs) -> Iterator[Part]:
    """Yield the parts. All in one generator, since each that hands on would cost every part."""
    outer: list[_Level] = []
    level = None
    wanted: _Wanted | None
    key = ""
    for event, value in events:
        if event == "map_key":
            key = value
            continue
        if event in _ENDS:
            level = outer.pop() if outer else None
            continue
        if level is None:
            wanted, pointer = root, ""
        elif level.seen is None:
            wanted, pointer = level.wanted.of_items, f"{level.pointer}/{level.items}"
            level.items += 1
            crumbs.add(pointer)
        elif wanted := level.wanted.of_key(key):
            pointer = f"{level.pointer}/{step_of(key)}"
            if key in level.seen:  # the first one is already given away
                raise Unreadable("a key stands twice", pointer)
            level.seen.add(key)
            if wanted is level.wanted.of_others:
                crumbs.add(pointer)
        if wanted is None:
            _skip(events, event)
            continue
        if wanted.question is not None:
            yield Part(wanted.question, pointer, _SHAPES.get(event, "plain"))
        if wanted.pattern is not None:
            yield Part(wanted.pattern, pointer, _built(events, event, value, pointer, inside))
        elif event in wanted.ways:
            if level is not None:
                outer.append(level)
            level = _Level(wanted, pointer, set() if event == "start_map" else None)
        else:
            _skip(events, event)


def _skip(events: Events, event: str) -> None:
    """Pass over the value that begins with this event."""
    if event not in _STARTS:
        return
    depth = 1
    for event, _ in events:
        if event in _STARTS:
            depth += 1
            if depth > MAX_STREAMED_DEPTH:
                limit = f"MAX_STREAMED_DEPTH = {MAX_STREAMED_DEPTH}"
                raise Unreadable(f"nested deeper than {limit}")
        elif event in _ENDS:
            depth -= 1
            if not depth:
                return


def _built(events: Events, event: str, value: Any, pointer: str, inside: Crumbs) -> Any:
    """Build the value that begins with this event, within bounds."""
    if event not in _STARTS:
        return value
    root: Any = {} if event == "start_map" else []
    container = root  # where values go now
    is_map = event == "start_map"
    outer: list[tuple[Any, bool]] = []  # the containers around it
    key = ""
    chars = values = 0
    for event, value in events:
        if event == "map_key":
            key = value
            chars += len(key)
            continue
        if event in _ENDS:
            if not outer:
                break
            container, is_map = outer.pop()
            continue
        is_start = event in _STARTS
        if event == "string":
            chars += len(value)
        elif is_start:
            value = {} if event == "start_map" else []
        if is_map:
            container[key] = value
        else:
            container.append(value)
        values += 1
        if is_start:
            inside.add(pointer)
            outer.append((container, is_map))
            container, is_map = value, event == "start_map"
        if chars > MAX_PART_CHARS or values > MAX_PART_VALUES or len(outer) >= MAX_STREAMED_DEPTH:
            raise Unreadable(f"too large a value for one place: the bounds are {_BOUNDS}", pointer)
    return root
