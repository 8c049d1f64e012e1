"""The words that people read for stored codes, and the badge that a status wears."""

from __future__ import annotations

# Codes whose words are not simply the code without underscores.
WORDS = {
    # Why a value is missing (SCORING.md, 3).
    "no_edits": "no code change",
    "no_errors": "nothing went wrong",
    "no_contradictions": "no test contradicted an attempt",
    "no_failing_tests": "no test failed when first seen",
    "no_content": "the record carries no file content",
    "no_clock": "the record has no timestamps",
    "degraded": "the clock of the record has gaps or runs backwards",
    "tests_unreadable": "test results unreadable",
    "no_telemetry": "no telemetry",
    "no_tests": "no test in either suite",
    "too_few": "too few to say",
    # Marks
    "reduced_evidence": "one suite only",
}

# Status to the look of its badge (static/css/bouts.css).
LOOKS = {
    # scorecards and their marks
    "pending": "pending",
    "provisional": "provisional",
    "final": "final",
    "unscored": "bad",
    "failed": "bad",
    "reduced": "void",
    "reduced_evidence": "void",
    "incomplete": "void",
    "flagged": "warn",
    "held": "held",
    "superseded": "void",
    "withdrawn": "void",
    "excluded": "void",
    "nondeterministic": "warn",
    # findings
    "proposed": "provisional",
    "applied": "final",
    "dismissed": "void",
    "voided": "void",
    "warning": "warn",
    "flag": "warn",
    "quarantine": "held",
    # cases, invitations
    "open": "open",
    "claimed": "claimed",
    "awaiting_second": "second",
    "awaiting_panel": "pending",
    "decided": "final",
    "void": "void",
    # seats
    "scored": "final",
    "waiting": "pending",
    "refused": "bad",
    "timeout": "bad",
    "unavailable": "bad",
    "invalid": "bad",
    # artifacts, uploads, steps
    "read": "final",
    "unreadable": "bad",
    "unresolved": "warn",
    "received": "pending",
    "working": "claimed",
    "stored": "final",
    "unchanged": "void",
    "valid": "final",
    "done": "final",
    "stuck": "warn",
    # challenges
    "active": "final",
    "retired": "void",
    "frozen": "held",
    # people and their links
    "inactive": "void",
    "used": "final",
    "expired": "void",
    "revoked": "void",
}


def of(code: str) -> str:
    """Return the words for a code; one without an entry is read without its underscores."""
    return WORDS.get(code, code.replace("_", " "))
