"""Text to words."""

import re

WORD = re.compile(r"[A-Za-z]+")


def words(text):
    """The words of a text, in order, as they are compared."""
    return [match.group().lower() for match in WORD.finditer(text)]


def spans(text):
    """Each word with its place in the text: (word, start, end)."""
    return [(m.group().lower(), m.start(), m.end()) for m in WORD.finditer(text)]
