"""Patches as a tool's argument: unified diffs, and the ``*** Begin Patch`` form of Codex."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bouts.formats.diff import changes
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry.contents import Copy, Delete, Edit, Replace, Swap, Write
from bouts.formats.types import DiffLine, FileChange, Unreadable

MAX_PATCH_CHARS = 2_000_000  # of a patch, what is looked at

_UNIFIED = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ |@@ -\d)", re.MULTILINE)
_BEGIN = "*** Begin Patch"
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")


def is_patch(text: str) -> bool:
    return _BEGIN in text or _UNIFIED.search(text) is not None


def patch_edits(text: str) -> list[Edit]:
    """Return the edits of a patch in their order; those before a fault where there is one."""
    text = text[:MAX_PATCH_CHARS]
    edits = _codex_edits(text) if _BEGIN in text else _unified_edits(text)
    return list(edits)


def _unified_edits(text: str) -> Iterator[Edit]:
    data = text.encode(errors="replace")
    try:
        for change in changes(enumerate(data.split(b"\n"), start=1), len(data), Remarks()):
            yield from _edits_of(change)
    except Unreadable:
        return


def _edits_of(change: FileChange) -> Iterator[Edit]:
    hunks = [hunk.lines for hunk in change.hunks]
    if change.status in {"renamed", "copied"} and change.old_path:
        yield Copy(change.path, change.old_path, moves=change.status == "renamed")
    if change.status == "deleted":
        yield Delete(change.path)
    elif change.status == "added":
        yield Write(change.path, "".join(_side(lines, " +") for lines in hunks))
    elif hunks:
        swaps = tuple(Swap(_side(lines, " -"), _side(lines, " +")) for lines in hunks)
        yield Replace(change.path, swaps, whole_lines=True)
    elif change.binary:
        yield Write(change.path, None)


def _side(lines: tuple[DiffLine, ...], signs: str) -> str:
    """Return one side of a hunk as text; the mark of a missing newline takes it away."""
    text: list[str] = []
    is_last_of_side = False
    for line in lines:
        if line.sign == "\\" and is_last_of_side:
            text[-1] = text[-1].removesuffix("\n")
        is_last_of_side = line.sign in signs
        if is_last_of_side:
            text.append(f"{line.text}\n")
    return "".join(text)


def _codex_edits(text: str) -> Iterator[Edit]:
    """Read files that each begin with ``*** Add/Update/Delete File:`` up to the next one.

    An update is passages of context, removed and added lines, parted by ``@@`` lines.
    """
    for action, path, body in _codex_files(text):
        path = path.strip()
        if action == "Delete":
            yield Delete(path)
        elif action == "Add":
            yield Write(path, "".join(f"{line[1:]}\n" for line in body if line.startswith("+")))
        else:
            if body and (move := _MOVE.fullmatch(body[0].rstrip())):
                yield Copy(move[1].strip(), path, moves=True)
                path = move[1].strip()
            if swaps := tuple(_swaps(body)):
                yield Replace(path, swaps, whole_lines=True)


def _codex_files(text: str) -> Iterator[tuple[str, str, list[str]]]:
    action = path = ""
    body: list[str] = []
    for line in text.partition(_BEGIN)[2].split("\n"):
        is_end = line.startswith("*** End Patch")
        header = _FILE.match(line)
        if is_end or header:
            if action:
                yield action, path, body
            action, path = (header[1], header[2]) if header else ("", "")
            body = []
        else:
            body.append(line)
        if is_end:
            return
    if action:
        yield action, path, body


def _swaps(body: list[str]) -> Iterator[Swap]:
    old: list[str] = []
    new: list[str] = []
    for line in [*body, "@@"]:
        if line.startswith(("@@", "*** ")):
            if old != new:
                yield Swap("".join(old), "".join(new))
            old, new = [], []
        else:
            text = f"{line[1:]}\n"
            if not line.startswith("+"):
                old.append(text)
            if not line.startswith("-"):
                new.append(text)
