"""What a card rests on, seen from the evidence: which places are cited, and by whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judging.showing import words


@dataclass(frozen=True, slots=True)
class Cite:
    """Somebody who cites a place: how they are called, and where on the card they stand."""

    label: str
    href: str  # a fragment of the card's page


Cites = Mapping[str, tuple[Cite, ...]]  # by place


def citations_of(card: Mapping[str, Any], path: str) -> Cites:
    """Return the places of one file that a disclosed breakdown cites."""
    found: dict[str, dict[Cite, None]] = defaultdict(dict)
    for anchor, cite in _all(card):
        if anchor["artifact"] == path and anchor["place"]:
            found[anchor["place"]][cite] = None
    return {place: tuple(cites) for place, cites in found.items()}


def _all(card: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Cite]]:
    integrity = card["integrity"]
    for finding in integrity["findings"]:
        cite = Cite(words.title(finding["trigger"]), f"#finding-{finding['key'][:8]}")
        yield from ((anchor, cite) for anchor in finding["evidence"])
    for claim in integrity.get("claims", ()):
        yield from ((anchor, Cite("A claim", "#integrity")) for anchor in claim["evidence"])
    for name in ("process", "strategy", "recovery"):
        cite = Cite(words.JUDGES[name], f"#{name}")
        yield from ((anchor, cite) for anchor in _of_judge(card["judges"][name]))


def _of_judge(judge: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the anchors of a judge: its own, those of its metrics, criteria and seats."""
    said: Sequence[Mapping[str, Any]] = (
        judge,
        judge.get("model") or {},
        *(
            episode
            for metric in judge.get("metrics", {}).values()
            for episode in metric["episodes"]
        ),
        *judge.get("criteria", {}).values(),
        *judge.get("seats", ()),
        *(
            criterion
            for seat in judge.get("seats", ())
            for criterion in seat.get("criteria", {}).values()
        ),
    )
    for one in said:
        yield from one.get("evidence", ())
