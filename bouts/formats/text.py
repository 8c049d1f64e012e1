"""Text from strangers made fit to store and to show: marked, never silently changed."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import deque

from bouts.formats.remarks import Remarks

NUL_MARK = "␀"
UNKNOWN_MARK = "\N{REPLACEMENT CHARACTER}"

# PostgreSQL refuses entries of 2,712 bytes and more in a B-tree index.
MAX_ID_BYTES = 2_000

# The Unicode control pictures stand 0x2400 above the controls that they show.
PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
_KEPT = {ord("\n"), ord("\t")}
_CONTROLS = {code: chr(picture) for code, picture in PICTURES.items() if code not in _KEPT}
_C1 = {code: f"[U+{code:04X}]" for code in range(0x80, 0xA0)}
_SEPARATORS = {0x2028: "[U+2028]", 0x2029: "[U+2029]"}
_MARKS = {**_CONTROLS, **_C1, **_SEPARATORS}
_SURROGATE = re.compile("[\ud800-\udfff]")

NUL_REMARK = f"NUL bytes are shown as {NUL_MARK}"
NOT_UTF8_REMARK = f"bytes that are not UTF-8 are shown as {UNKNOWN_MARK}"


def visible(text: str) -> str:
    """Return the text with marks for NUL and lone surrogates, which PostgreSQL cannot store."""
    if "\0" in text:
        text = text.replace("\0", NUL_MARK)
    if not text.isascii():
        text = _SURROGATE.sub(UNKNOWN_MARK, text)
    return text


def inert(text: str) -> str:
    """Return a text of one line or many with every character visible, but for LF and tab."""
    text = visible(text).translate(_MARKS)
    if text.isascii():
        return text
    return "".join(_shown(char) for char in text)


def single_line(text: str) -> str:
    """Return the text with every control character as its picture: fit for a name or a path."""
    return text if text.isprintable() else visible(text.translate(PICTURES))


def decode(line: bytes, remarks: Remarks, place: str | int) -> str:
    """Return a line of a log or diff as text; what cannot be kept is marked and remarked on."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode(errors="replace")
        remarks.add(NOT_UTF8_REMARK, place)
    if "\0" in text:
        text = text.replace("\0", NUL_MARK)
        remarks.add(NUL_REMARK, place)
    return text


def shorten(text: str, limit: int) -> str:
    """Cut a long text in the middle and say how much is gone; the ends tell most."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return joined(text[:half], len(text) - 2 * half, text[-half:])


def shorten_id(text: str) -> str:
    """Return the text as a name that fits into a database index: one line, bounded.

    A cut one keeps its beginning and ends in a digest of the whole, so that two names stay two.
    """
    name = single_line(text)
    if len(name) <= MAX_ID_BYTES // 4 or len(name.encode()) <= MAX_ID_BYTES:
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return f"{name.encode()[: MAX_ID_BYTES - 20].decode(errors='ignore')}…{digest}"


def _shown(char: str) -> str:
    """Name what cannot be seen: marks of direction, joiners, tags, private and unassigned."""
    if char.isprintable() or char in "\n\t":
        return char
    return char if unicodedata.category(char) == "Zs" else f"[U+{ord(char):04X}]"


def joined(head: str, missing: int, tail: str) -> str:
    """Return the ends of a text with how much is gone between them."""
    return f"{head}\n[… {missing:,} characters cut …]\n{tail}"


class Clipper:
    """Takes a text piece by piece and keeps what `shorten` would, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._room = self._half  # left in the head
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._dropped = 0

    def add(self, piece: str) -> None:
        if self._room:
            self._head.append(piece[: self._room])
            piece = piece[self._room :]
            self._room -= len(self._head[-1])
        if not piece:
            return
        self._tail.append(piece)
        self._tail_length += len(piece)
        while self._tail and self._tail_length - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_length -= gone
            self._dropped += gone

    @property
    def kept(self) -> int:
        return self._half - self._room + min(self._tail_length, self._half)

    def text(self) -> str:
        head, tail = "".join(self._head), "".join(self._tail)
        missing = self._dropped + max(len(tail) - self._half, 0)
        return joined(head, missing, tail[-self._half :]) if missing else head + tail


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """A number with what it counts: ``1 run``, ``1,200 runs``."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"
