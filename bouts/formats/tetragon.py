"""The events of Tetragon in JSON: one key of each object names the event.

==========  ==================================================================
action      events
==========  ==================================================================
exec        process_exec: the program; the detail is its arguments, one joined string
read, ...   process_kprobe, process_lsm, process_tracepoint on a function that is known to be
            at a file (`_FILE_ACTIONS`); any other that names a path is told by its own name.
            An open whose flags the event does not carry is an ``access``
connect     the same on ``tcp_connect`` and the like, and process_connect: ``host:port``
send        ``udp_sendmsg`` and the like
==========  ==================================================================

A hook at the entry of a function tells what was asked for, not what came of it: ``allowed`` is
None without a return value. But a file that is being read or installed as a descriptor was opened
before, and a program that runs was started. What a policy killed or overrode is refused.
Events come out of order, and lack parts where Tetragon missed a program's start.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Set
from typing import BinaryIO, ClassVar

from bouts.formats.guard import guarded
from bouts.formats.sandbox.accesses import Accesses, host_and_port, process_name
from bouts.formats.sandbox.objects import (
    Object,
    first_keys,
    json_objects,
    mapping_of,
    number_of,
    text_of,
)
from bouts.formats.sandbox.syscalls import (
    OPENS,
    PATH_ACTIONS,
    error_name,
    is_allowed,
    open_actions,
    open_flags,
)
from bouts.formats.types import Access, Kind, Report, Unreadable

MAX_ARGUMENTS = 16

_HOOKS = ("process_kprobe", "process_lsm", "process_tracepoint", "process_uprobe")
_FUNCTION = re.compile(
    r"(?:__(?:x64|ia32|arm64)_)?(?:sys_enter_|sys_exit_|__sys_|sys_|security_)?(\w{1,60})"
)
_FILE_ACTIONS = {
    **{name: "read" for name in ("read", "readv", "pread64", "preadv", "vfs_read")},
    **{name: "write" for name in ("write", "writev", "pwrite64", "pwritev", "vfs_write")},
    **{name: "write" for name in ("path_truncate", "ftruncate")},
    **{name: "delete" for name in ("inode_unlink", "path_unlink", "path_rmdir", "inode_rmdir")},
    **{name: "exec" for name in ("bprm_check", "bprm_check_security")},
}
# The file was open before the hook was reached.
_IS_OPEN = frozenset({"fd_install", "read", "readv", "pread64", "preadv", "write", "writev"})
_OPENING = OPENS | {"fd_install", "file_open"}
_HOST_ACTIONS = {
    **{name: "connect" for name in ("tcp_connect", "connect", "socket_connect")},
    **{name: "connect" for name in ("tcp_v4_connect", "tcp_v6_connect")},
    **{name: "send" for name in ("udp_sendmsg", "udpv6_sendmsg", "sendto", "sendmsg")},
    **{name: "packet" for name in ("tcp_sendmsg", "ip_output", "ip6_output")},
}
_MAY_EXEC, _MAY_WRITE, _MAY_READ = 1, 2, 4
_STOPS = frozenset({"SIGKILL", "OVERRIDE", "NOTIFYENFORCER", "SIGNAL"})


class TetragonReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "tetragon"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = first_keys(head).keys()
        return any(_is_event(key) for key in keys) and not keys.isdisjoint({"time", "node_name"})

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        log = Accesses(report)
        for line, record in json_objects(source, report, log.remarks):
            name = next((key for key in record if _is_event(key)), None)
            if name is None:
                log.remarks.add("an object that is no event is passed over", line)
                continue
            log.counts["lines"] += 1
            stamp = text_of(record.get("time"))
            t = log.stamps.iso(stamp, line) if stamp else None
            yield from _accesses(log, name, mapping_of(record[name]), line, t)
        if not log.counts["lines"]:
            raise Unreadable("no event of Tetragon is in it")
        log.finish()


def _is_event(key: str) -> bool:
    return key.startswith("process_")


def _accesses(
    log: Accesses, name: str, event: Object, line: int, t: float | None
) -> Iterator[Access]:
    process = mapping_of(event.get("process"))
    binary = text_of(process.get("binary"))
    error, allowed = None, None
    detail = ""
    targets: list[tuple[str, str]] = []
    if name == "process_exec":
        allowed = True
        detail = text_of(process.get("arguments"))
        if binary:
            targets = [("exec", _joined(text_of(process.get("cwd")), binary))]
        else:
            log.remarks.add("a program that was started is not named", line)
    elif name == "process_connect":
        if address := text_of(event.get("destination_ip")):
            port = number_of(event.get("destination_port"))
            targets = [("connect", host_and_port(address, port))]
    elif name in _HOOKS:
        written = text_of(event.get("function_name")) or text_of(event.get("event"))
        found = _FUNCTION.fullmatch(written)
        function = found[1] if found else written
        targets = list(_targets(log, function, event, process, line))
        error, allowed = _result(function, event)
        detail = written
    for action, target in targets:
        if access := log.access(
            action,
            target,
            allowed=allowed,
            line=line,
            t=t,
            process=process_name(number_of(process.get("pid")), posixpath.basename(binary)),
            detail=": ".join(filter(None, (error, detail))),
            error=error,
        ):
            yield access


def _targets(
    log: Accesses, function: str, event: Object, process: Object, line: int
) -> Iterator[tuple[str, str]]:
    """Yield what a hooked function was at: action and target."""
    written = event.get("args")
    arguments = (
        [mapping_of(value) for value in written if value] if isinstance(written, list) else []
    )
    arguments = arguments[:MAX_ARGUMENTS]
    if action := _HOST_ACTIONS.get(function):
        if target := next(filter(None, map(_host, arguments)), None):
            yield action, target
        return
    paths = list(_paths(log, arguments, text_of(process.get("cwd")), line))
    if not paths:
        return
    if function in _OPENING:
        for action in (
            open_actions(flags) if (flags := _flags(function, arguments)) else ("access",)
        ):
            yield action, paths[0]
    elif function == "file_permission":
        mask = next(iter(_numbers(arguments)), 0)
        for bit, action in ((_MAY_READ, "read"), (_MAY_WRITE, "write"), (_MAY_EXEC, "exec")):
            if mask & bit:
                yield action, paths[0]
        if not mask & (_MAY_READ | _MAY_WRITE | _MAY_EXEC):
            yield "access", paths[0]
    elif function in PATH_ACTIONS:
        for known, path in zip(PATH_ACTIONS[function], paths, strict=False):
            if known:
                yield known, path
    else:
        yield _FILE_ACTIONS.get(function, function or "access"), paths[0]


def _flags(function: str, arguments: list[Object]) -> Set[str]:
    """Return the flags of an open, empty where the event does not carry them."""
    if function in OPENS:
        paths = [bool(text_of(value.get("string_arg"))) for value in arguments]
        behind = arguments[paths.index(True) + 1 :] if True in paths else []
        return open_flags(numbers[0]) if (numbers := _numbers(behind)) else frozenset()
    written = [text_of(mapping_of(value.get("file_arg")).get("flags")) for value in arguments]
    return {flag for text in written for flag in text.split("|") if flag.startswith("O_")}


def _numbers(arguments: list[Object]) -> list[int]:
    found = [number_of(value.get("int_arg")) for value in arguments]
    return [number for number in found if number is not None]


def _paths(log: Accesses, arguments: list[Object], cwd: str, line: int) -> Iterator[str]:
    for value in arguments:
        for sort in ("file_arg", "path_arg", "linux_binprm_arg"):
            if path := text_of(mapping_of(value.get(sort)).get("path")):
                if path[0] not in "/[" and ":" not in path:
                    # The kernel resolved it: it is absolute, whatever old versions write.
                    log.remarks.add("a path without its first slash is given one", line)
                    path = f"/{path}"
                yield path
        if path := text_of(value.get("string_arg")):
            yield _joined(cwd, path)


def _joined(cwd: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(cwd if cwd.startswith("/") else "", path))


def _host(argument: Object) -> str | None:
    for sort, host, port in (
        ("sock_arg", "daddr", "dport"),
        ("skb_arg", "daddr", "dport"),
        ("sockaddr_arg", "addr", "port"),
    ):
        address = mapping_of(argument.get(sort))
        if name := text_of(address.get(host)):
            return host_and_port(name, number_of(address.get(port)))
    return None


def _result(function: str, event: Object) -> tuple[str | None, bool | None]:
    """Return the error by which a call failed, and whether it was allowed."""
    action = text_of(event.get("action")).removeprefix("KPROBE_ACTION_")
    if action in _STOPS:
        return f"stopped by the policy ({action})", False
    returned = mapping_of(event.get("return"))
    number = next(
        (number for value in returned.values() if (number := number_of(value)) is not None), None
    )
    if number is None:
        return None, True if function in _IS_OPEN else None
    if number < 0:
        return error_name(-number), is_allowed(error_name(-number))
    return None, True
