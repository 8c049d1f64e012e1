"""The alerts of Falco in JSON, one for each event that a rule matched.

Which fields an alert has depends on the rule's output string. An alert becomes an access where it
names the system call (``evt.type``) and what that was at (``fd.name`` and the like); any other is
an ``alert`` on the name of its rule, so that nothing is lost. An open whose flags are not among
the fields is an ``access``: whether it was for reading is not known then.

``allowed`` is known where the rule puts out ``evt.res``, ``evt.rawres`` or ``evt.failed``, or the
number of an open file (``fd.num``). A rule that matched says nothing of that by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    ADDRESS_ACTIONS,
    OPENS,
    PATH_ACTIONS,
    error_name,
    is_allowed,
    open_actions,
)
from bouts.formats.types import Access, Kind, Report, Unreadable

_ALWAYS = {"output", "priority", "rule"}
_NS = 1_000_000_000
_FLAG = re.compile(r"\bO_[A-Z]+")
_READS = frozenset({"read", "readv", "pread", "preadv", "pread64"})
_WRITES = frozenset({"write", "writev", "pwrite", "pwritev", "pwrite64"})
_PATH_FIELDS = ("fs.path.name", "fd.name", "evt.arg.name", "evt.arg.path")
# ``10.0.0.2:40000->1.2.3.4:443``: a connection by both its ends, ours first.
_ENDS = re.compile(r"\S{2,64}->(?P<host>[0-9A-Fa-f.:]{2,64}):(?P<port>\d{1,5})")


class FalcoReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "falco"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = first_keys(head).keys()
        return keys >= _ALWAYS and not keys.isdisjoint({"time", "output_fields"})

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        log = Accesses(report)
        for line, record in json_objects(source, report, log.remarks):
            if not isinstance(record.get("rule"), str):
                log.remarks.add("an object that is no alert is passed over", line)
                continue
            log.counts["lines"] += 1
            fields = mapping_of(record.get("output_fields"))
            t = _seconds(log, record, fields, line)
            yield from _accesses(log, record, fields, line, t)
        if not log.counts["lines"]:
            raise Unreadable("no alert of Falco is in it")
        log.finish()


def _seconds(log: Accesses, record: Object, fields: Object, line: int) -> float | None:
    if stamp := text_of(record.get("time")):
        return log.stamps.iso(stamp, line)
    # Both are whole nanoseconds, whatever the second one's name says.
    ns = number_of(fields.get("evt.time")) or number_of(fields.get("evt.time.iso8601"))
    return log.stamps.epoch(ns / _NS, line) if ns and 0 < ns < 10**20 else None


def _accesses(
    log: Accesses, record: Object, fields: Object, line: int, t: float | None
) -> Iterator[Access]:
    rule = text_of(record["rule"])
    call = text_of(fields.get("evt.type"))
    targets = list(_targets(call, fields))
    error, allowed = _result(call, fields)
    is_alert = not targets
    if is_alert:
        targets = [("alert", rule or "a rule without a name")]
    elif allowed is None and error is None:
        log.remarks.add("the rule does not put out how the call ended", line)
    command = text_of(fields.get("proc.cmdline"))
    said = command or text_of(record.get("output")) if is_alert else f"rule {rule}"
    if not is_alert and command:
        said = f"{command} ({said})"
    for action, target in targets:
        if access := log.access(
            action,
            target,
            allowed=None if is_alert else allowed,
            line=line,
            t=t,
            process=process_name(
                number_of(fields.get("proc.pid")), text_of(fields.get("proc.name"))
            ),
            detail=": ".join(filter(None, (error, said))),
            error=error,
        ):
            yield access


def _targets(call: str, fields: Object) -> Iterator[tuple[str, str]]:
    """Yield what a call was at: action and target."""
    path = next(filter(None, (text_of(fields.get(name)) for name in _PATH_FIELDS)), "")
    if call in OPENS and path:
        for action in _open_actions(fields):
            yield action, path
    elif call in {"execve", "execveat"}:
        words = text_of(fields.get("proc.cmdline")).split()
        program = text_of(fields.get("proc.exepath")) or text_of(fields.get("proc.exe"))
        if program or words:
            yield "exec", program or words[0]
    elif way := ADDRESS_ACTIONS.get(call):
        if target := _host(fields):
            yield way, target
        elif path.startswith(("/", "@")):
            yield "local", path
    elif call in _READS | _WRITES and path.startswith("/"):
        yield ("read" if call in _READS else "write"), path
    elif call in PATH_ACTIONS:
        names = (text_of(fields.get("fs.path.source")), text_of(fields.get("fs.path.target")))
        both = names if all(names) else (path,)
        actions = [name for name in PATH_ACTIONS[call] if name][-len(both) :]
        yield from zip(actions, both[-len(actions) :], strict=False) if path or all(names) else ()


def _open_actions(fields: Object) -> tuple[str, ...]:
    if flags := set(_FLAG.findall(text_of(fields.get("evt.arg.flags")))):
        return open_actions(flags)
    reads = fields.get("evt.is_open_read") in (True, "true")
    writes = fields.get("evt.is_open_write") in (True, "true")
    if reads or writes:
        return ("read",) * reads + ("write",) * writes
    return ("access",)


def _host(fields: Object) -> str | None:
    if found := _ENDS.fullmatch(text_of(fields.get("fd.name"))):
        return host_and_port(found["host"], found["port"])
    for host, port in (("fd.sip", "fd.sport"), ("fd.rip", "fd.rport")):
        if address := text_of(fields.get(host)):
            return host_and_port(address, number_of(fields.get(port)))
    return None


def _result(call: str, fields: Object) -> tuple[str | None, bool | None]:
    """Return the error by which a call failed, and whether it was allowed."""
    written = text_of(fields.get("evt.res"))
    number = number_of(fields.get("evt.rawres"))
    if number is None:
        number = number_of(written)
    if written == "SUCCESS" or (number is not None and number >= 0):
        return None, True
    if number is not None:
        return error_name(-number), is_allowed(error_name(-number))
    if written:
        return written, is_allowed(written)
    if fields.get("evt.failed") in (False, "false"):
        return None, True
    descriptor = number_of(fields.get("fd.num"))
    return None, True if call in OPENS and descriptor is not None and descriptor >= 0 else None
