"""Text from strangers that cannot do anything on a page, with nothing hidden in it.

Template autoescaping keeps markup from working. What is done here is about characters that
work without markup: controls, overrides of writing direction, invisible letters, and the
escape sequences with which a terminal is told to colour, move or retitle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from django.utils.safestring import SafeString, mark_safe

from bouts.formats.text import inert

LONGEST_LINE = 2_000  # characters of one line that a page shows

# An escape sequence: CSI (of which "m" colours), OSC with its text, or a two-byte one.
_ESCAPE = re.compile(
    "\x1b(?:\\[(?P<values>[0-?]*)[ -/]*(?P<final>[@-~])"
    "|[\\]PX^_](?:(?!\x1b\\\\|\x07).)*(?:\x1b\\\\|\x07|$)"
    "|[ -/]*[0-~])",
    re.DOTALL,
)


def on_one_line(text: str) -> str:
    """Return a name or path as it may stand in a sentence: line breaks and tabs shown too."""
    return inert(text).replace("\n", "␊").replace("\t", "␉")


def plain(text: str) -> str:
    """Return the text without its escape sequences, and inert."""
    return inert(_ESCAPE.sub("", text))


def shortened(line: str, passed: int = 0, limit: int = LONGEST_LINE) -> str:
    """Cut a long line, and say how much of it is gone; ``passed`` more were never read."""
    if len(line) <= limit:
        return line
    return f"{line[:limit]}… {len(line) - limit + passed:,} more characters"


# Colours of a terminal, as classes


_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline"}


def coloured(text: str) -> SafeString:
    """Return the text as HTML: what a terminal would colour wears a class, no style is inline."""
    pieces = []
    for style, piece in _runs(text):
        safe = escape(inert(piece))
        pieces.append(f'<span class="{" ".join(sorted(style))}">{safe}</span>' if style else safe)
    return mark_safe("".join(pieces))  # every piece is escaped, every class is one of ours


def _runs(text: str) -> Iterator[tuple[frozenset[str], str]]:
    """Yield stretches of text with the classes that they wear."""
    style: frozenset[str] = frozenset()
    start = 0
    for found in _ESCAPE.finditer(text):
        if found.start() > start:
            yield style, text[start : found.start()]
        start = found.end()
        if found["final"] == "m":
            style = _restyled(style, found["values"])
    if start < len(text):
        yield style, text[start:]


def _restyled(style: frozenset[str], values: str) -> frozenset[str]:
    """Apply a "select graphic rendition"; what it says of palettes is left out."""
    codes = [int(value) if value.isdecimal() else 0 for value in values.split(";")]
    for at, code in enumerate(codes):
        if code in {38, 48}:
            break  # what follows are coordinates in a palette
        if code == 0:
            style = frozenset()
        elif code in _ON:
            style |= {f"ansi-{_ON[code]}"}
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = _without_colour(style) | {f"ansi-{_COLOURS[code % 10]}"}
        elif code == 39:
            style = _without_colour(style)
        elif code == 22:
            style -= {"ansi-bold", "ansi-dim"}
        elif at > 16:
            break
    return style


def _without_colour(style: frozenset[str]) -> frozenset[str]:
    return style - {f"ansi-{colour}" for colour in _COLOURS}
