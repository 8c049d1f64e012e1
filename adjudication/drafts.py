"""What somebody has typed and not yet decided: the same fields on the page and over the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bouts.rules import CRITERIA, Judge

LONGEST = 20_000  # characters of one field, more than any honest form has
FIELDS = frozenset(
    {
        *CRITERIA[Judge.STRATEGY],
        "opinion", "reason",
        "ruling", "score", "points", "public_reason", "private_note",
    }
)  # fmt: skip


def legible(fields: Mapping[str, str]) -> dict[str, str]:
    """Cut what was typed to a length that can be kept.

    NUL characters, which no keyboard types and PostgreSQL cannot store, are shown as ␀.
    """
    return {name: value[:LONGEST].replace("\0", "␀") for name, value in fields.items()}


def of_commit(given: Mapping[str, Any]) -> dict[str, str]:
    """Return what a program sent to commit, as the form of the page would have it."""
    fields = {**(given.get("levels") or {}), "opinion": given.get("opinion", "")}
    return _filled({**fields, "reason": given.get("reason", "")})


def of_ruling(given: Mapping[str, Any]) -> dict[str, str]:
    """Return what a program sent as a ruling, as the form of the page would have it."""
    kind, seat = given.get("kind", ""), given.get("seat", "")
    fields = {name: given.get(name) for name in FIELDS & set(given)}
    return _filled({**fields, "ruling": f"{kind}:{seat}" if seat else kind})


def _filled(fields: Mapping[str, Any]) -> dict[str, str]:
    """Leave out what is empty and what no form of ours has."""
    return {
        name: str(value)
        for name, value in fields.items()
        if name in FIELDS and value not in (None, "")
    }
