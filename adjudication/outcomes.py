"""What the rulings of a case come to (SCORING.md, 8): values in, values out, no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from judging.scoring.exact import mean, median
from judging.scoring.policy import Policy

WITH_A_SECOND = 2
WITH_A_THIRD = 3


@dataclass(frozen=True, slots=True)
class Vote:
    """What one reviewer arrives at: a Strategy score, or an answer on a finding.

    `upholds` says that the score is the rule's own number, to be signed as it stands.
    """

    score: Fraction | None = None
    upholds: bool = False
    answer: str = ""  # applied or dismissed
    points: int | None = None  # of a finding that is applied

    @property
    def on_finding(self) -> tuple[str, int | None]:
        return self.answer, self.points


@dataclass(frozen=True, slots=True)
class Waits:
    """The rulings so far settle nothing: the case needs this many reviewers."""

    slots: int


def settle(votes: Sequence[Vote], slots: int, policy: Policy) -> Vote | Waits:
    """Settle a case that needs `slots` reviewers, from the votes in the order they were given.

    One vote decides where one is needed. Two scores that lie within the policy's distance
    give their mean, two equal answers on a finding that answer; else a third reviewer is
    needed: of three scores the median counts, on a finding the third decides. Raises
    `ValueError` for more votes than three.
    """
    if len(votes) > WITH_A_THIRD:
        raise ValueError(f"at most {WITH_A_THIRD} reviewers rule on a case, not {len(votes)}")
    if len(votes) < slots:
        return Waits(slots)
    if len(votes) == 1:
        return votes[0]
    if votes[0].score is None:
        return _settle_answers(votes)
    return _settle_scores(votes, policy)


def _settle_answers(votes: Sequence[Vote]) -> Vote | Waits:
    if len(votes) == WITH_A_SECOND and votes[0].on_finding != votes[1].on_finding:
        return Waits(WITH_A_THIRD)
    return votes[-1]


def _settle_scores(votes: Sequence[Vote], policy: Policy) -> Vote | Waits:
    scores = [vote.score for vote in votes if vote.score is not None]
    upholds = all(vote.upholds for vote in votes)
    if len(scores) == WITH_A_THIRD:
        return Vote(score=median(scores), upholds=upholds)
    if abs(scores[0] - scores[1]) > policy.cases.second_reviewer_within:
        return Waits(WITH_A_THIRD)
    return Vote(score=mean(scores), upholds=upholds)
