"""Accesses as a reader finds them: counted, bounded, and repeats told once."""

from __future__ import annotations

import ipaddress
from collections import Counter
from contextlib import suppress

from bouts.formats.remarks import Remarks
from bouts.formats.sandbox.stamps import Stamps
from bouts.formats.text import shorten, shorten_id, single_line
from bouts.formats.types import Access, Report, Unreadable

MAX_ACCESSES = 1_000_000
MAX_SEEN = 20_000  # accesses noticed when repeated
DETAIL_LIMIT = 500  # characters

# Told every time: each of them goes out anew.
_ACTS = frozenset({"connect", "exec", "send"})
_ENDS = {True: "allowed", False: "refused", None: "neither"}


class Accesses:
    """Makes the accesses of one log and keeps what the report says of them."""

    def __init__(self, report: Report) -> None:
        self.remarks = Remarks()
        self.stamps = Stamps(self.remarks)
        self.counts: Counter[str] = Counter(lines=0, accesses=0)
        self._report = report
        self._seen: set[int] = set()

    def access(
        self,
        action: str,
        target: str,
        *,
        allowed: bool | None,
        line: int,
        t: float | None = None,
        process: str | None = None,
        detail: str = "",
        error: str | None = None,
        seen: set[int] | None = None,
    ) -> Access | None:
        """Return the access, None for a repeat of one that needs no second telling.

        ``seen`` are the hashes of what the same process did before, where the reader keeps
        processes apart; else its name does. Raises `Unreadable` past `MAX_ACCESSES`.
        """
        key = hash((process if seen is None else None, action, target, allowed, error))
        seen = self._seen if seen is None else seen
        if key in seen and not (action in _ACTS and error != "ENOENT"):
            self.counts["repeated"] += 1
            return None
        if len(seen) < MAX_SEEN:
            seen.add(key)
        self.counts["accesses"] += 1
        if self.counts["accesses"] > MAX_ACCESSES:
            raise Unreadable(f"more accesses than MAX_ACCESSES = {MAX_ACCESSES:,}", f"line {line}")
        self.counts[action] += 1
        self.counts[_ENDS[allowed]] += 1
        return Access(
            action=action,
            target=shorten_id(target),
            allowed=allowed,
            line=line,
            t=t,
            process=shorten_id(process) if process else None,
            detail=shorten(single_line(detail), DETAIL_LIMIT),
        )

    def finish(self) -> None:
        """Write all of it into the report, once the log is read."""
        self._report.clock = self.stamps.grade
        self._report.origin = self.stamps.origin
        self._report.counts.update(self.counts)
        self.remarks.write(self._report)


def host_and_port(host: str, port: object) -> str:
    """Return ``host:port``, an IPv6 address short and in brackets; the host alone where it has no port."""
    if ":" in host:
        with suppress(ValueError):
            host = ipaddress.ip_address(host).compressed
        host = f"[{host}]"
    return host if port in (None, "") else f"{host}:{port}"


def process_name(pid: object, name: str | None = None) -> str | None:
    """Return how a process is told: its number, and its name where the log has it."""
    return " ".join(str(part) for part in (pid, name) if part not in (None, "")) or None
