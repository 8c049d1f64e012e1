"""From five judges to one total, and the ledger that adds up to it (SCORING.md, 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from bouts.rules import Judge
from judging.scoring.exact import HUNDRED, ZERO, clamp, plain, rounded
from judging.scoring.integrity import (
    Finding,
    FindingLine,
    IntegrityOutcome,
    Standing,
    Status,
    is_open,
    weigh_findings,
)
from judging.scoring.policy import WEIGHED, Policy
from judging.scoring.reasons import Reason
from judging.scoring.weights import Weights

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """What one judge answered: a score from 0 to 100, or None with the reason.

    A reason beside a score says what a rule did to it (`unverified`, `build_failed`) or
    why half of it is absent.
    """

    score: Fraction | None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        if self.score is None and self.reason is None:
            raise ValueError("no answer needs a reason")
        if self.score is not None and not ZERO <= self.score <= HUNDRED:
            raise ValueError(f"a score lies between 0 and 100, not at {self.score}")


class TotalMark(StrEnum):
    """What the total is short of."""

    REDUCED = "reduced"  # a judge does not apply: ranked, with the effective weights
    INCOMPLETE = "incomplete"  # a judge is missing: shown, not ranked


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """One judge's part of the total.

    `weight` is the challenge's, `effective_weight` its share once judges without a score
    have given theirs away; both in parts of 100. `points` is what the ledger's row says.
    """

    judge: Judge
    raw: Fraction | None
    counted: Fraction | None
    weight: Fraction
    effective_weight: Fraction
    points: Decimal
    reason: Reason | None
    why: str

    @property
    def is_anchored(self) -> bool:
        return self.counted is not None and self.raw != self.counted


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the ledger. `row` is a judge, `bonus_voided`, `bonus_cap`, `penalty_cap`,
    `limit`, or the trigger of the finding whose id `finding` gives."""

    row: str
    points: Decimal
    why: str
    finding: str | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """The total of a match with all that it is made of.

    `total` is exact and clamped, `unclamped` is what a leaderboard orders by. The `points`
    of the ledger's rows add up to `total` rounded to two places, to the last digit. Without
    an Objective score there is no total: then the figures are None, `reason` says why, and
    the ledger is empty.
    """

    total: Fraction | None
    reason: Reason | None
    base: Fraction | None
    adjustment: int
    unclamped: Fraction | None
    band: str | None
    marks: tuple[TotalMark, ...]
    judges: Mapping[Judge, JudgeLine]
    ledger: tuple[Row, ...]

    @property
    def is_rankable(self) -> bool:
        """Whether it may stand on a leaderboard, as far as its judges are concerned."""
        return self.total is not None and TotalMark.INCOMPLETE not in self.marks


def compose(
    scores: Mapping[Judge, JudgeScore],
    integrity: IntegrityOutcome,
    weights: Weights,
    policy: Policy,
) -> Total:
    """Anchor and weigh the judges, add the integrity adjustment, and write the ledger.

    A judge that is not in `scores` does not apply to the challenge.
    """
    answers = {
        judge: scores.get(judge, JudgeScore(None, Reason.NOT_APPLICABLE)) for judge in WEIGHED
    }
    anchor = answers[Judge.OBJECTIVE].score
    if anchor is None:
        return _no_total(answers, integrity, weights)

    ceiling = anchor + policy.anchor_margin
    counted = {
        judge: answer.score if judge is Judge.OBJECTIVE else min(answer.score, ceiling)
        for judge, answer in answers.items()
        if answer.score is not None
    }
    weight_used = sum((weights[judge] for judge in counted), ZERO)
    shares = {judge: weights[judge] / weight_used for judge in counted}
    base = sum((shares[judge] * score for judge, score in counted.items()), ZERO)
    unclamped = base + integrity.adjustment
    total = clamp(unclamped)
    points = _largest_remainder(
        {judge: shares[judge] * score for judge, score in counted.items()}, rounded(base)
    )
    lines = {
        judge: JudgeLine(
            judge=judge,
            raw=answer.score,
            counted=counted.get(judge),
            weight=weights[judge],
            effective_weight=HUNDRED * shares.get(judge, ZERO),
            points=points.get(judge, rounded(ZERO)),
            reason=answer.reason,
            why=_why(judge, answer, counted, shares, policy),
        )
        for judge, answer in answers.items()
    }
    return Total(
        total=total,
        reason=None,
        base=base,
        adjustment=integrity.adjustment,
        unclamped=unclamped,
        band=band_of(total, policy),
        marks=_marks(answers),
        judges=lines,
        ledger=_ledger(lines, integrity, rounded(total), policy),
    )


