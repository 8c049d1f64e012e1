"""The log of a graded run: how long it is, and whether the process crashed.

A crash is the end of the process by a signal, an abort, memory, or an exception outside
every test (SCORING.md, 2). A test that fails, however it fails, is no crash. The signature
is the kind with the top frame of the project, where the log shows one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.types import Crash, Kind, Report

LONGEST_LINE = 64 * 1024  # of a line, what is looked at; the rest of it is only counted
MOST_CRASHES = 1000

# As shells, the Python fault handler, the kernel and test runners report an ended process.
_ENDINGS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"^Fatal Python error: ([\w ]+)"), "fatal"),
    (
        re.compile(
            rb"^(?:[^:]+: line \d+: +\d+ )?"
            rb"(Segmentation fault|Aborted|Killed|Bus error|Illegal instruction|"
            rb"Floating point exception)(?: +\(core dumped\))?\b(?!:)"
        ),
        "signal",
    ),
    (re.compile(rb"Out of memory: (Killed process)"), "out of memory"),
    (re.compile(rb"^INTERNALERROR> (\w+(?:Error|Exception|Interrupt)\b)"), "outside a test"),
    (
        re.compile(
            rb"\b(?:exit(?:ed)?(?: with)?(?: code| status)?[: ]+)(13[4-9]|-(?:6|7|8|9|11))\b"
        ),
        "exit",
    ),
    (re.compile(rb"\b(?:killed|terminated) by signal (\d+|SIG[A-Z]+)"), "signal"),
)
_FRAME = re.compile(rb'File "([^"]+)", line \d+,? in (\w+)')
_FOREIGN = (b"site-packages/", b"lib/python", b"<frozen ")
_FRAME_LINES = 40  # after a fatal error, how far its traceback is followed


class RunLogReader:
    """Any text at all: the reader never refuses."""

    kind: ClassVar[Kind] = Kind.LOG
    format: ClassVar[str] = "log"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return True

    def read(self, source: BinaryIO, report: Report) -> Iterator[Crash]:
        lines = nul_bytes = crashes = 0
        pending: tuple[str, int] | None = None  # a fatal error that waits for its top frame
        line_starts = True
        while piece := source.readline(LONGEST_LINE):
            nul_bytes += piece.count(b"\0")
            continues, line_starts = not line_starts, piece.endswith(b"\n")
            if continues:
                continue
            lines += 1
            line = piece.rstrip(b"\r\n")
            if pending and (frame := _project_frame(line)):
                yield Crash(f"{pending[0]} in {frame}", pending[1])
                pending = None
            elif pending and lines - pending[1] > _FRAME_LINES:
                yield Crash(*pending)
                pending = None
            if crashes < MOST_CRASHES and (ending := _ending(line)):
                crashes += 1
                if pending:
                    yield Crash(*pending)
                pending = (ending, lines)
        if pending:
            yield Crash(*pending)
        report.counts.update(lines=lines, crashes=crashes)
        if nul_bytes:
            report.counts["nul_bytes"] = nul_bytes
            report.note(f"{nul_bytes} NUL bytes, shown as ␀")


def _ending(line: bytes) -> str | None:
    for pattern, kind in _ENDINGS:
        if found := pattern.search(line):
            return f"{kind}: {found[1].decode('ascii', 'replace').strip()}"
    return None


def _project_frame(line: bytes) -> str | None:
    """Return ``file:function`` where the line is a frame of the project's own code."""
    found = _FRAME.search(line)
    if not found or any(foreign in found[1] for foreign in _FOREIGN):
        return None
    name = found[1].rsplit(b"/", 1)[-1]
    return f"{name.decode('utf-8', 'replace')}:{found[2].decode('ascii', 'replace')}"
