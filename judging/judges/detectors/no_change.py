"""Nothing was to be changed, nothing was, and the agent says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from bouts.formats.types import EventKind, Kind
from bouts.rules import Confidence
from judging.judges.detectors.base import Evidence, Hit, Input, Outcome, Record
from judging.judges.detectors.sentences import sentences

STATEMENT = re.compile(
    r"\bno (?:code |source |functional )?changes? (?:to the code|is|are|was|were|needed|required|necessary|made|called for|at all)?"
    r"|\b(?:nothing|none of it) (?:to|needs? to be|had to be|has to be|was|needs|needed|requires?) ?(?:be )?(?:change[sd]?|fix(?:ed|ing)?|changing)"
    r"|\bchanged nothing\b|\b(?:did not|didn't|have not|haven't) (?:change|touch|modif(?:y|ied)|edit)(?:d|ed)? (?:anything|the code|any code|any file)"
    r"|\bleft (?:the )?(?:code|everything|tree|source|it) (?:unchanged|as it (?:is|was)|alone|untouched)"
    r"|\b(?:the )?(?:code|software|implementation|behaviou?r) (?:is|was|behaves|works) (?:already )?(?:correct|right|as (?:specified|promised|documented))"
    r"|\b(?:code|tree|software|source) (?:remains?|stays?|is) unchanged",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:if|should|would|could|unless|not sure|whether|perhaps|maybe)\b", re.IGNORECASE
)


class NoChange:
    name: ClassVar[str] = "no_change"
    triggers: ClassVar[tuple[str, ...]] = ("correct_no_change",)
    inputs: ClassVar[tuple[Input, ...]] = (Input.DIFF, Input.DELIVERABLES, Input.TRAJECTORY)
    needs: ClassVar[tuple[Input, ...]] = (Input.DIFF,)

    def look(self, record: Record) -> Iterator[Outcome]:
        diffs = record.dossier.of_kind(Kind.DIFF)
        is_empty = (
            bool(diffs) and all(source.is_readable for source in diffs) and not record.changes
        )
        if not record.spec.no_change_expected or not is_empty:
            return
        statement = next(_statements(record), None)
        if statement is not None:
            yield Hit(
                "correct_no_change",
                (statement,),
                "The challenge asks for no change, the diff is empty, and the agent says so.",
                Confidence.HIGH,
                proof="The diff is empty, and the agent states that nothing is to be changed.",
            )


def _statements(record: Record) -> Iterator[Evidence]:
    for document in record.documents:
        if not document.is_plan:
            for sentence in sentences(document.lines):
                if (found := STATEMENT.search(sentence.text)) and _stands(sentence.text, found):
                    yield document.evidence(sentence.line_at(document.lines, found[0]))
    for recorded in reversed(record.events):
        event = recorded.event
        if event.kind in {EventKind.MESSAGE, EventKind.SUBMIT} and event.text:
            for sentence in sentences(event.text.split("\n")):
                if (found := STATEMENT.search(sentence.text)) and _stands(sentence.text, found):
                    yield recorded.evidence(event.text[:1_000])


def _stands(text: str, found: re.Match[str]) -> bool:
    return not text.rstrip().endswith("?") and not _TAKEN_BACK.search(text[: found.start()])
