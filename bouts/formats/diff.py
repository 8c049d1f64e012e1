"""Unified diffs: of git, of diff -u, of svn, alone or inside a mail (FORMATS.md, 5).

The reader is our own. A hunk ends when the line counts of its header are used up, so that the
``-- `` of a mail's signature is no deletion and a diff cut short is noticed; lines end at LF
alone; a file's change is yielded as soon as the next one begins, so that memory holds one.
Names may be absolute, hold ``..`` or control characters: they are shown, never opened.

A file of nothing but white space is an empty diff: nothing was changed. A file with text in
it and no change is not a diff, and unreadable.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from os.path import commonprefix
from typing import BinaryIO, ClassVar, NamedTuple

from bouts.formats.crumbs import Crumbs
from bouts.formats.guard import guarded
from bouts.formats.lines import numbered_lines
from bouts.formats.remarks import Remarks
from bouts.formats.text import decode, shorten, shorten_id, single_line
from bouts.formats.types import DiffLine, FileChange, Hunk, Kind, Report, Unreadable

MAX_FILES = 100_000
MAX_KEPT_LINES = 50_000  # of one file that are kept to be shown; all are counted
MAX_KEPT_BYTES = 4 * 1024 * 1024  # of the same
BYTES_EACH_HUNK = 128  # that hunks have on average: see `Crumbs`
MAX_TITLE_CHARS = 500  # of a hunk's first line, which ends in a line of code

Numbered = Iterator[tuple[int, bytes]]

_GIT = b"diff --git "
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_COMBINED = re.compile(rb"@@@+ -\d|diff --(?:cc|combined) ")
_BINARY = re.compile(rb"Binary files (.+) and (.+) differ\r?$|GIT binary patch\r?$")
_SVN_NOTE = re.compile(rb"\s+\((?:revision \d+|working copy|nonexistent)\)$")
_SVN_BINARY = b"Cannot display: file marked as a binary type"
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))
_NULL = b"/dev/null"
_END = b"@"  # stands for the end of the file, and is no line of a hunk
_CONTEXT = (b" ", b"", b"\r")  # signs; some mailers trim an empty line's
_NO_NEWLINE = b"No newline at end of file"
_NOT_KEPT = (
    "lines that are counted but not kept, "
    f"MAX_KEPT_LINES = {MAX_KEPT_LINES:,} and MAX_KEPT_BYTES = {MAX_KEPT_BYTES:,} a file"
)
_MOVES = (
    ("renamed", b"rename from", b"rename to"),
    ("copied", b"copy from", b"copy to"),
)
_HEADER_FIELDS = (
    *(b"old mode", b"new mode", b"new file mode", b"deleted file mode"),
    *(field for _, *both in _MOVES for field in both),
)
# What a line outside of hunks begins with if it tells anything.
_TELLING = re.compile(
    rb"[-+\\]|@@|diff --|Index: |Binary files |GIT binary patch|Cannot display: "
    rb"|(?:old|new|new file|deleted file) mode |(?:rename|copy) (?:from|to) "
)
# What git puts before the names of both sides; `diff.mnemonicPrefix` has more than a/ and b/.
_PREFIXES = frozenset({b"a/", b"b/", b"c/", b"i/", b"o/", b"w/", b"1/", b"2/"})
# At the start of a line, these say that a file is probably a diff.
_SIGNS = re.compile(
    rb"^(?:diff --git |Index: \S|@@ -\d+(?:,\d+)? \+\d+|GIT binary patch|Binary files .+ differ)",
    re.MULTILINE,
)


class DiffReader:
    kind: ClassVar[Kind] = Kind.DIFF
    format: ClassVar[str] = "diff"
    version: ClassVar[int] = 2

    def recognises(self, head: bytes) -> bool:
        return not head.strip() or _SIGNS.search(head) is not None

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[FileChange]:
        remarks = Remarks()
        counts: Counter[str] = Counter(files=0, added=0, removed=0)
        seen: set[int] = set()  # hashes of the paths
        size = source.seek(0, io.SEEK_END)
        for change in changes(numbered_lines(source), size, remarks):
            counts["files"] += 1
            counts["added"] += change.added
            counts["removed"] += change.removed
            counts[f"files_{change.status}"] += 1
            counts["binary"] += change.binary
            counts["line_endings_only"] += change.line_endings_only
            if counts["files"] > MAX_FILES:
                raise Unreadable(f"more files than MAX_FILES = {MAX_FILES:,}")
            path = hash(change.path)
            if path in seen:
                remarks.add("a path that is changed more than once", change.path[:200])
            seen.add(path)
            _remark_on_path(change.path, remarks)
            yield change
        if not counts["files"] and not _is_blank(source):
            raise Unreadable("there is text in it but no change: not a unified diff")
        report.counts.update({name: count for name, count in counts.items() if count})
        report.counts.update({name: counts[name] for name in ("files", "added", "removed")})
        remarks.write(report)


def changes(lines: Numbered, size: int, remarks: Remarks) -> Iterator[FileChange]:
    """Yield the change of each file in a diff, given as numbered lines without their LF.

    ``size`` is how many bytes they are.
    """
    hunks = Crumbs(size, "hunks", BYTES_EACH_HUNK)
    draft: _Draft | None = None
    old_name: bytes | None = None  # of a `--- ` line, until the next line shows what it was
    for number, line in lines:
        previous, old_name = old_name, None
        if not _TELLING.match(line):
            continue
        if line.startswith(_GIT):
            if draft and not draft.is_announced:  # `svn diff --git` has both first lines
                yield draft.finished(remarks)
            draft = _Draft(number, git_names=line[len(_GIT) :].rstrip(b"\r"))
        elif line.startswith(b"Index: "):
            if draft:
                yield draft.finished(remarks)
            draft = _Draft(number, index=line[len(b"Index: ") :].rstrip())
        elif previous is not None and line.startswith(b"+++ "):
            if draft and draft.has_names:
                yield draft.finished(remarks)
                draft = None
            draft = draft or _Draft(number - 1)
            draft.name(previous, line[4:])
        elif line.startswith(b"--- "):
            old_name = line[4:]
        elif hunk := _HUNK.match(line):
            if draft is None:
                raise Unreadable("a hunk before any file name", f"line {number}")
            hunks.add(f"line {number}")
            draft.read_hunk(Header.of(hunk, number, remarks), lines, remarks)
        elif _COMBINED.match(line):
            raise Unreadable("a combined diff of a merge, not a unified one", f"line {number}")
        elif binary := _BINARY.match(line):
            if draft is None or (binary[1] and not draft.is_open):
                if draft:
                    yield draft.finished(remarks)
                draft = _Draft(number)
            draft.binary = True
            if binary[1] and not draft.has_names:
                draft.name(binary[1], binary[2])
        elif draft:
            draft.read_line(number, line)
    if draft:
        yield draft.finished(remarks)


class _Draft:
    """What is known so far of the file that is being read."""

    def __init__(self, line: int, git_names: bytes | None = None, index: bytes = b"") -> None:
        self.binary = False
        self._line = line
        self._is_git = git_names is not None
        self._git_names = _split_git_names(git_names or b"")
        self._old, self._new = self._git_names
        self._index = index
        self._named = False  # by `---` and `+++`
        self._header: dict[bytes, bytes] = {}
        self._hunks: list[tuple[Header, list[DiffLine]]] = []
        self._added, self._removed = _OneSided(), _OneSided()
        self._kept_lines = self._kept_bytes = 0
        self._after_hunk = 0  # number of the line after the last hunk

    @property
    def has_names(self) -> bool:
        return self._named

    @property
    def is_announced(self) -> bool:
        """Whether svn's first line alone is known of it."""
        return bool(self._index) and self.is_open and not self._named

    @property
    def is_open(self) -> bool:
        """Whether its header may still go on."""
        return not self._hunks and not self.binary

    def name(self, old: bytes, new: bytes) -> None:
        self._named = True
        self._old, self._new = _written_name(old), _written_name(new)

    def read_line(self, number: int, line: bytes) -> None:
        """Take a line that is no hunk's: of git's header, the newline mark, or of a mail."""
        if line.startswith(b"\\") and number == self._after_hunk:
            self._hunks[-1][1].append(DiffLine("\\", None, None, _NO_NEWLINE.decode()))
            self._after_hunk = number + 1
        elif number == self._after_hunk and line[:1] in (b"+", b"-") and line[:2] != b"--":
            raise Unreadable("a hunk is longer than its header says", f"line {number}")
        elif self._index and line.startswith(_SVN_BINARY):
            self.binary = True
        elif self._is_git and self.is_open:
            for field in _HEADER_FIELDS:
                if line.startswith(field + b" "):
                    self._header[field] = line[len(field) + 1 :].rstrip(b"\r")

    def read_hunk(self, header: Header, lines: Numbered, remarks: Remarks) -> None:
        """Take a hunk's lines, until both lengths of its header are used up and not before."""
        kept: list[DiffLine] = []
        self._hunks.append((header, kept))
        old, new = header.old, header.new
        old_end, new_end = old + header.old_length, new + header.new_length
        number = header.line
        while old < old_end or new < new_end:
            number, line = next(lines, (number, _END))
            sign, text = line[:1], line[1:]
            at: tuple[int | None, int | None] = (old, new)
            if sign == b"+" and new < new_end:
                at = (None, new)
                new += 1
                self._added.add(text)
            elif sign == b"-" and old < old_end:
                at = (old, None)
                old += 1
                self._removed.add(text)
            elif sign == b"\\":
                at, text = (None, None), _NO_NEWLINE
            elif sign in _CONTEXT and old < old_end and new < new_end:
                if sign != b" ":  # an empty line whose space was trimmed
                    sign, text = b" ", line
                old, new = old + 1, new + 1
            else:
                to_come = f"{old_end - old:,} old and {new_end - new:,} new lines to come"
                raise Unreadable(f"a hunk breaks off with {to_come}", f"line {number}")
            if self._keeps(len(text)):
                kept.append(DiffLine(sign.decode(), *at, decode(text, remarks, number)))
            else:
                remarks.add(_NOT_KEPT, number)
        self._after_hunk = number + 1

    def _keeps(self, size: int) -> bool:
        self._kept_lines += 1
        self._kept_bytes += size
        return self._kept_lines <= MAX_KEPT_LINES and self._kept_bytes <= MAX_KEPT_BYTES

    def finished(self, remarks: Remarks) -> FileChange:
        status, old, new = self._outcome(remarks)
        if not new.strip():
            raise Unreadable("a changed file without a name", f"line {self._line}")
        path = _shown(new, remarks)
        old_path = _shown(old, remarks)
        added, removed = self._added, self._removed
        return FileChange(
            path=path,
            old_path=old_path if old_path not in {"", path} and status != "added" else None,
            status=status,
            added=added.count,
            removed=removed.count,
            binary=self.binary,
            hunks=tuple(Hunk(header.title, tuple(lines)) for header, lines in self._hunks),
            line_endings_only=added.is_but_for_endings(removed),
        )

    def _outcome(self, remarks: Remarks) -> tuple[str, bytes, bytes]:
        """Return the status and both names; a file that is gone keeps its old name."""
        header = self._header
        names = self._old or self._index, self._new or self._index
        move = next((move for move in _MOVES if header.keys() >= {move[1], move[2]}), None)
        git = (b"", b"") if move else self._git_names
        old, new = _without_prefixes(*names, git, remarks)
        if move:
            status, source, target = move
            old = _fuller(names[0], old, header[source])
            return status, old, _fuller(names[1], new, header[target])
        ranges = [header for header, _ in self._hunks]
        if old == _NULL or b"new file mode" in header:
            return "added", new, new
        if new == _NULL or b"deleted file mode" in header:
            return "deleted", old, old
        if not self._is_git and len(ranges) == 1 and not ranges[0].old_length:
            return "added", new, new
        if not self._is_git and len(ranges) == 1 and not ranges[0].new_length:
            return "deleted", old, old
        if b"new mode" in header and self.is_open:
            return "mode", old, new
        return "modified", old, new


