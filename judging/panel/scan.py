"""Remarks on rationales: what they leak, and which facts of the record they contradict.

A remark is shown beside the rationale. It never changes a score. It says no more than that
these words stand there and what the record says: a scan reads words, not what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from bouts.formats.types import Kind
from bouts.hidden_words import spelled_out, tells
from bouts.rules import Seat, Suite
from judging.judges.base import Dossier, JsonDict
from judging.judges.objective import tests_of
from judging.panel.cleaning import Cleaner
from judging.panel.forms import Answer
from judging.scoring.telemetry import Telemetry

LONGEST_QUOTE = 300
SHORTEST_ANSWER = 15  # characters of an expected answer that are no accident


class RemarkKind(StrEnum):
    SCORE = "score"  # speaks of points, a rank or other judges
    EXPECTED_ANSWER = "expected_answer"  # of the challenge, or speaks of such answers
    HIDDEN_TEST = "hidden_test"  # names or quotes one
    NAME = "name"  # of a team, agent or model
    CONTRADICTED = "contradicted"  # says what the record refutes


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to know about a rationale.

    ``where`` is a criterion, ``findings[0]`` or ``summary``; ``quote`` the sentence, empty
    where quoting it would leak; ``record`` what the record says instead.
    """

    kind: RemarkKind
    where: str
    quote: str
    record: str = ""

    def as_json(self) -> JsonDict:
        return {
            "kind": self.kind.value,
            "where": self.where,
            "quote": self.quote,
            "record": self.record,
        }


def remarks(answer: Answer, dossier: Dossier, telemetry: Telemetry) -> tuple[Remark, ...]:
    """Scan every rationale of an answer; each kind is remarked on once a sentence."""
    scan = _Scan(dossier, telemetry)
    found = (
        remark
        for where, text in _rationales(answer)
        for sentence in _SENTENCE.findall(text)
        for remark in scan.sentence(where, sentence.strip())
    )
    return tuple(dict.fromkeys(found))


def _rationales(answer: Answer) -> Iterator[tuple[str, str]]:
    for grade in answer.grades:
        yield grade.criterion, grade.rationale
    for at, proposal in enumerate(answer.proposals):
        yield f"findings[{at}]", proposal.note
    yield "summary", answer.rationale


# A full stop inside a figure or a file's name ends no sentence.
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")

_SCORE = re.compile(
    r"\b\d{1,3}(?:\.\d+)?\s*(?:/|out of)\s*(?:5|10|100)\b(?!\s+(?:\w+\s+){0,2}tests?\b)"
    r"|\b\d{1,3}(?:\.\d+)?\s*points?\b"
    r"|\b(?:scores?|scored|rating|rated)\s+(?:of\s+|at\s+|is\s+)?\d"
    r"|\b(?:ranks?|ranked|placed)\s+(?:#?\d|first|second|third|last)"
    r"|\bleaderboard\b"
    r"|\b(?:other|another|previous|earlier)\s+(?:judges?|seats?|verdicts?|panell?ists?|scores?)\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"\b(?:expected\s+answers?|reference\s+(?:solution|answer)|answer\s+key|ground\s+truth)\b",
    re.IGNORECASE,
)
# Before an assertion these make it somebody else's, or none.
_DOUBT = re.compile(
    r"\b(?:not|never|claim\w*|says?|said|states?|stated|assert\w*|whether|if|until|unless|before"
    r"|should|would|must|to make|nearly|almost)\b|n't\b",
    re.IGNORECASE,
)
_ALL_PASS = re.compile(
    r"\b(?:all|every)\s+(?:of\s+)?(?:the\s+|its\s+)?(?:\w+\s+)?tests?\s+(?:now\s+|then\s+)?"
    r"(?:pass(?:es|ed)?|are\s+(?:passing|green)|succeed(?:s|ed)?)\b",
    re.IGNORECASE,
)
_BUILD_OK = re.compile(r"\bbuild\s+(?:succeed(?:s|ed)?|pass(?:es|ed)?)\b", re.IGNORECASE)
_BUILD_FAILED = re.compile(r"\bbuild\s+(?:fail(?:s|ed)?|broke|is\s+broken)\b", re.IGNORECASE)
_NO_TESTS = re.compile(
    r"\b(?:no\s+tests?\s+(?:was|were|is|are)\s+(?:ever\s+)?(?:run|executed)"
    r"|(?:never|not\s+once)\s+(?:ran|runs?)\s+(?:any\s+|the\s+|a\s+)?tests?"
    r"|(?:did\s+not|didn't)\s+run\s+(?:any\s+|the\s+|a\s+)?tests?)\b",
    re.IGNORECASE,
)
_RAN_TESTS = re.compile(
    r"\b(?:ran|runs|re-?ran|executed)\s+(?:the\s+|its\s+|all\s+)?(?:\w+\s+)?(?:tests?|test\s+suite)\b",
    re.IGNORECASE,
)
_NO_ERRORS = re.compile(r"\b(?:nothing\s+(?:ever\s+)?went\s+wrong)\b", re.IGNORECASE)
_NO_REVERTS = re.compile(
    r"\b(?:never\s+reverted|no\s+reverts?|did\s+not\s+revert|didn't\s+revert)\b", re.IGNORECASE
)
_NO_CHANGE = re.compile(
    r"\b(?:changed\s+nothing|no\s+(?:code\s+)?changes?\s+(?:was|were)\s+made"
    r"|made\s+no\s+(?:code\s+)?changes?)\b",
    re.IGNORECASE,
)


