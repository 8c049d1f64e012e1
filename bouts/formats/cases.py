"""What the readers of XML test reports read alike: times, severities, messages and logs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from bouts.formats.crashes import crash_signature
from bouts.formats.remarks import Remarks
from bouts.formats.tally import LOG_LIMIT, MESSAGE_LIMIT
from bouts.formats.text import shorten, shorten_id, single_line
from bouts.formats.types import Outcome, TestResult

_SECONDS = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+", re.ASCII)
_TIMESPAN = re.compile(r"(?:(\d{1,7})\.)?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,9})?)", re.ASCII)

_SEVERITIES = frozenset({"severity", "criticality"})
_BROKEN = frozenset({Outcome.FAILED, Outcome.ERRORED})


def seconds(written: str | None, remarks: Remarks, place: str) -> float | None:
    """Return a number of seconds, or None where the file does not say, or not clearly.

    A comma before a point parts thousands. Alone it may be either, so it is not read.
    """
    written = (written or "").strip()
    if not written:
        return None
    if _THOUSANDS.fullmatch(written):
        return float(written.replace(",", ""))
    if _SECONDS.fullmatch(written) and math.isfinite(number := float(written)):
        return number
    if "," in written:
        remarks.add("a time whose comma may mean either is not read", place)
    else:
        remarks.add("a time that is no number of seconds is not read", place)
    return None


def timespan(written: str | None, remarks: Remarks, place: str) -> float | None:
    """Return the seconds of a .NET time span, ``hh:mm:ss.fffffff`` or ``d.hh:mm:ss``."""
    written = (written or "").strip()
    if not written:
        return None
    if found := _TIMESPAN.fullmatch(written):
        days, hours, minutes, rest = found.groups(default="0")
        return ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60 + float(rest)
    remarks.add("a time that is no time span is not read", place)
    return None


def stated_severity(name: str | None, value: str | None) -> str | None:
    """Return the severity that a property of a test states, None where it is another one."""
    if not value or (name or "").strip().lower() not in _SEVERITIES:
        return None
    return single_line(value.strip().lower())[:40] or None


def case_id(group: str | None, name: str) -> str:
    """Return ``group::name``, or the name alone; a group that the name repeats is taken off."""
    if not group:
        return shorten_id(name)
    return shorten_id(f"{group}::{name.removeprefix(f'{group}.') or name}")


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def told_result(
    name: str,
    outcome: Outcome,
    *,
    told: Iterable[str] = (),
    output: Iterable[str] = (),
    duration_s: float | None = None,
    severity: str | None = None,
    file: str | None = None,
    line: int | None = None,
) -> TestResult:
    """Make a result of what its report tells of it (message, then traces) and what it printed.

    The message is the first of what is told; where the test did not hold and the texts show
    that the process ended, so does the result.
    """
    texts = [text.strip() for text in told if text.strip()]
    printed = [text.strip() for text in output if text.strip()]
    crash = crash_signature("\n".join(texts)) if outcome in _BROKEN and texts else None
    return TestResult(
        id=name,
        outcome=outcome,
        duration_s=duration_s,
        message=shorten(texts[0], MESSAGE_LIMIT) if texts else "",
        log=shorten("\n\n".join([*texts, *printed]), LOG_LIMIT),
        severity=severity,
        file=single_line(file)[:1000] if file else None,
        line=line,
        crash=shorten_id(crash) if crash else None,
    )


def whole(written: str | None) -> int | None:
    """Return a whole number that is plainly written, such as a count or a line."""
    return int(written) if written and re.fullmatch(r"\d{1,9}", written, re.ASCII) else None
