"""A window of numbered lines out of a stored file, however long the file is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.safestring import SafeString

from bouts import blobs
from bouts.disclosure import WITHHELD, Gate
from bouts.masking import KeyWatch
from bouts.models import Blob
from judging.showing.inert import coloured, shortened

WINDOW = 200  # lines to a page
CONTEXT = 8  # lines around the one that evidence names


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
    with blobs.opened(blob) as stream:
        for number, data, passed in blobs.numbered(stream):
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
