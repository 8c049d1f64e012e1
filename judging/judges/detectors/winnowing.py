"""Fingerprints of added code: winnowing (Schleimer, Wilkerson, Aiken: SIGMOD 2003).

Code is read as tokens that any language shares: names are all the same, so that renaming changes
nothing; comments and layout are left out; words of the language, numbers, strings and signs
stay. Every run of `GRAM` tokens is hashed, and of any `WINDOW` hashes in a row the smallest is
kept: two texts that share a stretch of GRAM + WINDOW − 1 tokens share a fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

VERSION = 1  # raised when the same text gives other fingerprints
GRAM = 12  # tokens
WINDOW = 4  # hashes
FEWEST = 16  # fingerprints, below which a text is too short to be told from any other
MOST = 20_000  # fingerprints that are kept of one match
# Of the added code, more than twice as many as give that many fingerprints.
MOST_TOKENS = 120_000
LONGEST_STRING = 40  # characters, of which what it says matters
MOST_TREE_CHARS = 4_000_000  # of the starting tree, of the kinds of files that the diff adds to

GAP = "\f"  # between lines that do not follow each other: no comment goes on across it

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*|//[^\n]*|/\*[^\f]*?\*/|\"\"\"[^\f]*?\"\"\"|\'\'\'[^\f]*?\'\'\'|--\s[^\n]*)"""
    r"""|(?P<string>[rbfuRBFU]{0,2}(?:"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|`(?:[^`\\\f]|\\.)*`?)"""
    r"""|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<sign>[^\s\w])"""
)
# Words that say what code does, in the languages that agents write most.
_KEYWORDS = frozenset(
    [
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "def",
        "default",
        "del",
        "delete",
        "do",
        "elif",
        "else",
        "enum",
        "except",
        "export",
        "extends",
        "false",
        "finally",
        "fn",
        "for",
        "from",
        "func",
        "function",
        "global",
        "if",
        "impl",
        "import",
        "in",
        "instanceof",
        "interface",
        "is",
        "lambda",
        "let",
        "loop",
        "match",
        "mod",
        "mut",
        "new",
        "none",
        "nil",
        "not",
        "null",
        "or",
        "package",
        "pass",
        "private",
        "protected",
        "pub",
        "public",
        "raise",
        "return",
        "self",
        "static",
        "struct",
        "super",
        "switch",
        "this",
        "throw",
        "trait",
        "true",
        "try",
        "type",
        "typeof",
        "use",
        "var",
        "void",
        "where",
        "while",
        "with",
        "yield",
        "print",
        "len",
        "range",
        "int",
        "str",
        "list",
        "dict",
        "set",
        "tuple",
        "isinstance",
        "sorted",
        "sum",
        "min",
        "max",
        "any",
        "all",
        "zip",
        "enumerate",
        "map",
        "filter",
        "open",
        "append",
        "join",
        "split",
        "strip",
        "get",
        "items",
        "keys",
        "values",
    ]
)
_UNCLOSED = re.compile(_TOKEN.pattern.replace(r"|/\*[^\f]*?\*/", ""))  # without block comments
_NAME, _TEXT = "n", "s"
# A rolling hash modulo a Mersenne prime fits the database's bigint.
_PRIME = (1 << 61) - 1
_BASE = 1_000_003
_SHIFTED = pow(_BASE, GRAM, _PRIME)
# What no code consists of: prose and data that agents hand in beside it.
NOT_CODE = re.compile(
    r"\.(?:md|rst|txt|json|ya?ml|toml|ini|cfg|lock|csv|tsv|svg|xml|html?|log|patch|diff|snap)$"
)


class Mark(NamedTuple):
    """A fingerprint and the stretch of lines (indices, both included) that it was made of."""

    hash: int
    first: int
    last: int


def tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a text, each with the index of the line that it is on."""
    line = 0
    for part in text.split(GAP):
        position = 0
        for found in _found(part):
            line += part.count("\n", position, found.start())
            position = found.start()
            if (word := _word(found)) is not None:
                yield word, line
        line += part.count("\n", position)


def _found(part: str) -> Iterator[re.Match[str]]:
    """Yield what stands in a part. A comment that nobody closes is looked for no further."""
    closed = part.rfind("*/") + 2 if "*/" in part else 0
    position = 0
    for found in _TOKEN.finditer(part) if closed else ():
        if found.start() >= closed:
            break
        position = found.end()
        yield found
    yield from _UNCLOSED.finditer(part, position)


def _word(found: re.Match[str]) -> str | None:
    """Return what a token counts as; None for a comment."""
    kind, word = found.lastgroup, found[0]
    if kind == "comment":
        return None
    if kind == "word":
        word = word.casefold()
        return word if word in _KEYWORDS else _NAME
    if kind == "string" and len(word) > LONGEST_STRING:
        return _TEXT
    return word


@lru_cache(maxsize=65_536)
def _number(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % _PRIME


def grams(read: Iterable[tuple[str, int]]) -> tuple[list[int], list[int]]:
    """Return the hash of every `GRAM` tokens in a row, rolled on, and the line of every token."""
    rolled = 0
    hashed: list[int] = []
    numbers: list[int] = []
    lines: list[int] = []
    for count, (text, line) in enumerate(read, start=1):
        number = _number(text)
        numbers.append(number)
        lines.append(line)
        rolled = rolled * _BASE + number
        if count > GRAM:
            rolled -= numbers[count - 1 - GRAM] * _SHIFTED
        rolled %= _PRIME
        if count >= GRAM:
            hashed.append(rolled)
    return hashed, lines


def winnowed(
    hashed: Sequence[int], lines: Sequence[int], leave_out: frozenset[int]
) -> Iterator[Mark]:
    """Yield of any `WINDOW` hashes in a row the smallest, the last of equals, each once."""
    kept = [at for at, one in enumerate(hashed) if one not in leave_out]
    values = [hashed[at] for at in kept]
    chosen = least = -1
    for end in range(min(WINDOW, len(kept)), len(kept) + 1):
        start = max(0, end - WINDOW)
        if least < start:
            least = start
            for at in range(start, end):
                if values[at] <= values[least]:
                    least = at
        elif values[end - 1] <= values[least]:
            least = end - 1
        if kept and least != chosen:
            chosen = least
            at = kept[least]
            yield Mark(hashed[at], lines[at], lines[at + GRAM - 1])


def fingerprints(
    texts: Mapping[str, str], tree: Iterable[tuple[str, str]] = ()
) -> dict[str, tuple[Mark, ...]]:
    """Return the marks of each file's added code, without those that the starting tree has."""
    read: dict[str, tuple[list[int], list[int]]] = {}
    left = MOST_TOKENS
    for path, text in texts.items():
        if not NOT_CODE.search(path):
            read[path] = grams(islice(tokens(text), left))
            left -= len(read[path][1])
    wanted = {one for hashed, _ in read.values() for one in hashed}
    known = _in_tree(tree, wanted, {_ending(path) for path in read}) if wanted else frozenset()
    kept: dict[str, tuple[Mark, ...]] = {}
    left = MOST
    for path, (hashed, lines) in read.items():
        kept[path] = tuple(islice(winnowed(hashed, lines, known), left))
        left -= len(kept[path])
    return kept


def _in_tree(
    tree: Iterable[tuple[str, str]], wanted: set[int], endings: set[str]
) -> frozenset[int]:
    found: set[int] = set()
    left = MOST_TREE_CHARS
    for path, text in tree:
        if _ending(path) in endings:
            left -= len(text)
            if left < 0:
                break
            found.update(wanted.intersection(grams(tokens(text))[0]))
    return frozenset(found)


def _ending(path: str) -> str:
    return path.rpartition(".")[2]


def hashes(marks: Mapping[str, Sequence[Mark]]) -> frozenset[int]:
    return frozenset(mark.hash for found in marks.values() for mark in found)


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the part of the smaller fingerprint that the other has too; 0 for what is too short."""
    least = min(len(one), len(other))
    return len(one & other) / least if least >= FEWEST else 0.0