def band_of(total: Fraction, policy: Policy) -> str:
    """The name of the band that a total, rounded to two places, lies in."""
    shown = rounded(total)
    return next(name for lowest, name in policy.bands if shown >= lowest)


def provisional_range(
    scores: Mapping[Judge, JudgeScore],
    findings: Sequence[Finding],
    weights: Weights,
    policy: Policy,
    *,
    open_votes: Sequence[Fraction] | None = None,
) -> tuple[Fraction, Fraction] | None:
    """The lowest and highest total that open questions still allow, or None for no total.

    `open_votes` are the votes of a panel whose case is open: Strategy may end anywhere
    from the lowest to the highest, or from 0 to 100 where nobody voted; None says that the
    panel is not open. The number that the panel's rule gave belongs to the range too,
    since a reviewer may uphold it. Each finding that is proposed or holds the match may be
    confirmed or dismissed.
    """
    objective = scores.get(Judge.OBJECTIVE)
    if objective is None or objective.score is None:
        return None
    strategies = _open_strategies(scores, open_votes)
    worst = _ruled(findings, policy, confirm_bonuses=False)
    best = _ruled(findings, policy, confirm_bonuses=True)
    totals = [
        compose({**scores, **strategy}, weigh_findings(ruled, policy), weights, policy).total
        for strategy in strategies
        for ruled in (worst, best)
    ]
    reached = [total for total in totals if total is not None]
    return min(reached), max(reached)


def _open_strategies(
    scores: Mapping[Judge, JudgeScore], open_votes: Sequence[Fraction] | None
) -> list[Mapping[Judge, JudgeScore]]:
    if open_votes is None:
        return [{}]
    ends = [min(open_votes), max(open_votes)] if open_votes else [ZERO, HUNDRED]
    now = scores.get(Judge.STRATEGY)
    if now is not None and now.score is not None:
        ends.append(now.score)
    return [{Judge.STRATEGY: JudgeScore(end)} for end in ends]


def _ruled(findings: Sequence[Finding], policy: Policy, *, confirm_bonuses: bool) -> list[Finding]:
    """The findings once every open one is ruled on, all for the agent or all against it."""
    ruled = []
    for finding in findings:
        if is_open(finding, policy):
            is_bonus = policy.integrity.triggers[finding.trigger].is_bonus
            status = Status.APPLIED if is_bonus is confirm_bonuses else Status.DISMISSED
            finding = replace(finding, status=status)
        ruled.append(finding)
    return ruled


def _no_total(
    answers: Mapping[Judge, JudgeScore], integrity: IntegrityOutcome, weights: Weights
) -> Total:
    reason = answers[Judge.OBJECTIVE].reason
    lines = {
        judge: JudgeLine(
            judge=judge,
            raw=answer.score,
            counted=None,
            weight=weights[judge],
            effective_weight=ZERO,
            points=rounded(ZERO),
            reason=answer.reason,
            why=answer.reason.sentence if answer.reason else "no total without Objective",
        )
        for judge, answer in answers.items()
    }
    return Total(
        total=None,
        reason=reason,
        base=None,
        adjustment=integrity.adjustment,
        unclamped=None,
        band=None,
        marks=_marks(answers),
        judges=lines,
        ledger=(),
    )


