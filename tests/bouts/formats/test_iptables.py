"""iptables and nft: packets in the shape that the kernel's logger prints them."""

from __future__ import annotations

import pytest

from bouts.formats.iptables import IptablesReader
from bouts.formats.types import Clock, Unreadable
from tests.bouts.formats.accesses import accesses, told
from tests.bouts.formats.reading import FIXTURES, notes, read

PACKET = "IN= OUT=eth0 SRC=10.0.0.2 DST=1.2.3.4 LEN=60 PROTO=TCP SPT=1 DPT=80 SYN URGP=0"


def test_packets_are_told_by_where_they_go_and_what_the_rule_says() -> None:
    found, report = read(IptablesReader(), FIXTURES / "iptables.log")
    assert told(found) == [
        ("connect", "93.184.216.34:443", True),
        ("connect", "10.0.0.9:22", False),
        ("send", "[2001:db8::1]:53", None),
        ("packet", "198.51.100.7:40002", None),
        ("receive", "172.17.0.2:8080", False),
        ("send", "198.51.100.7", None),
    ]
    assert found[0].process == "uid 1000"
    assert found[1].detail == "policy DROP, TCP, SYN"
    assert found[4].detail == "[UFW BLOCK], TCP, SYN, from 198.51.100.7:52220"
    # The year turns, which the log does not say.
    assert [access.t for access in found] == [0.0, 1.0, 3.0, 4.0, 5.0, 6.0]
    assert (report.clock, report.origin, report.counts["lines"]) == (Clock.NAIVE, None, 6)
    assert not report.notes


@pytest.mark.parametrize(
    ("prefix", "clock"),
    [
        ("Sep 21 13:33:20 host kernel: ", Clock.NAIVE),
        ("Sep  1 13:33:20 host kernel: [  1.000001] ", Clock.NAIVE),
        ("<4>Sep 21 13:33:20 host kernel: ", Clock.NAIVE),
        ("2026-09-21T13:33:20.123456+02:00 host kernel: ", Clock.ZONED),
        ("2026-09-21T13:33:20+0200 host kernel: ", Clock.ZONED),
        ("2026-09-21 13:33:20 host kernel: ", Clock.NAIVE),
        ("[19955416.516358] ", Clock.RELATIVE),
        ("kernel: ", Clock.NONE),
    ],
)
def test_every_way_of_stamping_a_line_is_graded(prefix: str, clock: Clock) -> None:
    (access,), report = read(IptablesReader(), f"{prefix}bouts: {PACKET}\n")
    assert (report.clock, access.detail) == (clock, "bouts:, TCP, SYN")
    assert access.t == (None if clock is Clock.NONE else 0.0)


@pytest.mark.parametrize(
    ("prefix", "allowed"),
    [
        ("DROP: ", False),
        ("[UFW BLOCK] ", False),
        ("FINAL_REJECT: ", False),
        ("egress-denied ", False),
        ("ACCEPT ", True),
        ("[UFW ALLOW] ", True),
        ("blockchain-node ", None),
        ("dropbox ", None),
        ("not allowed, dropped ", None),
        ("", None),
    ],
)
def test_only_a_word_of_the_prefix_tells_what_became_of_it(
    prefix: str, allowed: bool | None
) -> None:
    assert accesses(IptablesReader(), f"kernel: {prefix}{PACKET}")[0].allowed is allowed


@pytest.mark.parametrize(
    ("packet", "action"),
    [
        (PACKET, "connect"),
        (PACKET.replace("SYN", "ACK SYN"), "packet"),
        (PACKET.replace("SYN", "RST"), "packet"),
        (PACKET.replace(" SYN URGP=0", ""), "send"),
        (PACKET.replace("TCP", "UDP"), "send"),
        (PACKET.replace("IN=", "IN=docker0"), "connect"),
        (PACKET.replace("IN=", "IN=eth1").replace("10.0.0.2", "8.8.8.8"), "receive"),
        (PACKET.replace("IN= OUT=eth0", "IN=eth0 OUT="), "receive"),
    ],
)
def test_a_connection_is_only_what_opens_one(packet: str, action: str) -> None:
    assert accesses(IptablesReader(), f"kernel: {packet}")[0].action == action


def test_a_file_without_packets_is_unreadable_and_other_lines_are_noted() -> None:
    with pytest.raises(Unreadable, match="no line of it is a packet"):
        read(IptablesReader(), "Sep 21 13:33:20 host sshd[1]: Accepted publickey\n")
    found, report = read(IptablesReader(), f"hello\n{PACKET}\nIN= OUT=eth0 SRC= DST= \n")
    assert len(found) == 1
    assert "a line without a packet is passed over [line 1]" in notes(report)
    assert "a packet without addresses is passed over [line 3]" in notes(report)
