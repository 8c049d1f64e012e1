"""How the votes of the strategy panel become one score (SCORING.md, 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from judging.scoring.exact import HUNDRED, ZERO, mean, plain
from judging.scoring.policy import Policy
from judging.scoring.reasons import Reason

MOST_SEATS = 3


class Branch(StrEnum):
    """Which rule settled a panel."""

    CONSENSUS = "consensus"
    CHAINED = "chained"
    OUTLIER_HIGH = "outlier_high"
    OUTLIER_LOW = "outlier_low"
    DISAGREE = "disagree"
    PAIR_AGREE = "pair_agree"
    PAIR_SPLIT = "pair_split"
    SINGLE = "single"
    NO_PANEL = "no_panel"
    WAITING = "waiting"  # no seat at all: nobody was asked

    @property
    def case(self) -> str | None:
        """The reason of the case that this branch opens, if it opens one."""
        return _CASES.get(self)

    @property
    def is_flagged(self) -> bool:
        """Whether the case is blocking: the score can still change."""
        return self in _CASES and self is not Branch.CHAINED


_CASES = {
    Branch.CHAINED: "panel_chained",
    Branch.DISAGREE: "panel_disagreement",
    Branch.PAIR_SPLIT: "panel_disagreement",
    Branch.SINGLE: "panel_incomplete",
    Branch.NO_PANEL: "panel_incomplete",
}


@dataclass(frozen=True, slots=True)
class PanelOutcome:
    """What the rule makes of a panel. Scores are 0 to 100; None where there is no vote."""

    branch: Branch
    score: Fraction | None
    votes: int
    seats: int
    discarded: str | None  # the seat whose vote lies too far from the other two
    mean: Fraction | None  # of all votes, without the penalty for disagreement
    lowest: Fraction | None
    highest: Fraction | None
    why: str

    @property
    def is_flagged(self) -> bool:
        return self.branch.is_flagged

    @property
    def reason(self) -> Reason | None:
        """Why there is no score; None where there is one."""
        return Reason(self.branch.value) if self.score is None else None


def settle(votes: Mapping[str, Fraction | None], policy: Policy) -> PanelOutcome:
    """Settle a panel of up to three seats, each with a score or None for no answer.

    The order of the seats never matters. Raises `ValueError` for more seats than the rule
    knows and for a score outside 0 to 100.
    """
    if len(votes) > MOST_SEATS:
        raise ValueError(f"a panel has at most {MOST_SEATS} seats, not {len(votes)}")
    cast = sorted((score, seat) for seat, score in votes.items() if score is not None)
    scores = [score for score, _ in cast]
    if scores and not (scores[0] >= ZERO and scores[-1] <= HUNDRED):
        raise ValueError("a seat's score lies between 0 and 100")
    branch = _branch(scores, len(votes), policy.panel.within)
    discarded = {Branch.OUTLIER_HIGH: -1, Branch.OUTLIER_LOW: 0}.get(branch)
    return PanelOutcome(
        branch=branch,
        score=_score(branch, scores, policy.panel.disagreement_penalty),
        votes=len(scores),
        seats=len(votes),
        discarded=None if discarded is None else cast[discarded][1],
        mean=mean(scores) if scores else None,
        lowest=scores[0] if scores else None,
        highest=scores[-1] if scores else None,
        why=_why(branch, scores, len(votes), policy),
    )


def _branch(scores: list[Fraction], seats: int, within: int) -> Branch:
    if not scores:
        return Branch.NO_PANEL if seats else Branch.WAITING
    if len(scores) == 1:
        return Branch.SINGLE
    spread = scores[-1] - scores[0]
    if len(scores) == 2:
        return Branch.PAIR_AGREE if spread <= within else Branch.PAIR_SPLIT
    low_gap, high_gap = scores[1] - scores[0], scores[2] - scores[1]
    if low_gap > within and high_gap > within:
        return Branch.DISAGREE
    if high_gap > within:
        return Branch.OUTLIER_HIGH
    if low_gap > within:
        return Branch.OUTLIER_LOW
    return Branch.CONSENSUS if spread <= within else Branch.CHAINED


def _score(branch: Branch, scores: list[Fraction], penalty: int) -> Fraction | None:
    match branch:
        case Branch.NO_PANEL | Branch.WAITING:
            return None
        case Branch.CONSENSUS | Branch.CHAINED:
            return scores[1]
        case Branch.OUTLIER_HIGH:
            return mean(scores[:2])
        case Branch.OUTLIER_LOW:
            return mean(scores[1:])
        case Branch.DISAGREE | Branch.PAIR_SPLIT:
            return max(ZERO, mean(scores) - penalty)
        case Branch.SINGLE | Branch.PAIR_AGREE:
            return mean(scores)


def _why(branch: Branch, scores: list[Fraction], seats: int, policy: Policy) -> str:
    within, penalty = policy.panel.within, policy.panel.disagreement_penalty
    shown = [plain(score) for score in scores]
    match branch:
        case Branch.WAITING:
            return "No seat is configured and no verdict was uploaded."
        case Branch.NO_PANEL:
            return f"None of {seats} seats answered: there is no score."
        case Branch.SINGLE:
            return f"One seat of {seats} answered: {shown[0]} stands until a reviewer rules."
        case Branch.CONSENSUS:
            return f"All three lie within {within} points: the middle one, {shown[1]}."
        case Branch.CHAINED:
            return (
                f"Neighbours lie within {within} points, the ends do not: the middle one, "
                f"{shown[1]}."
            )
        case Branch.OUTLIER_HIGH:
            return (
                f"{shown[2]} lies more than {within} points above the other two and is "
                f"discarded: the mean of {shown[0]} and {shown[1]}."
            )
        case Branch.OUTLIER_LOW:
            return (
                f"{shown[0]} lies more than {within} points below the other two and is "
                f"discarded: the mean of {shown[1]} and {shown[2]}."
            )
        case Branch.DISAGREE:
            return (
                f"All three lie more than {within} points apart: the mean, "
                f"{plain(mean(scores))}, less {penalty} until a reviewer rules."
            )
        case Branch.PAIR_AGREE:
            return f"2 of {seats} seats answered, within {within} points: their mean."
        case Branch.PAIR_SPLIT:
            return (
                f"2 of {seats} seats answered, more than {within} points apart: the mean, "
                f"{plain(mean(scores))}, less {penalty} until a reviewer rules."
            )