class _OneSided:
    """The lines that one side of a change alone has."""

    def __init__(self) -> None:
        self.count = 0
        self._hash = 0  # of all of them, without the CR at their ends
        self._has_cr = False

    def add(self, line: bytes) -> None:
        self.count += 1
        if line.endswith(b"\r"):
            self._has_cr = True
            line = line[:-1]
        self._hash = hash((self._hash, line))

    def is_but_for_endings(self, other: _OneSided) -> bool:
        """Whether the other side has the same lines, and some line ends in CR."""
        is_same = (self.count, self._hash) == (other.count, other._hash)
        return is_same and (self._has_cr or other._has_cr)


class Header(NamedTuple):
    """The first line of a hunk."""

    title: str
    line: int  # of the file that holds the diff
    old: int
    old_length: int
    new: int
    new_length: int

    @classmethod
    def of(cls, found: re.Match[bytes], line: int, remarks: Remarks) -> Header:
        title = decode(found.string.rstrip(b"\r"), remarks, f"line {line}")
        ranges = [int(part or 1) for part in found.groups()]
        return cls(shorten(title, MAX_TITLE_CHARS), line, *ranges)


# Names


def _written_name(name: bytes) -> bytes:
    """Return the name of a `---` or `+++` line, without what stands behind it."""
    name = name.rstrip(b"\r")
    if quoted := _QUOTED.match(name):
        return _unquoted(quoted[0])
    return _SVN_NOTE.sub(b"", name.partition(b"\t")[0])


