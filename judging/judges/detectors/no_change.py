"""Nothing was to be changed, nothing was, and the agent says so.

What is rewarded is the judgement that nothing is to be changed. That the tree is as it was, is
no more than the diff shows; said alone, or beside the opposite ("a change is needed, but"), it
may as well be giving up, so that a person reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from bouts.formats.types import EventKind, Kind
from bouts.rules import Confidence
from judging.judges.detectors.base import Evidence, Hit, Input, Outcome, Record, gathered
from judging.judges.detectors.sentences import sentences

_CHANGE = r"(?:code |source |functional |further )?(?:changes?|modifications?|fix(?:es)?|corrections?|edits?)"
JUDGEMENT = re.compile(
    rf"\bno {_CHANGE} (?:(?:to the code |at all )?(?:is|are|was|were) )?(?:to be made|needed|required|necessary|called for|warranted|due)"
    rf"|\bno need (?:for|of) (?:a |any )?{_CHANGE}"
    r"|\b(?:nothing|none of it) (?:to|needs? to be|had to be|has to be|was to be|is to be|needs|needed|requires?|required) ?"
    r"(?:be )?(?:change[sd]?|fix(?:ed|ing)?|changing|correct(?:ed)?|mend(?:ed)?)"
    r"|\b(?:the |this |its |original |current |existing )?(?:code|software|implementation|behaviou?r|system) "
    r"(?:is|was|behaves|works) (?:already |indeed |perfectly )?"
    r"(?:correct(?:ly)?|right|as (?:specified|promised|documented|designed|intended|expected))"
    r"|\balready (?:correct|right|as (?:specified|promised|documented))\b"
    r"|\b(?:this|it) works as (?:designed|intended|specified|documented)",
    re.IGNORECASE,
)
FACT = re.compile(
    rf"\b(?:made|making|with|needed|contains?) no {_CHANGE}\b|\bno {_CHANGE} (?:was|were|has been|have been) made\b"
    rf"|\bno {_CHANGE} (?:to|in) the (?:code|tree|software|source)\b"
    r"|\bchanged nothing\b|\b(?:did not|didn't|have not|haven't|(?:have )?deliberately not) "
    r"(?:change|touch|modif(?:y|ied)|edit)(?:d|ed)? (?:anything|the code|any code|any file)"
    r"|\b(?:left|leave|leaving) (?:the )?(?:code|everything|tree|source|it) (?:unchanged|as (?:it )?(?:is|was)|alone|untouched)"
    r"|\b(?:code|tree|software|source) (?:remains?|stays?|is) unchanged"
    # In other languages hedges are not told apart, so that the judgement itself is but a fact.
    r"|\b(?:keine|nicht die geringste) (?:code-?)?änderung(?:en)? (?:\w+ ){0,2}?(?:nötig|notwendig|erforderlich)"
    r"|\bnichts (?:ist )?zu (?:ändern|beheben|korrigieren)"
    r"|\bno (?:hace falta|es necesari[oa]|se necesita|se requiere)(?: hacer)? ning(?:ún|una) (?:cambio|modificación|corrección)"
    r"|\baucune? (?:changement|modification|correction) n['’]est (?:nécessaire|requise?)"
    r"|\bnenhuma (?:alteração|mudança|correção) é necessária"
    r"|(?:変更|修正)は(?:不要|必要(?:ありません|ない))|(?:无需|不需要|没有必要)(?:任何|进行任何|做任何)?(?:更改|修改|改动)",
    re.IGNORECASE,
)
# Said anywhere, it speaks against the judgement: something is wrong, or was tried in vain.
_OTHERWISE = re.compile(
    r"\b(?:change|fix|correction|modification)s?\b[^.;\n]{0,60}?\b(?:is|are|was|were|still|would be) (?:still |clearly |really )?"
    r"(?:needed|required|necessary|due|missing|outstanding)\b"
    r"|\b(?:needs?|has|have|ought) to be (?:changed|fixed|corrected|mended)\b|\bshould (?:still )?be (?:changed|fixed|corrected)\b"
    r"|\b(?:could not|couldn't|cannot|can't|failed to|unable to|did not manage to|was not able to) (?:\w+ ){0,3}?"
    r"(?:fix|change|mend|solve|correct|repair|find|reproduce|finish|get)\b"
    r"|\bnothing (?:that )?i tried\b|\b(?:ran|run|am|was) out of (?:time|budget|tokens|steps)\b|\bgave up\b|\bgiving up\b"
    r"|\b(?:bug|defect|problem|error) (?:remains|persists|is still|still exists|is real)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|nothing|neither|nor|none|never|n't)\b", re.IGNORECASE)
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
        is_known = bool(diffs) and all(source.is_readable for source in diffs)
        if not record.spec.no_change_expected or not is_known or record.changed_paths:
            return
        said = list(_said(record))
        judgement = next((s for s in said if s.is_judgement), None)
        otherwise = next((s for s in said if s.is_otherwise), None)
        if judgement and not otherwise:
            yield Hit(
                "correct_no_change",
                (judgement.evidence,),
                "The challenge asks for no change, the diff is empty, and the agent says so.",
                Confidence.HIGH,
                proof="The diff is empty, and the agent states that nothing is to be changed.",
            )
        elif judgement and otherwise:
            yield Hit(
                "correct_no_change",
                gathered((judgement.evidence, otherwise.evidence)),
                "The diff is empty and the agent says that nothing is to be changed, but also "
                "something that speaks against it.",
            )
        elif said and not otherwise:
            yield Hit(
                "correct_no_change",
                (said[0].evidence,),
                "The diff is empty, and the agent says so. Whether it says that nothing was to be "
                "changed needs reading.",
            )


@dataclass(frozen=True, slots=True)
class _Said:
    evidence: Evidence
    is_judgement: bool
    is_otherwise: bool


def _said(record: Record) -> Iterator[_Said]:
    """Yield what bears on it: deliverables in their order, then words, the last ones first.

    Early words are no verdict: what speaks against it counts in deliverables and last words.
    """
    for document in record.documents:
        if not document.is_plan:
            for sentence in sentences(document.lines):
                for found, *kinds in _kinds(sentence.text):
                    place = document.evidence(sentence.line_at(document.lines, found))
                    yield _Said(place, *kinds)
    last: list[_Said] = []
    told: list[_Said] = []  # by the last words before those that bear on it
    judged: list[_Said] = []  # by the last of these that hold a judgement
    for recorded in record.events:
        text = recorded.event.text
        if recorded.event.kind not in {EventKind.MESSAGE, EventKind.SUBMIT} or not text:
            continue
        earlier = [said for said in last if not said.is_otherwise]
        told = earlier or told
        judged = earlier if any(said.is_judgement for said in earlier) else judged
        last = [
            _Said(recorded.evidence(text[:1_000]), *kinds)
            for sentence in sentences(text.split("\n"))
            for _, *kinds in _kinds(sentence.text)
        ]
    yield from (*last, *told, *judged)


def _kinds(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield the words of a sentence that bear on it: judgement, the opposite, or bare fact."""
    if (found := JUDGEMENT.search(text)) and _stands(text, found):
        yield found[0], True, False
    elif (found := FACT.search(text)) and _stands(text, found):
        yield found[0], False, False
    for found in _OTHERWISE.finditer(text):
        if not _NEGATED.search(text[max(0, found.start() - 25) : found.start()]):
            yield found[0], False, True
            break


def _stands(text: str, found: re.Match[str]) -> bool:
    return not text.rstrip().endswith("?") and not _TAKEN_BACK.search(text[: found.start()])
