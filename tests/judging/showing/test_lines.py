"""Places in a log of 50 MB cost no more memory than those in a short one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from django.core.cache import cache

from bouts import blobs
from bouts.disclosure import Audience, Gate
from bouts.models import Blob
from bouts.rules import Disclosure
from judging.showing import lines
from judging.showing.lines import search, window

pytestmark = pytest.mark.django_db

GATE = Gate(Audience.STAFF, Disclosure.CLOSED)
LINES = 500_000
LEAST_SIZE, MOST_HELD = 50_000_000, 8_000_000  # bytes


@pytest.fixture
def log() -> Blob:
    filler = "." * 88
    blob = blobs.put(b"".join(f"line {at:07} {filler}\n".encode() for at in range(1, LINES + 1)))
    assert blob.size > LEAST_SIZE
    return blob


def bounded(look: Callable[[], object]) -> None:
    """Fail where a look holds more at once than a few blocks of a file."""
    tracemalloc.start()
    try:
        look()
        assert tracemalloc.get_traced_memory()[1] < MOST_HELD
    finally:
        tracemalloc.stop()


def test_a_range_and_the_end_of_a_long_log_are_read_from_near_them(log: Blob) -> None:
    cache.clear()
    bounded(lambda: window(log, LINES // 2, LINES // 2 + 199, GATE))  # and where lines lie in it
    shown = window(log, LINES - 9, LINES + 190, GATE)
    assert (shown.first, shown.last, shown.has_more) == (LINES - 9, LINES, False)
    assert f"line {LINES:07}" in str(shown.lines[-1].html)
    with blobs.opened_before(log, LINES) as found:
        assert LINES - next(found)[0] < 2 * blobs.BLOCK / 100
    assert window(log, LINES + 1, LINES + 200, GATE).lines == ()


def test_a_search_goes_on_through_a_long_log_until_it_has_seen_all(
    log: Blob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of a search follow one another without a gap; one line is found, however far down."""
    at, steps, hits = 1, 0, []
    bounded(lambda: search(log, "nothing of the kind", GATE, LINES - 1_000))
    while at is not None:
        found = search(log, f"LINE {LINES - 7:07}", GATE, at)
        hits += [hit.number for hit in found.lines]
        assert found.more is None or found.more > at
        at, steps = found.more, steps + 1
    assert hits == [LINES - 7]
    assert steps == 1 + log.size // lines.MOST_LOOKED_AT