def _split_git_names(names: bytes) -> tuple[bytes, bytes]:
    """Return both names of a `diff --git` line; empty where spaces leave them open.

    Then the lines that follow tell them: a rename's names its both sides, and where a file
    keeps its name the line is the same twice but for the prefixes.
    """
    if quoted := _QUOTED.match(names):
        return _unquoted(quoted[0]), _unquoted(names[quoted.end() :].lstrip(b" "))
    if names.endswith(b'"') and b' "' in names:
        old, _, new = names.partition(b' "')
        return old, _unquoted(b'"' + new)
    old, space, new = names.partition(b" ")
    if b" " not in new:
        return old, new
    middle = len(names) // 2
    old, space, new = names[:middle], names[middle : middle + 1], names[middle + 1 :]
    is_same = old == new or any(_given_prefixes(old, new))
    return (old, new) if space == b" " and is_same else (b"", b"")


def _unquoted(name: bytes) -> bytes:
    """Return a name that git may have quoted as C does."""
    if not _QUOTED.fullmatch(name):
        return name
    return _ESCAPE.sub(_character, name[1:-1])


def _character(escape: re.Match[bytes]) -> bytes:
    if escape[1].isdigit():
        return bytes([int(escape[1], 8) & 0xFF])
    return bytes([_ESCAPES.get(escape[1][0], escape[1][0])])


