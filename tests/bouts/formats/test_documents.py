"""JSON by its parts: the same whether it came whole or as a stream."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import ijson  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bouts.formats import documents, mending
from bouts.formats.documents import Document, Part, top_keys
from bouts.formats.text import count
from bouts.formats.types import Report, Unreadable

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
keys = st.sampled_from(["a", "b", "*", "", "a/b"]) | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
patterns = st.sampled_from(
    [
        ("/a",),
        ("/a/*",),
        ("/a/*/b", "/b"),
        ("/a/*/a/*", "/b/b"),
        ("/a?", "/a/*", "/b/a?"),
        ("/a/*?", "/a/*/b?"),
        ("/*/a",),
        ("/{}",),
        ("/{}/*", "/b"),
        ("/a/{}", "/{}?", "/{}/a/b"),
    ]
)


def parts(data: bytes, *wanted: str) -> list[Part]:
    return list(Document(io.BytesIO(data), Report()).parts(*wanted))


def in_both_ways(data: bytes, *wanted: str) -> list[list[Part]]:
    found = []
    for limit in (len(data), 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "WHOLE_LIMIT", limit)
            found.append(parts(data, *wanted))
    return found


@settings(max_examples=300)
@given(values, patterns)
def test_whole_and_streamed_documents_give_the_same_parts(
    value: Any, wanted: tuple[str, ...]
) -> None:
    data = json.dumps(value).encode()
    whole, streamed = in_both_ways(data, *wanted)
    assert streamed == whole


def test_parts_come_in_the_order_of_the_file_with_their_pointers() -> None:
    data = b'{"b": 1, "a": [{"c": [2]}, 3, {"c": 4}], "d": {"a": 5}}'
    for found in in_both_ways(data, "/a/*/c", "/b", "/d"):
        assert found == [
            ("/b", "/b", 1),
            ("/a/*/c", "/a/0/c", [2]),
            ("/a/*/c", "/a/2/c", 4),
            ("/d", "/d", {"a": 5}),
        ]


def test_a_question_tells_what_is_there_and_lets_others_go_on_below() -> None:
    data = b'{"runs": [{"results": []}, {"results": null}, {}, {"results": [7]}]}'
    for found in in_both_ways(data, "/runs/*?", "/runs/*/results?", "/runs/*/results/*"):
        assert [(pointer, value) for _, pointer, value in found] == [
            ("/runs/0", "object"),
            ("/runs/0/results", "array"),
            ("/runs/1", "object"),
            ("/runs/1/results", "plain"),
            ("/runs/2", "object"),
            ("/runs/3", "object"),
            ("/runs/3/results", "array"),
            ("/runs/3/results/0", 7),
        ]


def test_a_pattern_that_meets_something_else_gives_nothing() -> None:
    for data in (b"[]", b'"a"', b'{"a": {"0": 1}}', b'{"a": "text"}', b'{"*": [1]}'):
        assert in_both_ways(data, "/a/*") == [[], []]


def test_of_a_key_that_stands_twice_in_a_part_the_last_counts() -> None:
    for found in in_both_ways(b'{"a": {"k": 1, "k": [2], "k": 3}}', "/a"):
        assert found == [("/a", "/a", {"k": 3})]


def test_a_part_that_stands_twice_refuses_a_streamed_document() -> None:
    data = b'{"a": [1], "b": 0, "b": 0, "a": [2]}'
    assert [part.value for part in parts(data, "/a/*")] == [2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "WHOLE_LIMIT", 0)
        with pytest.raises(Unreadable, match=r"a key stands twice \(/a\)"):
            parts(data, "/a/*")


def test_any_key_can_be_asked_for_and_one_that_is_named_goes_first() -> None:
    data = b'{"a/b": [1], "c": 2, "~": 3, "x\\ny": 4}'
    for found in in_both_ways(data, "/{}", "/c"):
        assert found == [
            ("/{}", "/a~1b", [1]),
            ("/c", "/c", 2),
            ("/{}", "/~0", 3),
            ("/{}", "/x␊y", 4),
        ]


def test_a_pointer_keeps_so_much_of_a_key() -> None:
    data = json.dumps({"k" * 5000: 1}).encode()
    for found in in_both_ways(data, "/{}"):
        assert [part.pointer for part in found] == ["/" + "k" * documents.MAX_STEP]


@pytest.mark.parametrize("data", [b'{"a": 1}', b"[1]", b"5", b"null"])
def test_the_empty_pattern_asks_for_the_document_itself(data: bytes) -> None:
    for found in in_both_ways(data, ""):
        assert found == [("", "", json.loads(data))]


@pytest.mark.parametrize(
    ("data", "value", "number"),
    [
        (b'{"a": NaN}', {"a": None}, 1),
        (b"[inf,-Infinity,\n+nan , 1]", [None, None, None, 1], 3),
        (b'["NaN", "\\"inf, NaN", 1e5]', ["NaN", '"inf, NaN', 1e5], 0),
        (b'{"inf": 1, "nan": "a\\\\"}', {"inf": 1, "nan": "a\\"}, 0),
    ],
)
def test_odd_numbers_can_be_forgiven_and_are_said(data: bytes, value: Any, number: int) -> None:
    report = Report()
    (part,) = Document(io.BytesIO(data), report, forgives_numbers=True).parts("")
    assert part.value == value
    told = [f"numbers that are not finite are taken for null ({count(number, 'time')})"]
    assert [note.text for note in report.notes] == (told if number else [])


@pytest.mark.parametrize("data", [b"[NaNa]", b"[xinf]", b"[1inf]", b"[nan.5]", b'["inf', b'["a\\'])
def test_nothing_else_is_forgiven(data: bytes) -> None:
    with pytest.raises(Unreadable):
        Document(io.BytesIO(data), Report(), forgives_numbers=True)


def test_a_string_without_an_end_is_looked_through_once() -> None:
    data = b'["' + b'\\"' * 1_500_000  # each quote of which might begin a string
    with pytest.raises(Unreadable):
        Document(io.BytesIO(data), Report(), forgives_numbers=True)


def test_a_document_can_be_asked_again() -> None:
    document = Document(io.BytesIO(b'{"a": [1, 2], "b": 3}'), Report())
    assert list(document.parts("/b")) == list(document.parts("/b"))


# What is refused


@pytest.mark.parametrize(
    "number",
    ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 9000, f"1e{'9' * 30}"],
)
def test_a_number_that_is_none_is_refused(number: str) -> None:
    for document in (f'{{"a": [1, {number}]}}', f'{{"a": {number}}}', number):
        for limit in (1000, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(documents, "WHOLE_LIMIT", limit)
                with pytest.raises(Unreadable, match=r"no number in JSON|not valid JSON"):
                    parts(document.encode(), "/a")


def test_a_whole_number_without_measure_refuses_a_streamed_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parts(b'{"a": 18446744073709551616}', "/a")[0].value == 2.0**64
    monkeypatch.setattr(documents, "WHOLE_LIMIT", 0)
    with pytest.raises(Unreadable, match="integer overflow"):
        parts(b'{"a": 18446744073709551616}', "/a")


def test_nan_is_named_in_its_refusal_with_its_place() -> None:
    with pytest.raises(Unreadable, match=r"NaN is no number in JSON \(line 1, column 7\)"):
        parts(b'{"a": NaN}', "/a")


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[1,",
        b'{"a": 1} x',
        b'{"a": 1}{"a": 2}',
        b"{'a': 1}",
        b'{"a" 1}',
        b"<xml/>",
        b"]",
        b"\xff",
    ],
)
def test_what_is_no_json_is_refused_with_a_place(data: bytes) -> None:
    for limit in (1000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "WHOLE_LIMIT", limit)
            with pytest.raises(Unreadable, match="not valid JSON") as refusal:
                parts(data, "/a")
            assert refusal.value.place


@pytest.mark.parametrize("data", [b"", b" \n"])
def test_an_empty_file_is_called_empty(data: bytes) -> None:
    with pytest.raises(Unreadable, match="the file is empty"):
        parts(data, "/a")


def test_depth_has_a_limit_wherever_it_hides() -> None:
    for document in (b'{"a": %s}', b'{"other": %s}'):
        deep = document % (b"[" * 100_000 + b"]" * 100_000)
        for limit in (10_000_000, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(documents, "WHOLE_LIMIT", limit)
                with pytest.raises(Unreadable, match=r"depth|MAX_(STREAMED_)?DEPTH"):
                    parts(deep, "/a")


def test_one_part_of_a_stream_cannot_take_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "WHOLE_LIMIT", 0)
    monkeypatch.setattr(documents, "MAX_PART_CHARS", 1000)
    monkeypatch.setattr(documents, "MAX_PART_VALUES", 100)
    assert parts(json.dumps({"a": ["x" * 900, *range(90)]}).encode(), "/a")
    for value in (["x" * 600] * 2, list(range(101)), {"k" * 600: {"j" * 600: 0}}):
        with pytest.raises(Unreadable, match="too large a value"):
            parts(json.dumps({"a": value}).encode(), "/a")


def test_a_large_document_takes_little_memory() -> None:
    items = [{"text": "x" * 2000, "numbers": list(range(20))} for _ in range(4500)]
    data = json.dumps({"items": items}).encode()
    assert len(data) > 2 * documents.WHOLE_LIMIT
    source = io.BytesIO(data)
    tracemalloc.start()
    try:
        assert sum(1 for _ in Document(source, Report()).parts("/items/*")) == 4500
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


# What is repaired


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (rb"\u0000", "␀"),
        (rb"a\\u0000", r"a\u0000"),
        (rb"\\\u0000", "\\␀"),
        (rb"\ud800", "\N{REPLACEMENT CHARACTER}"),
        (rb"\udc00x", "\N{REPLACEMENT CHARACTER}x"),
        (rb"\ud83d\ud83d\ude00", "\N{REPLACEMENT CHARACTER}😀"),
        (b"\x00", "␀"),
        (b"\x1b[0m", "␛[0m"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (b"\xed\xa0\x80", "\N{REPLACEMENT CHARACTER}" * 3),
    ],
)
def test_what_cannot_be_stored_is_marked_and_said(written: bytes, shown: str) -> None:
    for padding in (0, documents.WHOLE_LIMIT):
        report = Report()
        data = b'{"pad": "' + b"x" * padding + b'", "a": "' + written + b'"}'
        ((_, _, value),) = Document(io.BytesIO(data), report).parts("/a")
        assert value == shown
        assert bool(report.notes) is (shown != r"a\u0000")


@pytest.mark.parametrize("text", [r"\ud83d\ude00 \u001b \\u0000 \n \u00e9", "plain", "ä€😀"])
def test_sound_text_is_left_alone(text: str) -> None:
    report = Report()
    data = f'{{"a": "{text}"}}'.encode()
    ((_, _, value),) = Document(io.BytesIO(data), report).parts("/a")
    assert value == json.loads(data)["a"]
    assert not report.notes


@given(
    st.lists(
        st.sampled_from(
            [
                b"\\\\",
                rb"\u0000",
                rb"\ud83d\ude00",
                rb"\ud800",
                rb"\n",
                b"\x00",
                b"\xff",
                b"ab",
                b'\\"',
            ]
        ),
        max_size=60,
    ),
    st.integers(1, 40),
)
def test_a_repair_does_not_depend_on_where_blocks_end(pieces: list[bytes], block: int) -> None:
    data = b'["' + b"".join(pieces) + b'"]'
    whole = mending.mended(io.BytesIO(data), documents.JSON, Report()).read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mending, "BLOCK", block)
        report = Report()
        assert mending.mended(io.BytesIO(data), documents.JSON, report).read() == whole
    value = json.loads(whole)[0]
    assert "\0" not in value
    value.encode()  # and no lone surrogate
    damaged = any(piece in {rb"\u0000", rb"\ud800", b"\x00", b"\xff"} for piece in pieces)
    assert bool(report.notes) is damaged


def test_an_endless_escape_is_refused_rather_than_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mending, "BLOCK", 100)
    monkeypatch.setattr(mending, "MAX_UNCUT", 400)
    with pytest.raises(Unreadable, match="MAX_UNCUT"):
        mending.mended(io.BytesIO(b'["\x00' + b"\\" * 5000), documents.JSON, Report()).read()


# What a head shows


def test_the_top_keys_are_read_as_far_as_the_head_goes() -> None:
    assert top_keys(b'{"a": 1, "b": {"c": [2]}, "d": "x", "e": [1, 2') == {
        **{"a": 1, "b": None, "d": "x", "e": None}
    }
    assert top_keys(b'{"version": "2.1.0", "runs": [') == {"version": "2.1.0", "runs": None}
    for head in (b"", b"[1]", b"nothing", b'"text"', b"\xff\xfe"):
        assert top_keys(head) == {}


awkward = st.text(st.sampled_from('"\\/abu0ü😀\n{}[],:'), max_size=40)
json_values = st.recursive(
    awkward | st.integers(-9, 9) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(awkward, inner, max_size=4),
    max_leaves=8,
)


@given(value=json_values, size=st.integers(1, 20), is_ascii=st.booleans())
@settings(max_examples=200)
def test_the_parser_gets_the_same_document_in_pieces_of_any_size(
    value: Any, size: int, is_ascii: bool
) -> None:
    content = json.dumps([value], ensure_ascii=is_ascii).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "PIECE", size)
        pieces = documents._Pieces(io.BytesIO(content))
        assert b"".join(iter(lambda: pieces.read(size), b"")) == content
        events = list(documents._events(io.BytesIO(content)))
    assert events == list(ijson.basic_parse(content, use_float=True))
