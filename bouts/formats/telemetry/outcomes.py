"""How a call ended: what its record says, and where that is silent what its output says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bouts.formats.telemetry.contents import told_digest

HEAD_CHARS = 300  # of an output, where harnesses put an exit code or an error
TAIL_CHARS = 1_000

_EXIT_CODE = re.compile(
    r"^\[?exit code:? (-?\d{1,6})\]?$"
    r"|<returncode>\s*(-?\d{1,6})\s*</returncode>"
    r"|^\[?(?:the )?(?:command|process) (?:completed|exited|finished) with (?:exit )?code:? "
    r"(-?\d{1,6})",
    re.MULTILINE | re.IGNORECASE,
)
_FAILED = re.compile(
    r"\s*(?:\[?error\b|<error>|traceback \(most recent|failed to |file not found"
    r"|no replacement was performed|no match(?:es)? found|invalid )",
    re.IGNORECASE,
)
_SUCCEEDED = re.compile(
    r"(?:^|\b)(?:has been (?:edited|updated|created)|(?:created|edited|updated|written|wrote|applied)"
    r" successfully|successfully (?:created|edited|updated|wrote|replaced|applied)|^done!?$)",
    re.IGNORECASE | re.MULTILINE,
)
_CODES = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")
_STILL_RUNNING = -1  # as OpenHands and mini-swe-agent write it, not an exit code


class Outcome(NamedTuple):
    """None where nobody says."""

    ok: bool | None = None
    exit_code: int | None = None
    expected: bool = False
    infra: bool = False
    before: str | None = None  # SHA-256 of the file that the call edits
    after: str | None = None


_SILENT = Outcome()


def outcome_of(extras: Iterable[Mapping[str, Any]], output: str) -> Outcome:
    """Read a call's outcome from the records about it, the first that says something counts."""
    said: dict[str, Any] = {}
    for extra in extras:
        said = {**extra, **said}
    if not said and "code" not in output.lower():
        return _SILENT
    code = next((_code(said[key]) for key in _CODES if key in said), None)
    if code is None:
        code = _code_in(output)
    return Outcome(
        ok=_ok(said, code),
        exit_code=code,
        expected=said.get("expected") is True,
        infra=said.get("infra") is True,
        before=told_digest(said.get("before_sha256")),
        after=told_digest(said.get("after_sha256")),
    )


def told_by_words(output: str) -> bool | None:
    """Return what an editor's answer says of its success, in the words that tools use."""
    if _FAILED.match(output):
        return False
    return True if _SUCCEEDED.search(output[:HEAD_CHARS]) else None


def _ok(said: Mapping[str, Any], code: int | None) -> bool | None:
    if code is not None:
        return code == 0
    for key, meaning in (("success", True), ("ok", True), ("is_error", False), ("error", False)):
        if isinstance(said.get(key), bool):
            return bool(said[key] is meaning)
    return None


def _code(value: object) -> int | None:
    is_code = isinstance(value, int) and not isinstance(value, bool)
    if not is_code or value == _STILL_RUNNING or abs(value) > 0xFFFFFFFF:  # type: ignore[arg-type]
        return None
    return value  # type: ignore[return-value]


def _code_in(output: str) -> int | None:
    for part in (output[-TAIL_CHARS:], output[:HEAD_CHARS]):
        if codes := _EXIT_CODE.findall(part):
            return _code(int("".join(codes[-1])))  # one of the three groups matched
    return None
