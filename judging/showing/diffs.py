"""Files of a diff, line by line, coloured; and the stretch of one around a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from django.utils.safestring import SafeString

from bouts.disclosure import WITHHELD, Gate
from bouts.evidence import DiffPlace
from bouts.formats.types import DiffLine, FileChange, Hunk
from bouts.masking import mask, without_keys
from judging.showing.citations import Cite, Cites
from judging.showing.code import coloured_hunk
from judging.showing.inert import on_one_line

SHORT = 200  # lines up to which a file stands open
MOST_LINES = 600  # of one file; the rest is asked for
CONTEXT = 12  # lines around the one that evidence names
NO_CITES: Cites = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LineRow:
    sign: str
    old: int | None
    new: int | None
    html: SafeString | str
    is_target: bool = False
    cites: tuple[Cite, ...] = ()  # who rests on this line

    @property
    def look(self) -> str:
        return {"+": "add", "-": "del"}.get(self.sign, "")


@dataclass(frozen=True, slots=True)
class HunkView:
    header: str
    lines: tuple[LineRow, ...]


@dataclass(frozen=True, slots=True)
class FileView:
    """A file of a diff as it may be shown. ``more`` is the first line left out, or None."""

    ordinal: int
    path: str
    old_path: str
    status: str
    added: int
    removed: int
    is_binary: bool
    only_line_endings: bool
    is_withheld: bool
    hunks: tuple[HunkView, ...] = ()
    start: int = 1  # the first line that is shown, counted over all hunks
    more: int | None = None
    line_count: int = 0

    @property
    def is_worth_opening(self) -> bool:
        """Whether it is short, or somebody leads to a line of it."""
        lines = [line for hunk in self.hunks for line in hunk.lines]
        return len(lines) <= SHORT or any(line.is_target or line.cites for line in lines)


def file_view(
    change: FileChange,
    ordinal: int,
    gate: Gate,
    start: int = 1,
    *,
    cites: Cites = NO_CITES,
    target: DiffPlace | None = None,
) -> FileView:
    """Return a file from its ``start``-th line on, or its name alone where it is withheld.

    ``cites`` are those of the whole diff; ``target`` is a line to be marked.
    """
    is_withheld = quotes_hidden(change, gate)
    path, old_path = names_of(change, gate)
    total = sum(len(hunk.lines) for hunk in change.hunks)
    hunks = (
        ()
        if is_withheld
        else tuple(_window(change, start, start + MOST_LINES - 1, _Marks(change, target, cites)))
    )
    end = start + MOST_LINES
    return FileView(
        ordinal=ordinal,
        path=path,
        old_path=old_path,
        status=change.status,
        added=change.added,
        removed=change.removed,
        is_binary=change.binary,
        only_line_endings=change.line_endings_only,
        is_withheld=is_withheld,
        hunks=hunks,
        start=start,
        more=end if not is_withheld and end <= total else None,
        line_count=total,
    )


def names_of(change: FileChange, gate: Gate) -> tuple[str, str]:
    """Return how a file is called, and how it was called where that is something else."""
    if _names_hidden(change, gate):
        return WITHHELD, ""
    was = change.old_path if change.old_path != change.path else None
    return on_one_line(change.path), on_one_line(was or "")


def quotes_hidden(change: FileChange, gate: Gate) -> bool:
    """Whether a file must be withheld: what stands beside a quotation may belong to it."""
    if gate.shows_hidden_tests:
        return False
    return _names_hidden(change, gate) or any(
        gate.quotes_hidden(line.text) for hunk in change.hunks for line in hunk.lines
    )


def _names_hidden(change: FileChange, gate: Gate) -> bool:
    if gate.shows_hidden_tests:
        return False
    return any(gate.quotes_hidden(path) for path in (change.path, change.old_path) if path)


@dataclass(frozen=True, slots=True)
class _Marks:
    """What is marked in a file: the line that was asked for, and those that are cited."""

    change: FileChange
    target: DiffPlace | None = None
    cites: Cites = field(default_factory=dict)

    def is_target(self, line: DiffLine) -> bool:
        return self.target is not None and _is_at(line, self.target)

    def cites_of(self, line: DiffLine) -> tuple[Cite, ...]:
        if not self.cites:
            return ()
        places = [DiffPlace(self.change.path, line.new)] if line.new is not None else []
        if line.old is not None:
            places.append(DiffPlace(self.change.old_path or self.change.path, line.old, old=True))
        found = (cite for place in places for cite in self.cites.get(str(place), ()))
        return tuple(dict.fromkeys(found))


def line_number_of(change: FileChange, place: DiffPlace) -> int | None:
    """Return where a line stands among all lines of a file's change, from 1."""
    lines = (line for hunk in change.hunks for line in hunk.lines)
    return next((at for at, line in enumerate(lines, start=1) if _is_at(line, place)), None)


def keyless(hunk: Hunk) -> Hunk:
    """Return a hunk with the lines of a private key masked, which no line tells by itself."""
    texts = [line.text for line in hunk.lines]
    if (shown := without_keys(texts)) is texts:
        return hunk
    lines = zip(hunk.lines, shown, strict=True)
    return replace(hunk, lines=tuple(replace(line, text=text) for line, text in lines))


def _window(change: FileChange, first: int, last: int, marks: _Marks) -> Iterator[HunkView]:
    """Yield the hunks with the lines ``first`` to ``last`` of the file's change."""
    at = 0
    for hunk in change.hunks:
        begin, at = at + 1, at + len(hunk.lines)
        if at < first or begin > last:
            continue
        kept = keyless(hunk).lines[max(0, first - begin) : max(0, last - begin + 1)]
        yield HunkView(hunk.header, tuple(_rows(change.path, Hunk(hunk.header, kept), marks)))


def _rows(path: str, hunk: Hunk, marks: _Marks) -> Iterator[LineRow]:
    masked = Hunk(hunk.header, tuple(map(_masked, hunk.lines)))
    for line, html in zip(hunk.lines, coloured_hunk(path, masked), strict=True):
        yield LineRow(
            line.sign, line.old, line.new, html, marks.is_target(line), marks.cites_of(line)
        )


def _masked(line: DiffLine) -> DiffLine:
    return DiffLine(line.sign, line.old, line.new, mask(line.text))


def _is_at(line: DiffLine, place: DiffPlace) -> bool:
    return (line.old if place.old else line.new) == place.line


def hunk_at(change: FileChange, place: DiffPlace) -> HunkView | None:
    """Return the part of the hunk around a line; None where the change has no such line."""
    if place.path not in {change.path, change.old_path}:
        return None
    for hunk in change.hunks:
        at = next((at for at, line in enumerate(hunk.lines) if _is_at(line, place)), None)
        if at is not None:
            part = keyless(hunk).lines[max(0, at - CONTEXT) : at + CONTEXT + 1]
            rows = _rows(change.path, Hunk(hunk.header, part), _Marks(change, place))
            return HunkView(hunk.header, tuple(rows))
    return None
