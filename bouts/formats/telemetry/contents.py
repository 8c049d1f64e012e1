"""What is known of the files that an agent writes: their content, or at least its digest.

Only writes teach: a file that was merely shown is not learnt, since what an agent sees is
often numbered, cut or decorated. For a path first seen being written, ``before`` is unknown.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

MAX_FILE_CHARS = 500_000  # of a file whose text is kept; of longer ones only the digest is
MAX_KEPT_CHARS = 4_000_000  # of all files together
MAX_UNDO = 4  # states of a file that can be come back to
MAX_PATHS = 20_000

_SHA256 = re.compile(r"[0-9a-f]{64}")


def content_digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def told_digest(value: object) -> str | None:
    """Return what a trajectory gives as a SHA-256 where it is one."""
    if isinstance(value, str) and _SHA256.fullmatch(digest := value.lower()):
        return digest
    return None


# The ways in which a call changes a file


@dataclass(frozen=True, slots=True)
class Write:
    """The file gets this text; None where the call does not show it."""

    path: str
    text: str | None
    appends: bool = False


@dataclass(frozen=True, slots=True)
class Swap:
    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Replace:
    """Passages are replaced one after another; ``whole_lines`` for the hunks of a patch."""

    path: str
    swaps: tuple[Swap, ...]
    whole_lines: bool = False


@dataclass(frozen=True, slots=True)
class Insert:
    """Text goes in after this line, 0 for the top."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Copy:
    """The file gets the content of another; ``moves`` where that one goes away."""

    path: str
    source: str
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    path: str


@dataclass(frozen=True, slots=True)
class Undo:
    """The last edit of the file is taken back."""

    path: str


@dataclass(frozen=True, slots=True)
class Restore:
    """The file, or every file, goes back to the last commit."""

    path: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """The record has the whole file as it was before, where it was, and as it is after."""

    path: str
    old: str | None
    new: str


Edit = Write | Replace | Insert | Copy | Delete | Undo | Restore | Told


def told_edits(path: object, old: object, new: object) -> tuple[Edit, ...]:
    """Return the edit that a record tells by the whole texts; none where it does not."""
    if not (isinstance(path, str) and path and isinstance(new, str)):
        return ()
    return (Told(path, old if isinstance(old, str) else None, new),)


def moved(edit: Edit, move: Callable[[str], str]) -> Edit:
    """Return the edit with its paths passed through a function."""
    if edit.path is None:
        return edit
    path = move(edit.path)
    if isinstance(edit, Copy):
        return Copy(path, move(edit.source), edit.moves)
    return edit if path == edit.path else replace(edit, path=path)


class Change(NamedTuple):
    """What one edit did to one path, as far as it is known."""

    path: str
    before: str | None
    after: str | None
    lines_added: int | None = None
    lines_removed: int | None = None


class _State(NamedTuple):
    digest: str | None = None
    text: str | None = None


_UNKNOWN = _State()


@dataclass(slots=True)
class _File:
    now: _State = _UNKNOWN
    past: deque[_State] = field(default_factory=lambda: deque(maxlen=MAX_UNDO))
    committed: _State = _UNKNOWN  # as of the last commit
    was_written: bool = False


