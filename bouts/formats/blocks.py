"""A stream over blocks of bytes that are made again whenever it goes back to its start."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator


class BlockStream(io.RawIOBase):
    """Reads what ``begin`` yields, of which nothing is kept but a block.

    Readers go back to the start, ask where they stand and, where ``size`` is known, go to the
    end to learn it: all that `seek` does.
    """

    def __init__(self, begin: Callable[[], Iterator[bytes]], size: int | None = None) -> None:
        self._begin = begin
        self._size = size
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_SET and not offset:
            self._blocks = self._begin()
            self._ready = memoryview(b"")
            self._position = 0
        elif whence == io.SEEK_END and not offset and self._size is not None:
            self._blocks = iter(())
            self._ready = memoryview(b"")
            self._position = self._size
        elif whence != io.SEEK_CUR or offset:
            raise io.UnsupportedOperation("this can only be read from its start")
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ready = memoryview(block)
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        self._position += count
        return count
