"""Code in a diff, coloured word by word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape

from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from bouts.formats.types import DiffLine, Hunk
from judging.showing.inert import inert, shortened

# A hunk beyond this is shown uncoloured: a lexer is a set of regular expressions, and the text
# comes from strangers.
LONGEST = 40_000  # characters

_FORMATTER = HtmlFormatter(nowrap=True)


def coloured_hunk(path: str, hunk: Hunk) -> list[SafeString]:
    """Return each line's text as HTML, coloured as the language of the path has it.

    Both sides of the hunk are read as code by themselves: a line that went and a line that
    came do not follow each other anywhere.
    """
    texts = [shortened(inert(line.text.rstrip("\r"))) for line in hunk.lines]
    lexer = _lexer(path)
    if lexer is None or sum(map(len, texts)) > LONGEST:
        return [mark_safe(escape(text)) for text in texts]
    before = _side(lexer, hunk.lines, texts, " -")
    after = _side(lexer, hunk.lines, texts, " +")
    return [
        mark_safe(after.get(at) or before.get(at) or escape(text))  # escaped by Pygments
        for at, text in enumerate(texts)
    ]


def _side(lexer: Lexer, lines: Sequence[DiffLine], texts: list[str], signs: str) -> dict[int, str]:
    """Colour the lines with one of the signs as one text; return them by their index."""
    indices = [at for at, line in enumerate(lines) if line.sign in signs]
    source = "\n".join(texts[at] for at in indices)
    coloured = highlight(source, lexer, _FORMATTER).split("\n")
    return dict(zip(indices, coloured, strict=False))


@lru_cache(maxsize=256)
def _lexer(path: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(path.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