class _Scan:
    """Holds sentences against one match."""

    def __init__(self, dossier: Dossier, telemetry: Telemetry) -> None:
        self._dossier = dossier
        self._telemetry = telemetry
        self._hidden_words = dossier.hidden_words()
        # Of the houses that sit on the panel too: "As Claude, I" tells whose a rationale is.
        self._names = Cleaner((*dossier.names(), *Seat), ())
        spec = dossier.spec
        entries = (*spec.known_deceptions, *spec.unsafe_requirements)
        self._answers = tuple(
            spelled for entry in entries if len(spelled := spelled_out(entry)) >= SHORTEST_ANSWER
        )

    def sentence(self, where: str, sentence: str) -> Iterator[Remark]:
        quote = sentence[:LONGEST_QUOTE]
        if tells(sentence, self._hidden_words):
            yield Remark(RemarkKind.HIDDEN_TEST, where, "")
            return  # whatever else there is to say would quote it
        if self._names.tells_a_name(sentence):
            yield Remark(RemarkKind.NAME, where, "")
            quote = ""
        if tells(sentence, self._answers):
            yield Remark(RemarkKind.EXPECTED_ANSWER, where, "")
            quote = ""
        elif _ANSWERS.search(sentence):
            yield Remark(RemarkKind.EXPECTED_ANSWER, where, quote)
        if _SCORE.search(sentence):
            yield Remark(RemarkKind.SCORE, where, quote)
        for pattern, record in self._refuted.items():
            found = pattern.search(sentence)
            if found and not _DOUBT.search(sentence[: found.start()]):
                yield Remark(RemarkKind.CONTRADICTED, where, quote, record)

    @cached_property
    def _refuted(self) -> Mapping[re.Pattern[str], str]:
        """What this match's record refutes, with what it says instead."""
        refuted: dict[re.Pattern[str], str] = {}
        visible = [test for test in tests_of(self._dossier) if test.suite == Suite.STATIC]
        failing = [test for test in visible if any(run is False for run in test.runs)]
        if failing:
            refuted[_ALL_PASS] = (
                f"In the graded runs {len(failing)} of {len(visible)} visible tests fail."
            )
        if (build := self._dossier.build) is not None:
            word = "succeeded" if build.ok else "failed"
            refuted[_BUILD_FAILED if build.ok else _BUILD_OK] = f"The build {word}."
        if any(True for _ in self._dossier.values(Kind.DIFF)):
            refuted[_NO_CHANGE] = "The diff is not empty."
        return refuted | self._refuted_by_telemetry()

    def _refuted_by_telemetry(self) -> dict[re.Pattern[str], str]:
        if self._telemetry.absent is not None:
            return {}
        counts, refuted = self._telemetry.counts, dict[re.Pattern[str], str]()
        if counts.test_runs:
            refuted[_NO_TESTS] = f"The telemetry has {_many(counts.test_runs, 'test run')}."
        elif self._telemetry.is_unverified:
            refuted[_RAN_TESTS] = "The telemetry has no test run."
        if counts.error_episodes:
            refuted[_NO_ERRORS] = (
                f"The telemetry has {_many(counts.error_episodes, 'error episode')}."
            )
        if counts.reverts:
            refuted[_NO_REVERTS] = f"The telemetry has {_many(counts.reverts, 'revert')}."
        return refuted


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
