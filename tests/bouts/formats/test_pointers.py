"""JSON pointers into documents, and into JSON lines as an array of them."""

from __future__ import annotations

import io
import json

import pytest

from bouts.formats import pointers
from bouts.formats.pointers import TooLarge, values_at
from tests.bouts.formats.reading import FIXTURES


def at(data: bytes, *tokens: str) -> object:
    return values_at(io.BytesIO(data), [tokens]).get(tokens, "nothing")


LINES = b'{"a": [1]}\n\nnoise\n{"a": {"0": "x"}}\n5\n'


def test_a_pointer_leads_into_a_document() -> None:
    document = json.dumps({"a": [1, {"b": None}], "": 2}, indent=2).encode()
    assert at(document) == {"a": [1, {"b": None}], "": 2}
    assert at(document, "a", "1", "b") is None
    assert at(document, "") == 2
    for nowhere in (["b"], ["a", "2"], ["a", "-1"], ["a", "01"], ["a", "٠"], ["a", "0", "x"]):
        assert at(document, *nowhere) == "nothing"


def test_a_pointer_leads_into_a_line() -> None:
    assert at(LINES, "0") == {"a": [1]}
    assert at(LINES, "0", "a", "0") == 1
    assert at(LINES, "3", "a", "0") == "x"
    for nowhere in ([], ["1"], ["2"], ["4"], ["5"], ["a"], ["01"]):
        assert at(LINES, *nowhere) == "nothing"


def test_a_single_line_may_be_either() -> None:
    assert at(b'{"a": 1}\n', "a") == 1
    assert at(b'{"a": 1}\n', "0", "a") == 1


def test_a_document_over_several_lines_is_no_json_lines() -> None:
    assert at(b"[\n{},\n{}\n]", "2") == "nothing"


def test_several_are_found_in_one_reading() -> None:
    wanted = [("0",), ("3", "a"), ("9",)]
    assert values_at(io.BytesIO(LINES), wanted) == {("0",): {"a": [1]}, ("3", "a"): {"0": "x"}}


def test_unfit_characters_are_marked_as_readers_mark_them() -> None:
    assert at(b'{"a": "\\u0000\x1b"}', "a") == "␀␛"


def test_lines_may_be_many_and_a_document_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointers, "LARGEST_DOCUMENT", 12)
    assert at(b'{"a": 1}\n{"a": 2}\n{"a": 3}', "2", "a") == 3
    for data in (b'{"a": 1, "b": 2}', b'{\n"a": 1,\n "b": 2\n}', b'{"a": 1}\n{"a": 1, "b": 22}'):
        with pytest.raises(TooLarge):
            at(data, "1")


def test_a_zip_file_is_an_object_of_its_members() -> None:
    data = (FIXTURES / "inspect.eval").read_bytes()
    member = "samples/calc_epoch_1.json"
    assert at(data, member, "input") == "Write calc.add and its tests"
    assert at(data, "header.json", "status") == "success"
    assert at(data, member, "no such key") == at(data, "x") == at(data) == "nothing"
    assert at(data[:-50], member, "input") == "nothing"


def test_of_a_zip_file_neither_it_nor_a_member_may_be_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = (FIXTURES / "inspect.eval").read_bytes()
    for largest in (1_000, len(data) + 1):
        monkeypatch.setattr(pointers, "LARGEST_DOCUMENT", largest)
        with pytest.raises(TooLarge):
            at(data, "samples/calc_epoch_1.json", "input")
