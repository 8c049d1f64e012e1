"""Logs of graded runs: how the process ended, by whose frame, and where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bouts.formats import run_log
from bouts.formats.run_log import RunLogReader
from bouts.formats.types import Crash
from tests.bouts.formats.reading import notes, read

FATAL = "Fatal Python error: Segmentation fault\n"
FRAME = '  File "/w/refunds/pay.py", line 3 in settle\n'
FOREIGN = '  File "/usr/lib/python3.11/unittest/case.py", line 3 in run\n'


def crashes(log: str | bytes) -> list[Crash]:
    return read(RunLogReader(), log)[0]


@pytest.mark.parametrize(
    ("line", "signature"),
    [
        ("Fatal Python error: Aborted", "fatal: Aborted"),
        ("./run: line 7: 412 Segmentation fault (core dumped)", "signal: Segmentation fault"),
        ("Killed", "signal: Killed"),
        ("kernel: Out of memory: Killed process 7", "out of memory: Killed process"),
        ("INTERNALERROR> RuntimeError: no", "outside a test: RuntimeError"),
        ("make: exited with code 139", "exit: 139"),
        ("process 7 killed by signal SIGSEGV", "signal: SIGSEGV"),
    ],
)
def test_each_way_to_end_has_its_signature(line: str, signature: str) -> None:
    for ending in ("\n", "\r\n", ""):
        assert crashes(f"collected 3 items\n{line}{ending}") == [Crash(signature, 2)]


@pytest.mark.parametrize(
    "line",
    ["Killed: it was the butler", "it says Fatal Python error: no", "exit code 1", "Aborting", ""],
)
def test_what_only_sounds_like_an_end_is_none(line: str) -> None:
    assert crashes(f"{line}\n{line}") == []


def test_the_top_frame_of_the_project_is_part_of_the_signature() -> None:
    ending = "fatal: Segmentation fault"
    assert crashes(FATAL + FOREIGN + FRAME) == [Crash(f"{ending} in pay.py:settle", 1)]
    assert crashes(FATAL + FOREIGN) == [Crash(ending, 1)]
    assert crashes(FATAL + "\n" * 39 + FRAME)[0].signature == f"{ending} in pay.py:settle"
    assert crashes(FATAL + "\n" * 40 + FRAME)[0].signature == ending
    assert crashes(FRAME + FATAL + FATAL + FRAME) == [
        Crash(ending, 2),
        Crash(f"{ending} in pay.py:settle", 3),
    ]


def test_lines_nul_bytes_and_crashes_are_counted() -> None:
    found, report = read(RunLogReader(), b"a\0b\n\nKilled\nlast\0")
    assert (report.counts, len(found)) == ({"lines": 4, "crashes": 1, "nul_bytes": 2}, 1)
    assert "2 NUL bytes" in notes(report)
    assert read(RunLogReader(), b"")[1].counts == {"lines": 0, "crashes": 0}


def test_of_a_long_line_only_the_start_is_looked_at() -> None:
    far = "x" * run_log.LONGEST_LINE + " killed by signal 9\n"
    assert crashes(far * 9 + "Killed\n") == [Crash("signal: Killed", 10)]
    assert crashes("x " * 1_000_000 + "\nKilled\n") == [Crash("signal: Killed", 2)]


def test_there_is_a_most_of_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_log, "MOST_CRASHES", 3)
    found, report = read(RunLogReader(), "Killed\n" * 9)
    assert len(found) == report.counts["crashes"] == 3


@settings(max_examples=80)
@given(
    st.lists(st.sampled_from([FATAL, FRAME, FOREIGN, "Killed\n", "\n" * 38, "a\n"]), max_size=12),
    st.integers(1, 60),
)
def test_it_is_all_the_same_where_blocks_end(pieces: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_log, "BLOCK", size)
        in_blocks, small = read(RunLogReader(), "".join(pieces))
    at_once, large = read(RunLogReader(), "".join(pieces))
    assert (in_blocks, small.counts) == (at_once, large.counts)
