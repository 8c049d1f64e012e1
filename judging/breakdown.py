"""Put the opinions of all judges together: the total, and the breakdown that explains it.

Plain Python without Django: `manage.py score` prints what this makes of files, the product
stores what it makes of rows. The shape is DESIGN.md's "A breakdown as JSON", with nothing
withheld; `bouts.disclosure` and `judging.views` cut it to size for a viewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from bouts.bundles.manifest import ChallengeFile
from bouts.rules import Confidence, Judge
from judging.judges.base import JsonDict, Opinion
from judging.judges.strategy import HELD, SeatAnswer
from judging.scoring.composite import (
    JudgeScore,
    Total,
    TotalMark,
    compose,
    provisional_range,
)
from judging.scoring.exact import rounded, score_text
from judging.scoring.integrity import (
    Finding,
    FindingLine,
    IntegrityOutcome,
    Standing,
    Status,
    weigh_findings,
)
from judging.scoring.panel import settle
from judging.scoring.policy import WEIGHED, Consequence, Policy
from judging.scoring.reasons import Reason
from judging.scoring.weights import Weights, checked_weights

NO_CHANGE = "correct_no_change"


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A finding as it stands: found, and perhaps decided."""

    key: str
    trigger: str
    points: int
    status: str
    confidence: str
    act: str
    source: str
    note: str
    evidence: tuple[JsonDict, ...]
    reason: str
    is_decided: bool  # by a person
    decided_at: str | None = None

    @property
    def is_proposed(self) -> bool:
        return self.status == Status.PROPOSED

    @property
    def as_scored(self) -> Finding:
        return Finding(
            id=self.key,
            trigger=self.trigger,
            status=Status(self.status),
            points=self.points,
            confidence=Confidence(self.confidence) if self.confidence else None,
            act=self.act or None,
            is_confirmed=self.is_decided and self.status == Status.APPLIED,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A question that the rules put to a person, as the scorecard sees it."""

    reason: str
    blocking: bool
    is_open: bool
    evidence_digest: str
    finding_key: str = ""

    def as_json(self) -> JsonDict:
        return {
            "reason": self.reason,
            "blocking": self.blocking,
            "status": "open" if self.is_open else "decided",
            "finding_key": self.finding_key,
            "evidence_digest": self.evidence_digest,
        }


@dataclass(frozen=True, slots=True)
class Answers:
    """All that was said of one match."""

    spec: ChallengeFile
    opinions: Mapping[Judge, Opinion]
    seats: tuple[SeatAnswer, ...]
    findings: tuple[FindingRecord, ...]
    claims: tuple[JsonDict, ...]
    strategy_digest: str  # of what the panel saw and said
    integrity_model: JsonDict | None = None  # what a model was asked for Integrity
    searched: tuple[JsonDict, ...] = ()  # where Integrity looked for what

    @property
    def waits(self) -> tuple[JsonDict, ...]:
        """The models that are still to be asked, each with its judge and why it waits."""
        models = {
            judge: self.opinions[judge].detail.get("model")
            for judge in (Judge.PROCESS, Judge.RECOVERY)
            if judge in self.opinions
        } | {Judge.INTEGRITY: self.integrity_model}
        held = [
            (judge, model["reason"])
            for judge, model in models.items()
            if model and model["state"] == HELD
        ]
        held += [(Judge.STRATEGY, seat.reason) for seat in self.seats if seat.is_held]
        asked = [entry for entry in held if entry[0] in self.spec.judges]
        return tuple({"judge": judge.value, "why": why} for judge, why in asked)


@dataclass(frozen=True, slots=True)
class Scored:
    """A match's score with its exact parts, and what a page says of it."""

    total: Total
    integrity: IntegrityOutcome
    status: str
    marks: tuple[str, ...]
    range: tuple[Fraction, Fraction] | None
    cases: tuple[Case, ...]
    body: JsonDict  # the breakdown but for who, when and which artifacts


def score(answers: Answers, policy: Policy) -> Scored:
    """Compose the total, derive status, marks and cases, and write the breakdown."""
    weights = weights_of(answers.spec, policy)
    scores = _scores(answers)
    integrity = weigh_findings([finding.as_scored for finding in answers.findings], policy)
    total = compose(scores, integrity, weights, policy)
    cases = _cases(answers, integrity, policy)
    reach = _reach(answers, cases, weights, policy)
    status = _status(answers, total, integrity, cases)
    marks = _marks(total, integrity, answers)
    body: JsonDict = {
        "policy": policy.version,
        "status": status,
        "marks": list(marks),
        "total": None if total.total is None else str(rounded(total.total)),
        "reason": total.reason.value if total.reason else None,
        "base": score_text(total.base),
        "adjustment": integrity.adjustment,
        "band": total.band,
        "range": None
        if reach is None or rounded(reach[0]) == rounded(reach[1])
        else {"low": str(rounded(reach[0])), "high": str(rounded(reach[1]))},
        "ledger": _ledger(total, answers),
        "judges": {judge.value: _judge(judge, total, answers) for judge in WEIGHED},
        "integrity": _integrity(integrity, answers, policy),
        "cases": [case.as_json() for case in cases],
        "waits": list(answers.waits),
    }
    return Scored(total, integrity, status, marks, reach, cases, body)


def weights_of(spec: ChallengeFile, policy: Policy) -> Weights:
    """Return the challenge's own weights, or the policy's."""
    if spec.weights is None:
        return policy.weights
    return checked_weights(spec.weights.model_dump(), policy)


def _scores(answers: Answers) -> dict[Judge, JudgeScore]:
    """Return the scores of the judges that apply; one that should and is not there is missing."""
    applies = set(answers.spec.judges)
    if _is_correct_no_change(answers):
        applies -= {Judge.PROCESS, Judge.RECOVERY}
    scores = {}
    for judge in WEIGHED:
        if judge not in applies:
            continue
        opinion = answers.opinions.get(judge)
        if opinion is None:
            scores[judge] = JudgeScore(None, Reason.FAILED)
        else:
            scores[judge] = JudgeScore(opinion.score, opinion.reason)
    return scores


def _is_correct_no_change(answers: Answers) -> bool:
    """Whether nothing was to be changed and nothing was: there is no work to look at then."""
    return answers.spec.no_change_expected and any(
        finding.trigger == NO_CHANGE and finding.status == Status.APPLIED
        for finding in answers.findings
    )


def _reach(
    answers: Answers, cases: Sequence[Case], weights: Weights, policy: Policy
) -> tuple[Fraction, Fraction] | None:
    """Return how low and how high open questions can still take the total."""
    panel_is_open = any(case.is_open and case.blocking and not case.finding_key for case in cases)
    votes = [seat.score for seat in answers.seats if seat.score is not None]
    reaches = [
        provisional_range(
            _scores(ruled),
            [finding.as_scored for finding in ruled.findings],
            weights,
            policy,
            open_votes=votes if panel_is_open else None,
        )
        for ruled in _ruled_on_no_change(answers)
    ]
    known = [reach for reach in reaches if reach is not None]
    if not known:
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _ruled_on_no_change(answers: Answers) -> list[Answers]:
    """Return the answers by what may be ruled on a proposed `correct_no_change`.

    Confirmed, it leaves two judges out as well, so that each ruling has a range of its own.
    """
    if not any(
        finding.trigger == NO_CHANGE and finding.is_proposed for finding in answers.findings
    ):
        return [answers]
    return [
        replace(
            answers,
            findings=tuple(
                replace(finding, status=status)
                if finding.trigger == NO_CHANGE and finding.is_proposed
                else finding
                for finding in answers.findings
            ),
        )
        for status in (Status.APPLIED, Status.DISMISSED)
    ]


# Status, marks, cases


def _status(
    answers: Answers, total: Total, integrity: IntegrityOutcome, cases: Sequence[Case]
) -> str:
    if total.total is None:
        return "failed" if total.reason is Reason.FAILED else "unscored"
    # What the challenge leaves out waits for nobody.
    if answers.waits or total.judges[Judge.STRATEGY].reason is Reason.WAITING:
        return "pending"
    is_open = any(case.is_open and case.blocking for case in cases)
    if is_open or integrity.held or integrity.has_proposals:
        return "provisional"
    return "final"


def _marks(total: Total, integrity: IntegrityOutcome, answers: Answers) -> tuple[str, ...]:
    objective = answers.opinions.get(Judge.OBJECTIVE)
    objective_marks = objective.detail.get("marks", []) if objective else []
    marks = {
        TotalMark.REDUCED.value: TotalMark.REDUCED in total.marks,
        TotalMark.INCOMPLETE.value: TotalMark.INCOMPLETE in total.marks,
        "reduced_evidence": "reduced_evidence" in objective_marks,
        "nondeterministic": "nondeterministic" in objective_marks,
        "flagged": bool(integrity.flags),
        "warned": bool(integrity.warnings),
        "held": integrity.held,
    }
    return tuple(mark for mark, applies in marks.items() if applies)


def _cases(answers: Answers, integrity: IntegrityOutcome, policy: Policy) -> tuple[Case, ...]:
    return (*_strategy_cases(answers, policy), *_finding_cases(answers, policy))


def _strategy_cases(answers: Answers, policy: Policy) -> list[Case]:
    strategy = answers.opinions.get(Judge.STRATEGY)
    if strategy is None or Judge.STRATEGY not in answers.spec.judges:
        return []
    if any(seat.is_held for seat in answers.seats):
        return []  # the panel has not said what it has to say
    is_open = strategy.detail.get("ruling") is None
    panel = settle({answer.seat: answer.score for answer in answers.seats}, policy)
    cases = []
    if panel.branch.case:
        cases.append(Case(panel.branch.case, panel.is_flagged, is_open, answers.strategy_digest))
    objective = answers.opinions.get(Judge.OBJECTIVE)
    if (
        panel.score is not None
        and objective is not None
        and objective.score is not None
        and panel.score >= policy.cases.conflict_strategy_from
        and objective.score < policy.cases.conflict_objective_below
    ):
        cases.append(Case("objective_narrative_conflict", False, is_open, answers.strategy_digest))
    return cases


def _finding_cases(answers: Answers, policy: Policy) -> list[Case]:
    """A case for whatever waits for a reviewer, and for what severity sends to one."""
    cases = []
    for finding in answers.findings:
        consequence = policy.integrity.triggers[finding.trigger].consequence
        is_held = consequence is Consequence.QUARANTINE and (
            finding.status == Status.APPLIED or finding.confidence == Confidence.HIGH
        )
        asks = (
            finding.is_decided
            or finding.status == Status.PROPOSED
            or consequence in {Consequence.FLAG, Consequence.QUARANTINE}
        )
        if asks:
            reason = "integrity_quarantine" if is_held else "integrity_review"
            cases.append(Case(reason, is_held, not finding.is_decided, finding.key, finding.key))
    return cases


# The parts of the breakdown


def _ledger(total: Total, answers: Answers) -> list[JsonDict]:
    rows: list[JsonDict] = []
    for row in total.ledger:
        entry: JsonDict = {"row": row.row, "points": str(row.points), "why": row.why}
        if row.finding is not None:
            entry["finding"] = row.finding
        elif row.row in total.judges:
            line = total.judges[Judge(row.row)]
            opinion = answers.opinions.get(line.judge)
            entry |= {
                "raw": score_text(line.raw),
                "counted": score_text(line.counted),
                "weight": _number(line.effective_weight),
                "anchored": line.is_anchored,
                "provisional": _is_open(line.judge, answers),
            }
            # The judge's own words say more than the product; the anchor's reason comes first.
            if line.counted is not None and not line.is_anchored and opinion and opinion.why:
                entry["why"] = opinion.why
        rows.append(entry)
    return rows


def _is_open(judge: Judge, answers: Answers) -> bool:
    if judge is not Judge.STRATEGY or judge not in answers.spec.judges:
        return False
    opinion = answers.opinions.get(judge)
    return bool(opinion and opinion.detail.get("flagged"))


def _judge(judge: Judge, total: Total, answers: Answers) -> JsonDict:
    line, opinion = total.judges[judge], answers.opinions.get(judge)
    card: JsonDict = {
        "raw": score_text(line.raw),
        "counted": score_text(line.counted),
        "weight": _number(line.weight),
        "effective_weight": _number(line.effective_weight),
        "points": str(line.points),
        "anchored": line.is_anchored,
        "reason": line.reason.value if line.reason else None,
        "reason_text": line.reason.sentence if line.reason else None,
        "why": line.why,
        "source": opinion.source if opinion else None,
        "rationale": opinion.rationale if opinion else "",
        "evidence": list(opinion.evidence) if opinion else [],
    }
    return {**card, **dict(opinion.detail)} if opinion else card


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(rounded(value, 4))


def _integrity(integrity: IntegrityOutcome, answers: Answers, policy: Policy) -> JsonDict:
    records = {finding.key: finding for finding in answers.findings}
    found = {finding.trigger for finding in answers.findings}
    # What could not be looked for was not "not found".
    looked_for = {name for one in answers.searched if one["done"] for name in one["triggers"]}
    return {
        "bonus_raw": integrity.bonus_raw,
        "penalty_raw": integrity.penalty_raw,
        "bonus_counted": integrity.bonus_counted,
        "penalty_counted": integrity.penalty_counted,
        "bonus_cap": policy.integrity.bonus_cap,
        "penalty_cap": policy.integrity.penalty_cap,
        "voided": integrity.is_voided,
        "adjustment": integrity.adjustment,
        "held": integrity.held,
        "flags": list(integrity.flags),
        "findings": [_finding(line, records[line.finding.id], policy) for line in integrity.lines],
        "claims": list(answers.claims),
        "model": answers.integrity_model,
        "searched": list(answers.searched),
        "not_found": [
            name
            for name, trigger in policy.integrity.triggers.items()
            if not trigger.is_bonus and name in looked_for and name not in found
        ],
    }


def _finding(line: FindingLine, record: FindingRecord, policy: Policy) -> JsonDict:
    consequence = policy.integrity.triggers[record.trigger].consequence
    return {
        "key": record.key,
        "trigger": record.trigger,
        "points": line.points,
        "price": line.price,
        "severity": consequence.value if consequence else "bonus",
        "status": record.status,
        "standing": line.standing.value,
        "counts_instead": line.in_favour_of if line.standing is not Standing.COUNTED else None,
        "confidence": record.confidence,
        "source": record.source,
        "note": record.note,
        "reason": record.reason,
        "decided": record.is_decided,
        "decided_at": record.decided_at,
        "evidence": list(record.evidence),
    }
