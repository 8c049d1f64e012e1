"""From bytes to a reader: by content, never by extension (FORMATS.md, rule 1).

To add a format, write its reader in a file of its own and add one line to `READERS`.
"""

from __future__ import annotations

from bouts.formats.atif import AtifReader
from bouts.formats.diff import DiffReader
from bouts.formats.junit import JUnitReader
from bouts.formats.pytest_benchmark import PytestBenchmarkReader
from bouts.formats.run_log import RunLogReader
from bouts.formats.sarif import SarifReader
from bouts.formats.strace import StraceReader
from bouts.formats.types import Kind, Reader

# How much of a file a reader gets to see before it says that the file is its own.
HEAD_BYTES = 64 * 1024

# Of one kind, the more particular format stands first: the first that recognises wins.
READERS: tuple[Reader, ...] = (
    JUnitReader(),
    AtifReader(),
    DiffReader(),
    SarifReader(),
    PytestBenchmarkReader(),
    StraceReader(),
    RunLogReader(),
)


def find_reader(kind: Kind, head: bytes, format: str | None = None) -> Reader | None:
    """Return the reader for an artifact, or None where no reader of its kind knows it.

    ``head`` is the first `HEAD_BYTES` of the file, or all of a smaller one. ``format``
    overrules what is sniffed: that reader is returned whatever the bytes look like.
    """
    of_kind = (reader for reader in READERS if reader.kind == kind)
    if format is not None:
        return next((reader for reader in of_kind if reader.format == format), None)
    return next((reader for reader in of_kind if reader.recognises(head)), None)
