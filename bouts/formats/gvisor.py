"""The debug log of gVisor's runsc: its strace lines, and the packets that its sniffer saw.

Each call is written when it is entered (``E``) and when it is left (``X``); the access is told
of the pair, with the time and line of the entry. A call that was never left came to no end.

Of packets, a TCP SYN that is sent is a ``connect``, allowed where the answer is in the log and
refused where that is a reset; a datagram that is sent is a ``send``. What is received is none.
Stamps have neither year nor zone. gVisor writes paths as they are, without quotes: of a path with
a comma in it the last flags count, since those are the log's own.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar, NamedTuple

from bouts.formats.guard import guarded
from bouts.formats.sandbox.accesses import DETAIL_LIMIT, Accesses, host_and_port, process_name
from bouts.formats.sandbox.lines import log_lines
from bouts.formats.sandbox.syscalls import (
    ADDRESS_ACTIONS,
    OPENS,
    PATH_ACTIONS,
    error_name,
    is_allowed,
    open_actions,
)
from bouts.formats.text import decode
from bouts.formats.types import Access, Kind, Report, Unreadable

MAX_OPEN = 10_000  # calls and connections that wait for their other half
MAX_CALL_CHARS = 64 * 1024  # of a line, what is looked at

_LINE = re.compile(
    rb"[IDWEF](?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d\.\d{1,9}) +\d{1,10} "
    rb"(?P<file>[\w.-]{1,64}\.go):\d{1,6}\] ?"
)
_CALL = re.compile(
    r"\[ *(?P<tgid>\d{1,9}): *(?P<tid>\d{1,9})\] (?P<comm>.{0,64}?) (?P<half>[EX]) "
    r"(?P<name>\w{1,40})\((?P<rest>.*)",
    re.DOTALL,
)
_ERRNO = re.compile(r"(?:-?\d+|0x[0-9a-f]+)(?: \(0x[0-9a-f]+\))? errno=(\d{1,5})")
# Where an argument begins: a number, a folder, flags.
_ARGUMENT = re.compile(r", (?=0x[0-9a-f]{1,16}\b|AT_FDCWD\b|O_[A-Z]|0o[0-7])")
_ADDRESS = re.compile(
    r"\{Family: AF_INET6?, Addr: (?P<host>[0-9a-fA-F.:]{2,64}), Port: (?P<port>\d{1,5})\}"
)
_UNIX = re.compile(r'\{Family: AF_UNIX, Addr: "((?:[^"\\]|\\.){0,256})"')
_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"?')
_PACKET = re.compile(
    r"(?P<way>send|recv) (?P<protocol>tcp|udp|icmp(?:v6)?) (?P<source>\S{2,64}) -> "
    r"(?P<target>\S{2,64})(?P<rest>.{0,300})",
    re.DOTALL,
)
_FLAGS = re.compile(r"flags: ([ A-Z]{1,16})")
# How the arguments of a call with paths are laid out: "d" a folder, "p" a path that starts there.
_LAYOUTS = {
    **{name: "dp" for name in ("openat", "openat2", "unlinkat", "execveat")},
    **{name: "dpdp" for name in ("renameat", "renameat2", "linkat")},
    **{name: "pp" for name in ("rename", "link", "symlink")},
    "symlinkat": "pdp",
}


class _Half(NamedTuple):
    name: str
    arguments: str
    process: str | None
    line: int
    t: float | None


class GvisorReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "gvisor"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        lines = [line for line in head.split(b"\n")[:200] if line.strip()]
        return 2 * sum(_LINE.match(line) is not None for line in lines) > len(lines)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        return _Reading(report).accesses(source)


class _Reading:
    """One pass over one log."""

    def __init__(self, report: Report) -> None:
        self._log = Accesses(report)
        self._entered: dict[str, _Half] = {}  # by thread
        self._opening: dict[tuple[str, str], _Half] = {}  # connections by both their ends

    def accesses(self, source: BinaryIO) -> Iterator[Access]:
        log = self._log
        for number, line in log_lines(source):
            head = _LINE.match(line)
            if head is None:
                log.remarks.add("a line that runsc did not write is passed over", number)
                continue
            log.counts["lines"] += 1
            month, day, time = (head[part].decode() for part in ("month", "day", "time"))
            t = log.stamps.calendar(int(month), int(day), time, number)
            if head["file"] not in {b"strace.go", b"sniffer.go"}:
                continue
            rest = line[head.end() : head.end() + MAX_CALL_CHARS]
            text = decode(rest, log.remarks, f"line {number}")
            if head["file"] == b"strace.go" and (call := _CALL.match(text)):
                yield from self._call(call, number, t)
            elif packet := _PACKET.match(text):
                yield from self._packet(packet, number, t)
        if not log.counts["lines"]:
            raise Unreadable("no line of it was written by runsc")
        for half in self._entered.values():
            yield from self._told(half, None, "unfinished")
        for half in self._opening.values():
            yield from self._connected(half, None, "no answer")
        log.finish()

    # Calls

    def _call(self, call: re.Match[str], line: int, t: float | None) -> Iterator[Access]:
        name = call["name"]
        if name not in PATH_ACTIONS and name not in OPENS and name not in ADDRESS_ACTIONS:
            return
        entered = self._entered.get(call["tid"])
        if entered and entered.name != name:  # it was left without a word
            del self._entered[call["tid"]]
            yield from self._told(entered, None, "unfinished")
            entered = None
        process = process_name(call["tgid"], call["comm"])
        if call["half"] == "E":
            if entered is None and len(self._entered) < MAX_OPEN:  # it may be written again
                arguments = call["rest"].removesuffix(")")
                self._entered[call["tid"]] = _Half(name, arguments, process, line, t)
            return
        self._entered.pop(call["tid"], None)
        if entered:
            line, t = entered.line, entered.t
        arguments, is_whole, result = call["rest"].rpartition(") = ")
        if not is_whole:
            yield from self._told(_Half(name, call["rest"], process, line, t), None, "cut off")
            return
        found = _ERRNO.match(result)
        error = error_name(int(found[1])) if found else None
        yield from self._told(_Half(name, arguments, process, line, t), is_allowed(error), error)

    def _told(self, half: _Half, allowed: bool | None, error: str | None) -> Iterator[Access]:
        for action, target, detail in _targets(half.name, half.arguments):
            if access := self._log.access(
                action,
                target,
                allowed=allowed,
                line=half.line,
                t=half.t,
                process=half.process,
                detail=": ".join(filter(None, (error, detail))),
                error=error,
            ):
                yield access

    # Packets

    def _packet(self, packet: re.Match[str], line: int, t: float | None) -> Iterator[Access]:
        source, target, protocol = packet["source"], packet["target"], packet["protocol"]
        found = _FLAGS.search(packet["rest"])
        flags = set(found[1]) if found else set()
        half = _Half(protocol, _end(target), None, line, t)
        if packet["way"] == "recv":
            asked = self._opening.pop((target, source), None)
            if asked:
                yield from self._connected(asked, "R" not in flags, "")
        elif protocol != "tcp":
            if access := self._log.access(
                "send", half.arguments, allowed=True, line=line, t=t, detail=protocol
            ):
                yield access
        elif "S" in flags and "A" not in flags and (source, target) not in self._opening:
            self._opening[source, target] = half
            if len(self._opening) > MAX_OPEN:
                oldest = self._opening.pop(next(iter(self._opening)))
                yield from self._connected(oldest, None, "no answer")

    def _connected(self, half: _Half, allowed: bool | None, detail: str) -> Iterator[Access]:
        words = ["tcp", "reset" if allowed is False else detail]
        if access := self._log.access(
            "connect",
            half.arguments,
            allowed=allowed,
            line=half.line,
            t=half.t,
            detail=": ".join(filter(None, words)),
        ):
            yield access


def _end(written: str) -> str:
    """Return ``host:port`` of one end of a packet; runsc leaves out the brackets of IPv6."""
    host, _, port = written.rpartition(":")
    if not host or not port.isdecimal():
        return written
    return host_and_port(host.strip("[]"), port)


def _targets(name: str, arguments: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a call was at: action, target and detail."""
    if action := ADDRESS_ACTIONS.get(name):
        if found := _ADDRESS.search(arguments):
            yield action, host_and_port(found["host"], found["port"]), ""
        elif name == "connect" and (unix := _UNIX.search(arguments)):
            yield "local", unix[1].replace("\\x00", "@", 1), ""
        return
    written = _ARGUMENT.split(arguments)
    if name in OPENS:
        flags = next((n for n in reversed(range(len(written))) if written[n][:2] == "O_"), 0)
        if flags:  # else the flags are not in the line, and neither is what it was for
            first = 0 if name == "open" else 1
            written[first:flags] = [", ".join(written[first:flags])]
            for target in _paths(written, _LAYOUTS.get(name, "p")):
                for action in open_actions(set(written[first + 1].split("|"))):
                    yield action, target, ""
        return
    detail = _command_line(arguments) if name in {"execve", "execveat"} else ""
    targets = _paths(written, _LAYOUTS.get(name, "p"))
    for action_or_none, target in zip(PATH_ACTIONS[name], targets, strict=False):
        if action_or_none:
            yield action_or_none, target, detail


def _paths(written: list[str], layout: str) -> list[str]:
    paths = []
    folder = ""
    for argument, sort in zip(written, layout, strict=False):
        text = argument.partition(" ")[2]
        if sort == "d":
            folder = text if text.startswith("/") else ""
        elif text:
            paths.append(posixpath.normpath(posixpath.join(folder, text)))
    return paths


def _command_line(arguments: str) -> str:
    written = arguments.partition(" [")[2][: 4 * DETAIL_LIMIT].partition("], ")[0]
    return " ".join(found[1] for found in _WORD.finditer(written))
