"""Text as a reader that is no human would take it: what was hidden in it made plain.

Compatibility forms are normalised, zero-width characters taken out, Unicode tag characters
turned back into the letters that they stand for, and base64 decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Sequence

# Zero-width and formatting characters (category Cf), but for the tags, and the soft hyphen.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,8192}={0,2}(?![A-Za-z0-9+/=_-])")
# A line that holds nothing but a piece of a longer run, as a string of its own or in a comment.
_WRAPPED = re.compile(r"[A-Za-z0-9+/_-]{2,}={0,2}")
_AROUND = " \t\r\"'`#*()>;,.\\"
_LONGEST_WRAPPED, _LONGEST_RUN = 200, 8_192
_TO_LATIN = str.maketrans(
    "аеорсухіјѕԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοАВЕКМНОРСТХІЈЅ", "aeopcyxijsdhABEZHIKMNOPTYXaoABEKMHOPCTXIJS"
)
_MOSTLY = 0.9  # of decoded bytes that must be text, for base64 to be taken for a message


def plain(text: str) -> str:
    """Return a text with compatibility forms normalised and nothing invisible in it."""
    if text.isascii():
        return text
    text = _TAGS.sub(_letters, text)
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    # A word that mixes scripts is read as what it looks like; a Russian sentence stays Russian.
    return re.sub(r"\w+", _one_script, text)


def _letters(found: re.Match[str]) -> str:
    return " " + "".join(chr(ord(letter) - 0xE0000) for letter in found[0]) + " "


def _one_script(found: re.Match[str]) -> str:
    word = found[0]
    has_latin = any("a" <= letter <= "z" or "A" <= letter <= "Z" for letter in word)
    return word.translate(_TO_LATIN) if has_latin and not word.isascii() else word


def decoded_lines(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (line index, offset, message) of base64, also of runs that were wrapped over lines."""
    wrapped: list[tuple[int, int, str]] = []
    for index, line in enumerate(lines):
        for start, message in decoded(line):
            yield index, start, message
        piece = _piece(line) if len(line) <= _LONGEST_WRAPPED else ""
        found = _WRAPPED.fullmatch(piece)
        if found:
            wrapped.append((index, line.index(piece), piece))
        if wrapped and (not found or index + 1 == len(lines)):
            yield from _unwrapped(wrapped)
            wrapped = []


def _piece(line: str) -> str:
    """Return a line without the marks that make it a string of its own or a comment."""
    text = line.strip()
    if text.endswith(('" +', "' +")):
        text = text[:-1]
    return text.strip(_AROUND)


def _unwrapped(wrapped: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    index, start, _ = wrapped[0]
    text = "".join(run for _, _, run in wrapped)[:_LONGEST_RUN]
    if len(wrapped) > 1:
        yield from ((index, start, message) for _, message in decoded(text))


def decoded(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, message) for each base64 run in a text that holds readable text."""
    for found in _BASE64.finditer(text):
        run = found[0].rstrip("=").translate(str.maketrans("-_", "+/"))
        try:
            data = base64.b64decode(run + "=" * (-len(run) % 4), validate=True)
        except (binascii.Error, ValueError):
            continue
        message = data.decode("utf-8", "replace")
        readable = sum(letter.isprintable() or letter.isspace() for letter in message)
        if " " in message and readable >= _MOSTLY * len(message) and "\ufffd" not in message:
            yield found.start(), plain(message)
