"""The log of strace: which files were opened, programs run and hosts spoken to.

All of its time stamps (``-r``, ``-t``, ``-tt``, ``-ttt``), process prefixes (``-f``, ``-Y``),
decorated descriptors (``-y``, ``-yy``), *unfinished* and *resumed* halves and cut strings are
understood; a file of ``-ff`` is one process without a prefix. Relative paths are followed as far
as the log shows where a process stands and which folders it has open, which it does best with
``-y``; else they stay relative.

What becomes an access
----------------------

==========  ==================================================================
action      calls
==========  ==================================================================
read        open, openat, openat2, open_by_handle_at for reading; folders too
write       the same for writing; creat, truncate. O_RDWR is a read and a write
delete      unlink, unlinkat, rmdir; the old name of a rename
rename      the new name of a rename, link or symlink
exec        execve, execveat; the detail is the command line
connect     connect: ``host:port``
local       connect to a socket of this machine: its path, ``@`` and name if it has none
send        sendto, sendmsg, sendmmsg, where they name a host
==========  ==================================================================

``allowed`` is true for what succeeded and false for what was refused (`REFUSALS`). It is None
for what came to nothing, such as a file that is not there, or to no end in the log; ``detail``
names the error.

Programs ask for the same files again and again. A repeat by the same process is counted and
not yielded, and so is one by any process in a folder of the system, where the libraries lie.

What a program writes stands quoted in the log, and nothing here takes it for the log's own words:
flags are looked for behind the path, not in it. No pattern looks at a stretch of a line twice.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar, NamedTuple

from bouts.formats.guard import guarded
from bouts.formats.sandbox.accesses import DETAIL_LIMIT, Accesses, host_and_port
from bouts.formats.sandbox.lines import log_lines
from bouts.formats.sandbox.stamps import Stamps
from bouts.formats.sandbox.syscalls import (
    ADDRESS_ACTIONS,
    OPENS,
    PATH_ACTIONS,
    REFUSALS,
    open_actions,
)
from bouts.formats.text import NUL_MARK, decode
from bouts.formats.types import Access, Kind, Report, Unreadable

MAX_PROCESSES = 50_000  # that live at one time
MAX_FOLDERS = 32  # that a process has open, as far as they are remembered
MAX_HOSTS = 100  # that one call names

_SYSTEM = ("/bin/", "/dev/", "/etc/ld.so", "/lib", "/proc/", "/sbin/", "/sys/", "/usr/")

# What stands before the call: process, time, number of the system call, instruction pointer.
_PREFIX = re.compile(
    rb"(?:\[pid +(?P<pid>\d{1,8})(?:<[^>]*>)?\] |(?P<bare_pid>\d{1,8})(?:<[^>]*>)? +)?"
    rb" *(?:(?:(?P<day>\d\d:\d\d:\d\d(?:\.\d+)?)|(?P<epoch>\d{9,11}(?:\.\d+)?)|(?P<delta>\d{1,8}(?:\.\d+)?))"
    rb"(?: \(\+ +[\d.]+\))? +)?"
    rb"(?:\[[ \d]{4}\] )?(?:\[[0-9a-f?]{8,16}\] )?"
)
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>.*)", re.DOTALL)
_RESULT = re.compile(
    r"(?P<value>-?\d+|\?|0x[0-9a-f]+)(?:<(?P<path>.*?)>(?:\(deleted\))?)?(?: (?P<error>E[A-Z0-9]+)\b)?(?: |$)"
)
_RESUMED = re.compile(r"<\.\.\. (?P<name>\w+) resumed> ?(?P<rest>.*)", re.DOTALL)
_UNFINISHED = " <unfinished ...>"
# Every line of strace goes on in one of these ways after its prefix.
_SHAPE = re.compile(rb"\w+\(|<\.\.\. \w+ resumed|--- |\+\+\+ |strace: |> ")
_ENDED = re.compile(rb"\+\+\+ (?:exited with|killed by)")
_INTERESTING = re.compile(
    rb"(?:open|openat|openat2|open_by_handle_at|creat|truncate|unlink|unlinkat|rmdir|rename"
    rb"|renameat|renameat2|link|linkat|symlink|symlinkat|execve|execveat|connect|sendto|sendmsg"
    rb"|sendmmsg|chdir|fchdir|close|dup|dup2|dup3|fcntl|chroot|pivot_root|io_uring_setup"
    rb"|clone|clone3|fork|vfork)(?:\(| resumed>)"
)
_LOOKS_LIKE = re.compile(rb"\w+\(.*(?:\) += (?:-?\d|\?|0x)| <unfinished \.\.\.>)", re.DOTALL)

# A string, to its end or to the line's: one that is open is not looked at again from its middle.
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"?(\.\.\.)?', re.DOTALL)
_FLAG = re.compile(r"\bO_[A-Z]+")
_NUMBER = re.compile(r"\d+")
_INET = re.compile(r'sin_port=htons\((\d{1,5})\), sin_addr=inet_addr\("([^"]{1,64})"\)')
_INET6 = re.compile(
    r'sin6_port=htons\((\d{1,5})\).{0,80}?inet_pton\(AF_INET6, "([^"]{1,64})"', re.DOTALL
)
_UNIX = re.compile(r'sun_path=(@?)(?=")')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}

_BIRTHS = frozenset({"clone", "clone3", "fork", "vfork"})
_COPIES = frozenset({"dup", "dup2", "dup3", "fcntl"})
_BLIND_SPOTS = {
    "chroot": "a process changed its root: its paths after that lie below the new one",
    "pivot_root": "a process changed its root: its paths after that lie below the new one",
    "io_uring_setup": "a process set up io_uring, through which it can reach files and hosts"
    " that the log does not show",
}


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

    def hold(self, descriptor: str, folder: str | None) -> None:
        """A descriptor is now this folder, or none that is known."""
        self.open_folders.pop(descriptor, None)
        if folder and len(self.open_folders) < MAX_FOLDERS:
            self.open_folders[descriptor] = folder

    def child(self) -> _Process:
        return _Process(self.folder, dict(self.open_folders))


class StraceReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "strace"
    version: ClassVar[int] = 2

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
        self._log = Accesses(report)
        self._processes: dict[str, _Process] = {}
        self._halves: dict[str, _Call] = {}  # calls that were not finished, by process
        self._births: set[str] = set()  # processes whose call for a child is not finished
        self._seen_in_system: set[int] = set()

    def accesses(self, source: BinaryIO) -> Iterator[Access]:
        for number, line in log_lines(source):
            prefix = _PREFIX.match(line)
            rest = line[prefix.end() :] if prefix else line
            if prefix is None or not _SHAPE.match(rest):
                self._log.remarks.add("a line that strace did not write is passed over", number)
                continue
            self._log.counts["lines"] += 1
            t = _seconds(self._log.stamps, prefix, number)
            pid = (prefix["pid"] or prefix["bare_pid"] or b"").decode()
            if _ENDED.match(rest):
                yield from self._ended(pid)
            elif _INTERESTING.match(rest.removeprefix(b"<... ")):
                text = decode(rest, self._log.remarks, f"line {number}")
                process = self._process(pid)
                if call := self._whole_call(text, pid, number, t):
                    yield from self._told(call, pid, process)
        if not self._log.counts["lines"]:
            raise Unreadable("no line of it was written by strace")
        for pid in list(self._halves):
            yield from self._ended(pid)
        self._log.finish()

    def _process(self, pid: str) -> _Process:
        process = self._processes.get(pid)
        if process is None:
            if len(self._processes) >= MAX_PROCESSES:
                raise Unreadable(f"more processes at a time than MAX_PROCESSES = {MAX_PROCESSES:,}")
            process = self._processes[pid] = self._unborn()
            self._log.counts["processes"] += 1
        return process

    def _unborn(self) -> _Process:
        """Return a process that is new in the log. A child is often heard of before its birth
        is: where just one process is giving birth, it is the child of that one.
        """
        if len(self._births) == 1:
            (pid,) = self._births
            parent = self._processes.get(pid)
            if parent and "CLONE_FS" not in self._halves[pid].arguments:
                return parent.child()
        return _Process()

    def _ended(self, pid: str) -> Iterator[Access]:
        """Forget a process; a call that it had begun came to no end."""
        if half := self._half_of(pid):
            yield from self._told(half, pid, self._process(pid))
        self._processes.pop(pid, None)

    # Calls

    def _whole_call(self, text: str, pid: str, line: int, t: float | None) -> _Call | None:
        """Return a call with its result; None for the first half of one, which is kept."""
        if resumed := _RESUMED.fullmatch(text):
            half = self._half_of(pid)
            if half is None or half.name != resumed["name"]:
                self._log.remarks.add("a resumed call whose beginning is missing", line)
                return None
            text = f"{half.name}({half.arguments}{resumed['rest']}"
            line, t = half.line, half.t
        elif text.endswith(_UNFINISHED):
            name, _, arguments = text.removesuffix(_UNFINISHED).partition("(")
            self._halves[pid] = _Call(name, arguments, "", None, None, line, t)
            if name in _BIRTHS:
                self._births.add(pid)
            return None
        call = _CALL.fullmatch(text)
        if call is None:
            self._log.remarks.add("a call that is cut off", line)
            name, _, arguments = text.partition("(")
            return _Call(name, arguments, "", None, None, line, t)
        result = _RESULT.match(call["result"])
        value, shown, error = (
            (result["value"], result["path"], result["error"]) if result else ("", None, None)
        )
        return _Call(call["name"], call["arguments"], value, shown, error, line, t)

    def _half_of(self, pid: str) -> _Call | None:
        self._births.discard(pid)
        return self._halves.pop(pid, None)

    def _told(self, call: _Call, pid: str, process: _Process) -> Iterator[Access]:
        """Yield what a call did to the world, and follow where its process stands."""
        if call.name in OPENS or call.name == "open_by_handle_at":
            yield from self._opened(call, pid, process)
        elif call.name in PATH_ACTIONS:
            targets = _paths(call.arguments, process)
            for action, target in zip(PATH_ACTIONS[call.name], targets, strict=False):
                if action is not None:
                    yield from self._access(call, pid, process, action, target)
        elif action := ADDRESS_ACTIONS.get(call.name):
            for host in _hosts(call.arguments):
                yield from self._access(call, pid, process, action, host)
            if call.name == "connect" and (socket := _local_socket(call.arguments)):
                yield from self._access(call, pid, process, "local", socket)
        elif call.name in _BLIND_SPOTS:
            if not call.error:
                self._log.remarks.add(_BLIND_SPOTS[call.name], call.line)
        elif call.name in _BIRTHS:
            self._follow_birth(call, process)
        else:
            _follow_folder(call, process)

    def _opened(self, call: _Call, pid: str, process: _Process) -> Iterator[Access]:
        if call.name in OPENS:
            target = next(iter(_paths(call.arguments, process)), None)
            path = _STRING.search(call.arguments)
            flags = set(_FLAG.findall(call.arguments, path.end() if path else 0))
        else:
            target = None
            flags = set(_FLAG.findall(call.arguments.rpartition("}")[2]))
        # What `-y` shows is where links lead; `-yy` adds what kind of device it is.
        if call.shown:
            target = _unescaped(call.shown.partition("<")[0])
        if target is None:
            return
        is_folder = call.error is None and "O_DIRECTORY" in flags
        process.hold(call.value, target if is_folder else None)
        for action in open_actions(flags):
            yield from self._access(call, pid, process, action, target)

    def _access(
        self, call: _Call, pid: str, process: _Process, action: str, target: str
    ) -> Iterator[Access]:
        allowed = _is_allowed(call)
        is_library = target.startswith(_SYSTEM) and action == "read" and allowed is not False
        words = [] if call.value else ["unfinished"]
        words += [call.error] if call.error else []
        words += [_command_line(call.arguments)] if action == "exec" else []
        if access := self._log.access(
            action,
            target,
            allowed=allowed,
            line=call.line,
            t=call.t,
            process=pid or None,
            detail=": ".join(words),
            error=call.error,
            seen=self._seen_in_system if is_library else process.seen,
        ):
            yield access

    def _follow_birth(self, call: _Call, parent: _Process) -> None:
        """Let a child stand where its parent stands; a thread is the same process."""
        if call.error or not call.value.isdigit() or call.value == "0":
            return
        child = self._processes.get(call.value)
        if child is None:
            is_thread = "CLONE_FS" in call.arguments
            self._processes[call.value] = parent if is_thread else parent.child()
            self._log.counts["processes"] += 1
        elif child.folder is None:  # it was heard of before its birth was
            child.folder = parent.folder


def _is_allowed(call: _Call) -> bool | None:
    if call.error:
        return False if call.error in REFUSALS else None
    return None if call.value in {"", "?"} else True


# Paths and addresses


def _follow_folder(call: _Call, process: _Process) -> None:
    """Follow where a process stands, and which folders its descriptors are."""
    if call.error or not call.value:
        return
    if call.name == "chdir":
        process.folder = next(iter(_paths(call.arguments, process)), None)
    elif number := _NUMBER.match(call.arguments):
        folder = process.open_folders.get(number[0])
        shown = call.arguments[number.end() :].partition("<")[2].rpartition(">")[0]
        if call.name == "fchdir":
            process.folder = _unescaped(shown) or folder
        elif call.name == "close":
            process.hold(number[0], None)
        elif call.name in _COPIES and (call.name != "fcntl" or "F_DUPFD" in call.arguments):
            process.hold(call.value, folder)


def _paths(arguments: str, process: _Process) -> list[str]:
    """Return the paths among the arguments, absolute where the log shows what they start from."""
    paths: list[str] = []
    position = 0
    for found in _STRING.finditer(arguments):
        path = _unescaped(found[1]) + ("…" if found[2] else "")
        folder, _, shown = arguments[position : found.start()].strip(", ").partition("<")
        position = found.end()
        if shown:
            base = _unescaped(shown.rpartition(">")[0])
            if folder == "AT_FDCWD":
                process.folder = base
        elif folder in {"", "AT_FDCWD"}:
            base = process.folder or ""
        else:
            base = process.open_folders.get(folder, "")
        paths.append(posixpath.normpath(posixpath.join(base, path)) if path else base)
        if len(paths) == 2:
            break
    return paths


def _hosts(arguments: str) -> list[str]:
    """Return each ``host:port`` that a call names; other families of addresses are no host."""
    hosts: dict[str, None] = {}
    for pattern in (_INET, _INET6):
        for found in pattern.finditer(arguments):
            hosts[host_and_port(found[2], found[1])] = None
            if len(hosts) >= MAX_HOSTS:
                break
    return list(hosts)


def _local_socket(arguments: str) -> str | None:
    if found := _UNIX.search(arguments):
        path = _STRING.match(arguments, found.end())
        return found[1] + _unescaped(path[1] if path else "")
    return None


def _command_line(arguments: str) -> str:
    """Return the words that a program was started with."""
    path = _STRING.search(arguments)
    start = arguments.find("[", path.end() if path else 0) + 1
    written = arguments[start : start + 4 * DETAIL_LIMIT].partition("], ")[0]
    return " ".join(
        _unescaped(word[1]) + ("…" if word[2] else "") for word in _STRING.finditer(written)
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


def _seconds(stamps: Stamps, prefix: re.Match[bytes], line: int) -> float | None:
    if prefix["epoch"]:
        return stamps.epoch(float(prefix["epoch"]), line)
    if prefix["day"]:
        return stamps.of_day(prefix["day"].decode(), line)
    return stamps.after_last(float(prefix["delta"]), line) if prefix["delta"] else None
