"""The log of a graded run: how long it is, and whether the process crashed.

A crash is the end of the process by a signal, an abort, memory, or an exception outside
every test (SCORING.md, 2). A test that fails, however it fails, is no crash. The signature
is the kind with the top frame of the project, where the log shows one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, ClassVar

from bouts.formats.types import Crash, Kind, Report

BLOCK = 256 * 1024  # bytes that are searched at once: few of them are looked at line by line
LONGEST_LINE = 64 * 1024  # of a line, what is looked at
MOST_CRASHES = 1000

# As shells, the Python fault handler, the kernel and test runners report an ended process.
_ENDINGS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"^Fatal Python error: ([\w ]+)", re.MULTILINE), "fatal"),
    (
        re.compile(
            rb"^(?:[^:\n]+: line \d+: +\d+ )?"
            rb"(Segmentation fault|Aborted|Killed|Bus error|Illegal instruction|"
            rb"Floating point exception)(?: +\(core dumped\))?\b(?!:)",
            re.MULTILINE,
        ),
        "signal",
    ),
    (re.compile(rb"Out of memory: (Killed process)"), "out of memory"),
    (
        re.compile(rb"^INTERNALERROR> (\w+(?:Error|Exception|Interrupt)\b)", re.MULTILINE),
        "outside a test",
    ),
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
        counts = Counter(lines=0, crashes=0)
        pending: tuple[str, int] | None = None  # a fatal error that waits for its top frame
        for block in _blocks(source, counts):
            until = pending[1] + _FRAME_LINES if pending else 0
            for number, line in _telling_lines(block, counts["lines"] + 1, until):
                if pending and (frame := _project_frame(line)):
                    yield Crash(f"{pending[0]} in {frame}", pending[1])
                    pending = None
                elif pending and number - pending[1] > _FRAME_LINES:
                    yield Crash(*pending)
                    pending = None
                if counts["crashes"] < MOST_CRASHES and (ending := _ending(line)):
                    counts["crashes"] += 1
                    if pending:
                        yield Crash(*pending)
                    pending = (ending, number)
            counts["lines"] += block.count(b"\n") + (not block.endswith(b"\n"))
        if pending:
            yield Crash(*pending)
        report.counts.update(counts)
        if nul_bytes := counts["nul_bytes"]:
            report.note(f"{nul_bytes} NUL bytes, shown as ␀")


def _blocks(source: BinaryIO, counts: Counter[str]) -> Iterator[bytes]:
    """Yield the log in blocks of whole lines; of a long one its start. Count its NUL bytes."""
    begun = b""
    while block := source.read(BLOCK):
        if nul_bytes := block.count(b"\0"):
            counts["nul_bytes"] += nul_bytes
        lines, newline, begun = (begun + block).rpartition(b"\n")
        begun = begun[:LONGEST_LINE]
        if newline:
            yield lines + newline
    if begun:
        yield begun


def _telling_lines(block: bytes, first: int, until: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that may tell of an end, and those after it that may hold its traceback.

    ``first`` is the number of the block's first line; up to the line ``until`` all are given,
    since the block before ended in a traceback.
    """
    wanted = set(range(until + 1 - first))
    for pattern, _ in _ENDINGS:
        index = at = 0
        for found in islice(pattern.finditer(block), MOST_CRASHES):
            index += block.count(b"\n", at, found.start())
            at = found.start()
            wanted.update(range(index, index + _FRAME_LINES + 1))
    if wanted:
        lines = block.split(b"\n")
        for index in sorted(wanted):
            if index < len(lines):
                yield first + index, lines[index][:LONGEST_LINE].rstrip(b"\r")


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
