"""Files that are ground to crumbs are refused early, and what tools write is not."""

from __future__ import annotations

import io
import json

import pytest

from bouts.formats import crumbs, documents, jsonl
from bouts.formats.atif import AtifReader
from bouts.formats.documents import Document
from bouts.formats.jsonl import JsonLines
from bouts.formats.telemetry import recorder
from bouts.formats.types import Report, Unreadable
from bouts.formats.xml import moves
from tests.bouts.formats.reading import call, read, trajectory


@pytest.fixture(autouse=True)
def nothing_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crumbs, "FREE", 10)


@pytest.mark.parametrize("streamed", [False, True])
def test_values_with_nothing_in_them_are_refused(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "WHOLE_LIMIT", 0 if streamed else documents.WHOLE_LIMIT)
    row = {"name": "x" * documents.BYTES_EACH}
    for rows, is_refused in (([{}] * 100, True), ([row] * 100, False), ([{}] * 10, False)):
        document = Document(io.BytesIO(json.dumps({"rows": rows}).encode()), Report())
        if is_refused:
            with pytest.raises(Unreadable, match="values of less than 96 bytes each"):
                list(document.parts("/rows/*"))
        else:
            assert len(list(document.parts("/rows/*"))) == len(rows)


def test_lines_with_nothing_in_them_are_refused() -> None:
    with pytest.raises(Unreadable, match="lines of less than 32 bytes each"):
        list(JsonLines(io.BytesIO(b"{}\n" * 100), Report()).records())
    line = json.dumps({"name": "x" * jsonl.BYTES_EACH}).encode() + b"\n"
    assert len(list(JsonLines(io.BytesIO(line * 100), Report()).records())) == 100


@pytest.mark.parametrize(
    ("element", "reason"), [(b"<a/>", "elements of less"), (b"<case/>", "elements with results")]
)
def test_elements_with_nothing_in_them_are_refused(element: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        list(moves(io.BytesIO(b"<all>" + element * 100 + b"</all>"), Report(), whole={"case"}))
    row = b'<case classname="tests.of.what.we.sell.test_orders" name="test_b" time="0.012"><skipped/></case>'
    assert list(moves(io.BytesIO(b"<all>" + row * 100 + b"</all>"), Report(), whole={"case"}))


def test_command_lines_with_nothing_in_them_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "FREE_PIECES", 100)
    crumbs_of = [call("bash", "", command=f"{number};" + "a;" * 40) for number in range(9)]
    with pytest.raises(Unreadable, match=r"command lines of \d+ pieces: more than FREE_PIECES"):
        read(AtifReader(), trajectory(*crumbs_of))
    honest = [call("bash", "ok\n" * 300, command=f"pytest -q test_{n}.py") for n in range(90)]
    assert len(read(AtifReader(), trajectory(*honest))[0]) == 90
