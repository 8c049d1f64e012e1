from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.types import DiffLine, Hunk
from judging.showing.code import LONGEST, coloured_hunk
from judging.showing.inert import inert, shortened

LINES = st.lists(
    st.tuples(st.sampled_from(" +-"), st.text(st.characters(exclude_characters="\n"), max_size=40)),
    max_size=12,
)


def hunk_of(lines: list[tuple[str, str]]) -> Hunk:
    return Hunk("@@", tuple(DiffLine(sign, 1, 1, text) for sign, text in lines))


@given(LINES, st.sampled_from(["a.py", "a.json", "Makefile", "a.unknown", "a.html"]))
def test_colouring_changes_no_character_of_the_code(
    lines: list[tuple[str, str]], path: str
) -> None:
    shown = coloured_hunk(path, hunk_of(lines))
    assert len(shown) == len(lines)
    for html, (_, text) in zip(shown, lines, strict=True):
        assert unescape(re.sub(r"<[^>]*>", "", html)) == shortened(inert(text.rstrip("\r")))


def test_words_of_the_language_wear_their_classes() -> None:
    shown = coloured_hunk("a.py", hunk_of([(" ", "def f():"), ("+", "    return '<b>'")]))
    assert '<span class="k">def</span>' in shown[0]
    assert "&lt;b&gt;" in shown[1] and "<b>" not in shown[1]


def test_each_side_is_read_by_itself() -> None:
    """A docstring that went and one that came do not swallow each other."""
    shown = coloured_hunk("a.py", hunk_of([("-", '"""old'), ("+", "x = 1"), ("-", '"""')]))
    assert '<span class="mi">1</span>' in shown[1]


def test_a_hunk_beyond_the_limit_is_not_coloured() -> None:
    shown = coloured_hunk("a.py", hunk_of([("+", "x" * 1_000)] * (LONGEST // 1_000 + 1)))
    assert all("<" not in html for html in shown)
