"""The evidence of one judge as plain values: numbered items in sections, and a digest of all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import orjson

from bouts.evidence import Anchor
from bouts.rules import Judge
from judging.judges.base import JsonDict


class Sort(StrEnum):
    """What an item is, in a word that a rubric may ask for."""

    CHANGE = "change"  # a hunk of the diff
    TEST = "test"  # a test run of the agent's own
    EVENT = "event"  # anything else that the agent did or said
    EPISODE = "episode"  # an error, a retry or a revert
    TURN = "turn"  # a step of the decision path
    PLAN = "plan"
    DELIVERABLE = "deliverable"
    ACCESS = "access"  # a line of the sandbox's log
    CLAIM = "claim"
    RECORD = "record"  # what the graded runs say


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of evidence, as a model reads it.

    ``id`` is what a rationale cites: E1, E2 and so on, in the order of the prompt. ``text``
    is the bundle's, without names and withheld parts, cut to a length. ``gap`` says what was
    left out just before it, if anything was.
    """

    id: str
    sort: Sort
    anchor: Anchor
    text: str
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The items of one part of the evidence.

    ``note`` is a sentence of our own on the whole part; ``cut`` says how much was left out
    of it, and by which rule.
    """

    name: str
    title: str
    items: tuple[Item, ...]
    note: str = ""
    cut: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceBundle:
    """All that one judge's prompt holds of a match.

    ``brief`` is the challenge's, and not cited. ``occasions`` are the fields of the challenge
    that give Integrity something to look for; what they say is shown to nobody.
    """

    judge: Judge
    brief: str
    occasions: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for section in self.sections for item in section.items)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text in it that strangers wrote."""
        return (self.brief, *(item.text for item in self.items))

    @property
    def anchors(self) -> Mapping[str, Anchor]:
        """Where each item stands in the bundle, by its id."""
        return {item.id: item.anchor for item in self.items}

    @property
    def digest(self) -> str:
        """SHA-256 of all of it: a verdict and a ruling hold for just this."""
        return hashlib.sha256(orjson.dumps(self.as_json(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    def as_json(self) -> JsonDict:
        return {
            "judge": self.judge.value,
            "brief": self.brief,
            "occasions": list(self.occasions),
            "sections": [
                {
                    "name": section.name,
                    "title": section.title,
                    "note": section.note,
                    "cut": section.cut,
                    "items": [
                        {
                            "id": item.id,
                            "sort": item.sort.value,
                            "artifact": item.anchor.artifact,
                            "place": item.anchor.place,
                            "text": item.text,
                            "gap": item.gap,
                        }
                        for item in section.items
                    ],
                }
                for section in self.sections
            ],
        }
