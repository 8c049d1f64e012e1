"""Strategy: three seats of a panel, and the rule that makes one score of their votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
HELD = "held"  # the state of a seat that waits to be asked

# What a panel is shown of a bundle's files (SCORING.md, 7), apart from its own words.
PANEL_KINDS = frozenset({Kind.TELEMETRY, Kind.DIFF, Kind.PLAN, Kind.DELIVERABLE})


@dataclass(frozen=True, slots=True)
class SeatAnswer:
    """What one seat said, or why it said nothing.

    ``criteria`` has what a model of our own wrote on each criterion, ``proposals`` what it
    proposes to Integrity, ``remarks`` what a scan of its words found, ``call`` the stored call
    that all of it is read from.
    """

    seat: str
    state: str  # scored, refused, timeout, unavailable, invalid, held; answered for Integrity
    score: Fraction | None = None
    levels: Mapping[str, int] | None = None
    rationale: str = ""
    reason: str = ""
    model: str = ""
    evidence: tuple[JsonDict, ...] = ()
    answered_at: datetime | None = None
    source: str = "uploaded"
    criteria: Mapping[str, JsonDict] = field(default_factory=dict)
    proposals: tuple[JsonDict, ...] = ()
    remarks: tuple[JsonDict, ...] = ()
    call: int | None = None

    @property
    def is_held(self) -> bool:
        return self.state == HELD

    def said(self) -> JsonDict:
        """Return what a ruling on this seat's answer rests on."""
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

    def as_json(self) -> JsonDict:
        """Return what a card shows of it; its levels stand there as criteria."""
        return {
            **self.said(),
            "source": self.source,
            "criteria": dict(self.criteria),
            "remarks": list(self.remarks),
            "call": self.call,
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
    version = 1

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
        self,
        seats: Sequence[SeatAnswer],
        ruling: StrategyRuling | None,
        policy: Policy,
        uploaded: Sequence[JsonDict] = (),
    ) -> Opinion:
        """Settle the panel; a ruling replaces its score and leaves it visible.

        While a seat is held back nothing is settled: a vote that is still to come is none that
        failed. ``uploaded`` are verdicts that stand aside for those of our own seats.
        """
        held = [answer for answer in seats if answer.is_held]
        votes = {} if held else {answer.seat: answer.score for answer in seats}
        panel = settle(votes, policy)
        score = panel.score if ruling is None or ruling.score is None else ruling.score
        detail = {
            "branch": panel.branch.value,
            "votes": sum(answer.score is not None for answer in seats),
            "configured": len(seats),
            "panel_score": score_text(panel.score),
            "mean": score_text(panel.mean),
            "discarded": panel.discarded,
            "within": policy.panel.within,
            "flagged": panel.is_flagged and ruling is None,
            "rule": _held(held) if held else panel.why,
            "seats": [answer.as_json() for answer in seats],
            "uploaded": list(uploaded),
            "ruling": None
            if ruling is None
            else {"score": score_text(score), "reason": ruling.reason},
        }
        return Opinion(
            judge=Judge.STRATEGY,
            score=score,
            reason=None if score is not None else Reason.HELD if held else _reason(panel),
            why=_why(panel, ruling) if not held or ruling else _held(held).removesuffix("."),
            rationale=_held(held) if held else panel.why,
            detail=detail,
            source="ruling" if ruling else seats[0].source if seats else "own",
        )


def _held(seats: Sequence[SeatAnswer]) -> str:
    """Say that seats wait, and why."""
    number = f"{len(seats)} seats wait" if len(seats) > 1 else "One seat waits"
    why = " ".join(dict.fromkeys(seat.reason for seat in seats))
    return f"{number} to be asked. {why}"


def _seat(seat: str, answer: VerdictEntry | None, policy: Policy) -> SeatAnswer:
    if answer is None:
        return SeatAnswer(seat, "unavailable", reason="no verdict of this seat was uploaded")
    return uploaded_answer(answer, seat, policy)


def uploaded_answer(answer: VerdictEntry, seat: str, policy: Policy) -> SeatAnswer:
    """Return an uploaded verdict as the answer of a seat."""
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


def unseated(seat: str) -> SeatAnswer:
    """Return the state of a seat that is not configured, beside others that are."""
    return SeatAnswer(
        seat, "unavailable", reason="no key is configured for this seat", source="own"
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
    return digest_of({"seen": seen, "said": [seat.said() for seat in seats]})
