"""gVisor: lines in the shape that runsc's strace and sniffer print them."""

from __future__ import annotations

import pytest

from bouts.formats import gvisor
from bouts.formats.gvisor import GvisorReader
from bouts.formats.types import Clock, Unreadable
from tests.bouts.formats.accesses import accesses, told
from tests.bouts.formats.reading import FIXTURES, notes, read

HEAD = "I0921 13:33:20.000100       1 strace.go:567] [   1:   1] x "


def test_calls_and_packets_are_told_by_their_pairs() -> None:
    found, report = read(GvisorReader(), FIXTURES / "gvisor.log")
    assert sorted((a.line, a.action, a.target, a.allowed) for a in found) == [
        (2, "exec", "/usr/bin/cat", True),
        (4, "read", "/secret/hidden.txt", False),
        (6, "read", "/work/a, O_WRONLY", True),
        (6, "write", "/work/a, O_WRONLY", True),
        (8, "connect", "93.184.216.34:443", None),
        (9, "delete", "/work/a", True),
        (9, "rename", "/work/b", True),
        (11, "send", "8.8.8.8:53", True),
        (12, "connect", "93.184.216.34:443", False),
        (14, "connect", "10.0.0.9:80", None),
    ]
    by_line = {access.line: access for access in found}
    assert by_line[2].detail == "cat ../secret/hidden.txt"
    assert by_line[4].detail == "EACCES"
    assert (by_line[4].process, by_line[4].t) == ("1 cat", 0.1999)
    assert by_line[8].detail == "unfinished"
    assert by_line[14].detail == "tcp: no answer"
    assert (report.clock, report.origin) == (Clock.NAIVE, None)
    assert report.counts["lines"] == 14
    assert not report.notes


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("open(0x7f /a, O_RDONLY|O_CLOEXEC, 0o0) = 0x3 (1µs)", [("read", "/a", True)]),
        ("open(0x7f /a, O_RDONLY, 0o0) = 0x0 errno=2 (no such file) (1µs)", [("read", "/a", None)]),
        ("openat(AT_FDCWD /, 0x7f a, O_PATH, 0o0) = 3 (0x3) (1µs)", []),
        ("openat(AT_FDCWD /, 0x7f a, O_RDONLY, 0o", [("read", "/a", None)]),
        ("unlinkat(0x3 /w, 0x7f ../a, 0x0) = 0 (0x0) (1µs)", [("delete", "/a", True)]),
        ("unlink(0x7f a) = 0 (0x0) (1µs)", [("delete", "a", True)]),
        (
            "connect(0x3 socket:[1], 0x7f {Family: AF_INET6, Addr: ::1, Port: 80}, 0x1c) = 0 (0x0) (1µs)",
            [("connect", "[::1]:80", True)],
        ),
        (
            'connect(0x3 socket:[1], 0x7f {Family: AF_UNIX, Addr: "/run/x"}, 0x1c) = 0 (0x0) (1µs)',
            [("local", "/run/x", True)],
        ),
        ("read(0x3 /a, 0x7f, 0x10) = 5 (0x5) (1µs)", []),
    ],
)
def test_a_call_of_which_only_the_end_is_there_is_told(call: str, expected: list) -> None:
    assert told(accesses(GvisorReader(), f"{HEAD}X {call}")) == expected


def test_an_entry_that_is_written_again_is_one_call() -> None:
    entry = f"{HEAD}E unlink(0x7f /a)"
    assert told(accesses(GvisorReader(), entry, entry)) == [("delete", "/a", None)]


def test_a_thread_that_goes_on_to_another_call_left_the_first_without_a_word() -> None:
    found = accesses(
        GvisorReader(), f"{HEAD}E unlink(0x7f /a)", f"{HEAD}X rmdir(0x7f /b) = 0 (0x0) (1µs)"
    )
    assert told(found) == [("delete", "/a", None), ("delete", "/b", True)]


def test_a_file_without_a_line_of_runsc_is_unreadable_and_others_are_noted() -> None:
    with pytest.raises(Unreadable, match="no line of it was written by runsc"):
        read(GvisorReader(), "hello\n")
    _, report = read(GvisorReader(), f"hello\n{HEAD}X unlink(0x7f /a) = 0 (0x0) (1µs)\n")
    assert "runsc did not write is passed over [line 1]" in notes(report)


def test_connections_that_wait_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gvisor, "MAX_OPEN", 2)
    line = "I0921 13:33:20.0 1 sniffer.go:3] send tcp 10.0.0.1:{0} -> 1.2.3.4:{0} len:0 flags: S   "
    found = accesses(GvisorReader(), *(line.format(port) for port in range(1, 6)))
    assert [access.target for access in found] == [f"1.2.3.4:{port}" for port in range(1, 6)]
