"""What a model is shown of a match: built by one function, by the table of SCORING.md, 7."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from bouts.evidence import Anchor
from bouts.rules import Judge
from judging.judges.base import Dossier, JsonDict
from judging.scoring.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of evidence, as a model reads it.

    ``id`` is what a rationale cites: E1, E2 and so on, in the order of the prompt. ``sort``
    says in a word of our own what it is: change, event, plan, deliverable, access, claim,
    record. ``text`` is the bundle's, without names and withheld parts, cut to a length.
    """

    id: str
    sort: str
    anchor: Anchor
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """The items of one part of the table. ``cut`` says what was left out of it, and by which rule."""

    name: str
    title: str
    items: tuple[Item, ...]
    cut: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceBundle:
    """All that one judge's prompt holds of a match. ``brief`` is the challenge's, and not cited."""

    judge: Judge
    brief: str
    sections: tuple[Section, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for section in self.sections for item in section.items)

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
            "sections": [
                {
                    "name": section.name,
                    "title": section.title,
                    "cut": section.cut,
                    "items": [
                        {
                            "id": item.id,
                            "sort": item.sort,
                            "artifact": item.anchor.artifact,
                            "place": item.anchor.place,
                            "text": item.text,
                        }
                        for item in section.items
                    ],
                }
                for section in self.sections
            ],
        }


def evidence_for(judge: Judge, dossier: Dossier, telemetry: Telemetry) -> EvidenceBundle:
    """Build what a judge may see of a match; the same dossier gives the same bundle.

    ``telemetry`` is `judging.judges.telemetry.analysed(dossier, policy)`. A bundle without
    items gives a model nothing to judge: such a judge is not asked. Raises `ValueError` for
    Objective, which asks no model.
    """
    raise NotImplementedError
