"""What a text from a bundle must go through before a model reads it.

Hidden tests are withheld, names are taken out, keys masked, what cannot be seen is spelt out,
and what is too long is cut. In that order: each step looks at the text before the next one
could have hidden something from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bouts.formats.text import inert, joined, shorten
from bouts.hidden_words import spelled_out, tells
from bouts.masking import mask
from judging.houses import HOUSES

NAME = "[withheld]"
QUOTES_HIDDEN = "[withheld: this quotes a hidden test]"
TELLS_A_NAME = "[withheld: this tells a name that you are not to know]"

# Words in the names of models that name none.
_COMMON = frozenset(
    {"agent", "base", "chat", "code", "coder", "fast", "flash", "high", "instruct", "large"}
    | {"latest", "lite", "medium", "mini", "model", "nano", "preview", "small", "thinking", "turbo"}
)
_SHORTEST_WORD = 4  # of a model's name that is looked for by itself
_SHORTEST_NAME = 2
_LONG_NAME = 8  # from here on a name is looked for inside of words too

# Nothing to see, and yet between the letters of a name.
_UNSEEN = "[\\u00ad\\u034f\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff\U000e0000-\U000e007f]*"
_BETWEEN = r"[\s_\-./:@+]*"
_RUN = re.compile(r"[^\W\d_]+|\d+")
_DATE = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}$")
_WINDOW = 4  # times what is shown of a text: a longer one is not cleaned whole
_LONG_SECRETS = ("PRIVATE KEY-----", "eyJ")  # what begins a secret that is told by its end as well
_CONTROL_TOKEN = re.compile(r"<(?=[|｜])")


class Cleaner:
    """Makes texts fit for a model, for one match."""

    def __init__(self, names: Iterable[str], hidden_words: Iterable[str]) -> None:
        self._hidden_words = tuple(hidden_words)
        self._names = _pattern(spellings(names))

    def quotes_hidden(self, text: str) -> bool:
        """Whether a text names or quotes a hidden test."""
        return bool(self._hidden_words) and tells(text, self._hidden_words)

    def tells_a_name(self, text: str) -> bool:
        """Whether one of the names stands in a text, however it is spelt."""
        names = self._names
        return names is not None and bool(names.search(text) or names.search(spelled_out(text)))

    def __call__(self, text: str, limit: int) -> str:
        """Return a text as a model may read it, of about ``limit`` characters at most.

        Where names show only once the letters are spelt out, the text is withheld whole.
        """
        if self.quotes_hidden(text):
            return QUOTES_HIDDEN
        if len(text) <= _WINDOW * limit:
            return shorten(self._clean(text), limit)
        # Of a text this long only the ends are shown, so the ends are cleaned, twice as wide as
        # what is shown of them: what was taken apart by the cut is not in the part that stays.
        if any(mark in text for mark in _LONG_SECRETS):
            text = mask(text)
        head, tail = self._clean(text[: 2 * limit]), self._clean(text[-2 * limit :])
        if TELLS_A_NAME in {head, tail}:
            return TELLS_A_NAME
        if min(len(head), len(tail)) < limit:
            return shorten(self._clean(text), limit)  # so much was taken out that the cut is near
        half = limit // 2
        return joined(head[:half], len(text) - 2 * half, tail[-half:])

    def _clean(self, text: str) -> str:
        if self._names is not None:
            text = self._names.sub(NAME, text)
            if self._names.search(spelled_out(text)):
                return TELLS_A_NAME
        return _CONTROL_TOKEN.sub("[U+003C]", inert(mask(text)))


def spellings(names: Iterable[str]) -> set[str]:
    """Return all by which an agent may be told: its names, its model without vendor and date, its house."""
    found: set[str] = set()
    for name in names:
        bare = name.rpartition("/")[2]
        found |= {name, bare, _DATE.sub("", bare)}
        words = {word.lower() for word in _RUN.findall(name)}
        words |= {word.lower() for word in re.findall(r"[^\W_]+", name)}
        for house in HOUSES.values():
            if house & words:
                found |= house
        if "/" in name or any(char.isdigit() for char in name):
            # A model's name: its family tells of it too.
            found |= {word for word in words - _COMMON if _is_word(word)}
    return {name for name in found if len(name.strip()) >= _SHORTEST_NAME}


def _is_word(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD and not word.isdigit()


def _pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    patterns = [pattern for name in longest_first if (pattern := _name(name))]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _name(name: str) -> str:
    """Return an expression that finds a name however its parts are joined.

    A short one is found only where it stands as a word: an agent called Ed is no reason to
    take the end off every past tense.
    """
    runs = [_UNSEEN.join(map(re.escape, run)) for run in _RUN.findall(name)]
    if not runs:
        return ""
    pattern = f"{_UNSEEN}{_BETWEEN}{_UNSEEN}".join(runs)
    if sum(map(len, _RUN.findall(name))) >= _LONG_NAME:
        return pattern
    return rf"(?<![^\W_]){pattern}(?![^\W_])"
