"""The access log of squid: what went through the proxy, in its own format or any other.

An operator may write the log in whatever columns. What is looked for in each line has a shape
of its own, wherever it stands: the result (``TCP_MISS/200``, or ``TCP_MISS:HIER_DIRECT`` as in the
Apache-like formats), the method with its URL, and a time (seconds since 1970, or in brackets with
a zone). A request is a ``connect`` to the host of its URL; ``detail`` has the method and result.

``allowed`` is false for what the proxy denied, true for what was answered, None where it came to
nothing: no such host, no answer, given up. A line without a request (``error:`` in place of a URL)
is a connection that never said what it wanted: it is counted, and is no access.
In the native format the time is that of a request's end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar
from urllib.parse import urlsplit

from bouts.formats.guard import guarded
from bouts.formats.sandbox.accesses import Accesses
from bouts.formats.sandbox.lines import log_lines
from bouts.formats.text import decode
from bouts.formats.types import Access, Kind, Report, Unreadable

MAX_LINE = 16 * 1024  # of a line, what is looked at; squid itself cuts URLs at 8 kB

_CODE = (
    r"(?P<code>(?:TCP|UDP|NONE)(?:_[A-Z]+){0,5})"
    r"(?:/(?P<status>\d{3}|-)|:(?P<way>[A-Z]+(?:_[A-Z]+){0,4}))(?![\w/])"
)
_RESULT = re.compile(rf'(?:^|[\s"]){_CODE}')
# In columns that commas and the like part. Tried second: a URL may have these in it, but no space.
_RESULT_IN_COLUMNS = re.compile(rf"[|,;]{_CODE}")
_RESULT_BYTES = re.compile(rf'(?:^|[\s"|,;]){_CODE}'.encode())
_REQUEST = re.compile(
    r'(?:^|[\s"|,;])(?P<method>[A-Z_]{3,20})(?:[ \t]+|[|,;])(?P<url>[^\s"|]{1,8192})'
)
_NO_REQUEST = re.compile(r'[\s"|,;]error:')
_EPOCH = re.compile(r"(?:^|[\s\"|,;\[])(\d{9,11}\.\d{3})(?![\d.])")
_BRACKETS = re.compile(r"\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\]")
_STATUS = re.compile(r'" (\d{3}) ')
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SEPARATORS = ' \t",;|'
_GATEWAY_FAILED = {"000", "502", "503", "504", "-"}


class SquidReader:
    kind: ClassVar[Kind] = Kind.SANDBOX
    format: ClassVar[str] = "squid"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        lines = [line[:MAX_LINE] for line in head.split(b"\n")[:50] if line.strip()]
        found = sum(
            _RESULT_BYTES.search(line) is not None and not line.startswith(b"{") for line in lines
        )
        return 2 * found > len(lines)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Access]:
        log = Accesses(report)
        for number, line in log_lines(source):
            text = decode(line[:MAX_LINE], log.remarks, f"line {number}")
            result = _RESULT.search(text) or _RESULT_IN_COLUMNS.search(text)
            if result is None:
                log.remarks.add("a line without a result of squid is passed over", number)
                continue
            log.counts["lines"] += 1
            t = _seconds(log, text, number)
            if access := _access(log, text, result, number, t):
                yield access
        if not log.counts["lines"]:
            raise Unreadable("no line of it tells a result of squid")
        log.finish()


def _seconds(log: Accesses, text: str, line: int) -> float | None:
    if found := _EPOCH.search(text):
        return log.stamps.epoch(float(found[1]), line)
    if found := _BRACKETS.search(text):
        day, month, year, time, zone = found.groups()
        number = _MONTHS.index(month) + 1 if month in _MONTHS else 0
        return log.stamps.iso(f"{year}-{number:02}-{day}T{time}{zone}", line)
    return None


def _access(
    log: Accesses, text: str, result: re.Match[str], line: int, t: float | None
) -> Access | None:
    request = _request(text)
    if request is None:
        log.counts["no_request"] += 1
        if not _NO_REQUEST.search(text):
            log.remarks.add("a request whose host is not in the line", line)
        return None
    target, asked = request
    status = result["status"]
    if status is None and (found := _STATUS.search(text)):
        status = found[1]
    return log.access(
        "connect",
        target,
        allowed=_is_allowed(result["code"], status),
        line=line,
        t=t,
        detail=f"{asked}: {result[0].strip(_SEPARATORS)}",
    )


def _request(text: str) -> tuple[str, str] | None:
    """Return the host of the first request in a line, and the request as it was made."""
    for found in _REQUEST.finditer(text):
        method, url = found["method"], found["url"]
        if method == "CONNECT":
            url = re.split("[,;]", url, maxsplit=1)[0]  # a column may end there
        if ("://" in url or method == "CONNECT") and (target := _target(url)):
            return target, f"{method} {url}"
    return None


def _target(url: str) -> str | None:
    """Return ``host:port``; the port that a scheme stands for where none is written."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    port = port or {"http": 80, "https": 443, "ftp": 21}.get(parts.scheme)
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{port}" if port else host


def _is_allowed(code: str, status: str | None) -> bool | None:
    if "DENIED" in code:
        return False
    is_unanswered = status is None or status in _GATEWAY_FAILED
    return None if is_unanswered or "ABORTED" in code or code.startswith("NONE") else True
