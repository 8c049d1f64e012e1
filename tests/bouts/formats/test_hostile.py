"""Every reader on 10 MB made to cost it dear: it stays within bounds of memory, and never fails.

Times are no matter of tests; `make bench` prints them, for all of the inputs.
"""

from __future__ import annotations

import pytest

from bouts.formats.sniff import READERS
from bouts.formats.types import Reader
from tests.bouts.formats.hostile import SIZE, cases, costs

MOST_MB = 200  # issue 3: of memory, for an input of 10 MB


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_as_many_names_as_there_is_room_for_stay_within_memory(reader: Reader) -> None:
    for cost in costs([reader], ["names"]):
        assert not cost.outcome.startswith(("FAULT", "ended by signal")), cost
        assert cost.peak_mb <= MOST_MB, cost


def test_inputs_are_as_large_as_they_say_and_every_reader_has_some() -> None:
    for reader in READERS:
        made = dict(cases(reader.format))
        assert made, reader.format
    assert len(dict(cases("junit"))["names"]()) >= SIZE * 0.9
