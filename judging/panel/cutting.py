"""How long evidence is cut: by a rule that is stated, with every cut shown.

A part of the evidence has a budget of characters. What matters most is kept first, then the
rest, each from both ends towards the middle: how a run began and how it ended tell most.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bouts.evidence import Anchor
from judging.panel.items import Item, Section, Sort

MOST_ITEMS = 400  # of one part, from each end; more would not fit into any budget
HEAD = 40  # characters that an item takes beside its text

RULE = (
    "[{left:,} of the {all:,} items of this part are left out. Kept first: {first}; then the rest, "
    "from the beginning and the end towards the middle, within {budget:,} characters.]"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """An item before it is known whether it is kept: its text is made only then."""

    sort: Sort
    anchor: Anchor
    text: Callable[[], str]
    is_vital: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """What is to become a section. ``vital`` says in words which items are kept first."""

    name: str
    title: str
    budget: int
    drafts: Iterable[Draft]
    vital: str = "those at both ends"
    note: str = ""


class Numbering:
    """Gives items their ids: E1, E2 and so on through all sections."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> str:
        self._last += 1
        return f"E{self._last}"


def section_of(part: Part, numbering: Numbering) -> Section:
    """Cut a part to its budget and number what is kept."""
    vital, other, count = _Ends(), _Ends(), 0
    for at, draft in enumerate(part.drafts):
        (vital if draft.is_vital else other).add(at, draft)
        count = at + 1
    kept: dict[int, tuple[Draft, str]] = {}
    room = part.budget
    for ends in (vital, other):
        for at, draft in ends.inwards():
            text = draft.text()
            room -= len(text) + HEAD
            if room < 0 and kept:
                break
            kept[at] = (draft, text)
        if room < 0:
            break
    items = tuple(_items(kept, numbering))
    left = count - len(kept)
    cut = RULE.format(left=left, all=count, first=part.vital, budget=part.budget) if left else ""
    return Section(part.name, part.title, items, part.note, cut)


def _items(kept: dict[int, tuple[Draft, str]], numbering: Numbering) -> Iterator[Item]:
    expected = 0
    for at in sorted(kept):
        draft, text = kept[at]
        gap = f"[{at - expected:,} items are left out here]" if at > expected else ""
        yield Item(numbering.next(), draft.sort, draft.anchor, text, gap)
        expected = at + 1


class _Ends:
    """The first and the last drafts of a stream, in bounded memory."""

    def __init__(self) -> None:
        self._head: list[tuple[int, Draft]] = []
        self._tail: deque[tuple[int, Draft]] = deque(maxlen=MOST_ITEMS)

    def add(self, at: int, draft: Draft) -> None:
        (self._head if len(self._head) < MOST_ITEMS else self._tail).append((at, draft))

    def inwards(self) -> Iterator[tuple[int, Draft]]:
        """Yield the first, the last, the second, the second to last and so on."""
        drafts: Sequence[tuple[int, Draft]] = [*self._head, *self._tail]
        low, high = 0, len(drafts) - 1
        while low <= high:
            yield drafts[low]
            if low < high:
                yield drafts[high]
            low, high = low + 1, high - 1
