"""Which names a file of a bundle may have.

Nothing is ever opened under such a name: members are unpacked to numbered files. The rules
keep names that would mean something else in another tool, or on screen, out of the database.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_PATH = 500
LONGEST_PART = 255  # bytes
MOST_PARTS = 32
EXPECTED = "A path inside the bundle"

_DRIVE = re.compile(r"[A-Za-z]:")
# Marks and overrides of writing direction: they show one name and mean another.
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def normal(name: str) -> str:
    """Return the name as bundles are keyed by it: NFC, without a leading ``./``. The root is empty.

    macOS writes names decomposed, people type them composed: both mean the same file.
    """
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    if name == ".":
        return ""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def odd(name: str) -> tuple[str, str] | None:
    """Return what is wrong with a member's (normal) name as (found, expected), or None."""
    parts = name.split("/")
    if not name:
        return '""', EXPECTED
    if name.startswith("/") or _DRIVE.match(name):
        return name, f"{EXPECTED}, not an absolute one"
    if ".." in parts:
        return "..", EXPECTED
    if "\\" in name:
        return "\\", f"{EXPECTED}, its parts separated by /"
    if "" in parts or "." in parts:
        return name, f"{EXPECTED} without empty parts"
    if len(name) > LONGEST_PATH or len(parts) > MOST_PARTS:
        return f"{len(name)} characters in {len(parts)} parts", (
            f"At most {LONGEST_PATH} characters in {MOST_PARTS} parts"
        )
    if any(len(part.encode("utf-8", "replace")) > LONGEST_PART for part in parts):
        return name, f"At most {LONGEST_PART} bytes a part"
    for char in "" if name.isascii() and name.isprintable() else name:
        if "\ud800" <= char <= "\udfff":
            return "bytes that are no UTF-8", f"{EXPECTED} in UTF-8"
        if char in _DIRECTION or unicodedata.category(char) in {"Cc", "Zl", "Zp"}:
            return char, f"{EXPECTED} without control characters"
    return None
