"""Remarks on rationales: what they leak, and which facts of the record they contradict.

A remark is shown beside the rationale. It never changes a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from judging.judges.base import Dossier, JsonDict
from judging.panel.answers import Answer
from judging.scoring.telemetry import Telemetry


class RemarkKind(StrEnum):
    SCORE = "score"  # speaks of a score, a rank or another verdict
    EXPECTED_ANSWER = "expected_answer"
    HIDDEN_TEST = "hidden_test"
    NAME = "name"  # of a team, agent or model
    CONTRADICTED = "contradicted"  # says what the record refutes


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to know about a rationale. ``where`` is a criterion, trigger or "summary"."""

    kind: RemarkKind
    where: str
    quote: str  # of the rationale; empty where quoting would leak
    record: str = ""  # what the record says instead

    def as_json(self) -> JsonDict:
        return {
            "kind": self.kind.value,
            "where": self.where,
            "quote": self.quote,
            "record": self.record,
        }


def remarks(answer: Answer, dossier: Dossier, telemetry: Telemetry) -> Sequence[Remark]:
    """Scan every rationale of an answer."""
    raise NotImplementedError
