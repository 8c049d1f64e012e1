"""XML and JSON that a careless tool wrote, made well-formed once and said so.

Raw control characters, bytes that are not UTF-8 and escapes for characters that XML or
PostgreSQL cannot hold would cost a whole file. Each becomes a mark that a person can see:
a control character its picture (␀, ␛), everything else �. A file without any is not touched.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from bouts.formats.blocks import BlockStream
from bouts.formats.text import PICTURES, UNKNOWN_MARK
from bouts.formats.types import Report, Unreadable

BLOCK = 256 * 1024
MAX_UNCUT = 4 * BLOCK  # bytes of one escape sequence, such as a run of backslashes

_MARK = UNKNOWN_MARK.encode()
_CONTROLS = bytes(sorted(set(range(0x20)) - set(b"\t\n\r")))
_CONTROL = re.compile(b"[" + re.escape(_CONTROLS) + b"]")

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16's, hence first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Notation:
    """How a format writes a character by its number, and what it cannot hold."""

    name: str
    unfit: re.Pattern[bytes]  # matches each escape that `mend` rewrites, and perhaps more
    openers: tuple[bytes, ...]  # one of which all that is unfit begins with; quick to look for
    mend: Callable[[re.Match[bytes]], bytes]
    cut: Callable[[bytes], int]  # where data can be cut without cutting an escape in two


def byte_order_mark(head: bytes) -> tuple[str | None, int]:
    """Return the encoding that a byte order mark names, and the mark's length."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding, len(mark)
    return None, 0


def mended(
    source: BinaryIO, notation: Notation, report: Report, encoding: str = "utf-8"
) -> BinaryIO:
    """Return a seekable stream of sound UTF-8 without byte order mark, at its start.

    That is the source itself where it is one already. ``encoding`` is what the file
    declares; a byte order mark overrules it.
    """
    source.seek(0)
    marked, start = byte_order_mark(source.read(4))
    encoding = marked or encoding
    damage = _first_damage(source, start, notation, encoding)
    if damage is not None:
        report.note(
            f"repaired: what {notation.name} cannot hold is shown as a mark"
            f" (␀ for NUL, ␛ for escape, {UNKNOWN_MARK})",
            f"byte {damage}",
        )
    elif encoding == "utf-8" and not start:
        source.seek(0)
        return source

    def repaired() -> Iterator[bytes]:
        pieces = _pieces(source, start, notation, encoding, "replace")
        return (_marked(piece, notation) for piece in pieces)

    return io.BufferedReader(BlockStream(repaired), BLOCK)


def _marked(data: bytes, notation: Notation) -> bytes:
    return _CONTROL.sub(_picture, notation.unfit.sub(notation.mend, data))


def _picture(control: re.Match[bytes]) -> bytes:
    return chr(PICTURES[control[0][0]]).encode()


def _first_damage(source: BinaryIO, start: int, notation: Notation, encoding: str) -> int | None:
    """Return the offset of the first byte in need of repair, near enough to find it."""
    offset = start
    try:
        for piece in _pieces(source, start, notation, encoding, "strict"):
            is_clean = len(piece.translate(None, _CONTROLS)) == len(piece)  # faster than a search
            if not is_clean and (control := _CONTROL.search(piece)):
                return offset + control.start()
            might_be_unfit = any(opener in piece for opener in notation.openers)
            for escape in notation.unfit.finditer(piece) if might_be_unfit else ():
                if notation.mend(escape) != escape[0]:
                    return offset + escape.start()
            offset += len(piece)
    except UnicodeDecodeError as error:
        return offset + error.start
    return None


def _pieces(
    source: BinaryIO, start: int, notation: Notation, encoding: str, errors: str
) -> Iterator[bytes]:
    """Yield the file in UTF-8, cut so that every escape lies within one piece."""
    source.seek(start)
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    data = b""
    while block := source.read(BLOCK):
        data += decoder.decode(block).encode(errors="replace")
        cut = notation.cut(data)
        if not cut and len(data) > MAX_UNCUT:
            limit = f"MAX_UNCUT = {MAX_UNCUT:,}"
            raise Unreadable(f"an escape sequence is longer than {limit} bytes")
        yield data[:cut]
        data = data[cut:]
    yield data + decoder.decode(b"", final=True).encode(errors="replace")
