"""Every reader on input made to cost it dear: it stays within bounds of memory and work, and never fails.

Memory is held to half of what issue 3 speaks of, on half of its size. Time is none that a test can
hold to: in its place stands the number of functions that are called, on a hundredth of the size with
bounds a hundredth as wide. `make bench` prints what 10 MB cost, in memory and time, for all of the inputs.
"""

from __future__ import annotations

import io

import pytest

from bouts.formats import crumbs, documents, lines
from bouts.formats.sniff import READERS
from bouts.formats.types import Reader, Report, Unreadable
from tests import work
from tests.bouts.formats import hostile
from tests.bouts.formats.hostile import cases, costs

MOST_MB = 100  # of memory
HALF = hostile.SIZE // 2
SMALLER = 100
# Inputs with as many records as there is room for; the others are few and long.
DENSE = frozenset(
    {
        *("rows", "names", "tiny", "empty", "words", "keys", "inner keys", "others"),
        *("blanks", "inner rows", "commands", "many attributes", "files", "hunks", "no hunks"),
    }
)
MOST_CALLS = 2.5  # a byte: 25 million for ten megabytes, which take about two seconds


@pytest.fixture(autouse=True)
def half_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "SIZE", HALF)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_as_many_names_as_there_is_room_for_stay_within_memory(reader: Reader) -> None:
    for cost in costs([reader], ["names", "one sample, names"]):
        assert not cost.outcome.startswith(("FAULT", "ended by signal")), cost
        assert cost.peak_mb <= MOST_MB, cost


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_work_grows_no_faster_than_the_input(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "SIZE", hostile.SIZE // SMALLER * 2)
    monkeypatch.setattr(crumbs, "FREE", crumbs.FREE // SMALLER)
    monkeypatch.setattr(lines, "SHORT_LINES", lines.SHORT_LINES // SMALLER)
    monkeypatch.setattr(documents, "WHOLE_LIMIT", documents.WHOLE_LIMIT // SMALLER)
    for case, make in cases(reader.format):
        if case in DENSE:
            data = make()
            calls = work.calls(lambda data=data: read_through(reader, data))
            assert calls <= MOST_CALLS * len(data), case


def read_through(reader: Reader, data: bytes) -> None:
    try:
        for _ in reader.read(io.BytesIO(data), Report()):
            pass
    except Unreadable:
        pass


def test_inputs_are_as_large_as_they_say_and_every_reader_has_some() -> None:
    for reader in READERS:
        made = dict(cases(reader.format))
        assert made, reader.format
    assert len(dict(cases("junit"))["names"]()) >= HALF * 0.9
