"""What both logs of Codex have in common: running totals of tokens, results, changes of files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import orjson

from bouts.formats.telemetry.contents import Copy, Delete, Edit, Write
from bouts.formats.telemetry.parts import mapping, text_of, token_count, word
from bouts.formats.telemetry.patches import patch_edits

Fields = Mapping[str, Any]

MAX_CHANGES = 1_000  # files of one change

_UNSUPPORTED = "unsupported call: "
_FAILED = frozenset({"failed", "declined"})
_RUNNING = re.compile(r"^Process running with session ID (\d{1,10})$", re.MULTILINE)


class TotalTokens:
    """A running total of tokens in and out, and what it has grown by since it was last seen.

    It is written again with nothing new in it, and falls back where a session starts anew:
    neither costs anything.
    """

    def __init__(self) -> None:
        self._most = [0, 0]

    def grown(self, total: Fields) -> tuple[int, int]:
        now = self.spent(total)
        grown = [max(new - old, 0) for new, old in zip(now, self._most, strict=True)]
        self._most = [max(new, old) for new, old in zip(now, self._most, strict=True)]
        return grown[0], grown[1]

    @staticmethod
    def spent(usage: Fields) -> tuple[int, int]:
        """Return what a single response cost; tokens from the cache are among those in."""
        counts = [token_count(usage.get(f"{way}_tokens")) or 0 for way in ("input", "output")]
        return counts[0], counts[1]


def words_digest(text: str) -> bytes:
    """Return what tells a text from others, whatever white space is around it."""
    return hashlib.blake2b(text.strip().encode(errors="replace"), digest_size=12).digest()


def session_of(output: str) -> str | None:
    """Return the session in which a command still runs, where its result says so."""
    found = _RUNNING.search(output[:500])
    return found[1] if found else None


def answer_of(output: Any, shown: Fields | None = None) -> tuple[str, list[Fields]]:
    """Return what came back as text, and what is said of how it went.

    It is text, parts of text, JSON in a text with the exit code beside the output, or what a
    server gave. ``shown`` is what the program shows of the end of a call.
    """
    extras: list[Fields] = [_ending(shown)] if shown else []
    if isinstance(output, str):
        inner = _inner(output)
        text = inner["output"] if inner else output
        extras += [mapping(inner, "metadata")] if inner else []
        if text.startswith(_UNSUPPORTED):
            extras.append({"is_error": True})
        return text, extras
    if isinstance(output, dict):
        if isinstance(error := output.get("Err"), str):
            return error, [{"is_error": True}, *extras]
        inside = mapping(output, "Ok") or output
        if inside.get("isError") is True or inside.get("success") is False:
            extras.append({"is_error": True})
        return text_of(inside.get("content", [inside])), extras
    return text_of(output), extras


def _inner(output: str) -> dict[str, Any] | None:
    """Return the object in a text that holds output and metadata, as in 2025."""
    if not output.startswith("{"):
        return None
    try:
        inner = orjson.loads(output)
    except orjson.JSONDecodeError:
        return None
    is_answer = isinstance(inner, dict) and isinstance(inner.get("output"), str)
    return inner if is_answer else None


def _ending(shown: Fields) -> Fields:
    ending = {name: shown[name] for name in ("exit_code", "success") if name in shown}
    if "changes" in shown and shown.get("status") == "completed":
        ending["success"] = True
    is_failed = word(shown.get("status")) in _FAILED or bool(mapping(shown, "error"))
    return {**ending, "is_error": True} if is_failed and not ending else ending


def plain_path(written: Any) -> str | None:
    """Return a path that may be written as a ``file:`` address."""
    if not isinstance(written, str) or not written:
        return None
    return unquote(written.removeprefix("file://")) if written.startswith("file://") else written


def file_edits(changes: Any) -> tuple[Edit, ...]:
    """Return the edits in a change of files: by path with content or a patch, or a list of paths."""
    return tuple(edit for edit, _ in zip(_file_edits(changes), range(MAX_CHANGES), strict=False))


def _file_edits(changes: Any) -> Iterator[Edit]:
    if isinstance(changes, dict):
        for path, change in changes.items():
            yield from _told(path, mapping(change))
    for change in changes if isinstance(changes, list) else ():
        if isinstance(path := mapping(change).get("path"), str):
            yield Delete(path) if change.get("kind") == "delete" else Write(path, None)


def _told(path: str, change: Fields) -> Iterator[Edit]:
    content, patch, target = (change.get(n) for n in ("content", "unified_diff", "move_path"))
    if change.get("type") == "delete":
        yield Delete(path)
        return
    if isinstance(target, str):
        yield Copy(target, path, moves=True)
        path = target
    if isinstance(content, str):
        yield Write(path, content)
    elif isinstance(patch, str) and (edits := patch_edits(f"--- a/{path}\n+++ b/{path}\n{patch}")):
        yield from (replace(edit, path=path) for edit in edits)
    elif not isinstance(target, str):
        yield Write(path, None)
