"""The log of strace: which files were opened, programs run and hosts spoken to.

All of its time stamps (``-r``, ``-t``, ``-tt``, ``-ttt``), process prefixes (``-f``, ``-Y``),
decorated descriptors (``-y``, ``-yy``), *unfinished* and *resumed* halves and cut strings are
understood. Relative paths are followed as far as the log shows where a process stands, which
it does best with ``-y``; else they stay relative.

What becomes an access
----------------------

==========  ==================================================================
action      calls
==========  ==================================================================
read        open, openat, openat2 for reading; folders too
write       the same for writing; creat, truncate
delete      unlink, unlinkat, rmdir; the old name of a rename
rename      the new name of a rename, link or symlink
exec        execve, execveat; the detail is the command line
connect     connect: ``host:port``
local       connect to a socket of this machine: its path, ``@`` and name if it has none
send        sendto, sendmsg, sendmmsg, where they name a host
==========  ==================================================================

``allowed`` is true for what succeeded and false for what was refused (`_REFUSALS`). It is None
for what came to nothing, such as a file that is not there, or to no end in the log; ``detail``
names the error.

Programs ask for the same files again and again. A repeat by the same process is counted and
not yielded, and so is one by any process in a folder of the system, where the libraries lie.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import BinaryIO, ClassVar, NamedTuple

from bouts.formats.guard import guarded
from bouts.formats.lines import numbered_lines
from bouts.formats.remarks import Remarks
from bouts.formats.text import NUL_MARK, decode, shorten, shorten_id, single_line
from bouts.formats.types import Access, Clock, Kind, Report, Unreadable

MAX_ACCESSES = 1_000_000
MAX_PROCESSES = 50_000  # that live at one time
MAX_SEEN = 20_000  # accesses of one process, or in the system's folders, noticed when repeated
DETAIL_LIMIT = 500  # characters

_DAY_S = 86_400
_REFUSALS = frozenset(
    {
        *("EACCES", "EPERM", "EROFS"),
        *("ECONNREFUSED", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "ETIMEDOUT"),
    }
)
_SYSTEM = ("/bin/", "/dev/", "/etc/ld.so", "/lib", "/proc/", "/sbin/", "/sys/", "/usr/")

# What stands before the call: process, time, number of the system call, instruction pointer.
_PREFIX = re.compile(
    rb"(?:\[pid +(?P<pid>\d{1,8})(?:<[^>]*>)?\] |(?P<bare_pid>\d{1,8})(?:<[^>]*>)? +)?"
    rb" *(?:(?:(?P<day>\d\d:\d\d:\d\d(?:\.\d+)?)|(?P<epoch>\d{9,11}(?:\.\d+)?)|(?P<delta>\d{1,8}\.\d+))"
    rb"(?: \(\+ +[\d.]+\))? +)?"
    rb"(?:\[[ \d]{4}\] )?(?:\[[0-9a-f?]{8,16}\] )?"
)
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>.*)", re.DOTALL)
_RESULT = re.compile(
    r"(?P<value>-?\d+|\?|0x[0-9a-f]+)(?:<(?P<path>.*?)>)?(?: (?P<error>E[A-Z0-9]+)\b)?(?: |$)"
)
_RESUMED = re.compile(r"<\.\.\. (?P<name>\w+) resumed> ?(?P<rest>.*)", re.DOTALL)
_UNFINISHED = " <unfinished ...>"
# Every line of strace goes on in one of these ways after its prefix.
_SHAPE = re.compile(rb"\w+\(|<\.\.\. \w+ resumed|--- |\+\+\+ |strace: |> ")
_ENDED = re.compile(rb"\+\+\+ (?:exited with|killed by)")
_INTERESTING = re.compile(
    rb"(?:open|openat|openat2|creat|truncate|unlink|unlinkat|rmdir|rename|renameat|renameat2|link"
    rb"|linkat|symlink|symlinkat|execve|execveat|connect|sendto|sendmsg|sendmmsg|chdir|fchdir"
    rb"|clone|clone3|fork|vfork)(?:\(| resumed>)"
)
_LOOKS_LIKE = re.compile(rb"\w+\(.*(?:\) += (?:-?\d|\?|0x)| <unfinished \.\.\.>)", re.DOTALL)

_STRING = r'"(?P<{0}>(?:[^"\\]|\\.)*)"(?P<{0}_cut>\.\.\.)?'
# A path among the arguments, and the open folder that it starts from.
_PATH = re.compile(
    r"(?:(?P<folder>AT_FDCWD|\d+)(?:<(?P<shown>[^>]*)>)?, )?" + _STRING.format("path"), re.DOTALL
)
_ARGUMENT = re.compile(_STRING.format("word"), re.DOTALL)
_INET = re.compile(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([^"]+)"\)')
_INET6 = re.compile(r'sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([^"]+)"')
_UNIX = re.compile(r"sun_path=(?P<abstract>@?)" + _STRING.format("path"), re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}

_OPENS = frozenset({"open", "openat", "openat2"})
_WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
# Calls by what they do to the paths among their arguments, in that order.
_PATH_ACTIONS: dict[str, tuple[str | None, ...]] = {
    "creat": ("write",),
    "truncate": ("write",),
    "unlink": ("delete",),
    "unlinkat": ("delete",),
    "rmdir": ("delete",),
    "rename": ("delete", "rename"),
    "renameat": ("delete", "rename"),
    "renameat2": ("delete", "rename"),
    "link": (None, "rename"),
    "linkat": (None, "rename"),
    "symlink": (None, "rename"),
    "symlinkat": (None, "rename"),
    "execve": ("exec",),
    "execveat": ("exec",),
}
_ADDRESS_ACTIONS = {"connect": "connect", "sendto": "send", "sendmsg": "send", "sendmmsg": "send"}
_BIRTHS = frozenset({"clone", "clone3", "fork", "vfork"})


class _Call(NamedTuple):
    name: str
    arguments: str
    value: str  # of the result; empty where the log does not come to it
    shown: str | None  # the path that strace shows of a descriptor that was returned
    error: str | None
    line: int
    t: float | None


@dataclass(slots=True)
class _Process:
    """What is known of a process; threads share one."""

    folder: str | None = None  # where it stands
    open_folders: dict[str, str] = field(default_factory=dict)  # by descriptor
    seen: set[int] = field(default_factory=set)  # hashes of its accesses


class StraceReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "strace"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        lines = head.split(b"\n")[:200]
        if len(lines) > 1:
            lines.pop()  # may be cut
        rests = [line[found.end() :] for line in lines if (found := _PREFIX.match(line)) and line]
        calls = sum(_LOOKS_LIKE.match(rest) is not None for rest in rests)
        others = sum(_SHAPE.match(rest) is None for rest in rests)
        return calls > others

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        return _Reading(report).accesses(source)


class _Reading:
    """One pass over one log."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._counts: Counter[str] = Counter(lines=0, accesses=0)
        self._clock = _StampClock()
        self._processes: dict[str, _Process] = {}
        self._halves: dict[str, _Call] = {}  # calls that were not finished, by process
        self._seen_in_system: set[int] = set()

    def accesses(self, source: BinaryIO) -> Iterator[Access]:
        for number, line in numbered_lines(source):
            if not line.strip():
                continue
            prefix = _PREFIX.match(line)
            rest = line[prefix.end() :] if prefix else line
            if prefix is None or not _SHAPE.match(rest):
                self._remarks.add(
                    "a line that strace did not write is passed over", f"line {number}"
                )
                continue
            self._counts["lines"] += 1
            t = self._clock.seconds(prefix)
            pid = (prefix["pid"] or prefix["bare_pid"] or b"").decode()
            if _ENDED.match(rest):
                self._forget(pid)
            elif _INTERESTING.match(rest.removeprefix(b"<... ")):
                text = decode(rest, self._remarks, f"line {number}")
                if call := self._whole_call(text, pid, number, t):
                    yield from self._told(call, pid)
        if not self._counts["lines"]:
            raise Unreadable("no line of it was written by strace")
        for pid, half in self._halves.items():
            yield from self._told(half, pid)
        self._finish()

    def _finish(self) -> None:
        self._report.clock = self._clock.grade
        self._report.origin = self._clock.origin
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _process(self, pid: str) -> _Process:
        process = self._processes.get(pid)
        if process is None:
            if len(self._processes) >= MAX_PROCESSES:
                raise Unreadable(f"more processes at a time than MAX_PROCESSES = {MAX_PROCESSES:,}")
            process = self._processes[pid] = _Process()
            self._counts["processes"] += 1
        return process

    def _forget(self, pid: str) -> None:
        self._processes.pop(pid, None)

    # Calls

    def _whole_call(self, text: str, pid: str, line: int, t: float | None) -> _Call | None:
        """Return a call with its result; None for the first half of one, which is kept."""
        if resumed := _RESUMED.fullmatch(text):
            half = self._halves.pop(pid, None)
            if half is None or half.name != resumed["name"]:
                self._remarks.add("a resumed call whose beginning is missing", f"line {line}")
                return None
            text = f"{half.name}({half.arguments}{resumed['rest']}"
            line, t = half.line, half.t
        elif text.endswith(_UNFINISHED):
            name, _, arguments = text.removesuffix(_UNFINISHED).partition("(")
            self._halves[pid] = _Call(name, arguments, "", None, None, line, t)
            return None
        call = _CALL.fullmatch(text)
        if call is None:
            self._remarks.add("a call that is cut off", f"line {line}")
            name, _, arguments = text.partition("(")
            return _Call(name, arguments, "", None, None, line, t)
        result = _RESULT.match(call["result"])
        value, shown, error = (
            (result["value"], result["path"], result["error"]) if result else ("", None, None)
        )
        return _Call(call["name"], call["arguments"], value, shown, error, line, t)

    def _told(self, call: _Call, pid: str) -> Iterator[Access]:
        """Yield what a call did to the world, and follow where its process stands."""
        process = self._process(pid)
        if call.name in _BIRTHS:
            self._follow_birth(call, process)
        elif call.name in {"chdir", "fchdir"}:
            _follow_move(call, process)
        elif call.name in _OPENS:
            for target in _paths(call, process)[:1]:
                is_write = any(flag in call.arguments for flag in _WRITING)
                if not call.error and "O_DIRECTORY" in call.arguments:
                    process.open_folders[call.value] = call.shown or target
                else:
                    process.open_folders.pop(call.value, None)
                # What `-y` shows is where links lead; `-yy` adds what kind of device it is.
                real = _unescaped(call.shown.partition("<")[0]) if call.shown else target
                yield from self._access(call, pid, process, "write" if is_write else "read", real)
        elif call.name in _PATH_ACTIONS:
            targets = _paths(call, process)
            for action, target in zip(_PATH_ACTIONS[call.name], targets, strict=False):
                if action is not None:
                    yield from self._access(call, pid, process, action, target)
        elif action := _ADDRESS_ACTIONS.get(call.name):
            if host := _host(call.arguments):
                yield from self._access(call, pid, process, action, host)
            elif call.name == "connect" and (socket := _local_socket(call.arguments)):
                yield from self._access(call, pid, process, "local", socket)

    def _access(
        self, call: _Call, pid: str, process: _Process, action: str, target: str
    ) -> Iterator[Access]:
        allowed = _is_allowed(call)
        key = hash((action, target, allowed, call.error))
        seen = process.seen
        if target.startswith(_SYSTEM) and action == "read" and allowed is not False:
            seen = self._seen_in_system
        is_act = action in {"connect", "exec", "send"} and call.error != "ENOENT"
        if key in seen and not is_act:
            self._counts["repeated"] += 1
            return
        if len(seen) < MAX_SEEN:
            seen.add(key)
        self._counts["accesses"] += 1
        if self._counts["accesses"] > MAX_ACCESSES:
            raise Unreadable(f"more accesses than MAX_ACCESSES = {MAX_ACCESSES:,}")
        self._counts[action] += 1
        self._counts[{True: "allowed", False: "refused", None: "neither"}[allowed]] += 1
        words = [] if call.value else ["unfinished"]
        words += [call.error] if call.error else []
        words += [_command_line(call.arguments)] if action == "exec" else []
        yield Access(
            action=action,
            target=shorten_id(target),
            allowed=allowed,
            line=call.line,
            t=call.t,
            process=pid or None,
            detail=shorten(single_line(": ".join(words)), DETAIL_LIMIT),
        )

    def _follow_birth(self, call: _Call, parent: _Process) -> None:
        """Let a child stand where its parent stands; a thread is the same process."""
        if call.error or not call.value.isdigit() or call.value == "0":
            return
        child = self._processes.get(call.value)
        if "CLONE_FS" in call.arguments and child is None:
            self._processes[call.value] = parent
        elif child is None:
            child = self._process(call.value)
            child.folder, child.open_folders = parent.folder, dict(parent.open_folders)
        elif child.folder is None:  # it was heard of before its birth was
            child.folder = parent.folder


