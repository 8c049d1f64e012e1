"""Text from strangers made fit to store and to show."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats import lines
from bouts.formats.guard import ReaderFault, guarded
from bouts.formats.lines import numbered_lines
from bouts.formats.remarks import MAX_REMARKS, Remarks
from bouts.formats.text import Clipper, decode, shorten, shorten_id, single_line, visible
from bouts.formats.types import Report, Unreadable

# `st.text` never draws surrogates.
any_char = st.characters() | st.sampled_from("\0\x1b\n\x7f\ud800\udbff\udc00\udfff")
any_text = st.lists(any_char, max_size=40).map("".join)


@given(any_text)
def test_visible_text_can_be_stored(text: str) -> None:
    shown = visible(text)
    assert "\0" not in shown
    shown.encode()
    assert len(shown) == len(text)


@given(any_text)
def test_a_single_line_has_no_control_character(text: str) -> None:
    assert all(ord(char) >= 32 and ord(char) != 127 for char in single_line(text))


def test_plain_text_is_left_as_it_is() -> None:
    for text in ("", "plain", "tab\tand\nline\r", "ä€😀", "\x1b[0m"):
        assert visible(text) == text


def test_marks_are_remarked_on_once_with_the_first_place() -> None:
    remarks, report = Remarks(), Report()
    assert decode(b"a\0b", remarks, "line 3") == "a␀b"
    assert decode(b"\0", remarks, "line 4") == "␀"
    assert decode(b"\xffx", remarks, "line 5") == "\N{REPLACEMENT CHARACTER}x"
    assert decode("ä".encode(), remarks, "line 6") == "ä"
    remarks.write(report)
    assert [(note.text, note.place) for note in report.notes] == [
        ("NUL bytes are shown as ␀ (2 times)", "line 3"),
        ("bytes that are not UTF-8 are shown as \N{REPLACEMENT CHARACTER}", "line 5"),
    ]


def test_a_flood_of_remarks_is_bounded() -> None:
    remarks, report = Remarks(), Report()
    for number in range(MAX_REMARKS + 50):
        remarks.add(f"remark {number}")
    remarks.write(report)
    assert len(report.notes) == MAX_REMARKS + 1
    assert "50 further remarks" in report.notes[-1].text


def test_a_long_text_keeps_both_ends_and_says_what_is_gone() -> None:
    assert shorten("x" * 100, 100) == "x" * 100
    assert shorten("a" * 60 + "b" * 60, 100) == f"{'a' * 50}\n[… 20 characters cut …]\n{'b' * 50}"


@given(st.lists(st.text(max_size=30), max_size=20), st.integers(0, 25).map(lambda n: 2 * n))
def test_a_clipped_text_is_what_the_whole_would_be_cut_to(pieces: list[str], limit: int) -> None:
    clipper = Clipper(limit)
    for piece in pieces:
        clipper.add(piece)
    whole = "".join(pieces)
    assert clipper.kept == min(len(whole), limit)
    if limit:
        assert clipper.text() == shorten(whole, limit)
    else:
        assert ("characters cut" in clipper.text()) is bool(whole)


def test_an_id_is_cut_at_its_bytes_and_stays_its_own() -> None:
    assert shorten_id("tests.a::b\n") == "tests.a::b␊"
    first, second = shorten_id("😀" * 900 + "a"), shorten_id("😀" * 900 + "b")
    assert first != second
    assert max(len(first.encode()), len(second.encode())) <= 2000


# Lines


def test_lines_end_at_lf_alone() -> None:
    data = b"a\rb\x0bc\x1dd\r\n\xe2\x80\xa8e\n\nlast"
    assert list(numbered_lines(io.BytesIO(data))) == [
        (1, b"a\rb\x0bc\x1dd\r"),
        (2, b"\xe2\x80\xa8e"),
        (3, b""),
        (4, b"last"),
    ]


def test_too_long_and_too_many_lines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 10)
    monkeypatch.setattr(lines, "MAX_LINES", 3)
    assert list(numbered_lines(io.BytesIO(b"x" * 10 + b"\n"))) == [(1, b"x" * 10)]
    with pytest.raises(Unreadable, match=r"MAX_LINE_BYTES = 10 \(line 2\)"):
        list(numbered_lines(io.BytesIO(b"a\n" + b"x" * 11)))
    assert len(list(numbered_lines(io.BytesIO(b"a\n" * 3)))) == 3
    with pytest.raises(Unreadable, match="MAX_LINES = 3"):
        list(numbered_lines(io.BytesIO(b"a\n" * 4)))


def test_utf_16_is_refused_rather_than_misread() -> None:
    with pytest.raises(Unreadable, match="UTF-16"):
        list(numbered_lines(io.BytesIO("diff".encode("utf-16"))))


# The promise


class Mistaken:
    def __init__(self, error: Exception) -> None:
        self.error = error

    @guarded
    def read(self, source, report):
        yield 1
        raise self.error


def test_a_mistake_in_a_reader_costs_one_file() -> None:
    with pytest.raises(ReaderFault, match="the reader failed on this file: KeyError"):
        list(Mistaken(KeyError("secret")).read(io.BytesIO(), Report()))


@pytest.mark.parametrize("error", [OSError("disk"), MemoryError(), Unreadable("why")])
def test_faults_of_the_machine_and_refusals_pass_through(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        list(Mistaken(error).read(io.BytesIO(), Report()))
    assert raised.value is error
