"""Texts are cleaned before a model reads them, long ones as well as short ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.panel.cleaning import NAME, QUOTES_HIDDEN, Cleaner, spellings

CLEAN = Cleaner(("Heron Nine", "obsidian-7b-2026-05-01"), ("test_sahara",))
LIMIT = 200
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
LONG_KEY = f"-----BEGIN PRIVATE KEY-----\n{'QUJD' * 2_000}\n-----END PRIVATE KEY-----"


@given(
    before=st.integers(0, 3_000),
    after=st.integers(0, 3_000),
    secret=st.sampled_from(["Heron Nine", "heron-nine", "obsidian-7b", KEY]),
)
def test_wherever_a_secret_stands_in_a_long_text_it_is_not_shown(
    before: int, after: int, secret: str
) -> None:
    shown = CLEAN(f"{'x ' * before}{secret}{' y' * after}", LIMIT)
    told = shown.replace(NAME, "")
    assert secret not in told
    assert not re.search("heron|obsidian|abcdefgh", told, re.IGNORECASE)
    assert len(shown) < LIMIT + 100


@given(spaces=st.integers(0, 40), count=st.integers(1, 400))
def test_no_end_of_a_name_is_left_where_most_of_a_text_are_names(spaces: int, count: int) -> None:
    name = "Archaeopteryx lithographica of the far Northern Skerries and all Isles"
    clean = Cleaner((name,), ())
    shown = clean(f"{' ' * spaces}{f'{name} ' * count}", LIMIT)
    assert not re.search("archae|litho|skerries|northern|isles", shown, re.IGNORECASE)


@given(before=st.integers(0, 700), after=st.integers(0, 700))
def test_no_part_of_a_token_is_shown(before: int, after: int) -> None:
    token = f"eyJhbGciOiJIUzI1NiJ9.eyJ{'abcd' * 400}.{'efgh' * 20}"
    shown = CLEAN(f"{'x ' * before}{token}{' y' * after}", LIMIT)
    assert "abcd" not in shown and "efgh" not in shown


@given(before=st.integers(0, 3_000), after=st.integers(0, 3_000))
def test_a_hidden_test_withholds_a_text_however_far_from_its_ends(before: int, after: int) -> None:
    assert CLEAN(f"{'x ' * before}test_sahara{' y' * after}", LIMIT) == QUOTES_HIDDEN


@given(before=st.integers(0, 500), after=st.integers(0, 500))
def test_no_part_of_a_private_key_is_shown(before: int, after: int) -> None:
    assert "QUJD" not in CLEAN(f"{'x ' * before}{LONG_KEY}{' y' * after}", LIMIT)


@pytest.mark.parametrize("length", [LIMIT, LIMIT + 1, 4 * LIMIT, 4 * LIMIT + 1, 100 * LIMIT])
def test_a_cut_says_how_much_is_gone(length: int) -> None:
    text = "".join(chr(ord("a") + at % 26) for at in range(length))
    shown = CLEAN(text, LIMIT)
    if length <= LIMIT:
        assert shown == text
        return
    head, gone, tail = re.split(r"\n\[… ([0-9,]+) characters cut …\]\n", shown)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(gone.replace(",", "")) + len(tail) == length


def test_a_model_is_told_by_its_parts_and_by_its_house() -> None:
    found = spellings(["anthropic/claude-sonnet-4-5-20250929"])
    assert {"claude-sonnet-4-5", "claude", "anthropic", "opus"} <= found
    assert "qwen3" in spellings(["qwen3-coder"])
    assert "mini" not in spellings(["phi-4-mini"])
    assert spellings(["", "x"]) == set()


@pytest.mark.parametrize("text", ["a plain text", "", "[withheld]", "unicode: ü ß 漢字 🙂"])
def test_what_tells_nothing_stays_as_it_is(text: str) -> None:
    assert CLEAN(text, LIMIT) == text