class Contents:
    """Follows files through the edits of one trajectory."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._changed: dict[str, None] = {}  # paths since the last commit, the first one first
        self._kept = 0  # characters of the texts as they are now

    def knows(self, path: str) -> bool:
        """Whether the path was written before."""
        file = self._files.get(path)
        return file is not None and file.was_written

    def commit(self) -> None:
        """From now on a restore brings back the files as they are."""
        for path in self._changed:  # all others are as they were committed
            file = self._files[path]
            file.committed = file.now
        self._changed.clear()

    def note_copy(self, copy: Copy) -> None:
        """Take note of a copy to somewhere that nobody worked on, such as a backup."""
        if source := self._files.get(copy.source):
            self._files.setdefault(copy.path, _File()).now = source.now
            self._changed[copy.path] = None

    def apply(
        self,
        edit: Edit,
        *,
        succeeded: bool = True,
        before: str | None = None,
        after: str | None = None,
    ) -> list[Change]:
        """Carry out an edit and tell what it changed, a value a path.

        ``before`` and ``after`` are digests that the trajectory itself gives; they are
        believed over what was derived. An edit that failed changes nothing, and a restore
        nothing but what was written, since the last commit where it is one of every file.
        """
        if isinstance(edit, Restore):
            paths = list(self._changed) if edit.path is None else [edit.path]
            paths = [path for path in paths if self.knows(path)]
        else:
            paths = [edit.path]
        if len(paths) != 1:
            before = after = None  # whichever of the paths they speak of
        return [self._change(path, edit, succeeded, before, after) for path in paths]

    def _change(
        self, path: str, edit: Edit, succeeded: bool, before: str | None, after: str | None
    ) -> Change:
        file = self._files.get(path) or _File()
        if len(self._files) < MAX_PATHS:
            self._files[path] = file
        if path in self._files:
            self._changed[path] = None
        old = _believed(file.now, before)
        if isinstance(edit, Told) and edit.old is not None:
            old = _state(edit.old)
        if not file.was_written:
            file.committed = old
        if not succeeded:
            file.now = _believed(old, after)
            return Change(path, old.digest, file.now.digest, 0, 0)
        new = _believed(self._result(edit, file, old), after)
        if isinstance(edit, Copy) and edit.moves:
            self._files.pop(edit.source, None)
            self._changed.pop(edit.source, None)
        if not isinstance(edit, Undo):
            file.past.append(old)
        self._kept += len(new.text or "") - len(file.now.text or "")
        if self._kept > MAX_KEPT_CHARS:
            self._kept -= len(new.text or "")
            new = _State(new.digest)
        file.now, file.was_written = new, True
        if isinstance(edit, Restore):
            self._changed.pop(path, None)
        return Change(path, old.digest, new.digest, *_line_counts(edit, old.text, new.text))

    def _result(self, edit: Edit, file: _File, old: _State) -> _State:
        match edit:
            case Write(text=None):
                return _UNKNOWN
            case Told():
                return _state(edit.new)
            case Write(text=str(text), appends=False):
                return _state(text)
            case Write(text=str(text)):
                return _state(old.text + text) if old.text is not None else _UNKNOWN
            case Replace():
                return _state(_replaced(old.text, edit)) if old.text is not None else _UNKNOWN
            case Insert():
                return _state(_inserted(old.text, edit)) if old.text is not None else _UNKNOWN
            case Copy():
                source = self._files.get(edit.source)
                return source.now if source else _UNKNOWN
            case Undo():
                return file.past.pop() if file.past else _UNKNOWN
            case Restore():
                return file.committed
        return _UNKNOWN  # deleted


def _state(text: str | None) -> _State:
    if text is None:
        return _UNKNOWN
    return _State(content_digest(text), text if len(text) <= MAX_FILE_CHARS else None)


def _believed(derived: _State, told: str | None) -> _State:
    """Return the state that the trajectory tells, with the derived text where they agree."""
    return derived if told in {None, derived.digest} else _State(told)


def _replaced(text: str, edit: Replace) -> str | None:
    """Return the text after the swaps; None where one fits nowhere, or in several places."""
    for swap in edit.swaps:
        # The hunk of a patch begins at the start of a line.
        edge = "\n" if edit.whole_lines else ""
        old, new = edge + swap.old, edge + swap.new
        whole = edge + text
        times = whole.count(old) if old else 0
        if not times or (times > 1 and not swap.everywhere):
            return None
        text = whole.replace(old, new).removeprefix(edge)
    return text


def _inserted(text: str, edit: Insert) -> str | None:
    lines = text.split("\n")
    if not 0 <= edit.line <= len(lines):
        return None
    return "\n".join([*lines[: edit.line], *edit.text.split("\n"), *lines[edit.line :]])


def _line_counts(edit: Edit, old: str | None, new: str | None) -> tuple[int | None, int | None]:
    """Return the lines added and removed, as far as the edit or the texts show them."""
    if isinstance(edit, Told):
        return _differing_lines(edit.old or "", edit.new)
    if old is not None and new is not None:
        return _differing_lines(old, new)
    match edit:
        case Write(text=str(text), appends=appends):
            return len(text.splitlines()), 0 if appends else None
        case Insert(text=text):
            return len(text.split("\n")), 0
        case Replace(swaps=swaps) if not any(swap.everywhere for swap in swaps):
            pairs = [_differing_lines(swap.old, swap.new) for swap in swaps]
            return sum(added for added, _ in pairs), sum(removed for _, removed in pairs)
    return None, None


def _differing_lines(old: str, new: str) -> tuple[int, int]:
    """Return lines added and removed between the first and the last that differ."""
    olds, news = old.splitlines(), new.splitlines()
    shorter = min(len(olds), len(news))
    start = 0
    while start < shorter and olds[start] == news[start]:
        start += 1
    end = 0
    while end < shorter - start and olds[-1 - end] == news[-1 - end]:
        end += 1
    return len(news) - start - end, len(olds) - start - end