def _marks(answers: Mapping[Judge, JudgeScore]) -> tuple[TotalMark, ...]:
    reasons = [answer.reason for answer in answers.values() if answer.score is None]
    marks = []
    if any(reason is not None and not reason.is_missing for reason in reasons):
        marks.append(TotalMark.REDUCED)
    if any(reason is not None and reason.is_missing for reason in reasons):
        marks.append(TotalMark.INCOMPLETE)
    return tuple(marks)


def _largest_remainder(parts: Mapping[Judge, Fraction], total: Decimal) -> dict[Judge, Decimal]:
    """Round the parts to cents so that they sum to `total`, which is their rounded sum.

    All are rounded down; the cents that are then short go to the largest remainders, in
    the order of the judges where these are equal.
    """
    cents = {judge: math.floor(part * 100) for judge, part in parts.items()}
    short = int(total / CENT) - sum(cents.values())
    by_remainder = sorted(parts, key=lambda judge: cents[judge] - parts[judge] * 100)
    for judge in by_remainder[:short]:
        cents[judge] += 1
    return {judge: Decimal(amount).scaleb(-2) for judge, amount in cents.items()}


def _why(
    judge: Judge,
    answer: JudgeScore,
    counted: Mapping[Judge, Fraction],
    shares: Mapping[Judge, Fraction],
    policy: Policy,
) -> str:
    if answer.score is None:
        reason = answer.reason.sentence if answer.reason else ""
        return f"n/a: {reason}; its weight goes to the others"
    parts = []
    if answer.score != counted[judge]:
        parts.append(
            f"anchored: Objective {plain(counted[Judge.OBJECTIVE])} + {policy.anchor_margin}"
        )
    elif answer.reason is not None:
        parts.append(answer.reason.sentence)
    parts.append(f"{plain(counted[judge])} × {plain(HUNDRED * shares[judge])} %")
    return ", ".join(parts)


def _ledger(
    lines: Mapping[Judge, JudgeLine], integrity: IntegrityOutcome, total: Decimal, policy: Policy
) -> tuple[Row, ...]:
    rows = [Row(judge, line.points, line.why) for judge, line in lines.items()]
    rows += [
        Row(line.finding.trigger, _whole(line.points), _standing(line), line.finding.id)
        for line in integrity.lines
    ]
    absorbed_bonus = integrity.bonus_counted - integrity.bonus_raw
    absorbed_penalty = integrity.penalty_counted - integrity.penalty_raw
    if absorbed_bonus and integrity.is_voided:
        rows.append(Row("bonus_voided", _whole(absorbed_bonus), "voided by a quarantine penalty"))
    elif absorbed_bonus:
        cap = f"bonuses count at most +{policy.integrity.bonus_cap}"
        rows.append(Row("bonus_cap", _whole(absorbed_bonus), cap))
    if absorbed_penalty:
        cap = f"penalties count at most −{-policy.integrity.penalty_cap}"
        rows.append(Row("penalty_cap", _whole(absorbed_penalty), cap))
    # Adding a whole number does not move a rounding, so what is left here is the clamp alone.
    limit = total - sum((row.points for row in rows), Decimal(0))
    why = "a total lies between 0 and 100" if limit else "within 0 and 100"
    return (*rows, Row("limit", limit, why))


def _standing(line: FindingLine) -> str:
    match line.standing:
        case Standing.COUNTED:
            return "applied"
        case Standing.PROPOSED:
            return f"proposed, {line.price:+d} if confirmed"
        case Standing.DISMISSED:
            return "dismissed"
        case Standing.REPEATED:
            return "applied, but this counts once a match"
        case Standing.SAME_ACT:
            return "applied, but the same act already counts"


def _whole(points: int) -> Decimal:
    return rounded(Fraction(points))