def _without_prefixes(
    old: bytes, new: bytes, git: tuple[bytes, bytes], remarks: Remarks
) -> tuple[bytes, bytes]:
    """Drop ``a/`` and ``b/`` where git or diff put them, and not where they are folders.

    The line of ``diff --git`` shows it best, since it has both names even of a new file. Where
    they differ there and no rename says so, they do in the prefixes that git was given.
    """
    shown = git if all(git) else (old, new)
    prefixes = {name[:2] for name in shown if name != _NULL}
    if prefixes <= _PREFIXES and (len(prefixes) > 1 or _NULL in shown):
        return (old if old == _NULL else old[2:]), (new if new == _NULL else new[2:])
    if not all(git) or prefixes <= _PREFIXES:
        return old, new
    ours, theirs = _given_prefixes(*git)
    if ours or theirs:
        remarks.add(f"prefixes are left out of the names: {_quoted(ours)} and {_quoted(theirs)}")
    return old.removeprefix(ours), new.removeprefix(theirs)


def _given_prefixes(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return what stands before the name that both have in common; nothing where they have none.

    Prefixes are taken to end in a slash, as in ``--src-prefix=old/``.
    """
    common = len(commonprefix([old[::-1], new[::-1]]))  # noqa: RUF071 (by characters, as prefixes go)
    name = new[len(new) - common :].partition(b"/")[2]
    if old == new or not name:
        return b"", b""
    return old.removesuffix(name), new.removesuffix(name)


def _quoted(prefix: bytes) -> str:
    return repr(single_line(prefix.decode(errors="replace"))[:40])


def _fuller(written: bytes, stripped: bytes, moved: bytes) -> bytes:
    """Return the name that a rename's line gives, with the folders that svn leaves out of it."""
    moved = _unquoted(moved)
    is_svns = written != stripped and stripped.endswith(b"/" + moved)
    return stripped if is_svns else moved


def _shown(name: bytes, remarks: Remarks) -> str:
    return shorten_id(single_line(decode(name, remarks, "a file's name")))


def _remark_on_path(path: str, remarks: Remarks) -> None:
    if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
        remarks.add("a path that leads out of the project", path[:200])


def _is_blank(source: BinaryIO) -> bool:
    source.seek(0)
    while block := source.read(1 << 20):
        if block.strip():
            return False
    return True
