"""Pages through a reader's values, a chunk at a time: a long file costs no more than a short one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bouts import chunks
from bouts.formats.types import Event
from bouts.models import Artifact, Chunk

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ValuePage:
    """Some of a file's values: ``first`` to ``last`` of ``total``, counted from 1."""

    values: tuple[Any, ...]
    number: int
    first: int
    last: int
    total: int

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.last < self.total else None


def page_of(*artifacts: Artifact, number: int, per_page: int = PER_PAGE) -> ValuePage:
    """Return a page of values; the last one where the number lies beyond it.

    Several files are those of one run, as for `chunks.read`.
    """
    spans = list(_spans(artifacts))
    total = sum(count for _, _, count in spans)
    number = max(1, min(number, -(-total // per_page)))
    start = (number - 1) * per_page
    values = tuple(_slice(artifacts, spans, start, per_page))
    return ValuePage(values, number, start + 1, start + len(values), total)


def chosen_page(artifact: Artifact, ordinals: Sequence[int], number: int) -> ValuePage:
    """Return a page of some values that are no events, by their ordinals in order."""
    number = max(1, min(number, -(-len(ordinals) // PER_PAGE)))
    start = (number - 1) * PER_PAGE
    wanted = set(ordinals[start : start + PER_PAGE])
    first = min(wanted, default=1)
    near = chunks.read(artifact, first=first, last=max(wanted)) if wanted else iter(())
    values = tuple(value for at, value in enumerate(near, start=first) if at in wanted)
    return ValuePage(values, number, start + bool(wanted), start + len(values), len(ordinals))


def selected_page(
    *artifacts: Artifact, seqs: Sequence[int], number: int, target: int = -1
) -> ValuePage:
    """Return a page of some events, given in order; the one with ``target`` where it is there."""
    at = bisect_left(seqs, target) if target >= 0 else len(seqs)
    if at < len(seqs) and seqs[at] == target:
        number = at // PER_PAGE + 1
    number = max(1, min(number, -(-len(seqs) // PER_PAGE)))
    start = (number - 1) * PER_PAGE
    wanted = set(seqs[start : start + PER_PAGE])
    near = chunks.read(*artifacts, first=min(wanted), last=max(wanted)) if wanted else iter(())
    values = tuple(event for event in near if event.seq in wanted)
    return ValuePage(values, number, start + bool(wanted), start + len(values), len(seqs))


def page_number_of(*artifacts: Artifact, seq: int, per_page: int = PER_PAGE) -> int:
    """Return the page on which an event stands, or 1 where there is no such event."""
    before = 0
    for first, last, count in _spans(artifacts):
        if first <= seq <= last:
            events = chunks.read(*artifacts, first=first, last=last)
            seqs = [event.seq for event in events if isinstance(event, Event)]
            within = sum(one < seq for one in seqs)
            return (before + within) // per_page + 1
        before += count
    return 1


def _spans(artifacts: Sequence[Artifact]) -> Iterable[tuple[int, int, int]]:
    """Return the first and last address and the number of values of each chunk, in order."""
    rows = Chunk.objects.filter(artifact__in=artifacts).order_by("first")
    return rows.values_list("first", "last", "count")


def _slice(
    artifacts: Sequence[Artifact], spans: list[tuple[int, int, int]], start: int, length: int
) -> Iterator[Any]:
    """Yield the values at ``start`` to ``start + length`` from the chunks that hold them."""
    before = 0
    wanted = []
    for first, last, count in spans:
        if before < start + length and start < before + count:
            wanted.append((first, last, before))
        before += count
    if not wanted:
        return
    position = wanted[0][2]
    for value in chunks.read(*artifacts, first=wanted[0][0], last=wanted[-1][1]):
        if start <= position < start + length:
            yield value
        position += 1
