"""What names or quotes a hidden test, and whether a text does. Django-free.

The words are gathered once, when a bundle is stored. Every page asks for them through
`bouts.disclosure.Gate`, every prompt to a model through `judging.panel.evidence`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from bouts.bundles.manifest import TestEntry
from bouts.formats.types import TestResult

# Shorter words would withhold half of every page: "test_x" is a name, "ok" is an accident.
SHORTEST_SECRET = 5

# Colour codes, as they are and as JSON escapes them.
_ANSI = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;?]*[A-Za-z]")
# Bytes of no letter, which stand between all letters of UTF-16 that is read as UTF-8: as they
# are, as JSON escapes them, and as readers and pages mark them.
_NULS = re.compile("\0|\u2400|\\\\u0000|\\\\x00")


def tells(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds any of the words, in any case, whatever is put between its letters.

    The words are in the spelling that `hidden_words` gives them.
    """
    spelled = spelled_out(text)
    return any(word in spelled for word in words)


def spelled_out(text: str) -> str:
    """Return a text as it reads: without colour codes and invisible characters, in lower case."""
    if "\x1b" in text or "\\" in text:
        text = _ANSI.sub("", text)
    if "\0" in text or "\u2400" in text or "\\" in text:
        text = _NULS.sub("", text)
    if not text.isascii():
        shown = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in shown if unicodedata.category(char) != "Cf")
    return text.lower()


def pattern_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """Return one expression that finds any of the words, in any case, to take them out of a text."""
    longest_first = sorted({word for word in words if word}, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


def hidden_words(
    hidden: Iterable[TestEntry], visible: Iterable[TestEntry], results: Iterable[TestResult] = ()
) -> list[str]:
    """Gather whatever names or quotes a hidden test, as `tells` looks for it.

    ``results`` are those of hidden suites, with what their failures said. What also names a
    visible test is no secret. Short remarks are left alone: "assert 1 == 2" tells of any test.
    """
    words = {word for test in hidden for word in _names(test.id, test.path)}
    for result in results:
        words.update(_names(result.id, result.file))
        words.update(_remarks(result))
    words -= {word for test in visible for word in _names(test.id, test.path)}
    spelled = {spelled_out(word) for word in words if len(word) >= SHORTEST_SECRET}
    return _shortest(spelled | {other for word in spelled for other in _escaped(word)})


_QUOTES_IN_XML = (
    ('"', "'"),
    ("&quot;", "'"),
    ("&quot;", "&apos;"),
    ("&quot;", "&#x27;"),
    ("&#34;", "&#39;"),
)


def _escaped(word: str) -> Iterator[str]:
    """Yield a word as files have it whose writers escape: JSON, Go's JSON, XML with its quotes."""
    for is_ascii in (True, False):
        written = json.dumps(word, ensure_ascii=is_ascii)[1:-1].lower()
        yield written
        yield written.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
    for quote, apostrophe in _QUOTES_IN_XML:
        yield escape(word, {'"': quote, "'": apostrophe})


# Of a failure's text: its lines, and in a traceback those that pytest marks as what went wrong.
_EXCEPTION = re.compile(r"^[\w.]+(?:Error|Exception|Failure|Failed|Warning): ")
# What pytest writes around any assertion and Python in any exception: it tells of no test, and
# as a secret it would withhold most of what an agent's own test runs print.
_ANYBODYS = re.compile(
    r"(?:Full diff.*|(?:Left|Right) contains .*:|Extra items in the (?:left|right) set:"
    r"|(?:Omitting|Skipping) \d+ identical .*|Common items:|Differing (?:items|attributes):"
    r"|Use -v+ to get (?:more|full) diff.*|[?+-][\s?+^-]*"
    r"|(?:list|string|tuple|pop) index out of range|pop from (?:an )?empty (?:list|set|deque)"
    r"|division by zero|(?:dictionary|Set) changed size during iteration"
    r"|maximum recursion depth exceeded.*)",
    re.IGNORECASE,
)
MOST_REMARKS = 40  # lines of one failure that are looked for


def _remarks(result: TestResult) -> set[str]:
    """Return what a failure said, line by line, with and without the name of its exception."""
    lines = result.message.splitlines()[:MOST_REMARKS]
    lines += [line[1:] for line in result.log.splitlines() if line.startswith("E ")][:MOST_REMARKS]
    said = {line.strip()[:200].strip() for line in lines}
    said |= {_EXCEPTION.sub("", line) for line in said}
    return {
        line
        for line in said
        if len(line) >= 3 * SHORTEST_SECRET and not _ANYBODYS.fullmatch(_EXCEPTION.sub("", line))
    }


def _shortest(words: set[str]) -> list[str]:
    """Leave out every word that has another one in it: that one finds it too."""
    kept: list[str] = []
    for word in sorted(words, key=len):
        if not any(shorter in word for shorter in kept):
            kept.append(word)
    return kept


def _names(test_id: str, path: str | None) -> set[str]:
    """Return the spellings by which a test may be told of: id, name, module, file."""
    module, _, name = test_id.rpartition("::")
    names = {test_id, name, name.partition("[")[0], module, module.rpartition(".")[2]}
    return names | ({path, path.rpartition("/")[2]} if path else set())
