"""JSON lines: a record a line, and what is no record left out by its line."""

from __future__ import annotations

import io
import json

import pytest

from bouts.formats import crumbs, documents, jsonl
from bouts.formats.jsonl import NO_OBJECT, JsonLines, head_records
from bouts.formats.types import Report, Unreadable


def records(data: bytes) -> tuple[list[tuple[int, str, object]], Report]:
    report = Report()
    return [tuple(record) for record in JsonLines(io.BytesIO(data), report).records()], report


def test_a_record_has_its_line_and_its_pointer() -> None:
    found, report = records(b'{"a": 1}\n\n{"b": 2}')
    assert found == [(1, "/0", {"a": 1}), (3, "/2", {"b": 2})]
    assert report.notes == []


def test_lines_are_split_on_line_feeds_alone() -> None:
    found, _ = records('{"a": "x\u2028y"}\r\n{"b": 2}\n'.encode())
    assert [value for _, _, value in found] == [{"a": "x\u2028y"}, {"b": 2}]


def test_what_is_no_object_is_left_out_and_noted_once() -> None:
    lines = JsonLines(
        io.BytesIO(b'warning: x\n{"a": 1}\n[1]\n{"a": NaN}\n{"b"'), report := Report()
    )
    assert [record.line for record in lines.records()] == [2]
    assert [record.line for record in lines.records()] == [2]
    assert [(note.text, note.place) for note in report.notes] == [
        (f"{NO_OBJECT} (4 times)", "line 1")
    ]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"text\n", b"[1]\n[2]\n"])
def test_a_file_without_a_record_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable, match="no line of it is a JSON object"):
        records(data)


def test_a_long_line_is_built_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "WHOLE_LIMIT", 4)
    assert [value for _, _, value in records(b'{"a": [1, {"b": "x"}]}\n{"a"\n')[0]] == [
        {"a": [1, {"b": "x"}]}
    ]
    monkeypatch.setattr(documents, "MAX_PART_VALUES", 3)
    with pytest.raises(Unreadable, match="too large a value for one place") as refusal:
        records(b'{"a": 1}\n{"a": [1, 2, 3]}\n')
    assert refusal.value.place == "/1"


def test_lines_and_records_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_RECORDS", 1)
    with pytest.raises(Unreadable, match="more records than MAX_RECORDS = 1"):
        records(b"{}\n{}\n")
    monkeypatch.setattr(jsonl, "MAX_RECORD_BYTES", 10)
    with pytest.raises(Unreadable, match="longer than MAX_RECORD_BYTES = 10"):
        records(b'{"a": "' + b"x" * 20 + b'"}')


def test_blank_lines_are_crumbs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crumbs, "FREE", 10)
    assert records(b'{"a": 1}' + b"\n" * 9 + b"{}")[0]
    with pytest.raises(Unreadable, match="lines of less than 32 bytes each"):
        records(b'{"a": 1}' + b"\n" * 20 + b"{}")


def test_what_cannot_be_stored_is_marked() -> None:
    found, report = records(b'{"a": "\\u0000\x1b"}\n')
    assert found == [(1, "/0", {"a": "␀␛"})]
    assert "repaired" in report.notes[0].text


def test_a_head_gives_the_records_on_its_whole_lines() -> None:
    data = b"\xef\xbb\xbf" + b'{"a": 1}\r\n\nnoise\n{"b": {}}\n{"c": '
    assert head_records(data) == ({"a": 1}, {"b": {}})
    for other in (b"", b"noise\n{}", b"[1]\n{}\n", json.dumps({"a": 1}, indent=1).encode()):
        assert head_records(other) == ()
