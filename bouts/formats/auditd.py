"""The log of auditd: raw records, several of which make one event.

The records of an event carry the same serial and may lie between those of others, so an event
is told once it ended (EOE) or `WINDOW` younger ones have begun. An access points at the record
that names its target. Enriched fields (after the byte 0x1D) give the name of a system call;
else its number and machine do. A value without quotes is text in hexadecimal.

==========  ==================================================================
action      records
==========  ==================================================================
read, ...   SYSCALL with its PATHs, as the reader of strace tells them
exec        SYSCALL with PATH or ``exe``; the detail is EXECVE. USER_CMD of sudo
connect     SYSCALL with SOCKADDR: ``host:port``; ``local`` for a socket of this machine
syscall     SECCOMP: a system call that the sandbox's filter stopped
==========  ==================================================================

AVC records of AppArmor and SELinux count where the event has no SYSCALL that tells the same.
What ``ausearch -i`` prints is refused: its times are local and its numbers made into words.
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar

from bouts.formats.guard import guarded
from bouts.formats.sandbox.accesses import Accesses, host_and_port, process_name
from bouts.formats.sandbox.lines import log_lines
from bouts.formats.sandbox.syscalls import (
    ADDRESS_ACTIONS,
    OPENS,
    PATH_ACTIONS,
    error_name,
    is_allowed,
    open_actions,
    open_flags,
    syscall_name,
)
from bouts.formats.text import NUL_MARK, decode
from bouts.formats.types import Access, Kind, Report, Unreadable

WINDOW = 256  # events that may be open at a time
MAX_RECORD_CHARS = 64 * 1024  # of a line; the kernel writes at most 8,970 bytes
MAX_RECORDS = 100  # of one event
MAX_WORDS = 64  # of a command line

_RECORD = re.compile(
    r"type=(?P<type>[A-Z_0-9]{1,40}|UNKNOWN\[\d{1,5}\])"
    r" (?:msg=)?audit\((?P<epoch>\d{1,11}\.\d{1,9}):(?P<serial>\d{1,12})\) ?:(?P<rest>.*)",
    re.DOTALL,
)
_NODE = re.compile(rb"node=\S{1,255} $")
_RAW = re.compile(rb"type=(?:[A-Z_0-9]{1,40}|UNKNOWN\[\d{1,5}\]) (?:msg=)?audit\(\d{1,11}\.\d")
_INTERPRETED = re.compile(rb"type=[A-Z_0-9]{1,40} msg=audit\(\d\d[/-]")
# As the kernel's own log numbers them.
_TYPES = {
    **{"1300": "SYSCALL", "1302": "PATH", "1306": "SOCKADDR", "1307": "CWD", "1309": "EXECVE"},
    **{"1320": "EOE", "1326": "SECCOMP", "1337": "OPENAT2", "1400": "AVC", "1123": "USER_CMD"},
}
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_WORD = re.compile(r"a(\d{1,4})(?:\[\d{1,4}\])?=")
_AT_FDCWD = {"ffffff9c", "ffffffffffffff9c"}
_AARCH64 = "c00000b7"
_NO_FOLDER = -1
# Where among a0 to a3 a call has the folder that its path starts from.
_FOLDER_ARGUMENT = {
    **{"openat": 0, "openat2": 0, "unlinkat": 0, "execveat": 0, "renameat": 0, "renameat2": 0},
    **{"linkat": 0, "symlinkat": 1},
}
_FLAG_ARGUMENT = {"open": "a1", "openat": "a2", "open_by_handle_at": "a2"}
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
# What the filter answered, without the data in its lower half.
_SECCOMP_LETS_PASS = {0x7FFF0000, 0x7FFC0000}
_SECCOMP_ASKS = {0x7FF00000, 0x7FC00000}  # a tracer or a supervisor decides
_MASKS = {"x": "exec", "r": "read", "w": "write", "a": "write", "c": "write", "d": "delete"}

Fields = dict[str, str]


@dataclass(slots=True)
class _Event:
    """The records of one serial that say something of an access."""

    t: float | None
    records: int = 0
    call: Fields | None = None
    call_line: int = 0
    cwd: str | None = None
    paths: list[tuple[Fields, int]] = field(default_factory=list)
    words: dict[int, str] = field(default_factory=dict)
    address: tuple[str, int] | None = None
    open_bits: int | None = None
    others: list[tuple[str, Fields, str, int]] = field(default_factory=list)


class AuditdReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "auditd"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        lines = [line for line in head.split(b"\n")[:50] if line.strip()]
        found = sum(bool(_RAW.search(line) or _INTERPRETED.search(line)) for line in lines)
        return 2 * found > len(lines)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        return _Reading(report).accesses(source)


class _Reading:
    """One pass over one log."""

    def __init__(self, report: Report) -> None:
        self._log = Accesses(report)
        self._open: dict[tuple[bytes, str, str], _Event] = {}

    def accesses(self, source: BinaryIO) -> Iterator[Access]:
        for number, line in log_lines(source):
            start = line.find(b"type=", 0, 512)
            text = decode(line[max(start, 0) :][:MAX_RECORD_CHARS], self._log.remarks, "")
            record = _RECORD.match(text) if start >= 0 else None
            if record is None:
                if _INTERPRETED.search(line[:600]):
                    raise Unreadable(
                        "records as ausearch -i prints them, with local times and no numbers;"
                        " the raw log is needed",
                        f"line {number}",
                    )
                self._log.remarks.add("a line that is no audit record", number)
                continue
            self._log.counts["lines"] += 1
            yield from self._sorted_in(record, line[:start], number)
        if not self._log.counts["lines"]:
            raise Unreadable("no line of it is an audit record")
        for event in self._open.values():
            yield from self._told(event)
        self._log.finish()

    def _sorted_in(self, record: re.Match[str], before: bytes, line: int) -> Iterator[Access]:
        """Put a record to its event, and tell the events that are over by then."""
        kind = record["type"].removeprefix("UNKNOWN[").removesuffix("]")
        kind = _TYPES.get(kind, kind)
        node = _NODE.search(before)
        key = (node[0] if node else b"", record["epoch"], record["serial"])
        if kind == "EOE":
            if ended := self._open.pop(key, None):
                yield from self._told(ended)
            return
        event = self._open.get(key)
        if event is None:
            t = self._log.stamps.epoch(float(record["epoch"]), line)
            event = self._open[key] = _Event(t)
            self._log.counts["events"] += 1
            if len(self._open) > WINDOW:
                yield from self._told(self._open.pop(next(iter(self._open))))
        event.records += 1
        if event.records > MAX_RECORDS:
            self._log.remarks.add(f"records beyond MAX_RECORDS = {MAX_RECORDS}", line)
        else:
            _take(event, kind, record["rest"], line)

    # Events

    def _told(self, event: _Event) -> Iterator[Access]:
        told = False
        if event.call is not None:
            for access in self._of_call(event, event.call):
                told = True
                yield access
        for kind, fields, text, line in event.others:
            if not (told and kind == "AVC"):
                yield from self._of_other(event, kind, fields, text, line)

    def _of_call(self, event: _Event, call: Fields) -> Iterator[Access]:
        name = call.get("SYSCALL") or syscall_name(call.get("arch", ""), call.get("syscall", ""))
        error = _error(call)
        is_known = call.get("success") == "yes" or error is not None
        allowed = is_allowed(error) if is_known else None
        for action, target, line, detail in self._targets(event, call, name or ""):
            words = [error] if error else []
            words += [detail] if detail else []
            if access := self._log.access(
                action,
                target,
                allowed=allowed,
                line=line,
                t=event.t,
                process=_process(call),
                detail=": ".join(words),
                error=error,
            ):
                yield access

    def _targets(
        self, event: _Event, call: Fields, name: str
    ) -> Iterator[tuple[str, str, int, str]]:
        """Yield what a call was at: action, target, line and detail."""
        if name in OPENS or name == "open_by_handle_at":
            bits = event.open_bits
            if flags := _FLAG_ARGUMENT.get(name):
                bits = _number(call.get(flags, ""), 16)
            is_arm = call.get("arch") == _AARCH64
            known = None if bits is None else open_actions(open_flags(bits, is_arm=is_arm))
            for target, _, line in self._paths(event, call, name)[-1:]:
                for action in ("access",) if known is None else known:
                    yield action, target, line, ""
        elif name in {"execve", "execveat"}:
            detail = " ".join(event.words[index] for index in sorted(event.words))
            exe = _text(call.get("exe", ""))
            paths = self._paths(event, call, name)[:1]
            for target, _, line in paths or ([(exe, "", event.call_line)] if exe else []):
                yield "exec", target, line, detail
        elif name in PATH_ACTIONS:
            yield from self._renamed(event, call, name)
        elif event.address and (name in ADDRESS_ACTIONS or name == "socketcall"):
            saddr, line = event.address
            way = ADDRESS_ACTIONS.get(name) or _of_socketcall(call)
            if way and (address := _address(saddr)):
                yield ("local" if address[0] in "/@" else way), address, line, ""

    def _renamed(
        self, event: _Event, call: Fields, name: str
    ) -> Iterator[tuple[str, str, int, str]]:
        paths = self._paths(event, call, name)
        for (target, type_, line), usual in zip(paths, _padded(name, len(paths)), strict=True):
            action = usual
            if type_ == "DELETE":
                action = "delete"
            elif type_ == "CREATE" and len(PATH_ACTIONS[name]) > 1:
                action = "rename"
            elif type_ == "NORMAL" and len(PATH_ACTIONS[name]) > 1:
                action = None  # what a link is made to
            if action:
                yield action, target, line, ""

    def _paths(self, event: _Event, call: Fields, name: str) -> list[tuple[str, str, int]]:
        """Return path, type and line of the PATHs that are not folders of others, in order."""
        found = []
        argument = _FOLDER_ARGUMENT.get(name, _NO_FOLDER)
        starts_here = argument == _NO_FOLDER or call.get(f"a{argument}") in _AT_FDCWD
        for fields, line in event.paths:
            path = _text(fields.get("name", ""))
            if not path or fields.get("nametype") == "PARENT":
                continue
            if not path.startswith("/") and starts_here and event.cwd:
                path = posixpath.join(event.cwd, path)
            found.append((posixpath.normpath(path), fields.get("nametype", ""), line))
        return found

    def _of_other(
        self, event: _Event, kind: str, fields: Fields, text: str, line: int
    ) -> Iterator[Access]:
        found: tuple[str, str, bool | None, str] | None = None
        if kind == "SECCOMP":
            found = _of_seccomp(fields)
        elif kind == "USER_CMD" and (command := _text(fields.get("cmd", ""))):
            allowed = {"success": True, "1": True, "failed": False, "0": False}.get(
                fields.get("res", "")
            )
            found = "exec", command.partition(" ")[0], allowed, command
        elif kind == "AVC":
            found = _of_avc(fields, text)
        if found is None:
            return
        action, target, allowed, detail = found
        if access := self._log.access(
            action,
            target,
            allowed=allowed,
            line=line,
            t=event.t,
            process=_process(fields),
            detail=detail,
        ):
            yield access


# Records


def _take(event: _Event, kind: str, rest: str, line: int) -> None:
    if kind == "EXECVE":
        _take_words(event, rest)
        return
    fields = _fields(rest)
    if kind == "SYSCALL":
        event.call, event.call_line = fields, line
    elif kind == "PATH":
        event.paths.append((fields, line))
    elif kind == "CWD":
        event.cwd = _text(fields.get("cwd", ""))
    elif kind == "SOCKADDR":
        event.address = (fields.get("saddr", ""), line)
    elif kind == "OPENAT2":
        event.open_bits = _number(fields.get("oflag", ""), 8)
    elif kind in {"SECCOMP", "AVC", "USER_CMD"}:
        event.others.append((kind, fields, rest[:1000], line))


def _fields(rest: str) -> Fields:
    """Return the fields of a record. No value has a space in it: such text is in hexadecimal."""
    fields: Fields = {}
    for token in rest.replace("\x1d", " ").replace("msg='", " ").split():
        key, is_field, value = token.partition("=")
        if is_field:
            fields.setdefault(key, value.rstrip("'"))
    return fields


def _take_words(event: _Event, rest: str) -> None:
    """Add words of a command line; a long one comes in pieces over several records."""
    for token in rest.replace("\x1d", " ").split():
        if found := _WORD.match(token):
            number = int(found[1])
            if number < MAX_WORDS:
                word = _text(token[found.end() :])
                event.words[number] = (event.words.get(number, "") + word)[:1000]


def _text(value: str) -> str:
    """Return a value as it was before auditd wrote it: quoted, in hexadecimal, or plain."""
    if value.startswith('"'):
        return value[1:].removesuffix('"')
    if value in {"(null)", "?", ""}:
        return ""
    if _HEX.fullmatch(value):
        return bytes.fromhex(value).decode(errors="replace").replace("\0", NUL_MARK)
    return value


def _number(text: str, base: int) -> int | None:
    try:
        return int(text[:32], base)
    except ValueError:
        return None


def _process(fields: Fields) -> str | None:
    return process_name(fields.get("pid"), _text(fields.get("comm", "")))


def _error(call: Fields) -> str | None:
    if call.get("success") == "yes":
        return None
    number = _number(call.get("exit", ""), 10)
    return error_name(-number) if number is not None and number < 0 else None


def _padded(name: str, length: int) -> list[str | None]:
    actions = list(PATH_ACTIONS[name])
    return (actions + [actions[-1]] * length)[:length]


def _of_socketcall(call: Fields) -> str | None:
    """On 32-bit machines one call does all that is done to sockets; a0 says what."""
    return {"3": "connect", "b": "send", "10": "send", "14": "send"}.get(call.get("a0", ""))


def _address(saddr: str) -> str | None:
    """Return ``host:port``, or the path of a socket of this machine, from the bytes in hex."""
    try:
        data = bytes.fromhex(saddr)
    except ValueError:
        return None
    family = int.from_bytes(data[:2], "little")
    port = int.from_bytes(data[2:4], "big")
    if family == _AF_INET and len(data) >= 8:
        return host_and_port(str(ipaddress.IPv4Address(data[4:8])), port)
    if family == _AF_INET6 and len(data) >= 24:
        return host_and_port(str(ipaddress.IPv6Address(data[8:24])), port)
    if family == _AF_UNIX and len(data) > 2:
        name = data[2:]
        if name[:1] == b"\0":
            return "@" + name[1:].rstrip(b"\0").decode(errors="replace").replace("\0", NUL_MARK)
        path = name.partition(b"\0")[0].decode(errors="replace")
        return path if path.startswith("/") else None
    return None


def _of_seccomp(fields: Fields) -> tuple[str, str, bool | None, str] | None:
    number = fields.get("syscall", "")
    name = fields.get("SYSCALL") or syscall_name(fields.get("arch", ""), number)
    code = _number(fields.get("code", ""), 16)
    if not number and not name:
        return None
    answer = None if code is None else code & 0xFFFF0000
    allowed: bool | None = False
    if answer is None or answer in _SECCOMP_ASKS:
        allowed = None
    elif answer in _SECCOMP_LETS_PASS:
        allowed = True
    return "syscall", name or f"system call {number}", allowed, _text(fields.get("exe", ""))


def _of_avc(fields: Fields, text: str) -> tuple[str, str, bool | None, str] | None:
    """AppArmor names a path and what was asked of it; SELinux often only a file's name."""
    target = _text(fields.get("path", "")) or _text(fields.get("name", ""))
    if not target:
        return None
    if verdict := fields.get("apparmor"):
        asked = _text(fields.get("requested_mask", ""))
        action = next((_MASKS[letter] for letter in asked if letter in _MASKS), "access")
        allowed = {"DENIED": False, "ALLOWED": True, "AUDIT": True}.get(_text(verdict))
        return action, target, allowed, f"AppArmor: {_text(fields.get('operation', ''))}"
    asked = text.partition("{")[2].partition("}")[0].strip()
    if not asked:
        return None
    words = set(asked.split())
    action = "access"
    for word, meant in (("execute", "exec"), ("read", "read"), ("unlink", "delete")):
        if word in words:
            action = meant
            break
    else:
        action = "write" if words & {"write", "append", "create"} else "access"
    is_denied = "denied" in text.partition("{")[0] and fields.get("permissive") != "1"
    return action, target, not is_denied, f"SELinux: {asked}"
