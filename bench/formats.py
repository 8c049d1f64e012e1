"""Readers beside the bare parser of their notation, on the same bytes; and how much memory they hold.

JSON stands beside orjson and XML beside expat. Both only parse: the floor is what a reader that did
nothing but parse would reach.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import orjson

from bench.report import Row
from bouts.formats.atif import AtifReader
from bouts.formats.claude_code import ClaudeCodeReader
from bouts.formats.codex_rollout import CodexRolloutReader
from bouts.formats.junit import JUnitReader
from bouts.formats.sniff import READERS
from bouts.formats.types import Reader, Report
from tests.bouts.formats import hostile
from tests.bouts.formats.reading import FIXTURES, call, trajectory

SIZE = 10_000_000
LARGE = 50_000_000
MEGABYTE = 1_000_000


def measure(folder: Path) -> Iterator[Row]:
    step = call("bash", "1 passed in 0.1s\n" * 20, command="pytest -q tests/test_a.py")
    atif = _filled(trajectory(step | {"timestamp": "2026-03-12T14:00:00Z"}), b'"steps": [', SIZE)
    yield _beside("atif, MB/s", AtifReader(), atif, orjson.loads, "orjson")
    for name, reader in (
        ("claude-code", ClaudeCodeReader()),
        ("codex-rollout", CodexRolloutReader()),
    ):
        lines = (FIXTURES / f"{name}.jsonl").read_bytes()
        data = lines * (SIZE // len(lines))
        yield _beside(f"{name}, MB/s", reader, data, _each_line, "orjson, a line at a time")
    xml = (FIXTURES / "pytest.xml").read_bytes()
    first, last = xml.index(b"<testcase"), xml.rindex(b"</testsuite>")
    cases = xml[first:last]
    junit = xml[:first] + cases * (SIZE // len(cases)) + xml[last:]
    yield _beside("junit, MB/s", JUnitReader(), junit, _by_expat, "expat")
    large = folder / "large.json"
    large.write_bytes(_filled(trajectory(step), b'"steps": [', LARGE))
    peak = _peak(AtifReader(), large)
    yield Row("atif of 50 MB, peak MB", peak, None, "above an idle process", at_most=100)
    yield from _costs()


def _costs() -> Iterator[Row]:
    """Each reader on inputs of 10 MB made to cost it dear: its worst time and memory."""
    for reader in READERS:
        costs = list(hostile.costs([reader]))
        slowest = max(costs, key=lambda cost: cost.seconds)
        fattest = max(costs, key=lambda cost: cost.peak_mb)
        yield Row(f"hostile {reader.format}, s", slowest.seconds, None, slowest.case, at_most=2)
        yield Row(
            f"hostile {reader.format}, peak MB", fattest.peak_mb, None, fattest.case, at_most=200
        )


def _filled(document: bytes, opening: bytes, size: int) -> bytes:
    """Return the document with its one item of a list as many times as make this size."""
    before, _, rest = document.partition(opening)
    end = rest.rindex(b"]")
    item = rest[:end]
    return before + opening + b", ".join([item] * (size // (len(item) + 2))) + rest[end:]


def _beside(
    what: str, reader: Reader, data: bytes, parse: Callable[[bytes], object], beside: str
) -> Row:
    ours = _rate(lambda: _read(reader, io.BytesIO(data)), data)
    return Row(what, ours, _rate(lambda: parse(data), data), beside, at_least=0.02)


def _rate(run: Callable[[], object], data: bytes) -> float:
    started = time.process_time()
    run()
    return len(data) / MEGABYTE / (time.process_time() - started)


def _read(reader: Reader, source: BinaryIO) -> None:
    for _ in reader.read(source, Report()):
        pass


def _each_line(data: bytes) -> None:
    for line in data.splitlines():
        orjson.loads(line)


def _by_expat(data: bytes) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: None
    parser.CharacterDataHandler = lambda text: None
    parser.Parse(data, True)


def _peak(reader: Reader, file: Path) -> float:
    """Return how far the memory of a process of its own rises above what it is when idle."""
    context = get_context("spawn")
    told, tell = context.Pipe(duplex=False)
    process = context.Process(target=_told, args=(reader, file, tell))
    process.start()
    idle, peak = told.recv()
    process.join()
    return (peak - idle) / 1024


def _told(reader: Reader, file: Path, tell: object) -> None:
    idle = _most_kb()
    with file.open("rb") as source:
        _read(reader, source)
    tell.send((idle, _most_kb()))  # type: ignore[attr-defined]


def _most_kb() -> int:
    """Return the peak of this process; `getrusage` would tell that of the one that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])
