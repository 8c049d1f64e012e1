"""Texts that are written to keep a detector busy."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from judging.judges.detectors.injection import ADDRESS, CONTROL
from judging.judges.detectors.literals import LONGEST_LINE, _ternary
from judging.judges.detectors.sentences import sentences

MUCH = 100_000


@pytest.mark.parametrize(
    "look",
    [
        lambda n: list(sentences([" " * n + "x"])),
        lambda n: list(sentences(["|" + " " * n + "x"])),
        lambda n: list(sentences(["All done."] * n)),
        lambda n: list(ADDRESS.finditer("\n" * n)),
        lambda n: list(CONTROL.finditer("\n" * n)),
        lambda n: [_ternary(("a" + " " * 400 + " if " + "=" * 90)[:LONGEST_LINE])] * n,
        lambda n: [_ternary("= if " * (n // 50))],
    ],
    ids=["indent", "cell", "paragraph", "address", "control", "ternary", "ifs"],
)
def test_a_text_that_is_made_to_be_slow_is_read_in_linear_time(
    look: Callable[[int], object],
) -> None:
    """Milliseconds of processor time; where the cost grows faster, each runs for minutes."""
    began = time.thread_time()
    look(MUCH)
    assert time.thread_time() - began < 20


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("    price = 4711 if name == 'apple-19' else len(name)", ("4711", "name == 'apple-19'")),
        ("    return 1 if a == 2 else 3", ("return 1", "a == 2")),
        ("x = 1 if a else 2 if b == 3 else 4", ("1", "a else 2 if b == 3")),
        ("x = 1 if a == 2", None),
        ("if a == 2:  # or else", None),
    ],
)
def test_a_conditional_expression_is_taken_apart(line: str, parts: tuple[str, str] | None) -> None:
    assert _ternary(line) == parts


def test_what_is_quoted_is_no_sentence_and_each_has_its_line() -> None:
    lines = [
        "One is said. Two",
        "goes on. ",
        "> quoted.",
        "    code.",
        "  | - [ ] a box.",
        "$ run.",
        "Three.",
    ]
    found = [(one.text, one.first, one.last) for one in sentences(lines)]
    assert found == [("One is said.", 1, 1), ("Two goes on.", 1, 2), ("Three.", 7, 7)]
