"""Where a match's pages and its evidence are, and how an evidence link reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from bouts.evidence import (
    BadPlace,
    DiffPlace,
    EventPlace,
    JsonPlace,
    LinePlace,
    LinesPlace,
    Place,
    TestPlace,
    parse_place,
)
from judging.showing.inert import on_one_line

LONGEST_LABEL = 56


@dataclass(frozen=True, slots=True)
class Link:
    """An evidence link. Without an address what it leads to is withheld."""

    label: str
    address: str | None = None
    title: str = ""
    excerpt: str = ""


@dataclass(frozen=True)
class Addresses:
    """The addresses of one match, as one viewer sees it.

    A place in an artifact has one permanent address: the match, the artifact's digest and the
    place. ``viewing_as`` stays in every address while staff look through a competitor's eyes,
    ``revision`` while somebody reads an older card's evidence.
    """

    match: str
    digests: Mapping[str, str] = field(default_factory=dict)  # by path, of what may be opened
    viewing_as: str = ""
    revision: int | None = None

    def card(self) -> str:
        if self.revision is not None:
            return self._to("scorecard_detail", self.revision)
        return self._to("match_detail")

    def live(self) -> str:
        return self._to("match_detail")

    def scorecard(self, number: int) -> str:
        return self._to("scorecard_detail", number)

    def tab(self, page: str, **query: object) -> str:
        """Return the address of a page of evidence, such as ``test_list``."""
        return self._to(page, revision=self.revision, **query)

    def artifact(self, digest: str, **query: object) -> str:
        return self._to("evidence_detail", digest, **query)

    def raw(self, digest: str) -> str:
        return self._to("evidence_raw", digest)

    def place(self, digest: str, place: str | Place) -> str:
        return self.artifact(digest, at=str(place))

    def link(self, anchor: Mapping[str, Any]) -> Link:
        """Return an anchor of a disclosed breakdown as a link."""
        path, place, excerpt = anchor["artifact"], anchor["place"], anchor.get("excerpt", "")
        digest = self.digests.get(path) if path else None
        if digest is None or place is None:
            return Link("withheld", excerpt=excerpt)
        return Link(label_of(path, place), self.place(digest, place), f"{path} {place}", excerpt)

    def _to(self, page: str, *args: object, **query: object) -> str:
        asked = {name: value for name, value in query.items() if value is not None}
        if self.viewing_as:
            asked["as"] = self.viewing_as
        address = reverse(f"judging:{page}", args=[self.match, *args])
        return f"{address}?{urlencode(asked)}" if asked else address


def label_of(path: str, place: str) -> str:
    """Return the short name of a place: ``#37``, ``store.py:61``, ``static/test_once``."""
    try:
        where = parse_place(place)
    except BadPlace:
        return on_one_line(path)
    file = path.rpartition("/")[2]
    match where:
        case EventPlace(seq):
            label = f"#{seq}"
        case TestPlace(suite, test_id):
            label = f"{suite}/{test_id.rpartition('::')[2] or test_id}"
        case LinePlace(line):
            label = f"{file}:{line}"
        case LinesPlace(first, last):
            label = f"{file}:{first}–{last}"
        case DiffPlace(changed, line, old):
            label = f"{changed}:{'−' * old}{line}"
        case JsonPlace(pointer):
            label = f"{file} {pointer}".strip()
    label = on_one_line(label)
    return label if len(label) <= LONGEST_LABEL else f"{label[:24]}…{label[-30:]}"
