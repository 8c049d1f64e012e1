"""Every reader on input made to cost it dear: it stays within bounds of memory, and never fails.

Half of what issue 3 speaks of, within half of its bound: more than is loaded whole, and quick.
`make bench` prints what 10 MB cost, in memory and time, for all of the inputs.
"""

from __future__ import annotations

import pytest

from bouts.formats.sniff import READERS
from bouts.formats.types import Reader
from tests.bouts.formats import hostile
from tests.bouts.formats.hostile import cases, costs

MOST_MB = 100  # of memory
HALF = hostile.SIZE // 2


@pytest.fixture(autouse=True)
def half_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "SIZE", HALF)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_as_many_names_as_there_is_room_for_stay_within_memory(reader: Reader) -> None:
    for cost in costs([reader], ["names"]):
        assert not cost.outcome.startswith(("FAULT", "ended by signal")), cost
        assert cost.peak_mb <= MOST_MB, cost


def test_inputs_are_as_large_as_they_say_and_every_reader_has_some() -> None:
    for reader in READERS:
        made = dict(cases(reader.format))
        assert made, reader.format
    assert len(dict(cases("junit"))["names"]()) >= HALF * 0.9
