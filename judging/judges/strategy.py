"""Strategy: three seats of a panel, and the rule that makes one score of their votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from bouts.bundles.manifest import VerdictEntry
from bouts.formats.types import Kind
from bouts.rules import Judge
from judging.judges.base import Dossier, JsonDict, Opinion, digest_of
from judging.scoring.exact import exact, mean, score_text
from judging.scoring.panel import Branch, PanelOutcome, settle
from judging.scoring.policy import Policy
from judging.scoring.reasons import Reason

SCORED = "scored"

# What a panel is shown of a bundle's files (SCORING.md, 7), apart from its own words.
PANEL_KINDS = frozenset({Kind.TELEMETRY, Kind.DIFF, Kind.PLAN, Kind.DELIVERABLE})


@dataclass(frozen=True, slots=True)
class SeatAnswer:
    """What one seat said, or why it said nothing."""

    seat: str
    state: str  # scored, refused, timeout, unavailable, invalid
    score: Fraction | None = None
    levels: Mapping[str, int] | None = None
    rationale: str = ""
    reason: str = ""
    model: str = ""
    evidence: tuple[JsonDict, ...] = ()
    answered_at: datetime | None = None

    def as_json(self) -> JsonDict:
        return {
            "seat": self.seat,
            "state": self.state,
            "score": score_text(self.score),
            "levels": dict(self.levels) if self.levels else None,
            "rationale": self.rationale,
            "reason": self.reason,
            "model": self.model,
            "evidence": list(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class StrategyRuling:
    """A reviewer's word on the Strategy score. ``score`` None upholds the rule's number."""

    score: Fraction | None
    reason: str


class StrategyJudge:
    """Was the plan good, whatever became of it?"""

    slug = Judge.STRATEGY
    title = "Strategy"

    def seats(self, dossier: Dossier, policy: Policy) -> tuple[SeatAnswer, ...]:
        """Return the seats of the panel from uploaded verdicts; none where none was uploaded."""
        answers = {answer.seat: answer for answer in dossier.answers(Judge.STRATEGY)}
        if not answers:
            return ()
        return tuple(
            _seat(seat, answers.get(seat), policy)  # type: ignore[call-overload]
            for seat in policy.panel.seats
        )

    def judge(
        self, seats: Sequence[SeatAnswer], ruling: StrategyRuling | None, policy: Policy
    ) -> Opinion:
        """Settle the panel; a ruling replaces its score and leaves it visible."""
        panel = settle({answer.seat: answer.score for answer in seats}, policy)
        score = panel.score if ruling is None or ruling.score is None else ruling.score
        detail = {
            "branch": panel.branch.value,
            "votes": panel.votes,
            "configured": panel.seats,
            "panel_score": score_text(panel.score),
            "mean": score_text(panel.mean),
            "discarded": panel.discarded,
            "within": policy.panel.within,
            "flagged": panel.is_flagged and ruling is None,
            "rule": panel.why,
            "seats": [answer.as_json() for answer in seats],
            "ruling": None
            if ruling is None
            else {"score": score_text(score), "reason": ruling.reason},
        }
        return Opinion(
            judge=Judge.STRATEGY,
            score=score,
            reason=None if score is not None else _reason(panel),
            why=_why(panel, ruling),
            rationale=panel.why,
            detail=detail,
            source="ruling" if ruling else "uploaded" if seats else "own",
        )


def _seat(seat: str, answer: VerdictEntry | None, policy: Policy) -> SeatAnswer:
    if answer is None:
        return SeatAnswer(seat, "unavailable", reason="no verdict of this seat was uploaded")
    return SeatAnswer(
        seat=seat,
        state=answer.state.value if answer.state else SCORED,
        score=score_of(answer, policy),
        levels=answer.levels,
        rationale=answer.rationale,
        reason=answer.reason or "",
        model=answer.model,
        evidence=evidence_of(answer),
        answered_at=answer.at,
    )


def score_of(answer: VerdictEntry, policy: Policy) -> Fraction | None:
    """Return an uploaded answer's score: as stated, or the mean of its levels."""
    if answer.score is not None:
        return exact(answer.score)
    return rubric_score(answer.levels, policy) if answer.levels else None


def rubric_score(levels: Mapping[str, int], policy: Policy) -> Fraction:
    """Return the mean of levels as points: level 1 is 0, level 5 is 100."""
    rules = policy.halves
    return mean(
        [Fraction(rules.points_a_level * (level - rules.lowest_level)) for level in levels.values()]
    )


def evidence_of(answer: VerdictEntry) -> tuple[JsonDict, ...]:
    return tuple({"artifact": e.artifact, "place": e.place} for e in answer.evidence)


def _reason(panel: PanelOutcome) -> Reason:
    return Reason.WAITING if panel.branch is Branch.WAITING else Reason.NO_PANEL


def _why(panel: PanelOutcome, ruling: StrategyRuling | None) -> str:
    if ruling is None:
        return panel.why.removesuffix(".")
    if ruling.score is None:
        return "A reviewer upheld the number of the rule"
    return "A reviewer ruled"


def strategy_digest(dossier: Dossier, seats: Sequence[SeatAnswer]) -> str:
    """Digest what the panel saw and said: a ruling holds for just this."""
    seen = sorted(source.digest for source in dossier.sources if source.kind in PANEL_KINDS)
    return digest_of({"seen": seen, "said": [seat.as_json() for seat in seats]})
