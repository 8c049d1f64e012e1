"""squid: its own format, the Apache-like ones, and columns of whatever sort."""

from __future__ import annotations

import pytest

from bouts.formats.squid import SquidReader
from bouts.formats.types import Clock, Unreadable
from tests.bouts.formats.accesses import accesses, told
from tests.bouts.formats.reading import FIXTURES, notes, read


def test_the_native_format_is_read() -> None:
    found, report = read(SquidReader(), FIXTURES / "squid.log")
    assert told(found) == [
        ("connect", "pypi.example:80", True),
        ("connect", "paste.example:443", False),
        ("connect", "[2001:db8::1]:8443", True),
        ("connect", "nowhere.example:80", None),
        ("connect", "slow.example:443", None),
    ]
    assert found[0].detail == "POST http://pypi.example/simple/: TCP_MISS/200"
    assert [access.line for access in found] == [1, 2, 3, 5, 6]
    assert found[1].t == pytest.approx(0.514)
    assert (report.counts["lines"], report.counts["no_request"]) == (6, 1)
    assert (report.clock, report.origin) == (Clock.ZONED, "2026-09-21T14:13:20.586000+00:00")
    assert not report.notes


def test_the_apache_like_format_is_read_and_a_url_cannot_deny_itself() -> None:
    found, report = read(SquidReader(), FIXTURES / "squid-combined.log")
    assert told(found) == [
        ("connect", "pypi.example:8080", True),
        ("connect", "paste.example:443", False),
    ]
    assert [access.t for access in found] == [0.0, 1.0]
    assert report.clock is Clock.ZONED


@pytest.mark.parametrize(
    "line",
    [
        "TCP_TUNNEL/200 CONNECT a.example:443",
        "1790000000.586,921,172.17.0.2,TCP_TUNNEL/200,507,CONNECT,a.example:443,-",
        "2026/09/21 13:33:20|172.17.0.2|CONNECT|a.example:443|TCP_TUNNEL/200|-",
        'host squid: 172.17.0.2 "CONNECT a.example:443 HTTP/1.1" TCP_TUNNEL:HIER_DIRECT 200 1',
    ],
)
def test_other_columns_are_read_by_the_shape_of_what_is_in_them(line: str) -> None:
    (access,) = accesses(SquidReader(), line)
    assert (access.action, access.target) == ("connect", "a.example:443")
    assert SquidReader().recognises(f"{line}\n".encode())


def test_a_line_without_a_host_is_counted_and_noted() -> None:
    found, report = read(
        SquidReader(), "1790000000.586 1 172.17.0.2 TCP_MISS/200 0 GET - - -/- -\n"
    )
    assert (found, report.counts["no_request"]) == ([], 1)
    assert "a request whose host is not in the line [line 1]" in notes(report)


def test_a_format_without_times_has_no_clock() -> None:
    (access,), report = read(SquidReader(), "TCP_DENIED/403 CONNECT a.example:443\n")
    assert (access.t, report.clock) == (None, Clock.NONE)


def test_a_file_without_a_result_is_unreadable_and_other_lines_are_noted() -> None:
    with pytest.raises(Unreadable, match="no line of it tells a result of squid"):
        read(SquidReader(), "hello\n")
    _, report = read(SquidReader(), "hello\nTCP_DENIED/403 CONNECT a.example:443\n")
    assert "without a result of squid is passed over [line 1]" in notes(report)