def _is_allowed(call: _Call) -> bool | None:
    if call.error:
        return False if call.error in _REFUSALS else None
    return None if call.value in {"", "?"} else True


# Paths and addresses


def _follow_move(call: _Call, process: _Process) -> None:
    if call.error or not call.value:
        return
    if call.name == "chdir":
        process.folder = next(iter(_paths(call, process)), None)
        return
    descriptor, _, shown = call.arguments.partition("<")
    process.folder = shown.removesuffix(">") or process.open_folders.get(descriptor)


def _paths(call: _Call, process: _Process) -> list[str]:
    """Return the paths among the arguments, absolute where the log shows what they start from."""
    paths: list[str] = []
    for found in _PATH.finditer(call.arguments):
        path = _unescaped(found["path"]) + ("…" if found["path_cut"] else "")
        folder = found["folder"]
        if found["shown"]:
            base = _unescaped(found["shown"])
            if folder == "AT_FDCWD":
                process.folder = base
        elif folder in {None, "AT_FDCWD"}:
            base = process.folder or ""
        else:
            base = process.open_folders.get(folder, "")
        paths.append(posixpath.normpath(posixpath.join(base, path)) if path else base)
        if len(paths) == 2:
            break
    return paths


def _host(arguments: str) -> str | None:
    """Return the ``host:port`` that a call names; other families of addresses are no host."""
    if found := _INET.search(arguments):
        return f"{found[2]}:{found[1]}"
    if found := _INET6.search(arguments):
        return f"[{found[2]}]:{found[1]}"
    return None


