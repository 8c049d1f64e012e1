"""Sentences of a written text, each with the line that it begins on.

Text that somebody else said is left out: quotations, code, boxes that wait to be ticked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*(?:```|~~~)")
# No two stretches of white space in a row: a line of nothing else would be tried in all ways.
_NOT_ITS_OWN = re.compile(r">|\|?\s*(?:[-*+]\s*)?\[ \]|\$ ")
_CODE_INDENT = "    "
_STARTS_ANEW = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6}|\|)\s")
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*A-Z\d`])")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    first: int  # the line that it begins on, from 1
    last: int

    def line_at(self, lines: Sequence[str], words: str) -> int:
        """Return the line on which some words of it stand, as far as one has them."""
        head = words.split()[0] if words.split() else ""
        for number in range(self.first, self.last + 1):
            if words in lines[number - 1]:
                return number
        for number in range(self.first, self.last + 1):
            if head and head in lines[number - 1]:
                return number
        return self.first


def sentences(lines: Sequence[str]) -> Iterator[Sentence]:
    """Yield the sentences of a Markdown or plain text, lines that were wrapped put together."""
    paragraph: list[tuple[int, str]] = []
    is_fenced = False
    for number, line in enumerate(lines, start=1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
            yield from _split(paragraph)
            paragraph = []
        elif is_fenced:
            continue
        elif not line.strip() or _is_quoted(line):
            yield from _split(paragraph)
            paragraph = []
        else:
            if _STARTS_ANEW.match(line):
                yield from _split(paragraph)
                paragraph = []
            paragraph.append((number, line.strip()))
            if line.lstrip().startswith("#"):
                yield from _split(paragraph)
                paragraph = []
    yield from _split(paragraph)


def _is_quoted(line: str) -> bool:
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    return indent.endswith(_CODE_INDENT) or _NOT_ITS_OWN.match(bare) is not None


def _split(paragraph: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    if not paragraph:
        return
    text = " ".join(line for _, line in paragraph)
    starts = []  # offset of each line in the text
    offset = 0
    for _, line in paragraph:
        starts.append(offset)
        offset += len(line) + 1

    def line_of(at: int) -> int:
        return paragraph[max(bisect_right(starts, at) - 1, 0)][0]

    position = 0
    for end in _END.finditer(text):
        yield Sentence(text[position : end.start()], line_of(position), line_of(end.start() - 1))
        position = end.end()
    if position < len(text):
        yield Sentence(text[position:], line_of(position), line_of(len(text) - 1))
