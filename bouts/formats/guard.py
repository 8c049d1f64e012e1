"""The promise of every reader: it raises `Unreadable` and nothing else, whatever the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import BinaryIO, TypeVar

from bouts.formats.types import Report, Unreadable

ReaderT = TypeVar("ReaderT")
ValueT = TypeVar("ValueT")
Read = Callable[[ReaderT, BinaryIO, Report], Iterator[ValueT]]


class ReaderFault(Unreadable):
    """The reader is at fault, not the file: a bug, which the tests never let pass."""


def guarded(read: Read[ReaderT, ValueT]) -> Read[ReaderT, ValueT]:
    """Wrap a reader's ``read`` so that a mistake in it costs one artifact, never the ingest.

    Faults of the storage (`OSError`) and of the machine (`MemoryError`) say nothing about
    the file and pass through: the step is tried again.
    """

    @wraps(read)
    def guarded_read(self: ReaderT, source: BinaryIO, report: Report) -> Iterator[ValueT]:
        try:
            yield from read(self, source, report)
        except (Unreadable, OSError, MemoryError):
            raise
        except Exception as error:
            reason = f"the reader failed on this file: {type(error).__name__}"
            raise ReaderFault(reason) from error

    return guarded_read