def _local_socket(arguments: str) -> str | None:
    found = _UNIX.search(arguments)
    return found["abstract"] + _unescaped(found["path"]) if found else None


def _command_line(arguments: str) -> str:
    """Return the words that a program was started with."""
    written = arguments.partition("[")[2].partition("], ")[0]
    return " ".join(
        _unescaped(word["word"]) + ("…" if word["word_cut"] else "")
        for word in _ARGUMENT.finditer(written[: 4 * DETAIL_LIMIT])
    )


def _unescaped(text: str) -> str:
    """Return a string as it was before strace wrote it for C."""
    if "\\" not in text:
        return text
    raw = bytearray()
    position = 0
    for found in _ESCAPE.finditer(text):
        raw += text[position : found.start()].encode()
        hexadecimal, octal, letter = found.groups()
        if letter:
            raw += _ESCAPES.get(letter, letter).encode()
        else:
            raw.append(int(hexadecimal or octal, 16 if hexadecimal else 8) & 0xFF)
        position = found.end()
    raw += text[position:].encode()
    return raw.decode(errors="replace").replace("\0", NUL_MARK)


# Time


class _StampClock:
    """Turns stamps into seconds since the first one; one log has one sort of them."""

    def __init__(self) -> None:
        self.grade = Clock.NONE
        self.origin: str | None = None
        self._first: float | None = None
        self._last = 0.0

    def seconds(self, prefix: re.Match[bytes]) -> float | None:
        if prefix["epoch"]:
            self.grade = Clock.ZONED
            stamp = float(prefix["epoch"])
        elif prefix["day"]:
            self.grade = Clock.NAIVE
            stamp = self._of_day(prefix["day"])
        elif prefix["delta"]:
            self.grade = Clock.RELATIVE
            stamp = self._last + float(prefix["delta"])
        else:
            return None
        if self._first is None:
            self._first = stamp
            if self.grade is Clock.ZONED:
                self.origin = datetime.fromtimestamp(stamp, UTC).isoformat()
        self._last = stamp
        return round(stamp - self._first, 6)

    def _of_day(self, written: bytes) -> float:
        """Return the time of day in seconds; past midnight it goes on from the day before."""
        hours, minutes, seconds = written.split(b":")
        stamp = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        days = round((self._last - stamp) / _DAY_S)
        return stamp + days * _DAY_S
