"""Texts that wait in a temporary file, because memory must not grow with the artifact."""

from __future__ import annotations

import tempfile
from types import TracebackType

IN_MEMORY = 4 * 1024 * 1024  # bytes, beyond which they go to disk


class Spool:
    """Takes texts and gives each back by the number that it got; a context, then it is gone."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (closed by the context)
        self._places: list[tuple[int, int]] = []
        self._end = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, data: bytes) -> int:
        self._file.seek(self._end)
        self._file.write(data)
        self._places.append((self._end, len(data)))
        self._end += len(data)
        return len(self._places) - 1

    def get(self, number: int) -> bytes:
        start, length = self._places[number]
        self._file.seek(start)
        return self._file.read(length)
