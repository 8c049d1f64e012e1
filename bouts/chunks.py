"""A reader's values in the database: a few hundred to a row, compressed.

Written with COPY. An event is addressed by its sequence, every other value by its ordinal
from 1; whoever shows one reads only the chunk that holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import zstandard

from bouts.formats.types import (
    Access,
    Crash,
    DiffLine,
    Event,
    EventKind,
    FileChange,
    Hunk,
    Kind,
    Sample,
    ScanFinding,
)
from bouts.models import Artifact, Chunk
from bouts.prepared import run

SIZE = 250  # values in a chunk
LARGEST = 256 * 1024  # bytes of JSON after which a chunk is closed early
MOST_AT_ONCE = 16  # chunks that are held in memory together


@dataclass(frozen=True, slots=True)
class Packed:
    """A chunk that is ready to be written."""

    first: int
    last: int
    count: int
    payload: bytes


class Packer:
    """Gathers values into chunks; an `Event` keeps its own sequence as its address."""

    def __init__(self) -> None:
        self._records: list[bytes] = []
        self._size = self._ordinal = self._first = self._last = 0

    def add(self, value: Any) -> Packed | None:
        """Take a value; return a chunk when one is full."""
        self._ordinal += 1
        self._last = value.seq if isinstance(value, Event) else self._ordinal
        if not self._records:
            self._first = self._last
        self._records.append(orjson.dumps(value))
        self._size += len(self._records[-1])
        is_full = len(self._records) == SIZE or self._size >= LARGEST
        return self.close() if is_full else None

    def close(self) -> Packed | None:
        """Return what is gathered as a chunk, or None where nothing is."""
        if not self._records:
            return None
        payload = zstandard.ZstdCompressor(level=3).compress(b"\n".join(self._records))
        chunk = Packed(self._first, self._last, len(self._records), payload)
        self._records, self._size = [], 0
        return chunk


def read(*artifacts: Artifact, first: int | None = None, last: int | None = None) -> Iterator[Any]:
    """Yield an artifact's values, all or those addressed ``first`` to ``last``.

    Of several they are those of one run, whose addresses go on from file to file.
    """
    rows = Chunk.objects.filter(artifact__in=artifacts).order_by("first")
    if first is not None:
        rows = rows.filter(last__gte=first)
    if last is not None:
        rows = rows.filter(first__lte=last)
    decode = DECODERS[Kind(artifacts[0].kind)]
    for row_first, payload in rows.values_list("first", "payload").iterator(chunk_size=8):
        for ordinal, record in enumerate(unpack(payload), start=row_first):
            value = decode(record)
            address = value.seq if isinstance(value, Event) else ordinal
            if (first is None or address >= first) and (last is None or address <= last):
                yield value


PACKED = """
SELECT artifact_id, payload FROM bouts_chunk
 WHERE artifact_id = ANY(%(artifacts)s)
 ORDER BY artifact_id, first
 LIMIT %(most)s
"""


def whole(artifacts: Collection[Artifact]) -> Mapping[int, Sequence[Any]] | None:
    """Return all values of some artifacts, by artifact; None where they are too much for that.

    Of what is too much nothing is unpacked.
    """
    keys = [artifact.pk for artifact in artifacts]
    packed = run(PACKED, {"artifacts": keys, "most": MOST_AT_ONCE + 1})
    size = sum(zstandard.frame_content_size(payload) for _, payload in packed)
    if len(packed) > MOST_AT_ONCE or size > MOST_AT_ONCE * LARGEST:
        return None
    values: dict[int, list[Any]] = {artifact.pk: [] for artifact in artifacts}
    decoders = {artifact.pk: DECODERS.get(Kind(artifact.kind)) for artifact in artifacts}
    for key, payload in packed:
        values[key] += map(decoders[key], unpack(payload))
    return values


def unpack(payload: bytes | memoryview) -> Iterator[dict[str, Any]]:
    for line in zstandard.ZstdDecompressor().decompress(bytes(payload)).split(b"\n"):
        yield orjson.loads(line)


def _event(record: dict[str, Any]) -> Event:
    return Event(**{**record, "kind": EventKind(record["kind"])})


def _change(record: dict[str, Any]) -> FileChange:
    hunks = tuple(
        Hunk(hunk["header"], tuple(DiffLine(**line) for line in hunk["lines"]))
        for hunk in record["hunks"]
    )
    return FileChange(**{**record, "hunks": hunks})


def _sample(record: dict[str, Any]) -> Sample:
    return Sample(**{**record, "samples_s": tuple(record["samples_s"])})


DECODERS: dict[Kind, Callable[[dict[str, Any]], Any]] = {
    Kind.TELEMETRY: _event,
    Kind.DIFF: _change,
    Kind.SCAN: lambda record: ScanFinding(**record),
    Kind.BENCHMARK: _sample,
    Kind.SANDBOX: lambda record: Access(**record),
    Kind.LOG: lambda record: Crash(**record),
}
