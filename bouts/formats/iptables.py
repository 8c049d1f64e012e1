"""Packets that a firewall logged: the LOG target of iptables and nft, from syslog or dmesg.

A line has the fields of one packet (``IN= OUT= SRC= DST= PROTO= SPT= DPT= ...``) behind a prefix
that whoever wrote the rule chose freely. Only the prefix can say what became of the packet: where
it speaks of neither, ``allowed`` is None.

==========  ==================================================================
action      packets
==========  ==================================================================
connect     leaving, TCP, SYN without ACK: ``host:port`` of the destination
send        leaving, of another protocol, or TCP whose flags are not written
packet      leaving, TCP, of a connection that somebody opened before
receive     coming in: ``host:port`` of ours, the detail names the sender
==========  ==================================================================

A packet leaves that has an OUT; one that is passed on (IN and OUT) leaves where it comes from a
private address. Syslog writes neither year nor zone.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.guard import guarded
from bouts.formats.sandbox.accesses import Accesses, host_and_port
from bouts.formats.sandbox.lines import log_lines
from bouts.formats.text import decode
from bouts.formats.types import Access, Kind, Report, Unreadable

MAX_LINE = 4096  # of a line, what is looked at; a packet takes some 250 bytes

_PACKET = re.compile(rb"\bIN=[^ ]{0,32} (?:PHYSIN=[^ ]{0,32} )?OUT=[^ ]{0,32} ")
_FIELDS = re.compile(
    r"(?P<before>.*?)\bIN=(?P<in>[^ ]*) (?:PHYSIN=[^ ]* )?OUT=(?P<out>[^ ]*) (?P<rest>.*)",
    re.DOTALL,
)
# Who writes the stamp: syslog, a newer syslog or journal, dmesg.
_SYSLOG = re.compile(
    r"(?:<\d{1,3}>)?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) "
)
_ISO = re.compile(r"(?:<\d{1,3}>\d? ?)?(\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?) ")
_UPTIME = re.compile(r"\[ {0,12}(\d{1,10}\.\d{1,9})\] ?")
# Words by which rules are named, as whole words: "BLOCK" is not in "blockchain".
_DROPPED = re.compile(
    r"(?<![a-z])(?:drop(?:ped)?|den(?:y|ied)|block(?:ed)?|reject(?:ed)?|refused?)(?![a-z])", re.I
)
_PASSED = re.compile(
    r"(?<![a-z])(?:accept(?:ed)?|allow(?:ed)?|pass(?:ed)?|permit(?:ted)?)(?![a-z])", re.I
)
_FLAGS = frozenset({"SYN", "ACK", "FIN", "RST", "PSH", "URG", "ECE", "CWR"})


class IptablesReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "iptables"
    version: ClassVar[int] = 2

    def recognises(self, head: bytes) -> bool:
        lines = [line for line in head.split(b"\n")[:50] if line.strip()]
        return 2 * sum(_PACKET.search(line, 0, MAX_LINE) is not None for line in lines) > len(lines)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        log = Accesses(report)
        for number, line in log_lines(source):
            text = decode(line[:MAX_LINE], log.remarks, f"line {number}")
            found = _FIELDS.match(text)
            if found is None:
                log.remarks.add("a line without a packet is passed over", number)
                continue
            log.counts["lines"] += 1
            before = found["before"]
            t = _seconds(log, before, number)
            if access := _access(log, found, before, number, t):
                yield access
        if not log.counts["lines"]:
            raise Unreadable("no line of it is a packet that a firewall logged")
        log.finish()


def _seconds(log: Accesses, before: str, line: int) -> float | None:
    if stamp := _SYSLOG.match(before):
        return log.stamps.calendar(stamp[1], int(stamp[2]), stamp[3], line)
    if stamp := _ISO.match(before):
        return log.stamps.iso(stamp[1], line)
    if uptime := _UPTIME.search(before):
        return log.stamps.elapsed(float(uptime[1]), line)
    return None


def _access(
    log: Accesses, found: re.Match[str], before: str, line: int, t: float | None
) -> Access | None:
    fields: dict[str, str] = {}
    flags = set()
    for token in found["rest"].split(" "):
        key, is_field, value = token.partition("=")
        if is_field:
            fields.setdefault(key, value)  # LEN comes twice: of the packet, then of its load
        elif token in _FLAGS:
            flags.add(token)
    source, target = fields.get("SRC", ""), fields.get("DST", "")
    if not source or not target:
        log.remarks.add("a packet without addresses is passed over", line)
        return None
    protocol = fields.get("PROTO", "")
    action = _action(found["in"], found["out"], source, protocol, flags)
    prefix = _prefix(before)
    words = [prefix, protocol, " ".join(sorted(flags))]
    words += [f"from {host_and_port(source, fields.get('SPT'))}"] if action == "receive" else []
    return log.access(
        action,
        host_and_port(target, fields.get("DPT")),
        allowed=_is_allowed(prefix),
        line=line,
        t=t,
        process=f"uid {fields['UID']}" if "UID" in fields else None,
        detail=", ".join(filter(None, words)),
    )


def _action(in_: str, out: str, source: str, protocol: str, flags: set[str]) -> str:
    if not out or (in_ and not _is_private(source)):
        return "receive"
    if protocol != "TCP" or not flags:
        return "send"
    return "connect" if "SYN" in flags and "ACK" not in flags else "packet"


def _is_private(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_private
    except ValueError:
        return False


def _prefix(before: str) -> str:
    """Return what the rule says, without time, host and ``kernel:`` before it."""
    text = before[found.end() :] if (found := _UPTIME.search(before)) else before
    return text.rpartition("kernel:")[2].strip()


def _is_allowed(prefix: str) -> bool | None:
    is_dropped, is_passed = bool(_DROPPED.search(prefix)), bool(_PASSED.search(prefix))
    return None if is_dropped == is_passed else is_passed
