from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from judging.showing.inert import coloured, inert, on_one_line, plain, shortened


@given(st.text())
def test_nothing_that_cannot_be_seen_is_left_but_line_ends_tabs_and_spaces(text: str) -> None:
    for char in inert(text):
        assert char in "\n\t" or char.isprintable() or unicodedata.category(char) == "Zs"


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])))
def test_ordinary_text_in_any_script_is_left_alone(text: str) -> None:
    assert inert(text) == text


def test_what_was_invisible_is_named() -> None:
    assert inert("a\u202eb\u200b") == "a[U+202E]b[U+200B]"
    assert inert("nul\0 bell\x07 csi\x9b") == "nul␀ bell␇ csi[U+009B]"
    assert inert("\ud800") == "\N{REPLACEMENT CHARACTER}"


def test_a_name_stays_on_one_line() -> None:
    assert on_one_line("a\nb\tc\u2028d") == "a␊b␉c[U+2028]d"


def test_escape_sequences_are_taken_out_of_plain_text() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07done \x1b(B") == "red done "


@given(st.text(st.sampled_from("\x1b[]m;0123456789<>&\"'\x07\x9b ab\n")))
def test_colours_are_classes_of_ours_and_all_else_is_text(text: str) -> None:
    html = coloured(text)
    outside = re.sub(r'<span class="(?:ansi-[a-z]+ ?)+">|</span>', "", html)
    assert "<" not in outside and ">" not in outside and "\x1b" not in html
    assert html.count("<span") == html.count("</span>")


def test_a_colour_ends_where_it_is_ended() -> None:
    assert coloured("\x1b[1mA\x1b[31mB\x1b[39mC\x1b[0mD") == (
        '<span class="ansi-bold">A</span><span class="ansi-bold ansi-red">B</span>'
        '<span class="ansi-bold">C</span>D'
    )


def test_a_colour_of_a_palette_is_left_out_with_its_numbers() -> None:
    assert coloured("\x1b[38;5;1mA\x1b[38;2;1;4;31mB") == "AB"


def test_a_long_line_says_how_much_of_it_is_gone() -> None:
    assert shortened("x" * 2_500) == "x" * 2_000 + "… 500 more characters"
    assert shortened("x" * 2_000) == "x" * 2_000
