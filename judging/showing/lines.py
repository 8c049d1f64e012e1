"""A window of numbered lines out of a stored file, and what a search finds in it, however long
the file is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.safestring import SafeString

from bouts import blobs
from bouts.disclosure import WITHHELD, Gate
from bouts.masking import KeyWatch
from bouts.models import Blob
from judging.showing.inert import coloured, plain, shortened

WINDOW = 200  # lines to a page
CONTEXT = 8  # lines around the one that evidence names
MOST_HITS = 100  # of a search, to a page
MOST_LOOKED_AT = 16_000_000  # bytes of lines, in one search
AROUND = 80  # characters of a line that are told on either side of a hit


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    html: SafeString | str
    is_target: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """Lines ``first`` to ``last``; ``has_more`` where the file goes on."""

    lines: tuple[Line, ...]
    first: int
    last: int
    has_more: bool

    @property
    def before(self) -> tuple[int, int] | None:
        if self.first == 1:
            return None
        return max(1, self.first - WINDOW), self.first - 1

    @property
    def after(self) -> tuple[int, int] | None:
        return (self.last + 1, self.last + WINDOW) if self.has_more else None


def window(blob: Blob, first: int, last: int, gate: Gate, targets: Iterable[int] = ()) -> Window:
    """Read the lines ``first`` to ``last`` (from 1, at most `WINDOW`), secrets masked.

    Each line is asked of the gate by itself; whoever calls has asked for the file.
    """
    last = min(last, first + WINDOW - 1)
    marked = frozenset(targets)
    watch = KeyWatch()
    found = []
    has_more = False
    with blobs.opened_before(blob, first) as lines:
        for number, data, passed in lines:
            if number > last:
                has_more = True
                break
            is_key = watch.sees(data)
            if number >= first:
                text = data.rstrip(b"\r\n").decode("utf-8", "replace")
                shown = watch.MASKED if is_key else gate.text(text)
                html = shown if shown == WITHHELD != text else coloured(shortened(shown, passed))
                found.append(Line(number, html, number in marked))
    return Window(tuple(found), first, found[-1].number if found else first - 1, has_more)


@dataclass(frozen=True, slots=True)
class Hit:
    """A line with what was looked for, cut to what stands around it."""

    number: int
    before: str
    found: str
    after: str


@dataclass(frozen=True, slots=True)
class Hits:
    """The lines that a search found; ``more`` is where to go on, or None at the end.

    ``last`` is the last line that was looked at.
    """

    lines: tuple[Hit, ...]
    more: int | None
    last: int


def search(blob: Blob, wanted: str, gate: Gate, first: int = 1) -> Hits:
    """Find the lines from ``first`` on that hold a text, whatever its case.

    It stops after `MOST_HITS`, or after `MOST_LOOKED_AT`, and says where to go on.

    Looked through is what a page shows of a line: a search that found what is masked or
    withheld would tell letter by letter what it is.
    """
    needle = wanted.casefold()
    rare = wanted.lower().encode() if wanted.isascii() else None
    watch = KeyWatch()
    hits: list[Hit] = []
    number, looked_at = first - 1, 0
    with blobs.opened_before(blob, first) as lines:
        for number, data, passed in lines:
            is_key = watch.sees(data)
            if number < first:
                continue
            if looked_at > MOST_LOOKED_AT:
                return Hits(tuple(hits), number, number - 1)
            looked_at += len(data) + passed
            # Most lines are told at a glance. One with escape sequences may be cut by them.
            if is_key or (rare is not None and b"\x1b" not in data and rare not in data.lower()):
                continue
            text = data.rstrip(b"\r\n").decode("utf-8", "replace")
            shown = gate.text(text)
            hit = None if shown == WITHHELD != text else _hit(number, plain(shown), needle)
            if hit is None:
                continue
            if len(hits) == MOST_HITS:
                return Hits(tuple(hits), number, number - 1)
            hits.append(hit)
    return Hits(tuple(hits), None, number)


def _hit(number: int, text: str, needle: str) -> Hit | None:
    # Where folding changes the length of a text, places in it are those of the folded one.
    folded = text.casefold()
    text = text if len(folded) == len(text) else folded
    at = folded.find(needle)
    if at < 0:
        return None
    end = at + len(needle)
    start, stop = max(0, at - AROUND), min(len(text), end + AROUND)
    return Hit(
        number,
        f"{'…' * (start > 0)}{text[start:at]}",
        text[at:end],
        f"{text[end:stop]}{'…' * (stop < len(text))}",
    )
