"""The edits of a call of an editing tool, from its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bouts.formats.telemetry.contents import Delete, Edit, Insert, Replace, Swap, Undo, Write
from bouts.formats.telemetry.patches import is_patch, patch_edits
from bouts.formats.types import EventKind

MAX_EDITS = 1_000  # of one call

# The commands of an editor that is one tool with several, such as `str_replace_editor`.
EDITOR_KINDS = {
    "view": EventKind.READ,
    "open": EventKind.READ,
    "create": EventKind.EDIT,
    "insert": EventKind.EDIT,
    "str_replace": EventKind.EDIT,
    "undo_edit": EventKind.EDIT,
}

# Arguments by the names that tools give them.
_PATHS = (
    *("path", "file_path", "filepath", "filePath", "file", "filename", "file_name"),
    *("target_file", "absolute_path", "relative_path", "relative_workspace_path"),
    "notebook_path",
)
_PATH_LISTS = ("paths", "files", "file_paths")
_TEXTS = ("content", "contents", "file_text", "text", "new_content", "code")
_OLDS = ("old_str", "old_string", "old_text", "oldText", "search", "old", "find")
_NEWS = ("new_str", "new_string", "new_text", "newText", "replace", "new", "replacement")
_PATCHES = ("patch", "diff", "input", "patch_text", "unified_diff", "changes")
_INSERTED = ("insert_text", "new_str", "text", "content", "insert_content")


def edits_of(name: str, arguments: Mapping[str, Any]) -> list[Edit]:
    """Return the edits of a call of the tool, or editor command, of this name.

    Where the arguments name a file and no more, that is an unknown change of it; where they
    name none, there is nothing to return.
    """
    return [edit for edit, _ in zip(_edits(name, arguments), range(MAX_EDITS), strict=False)]


def path_of(arguments: Mapping[str, Any]) -> str | None:
    """Return the file that a call is about, the first where it is about several."""
    if path := _text(arguments, _PATHS):
        return path
    for name in _PATH_LISTS:
        if isinstance(values := arguments.get(name), list):
            return next((value for value in values if isinstance(value, str)), None)
    return None


def _text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of these arguments that is text."""
    for name in names:
        if isinstance(value := arguments.get(name), str):
            return value
    return None


def _edits(name: str, arguments: Mapping[str, Any]) -> Iterator[Edit]:
    """Yield the edits of a call; an unknown change of its file where it shows no more."""
    path = _text(arguments, _PATHS)
    patch = _text(arguments, _PATCHES)
    if patch and is_patch(patch):
        yield from patch_edits(patch) or ([Write(path, None)] if path else [])
        return
    if isinstance(parts := arguments.get("edits"), list):
        yield from _parted_edits(path, parts)
        return
    if path is None:
        return
    old, new, text = (_text(arguments, names) for names in (_OLDS, _NEWS, _TEXTS))
    line = arguments.get("insert_line")
    if "undo" in name:
        yield Undo(path)
    elif "delete" in name:
        yield Delete(path)
    elif isinstance(line, int) and (inserted := _text(arguments, _INSERTED)) is not None:
        yield Insert(path, line, inserted)
    elif old is not None and new is not None:
        yield Replace(path, (_swap(arguments, old, new),)) if old else Write(path, new)
    elif text is not None and not any("line" in key for key in arguments):
        yield Write(path, text, appends="append" in name)
    elif name == "create" and text is None:
        yield Write(path, "")
    else:
        yield Write(path, None)


def _parted_edits(path: str | None, parts: list[Any]) -> Iterator[Edit]:
    """Read a list of replacements, in one file or each in its own."""
    swaps: dict[str, list[Swap]] = {}
    for part in parts:
        if not isinstance(part, dict):
            continue
        where = _text(part, _PATHS) or path
        old, new = _text(part, _OLDS), _text(part, _NEWS)
        if where is not None:
            gathered = swaps.setdefault(where, [])
            if old is not None and new is not None:
                gathered.append(_swap(part, old, new))
    for where, gathered in swaps.items():
        yield Replace(where, tuple(gathered)) if gathered else Write(where, None)


def _swap(arguments: Mapping[str, Any], old: str, new: str) -> Swap:
    everywhere = any(arguments.get(name) is True for name in ("replace_all", "replaceAll"))
    return Swap(old, new, everywhere)
