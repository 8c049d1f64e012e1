"""What gets written, and when: steps of work, verdicts, findings, scorecards."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from bouts import audit
from bouts.models import Bundle, Challenge, Match, User
from judging import standings
from judging.breakdown import Answers, FindingRecord, Scored, claims_json, score
from judging.dossiers import dossier_of
from judging.judges.base import Dossier, Opinion, digest_of
from judging.judges.integrity import Found, IntegrityJudge
from judging.judges.objective import ObjectiveJudge, tests_of
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import (
    SCORED,
    SeatAnswer,
    StrategyJudge,
    StrategyRuling,
    strategy_digest,
)
from judging.judges.telemetry import analysed
from judging.models import Finding, Scorecard, Step, Verdict
from judging.scoring.exact import rounded, score_text
from judging.scoring.policy import CURRENT, WEIGHED, Judge, Policy
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Telemetry
from judging.signals import scorecard_recorded

logger = logging.getLogger(__name__)

RULING = "ruling"  # the seat of a reviewer's word on the Strategy score
UPHELD = "upheld"  # its state where the rule's number stands


class ChallengeFrozen(Exception):
    """The challenge is closed: rulings and rejudging are refused."""


# Steps of work


@transaction.atomic
def start(bundle: Bundle) -> list[Step]:
    """Lay out the steps of a bundle's work; return those that can begin."""
    Step.objects.bulk_create(
        [Step(bundle=bundle, name=name) for name in Step.Name], ignore_conflicts=True
    )
    return ready_steps(bundle)


def ready_steps(bundle: Bundle) -> list[Step]:
    """Return the steps that wait for nothing: Objective first, the scorecard last.

    A judge that failed holds nobody up: the scorecard says that it is missing.
    """
    steps = {step.name: step for step in bundle.steps.all()}
    over = {
        name for name, step in steps.items() if step.state in {Step.State.DONE, Step.State.FAILED}
    }
    judges = set(steps) - {Step.Name.SCORECARD}
    return [
        step
        for name, step in steps.items()
        if step.state == Step.State.WAITING and _needs(name, judges) <= over
    ]


def _needs(name: str, judges: set[str]) -> set[str]:
    match name:
        case Step.Name.OBJECTIVE:
            return set()
        case Step.Name.SCORECARD:
            return judges
    return {Step.Name.OBJECTIVE}


def run_step(step_id: int) -> list[Step]:
    """Do a step's work unless it is done or in other hands; return what is ready after it.

    A step delivered twice is done once: the second delivery finds it taken or over. A step
    that fails is tried again, at most so often, and its reason is kept.
    """
    step = _take(step_id)
    if step is None:
        return []
    try:
        with transaction.atomic():
            if not _is_still_ours(step):
                return []
            WORK[Step.Name(step.name)](Work(step.bundle))
            _finish(step, Step.State.DONE)
    except Exception as error:
        logger.exception("step %s of %s failed", step.name, step.bundle)
        is_over = step.attempts >= settings.STEP_ATTEMPTS
        _finish(step, Step.State.FAILED if is_over else Step.State.WAITING, f"{error!r}"[:2000])
        if not is_over:
            return [step]
    return ready_steps(step.bundle)


def run_steps(bundle: Bundle) -> None:
    """Do all of a bundle's work here and now, without a worker."""
    while ready := ready_steps(bundle):
        for step in ready:
            run_step(step.pk)


def _take(step_id: int) -> Step | None:
    """Claim a step for as long as a lease lasts; None where it is over or in other hands."""
    now = timezone.now()
    is_free = Q(state=Step.State.WAITING) | Q(state=Step.State.RUNNING, lease_expires_at__lt=now)
    taken = Step.objects.filter(is_free, pk=step_id).update(
        state=Step.State.RUNNING,
        attempts=F("attempts") + 1,
        started_at=now,
        lease_expires_at=now + settings.STEP_LEASE,
    )
    if not taken:
        return None
    step = Step.objects.select_related("bundle__match", "bundle__challenge_version").get(pk=step_id)
    if step.attempts > settings.STEP_ATTEMPTS:
        _finish(step, Step.State.FAILED, step.reason or "the worker died each time")
        return None
    return step


def _is_still_ours(step: Step) -> bool:
    """Lock the step; it is ours unless the lease lapsed and somebody else took it."""
    return (
        Step.objects.select_for_update()
        .filter(pk=step.pk, attempts=step.attempts, state=Step.State.RUNNING)
        .exists()
    )


def _finish(step: Step, state: Step.State, reason: str = "") -> None:
    Step.objects.filter(pk=step.pk, attempts=step.attempts).update(
        state=state, reason=reason, finished_at=timezone.now(), lease_expires_at=None
    )
    step.state = state


def stranded_steps() -> list[Step]:
    """Return the steps whose worker is gone or whose message was lost."""
    now = timezone.now()
    lapsed = Q(state=Step.State.RUNNING, lease_expires_at__lt=now)
    unheard = Q(state=Step.State.WAITING, created_at__lt=now - settings.STEP_LEASE / 4)
    bundles = Bundle.objects.filter(
        pk__in=Step.objects.filter(lapsed | unheard).values("bundle")
    ).prefetch_related("steps")
    stranded = list(Step.objects.filter(lapsed))
    return stranded + [step for bundle in bundles for step in ready_steps(bundle)]


@transaction.atomic
def requeue_step(step_id: int, *, by: User, reason: str) -> Step:
    """Put a failed or stuck step back to the start of its attempts."""
    step = Step.objects.select_for_update().select_related("bundle__match").get(pk=step_id)
    before = {"state": step.state, "attempts": step.attempts, "reason": step.reason}
    Step.objects.filter(pk=step.pk).update(
        state=Step.State.WAITING, attempts=0, reason="", lease_expires_at=None
    )
    if step.name != Step.Name.SCORECARD:
        # What a failed judge left out is composed anew once it has answered.
        step.bundle.steps.filter(name=Step.Name.SCORECARD).update(
            state=Step.State.WAITING, attempts=0
        )
    audit.record(by, "requeue_step", step.bundle.match, before, {"step": step.name}, reason)
    step.refresh_from_db()
    return step


# What each step does


class Work:
    """A bundle and what its judges read, loaded once."""

    def __init__(self, bundle: Bundle, policy: Policy = CURRENT) -> None:
        self.bundle = bundle
        self.policy = policy

    @cached_property
    def dossier(self) -> Dossier:
        return dossier_of(self.bundle)

    @cached_property
    def telemetry(self) -> Telemetry:
        return analysed(self.dossier, self.policy)

    @cached_property
    def previous(self) -> Bundle | None:
        """The bundle that this one superseded."""
        earlier = Bundle.objects.filter(match=self.bundle.match, number__lt=self.bundle.number)
        return earlier.order_by("-number").first()


def judge_objective(work: Work) -> None:
    _store_opinion(work.bundle, ObjectiveJudge().judge(work.dossier, work.policy))


def judge_process(work: Work) -> None:
    _store_opinion(work.bundle, ProcessJudge().judge(work.dossier, work.telemetry, work.policy))


def judge_recovery(work: Work) -> None:
    _store_opinion(work.bundle, RecoveryJudge().judge(work.dossier, work.telemetry, work.policy))


def judge_strategy(work: Work) -> None:
    """Store the seats' answers; a ruling made on the same evidence carries over."""
    seats = StrategyJudge().seats(work.dossier, work.policy)
    digest = strategy_digest(work.dossier, seats)
    for seat in seats:
        _replace_verdict(
            Verdict(
                bundle=work.bundle,
                judge=Judge.STRATEGY.value,
                seat=seat.seat,
                source=Verdict.Source.UPLOADED,
                state=seat.state,
                reason=seat.reason,
                score=seat.score,
                levels=dict(seat.levels) if seat.levels else None,
                model=seat.model,
                rationale=seat.rationale,
                evidence=list(seat.evidence),
                evidence_digest=digest,
            )
        )
    _replace_verdict(
        Verdict(
            bundle=work.bundle,
            judge=Judge.STRATEGY.value,
            source=Verdict.Source.OWN,
            state="panel",
            evidence_digest=digest,
        )
    )
    if work.previous and (
        ruling := work.previous.verdicts.filter(
            judge=Judge.STRATEGY.value, seat=RULING, is_live=True, evidence_digest=digest
        ).first()
    ):
        ruling.pk, ruling.bundle = None, work.bundle
        _replace_verdict(ruling)


def judge_integrity(work: Work) -> None:
    """Store what was found and claimed; decisions on the same evidence carry over."""
    judge = IntegrityJudge()
    tests = tests_of(work.dossier)
    claims = claims_json(judge.claims(work.dossier, tests))
    _replace_verdict(
        Verdict(
            bundle=work.bundle,
            judge=Judge.INTEGRITY.value,
            source=Verdict.Source.OWN,
            state="searched",
            detail={"claims": list(claims)},
        )
    )
    decided = {}
    if work.previous:
        decided = {
            finding.key: finding
            for finding in work.previous.findings.filter(is_live=True, decided_by__isnull=False)
        }
    applies = work.dossier.applies(Judge.INTEGRITY)
    for found in judge.findings(work.dossier, tests, work.policy) if applies else ():
        _add_finding(work.bundle, found, decided.get(found.key))


def compose_scorecard(work: Work) -> None:
    is_first = not Scorecard.objects.filter(match=work.bundle.match).exists()
    cause = "first scorecard" if is_first else f"bundle {work.bundle.number}"
    record_scorecard(work.bundle, cause=cause, policy=work.policy)


WORK: Mapping[Step.Name, Callable[[Work], None]] = {
    Step.Name.OBJECTIVE: judge_objective,
    Step.Name.PROCESS: judge_process,
    Step.Name.STRATEGY: judge_strategy,
    Step.Name.RECOVERY: judge_recovery,
    Step.Name.INTEGRITY: judge_integrity,
    Step.Name.SCORECARD: compose_scorecard,
}


def _store_opinion(bundle: Bundle, opinion: Opinion) -> None:
    _replace_verdict(
        Verdict(
            bundle=bundle,
            judge=opinion.judge.value,
            source=opinion.source,
            state=SCORED if opinion.score is not None else "no_score",
            reason=opinion.reason.value if opinion.reason else "",
            score=opinion.score,
            rationale=opinion.rationale,
            evidence=list(opinion.evidence),
            detail={"why": opinion.why, **opinion.detail},
        )
    )


def _replace_verdict(verdict: Verdict) -> Verdict:
    """Add a verdict; the one that was live in its place stays, no longer live."""
    Verdict.objects.filter(
        bundle=verdict.bundle, judge=verdict.judge, seat=verdict.seat, is_live=True
    ).update(is_live=False)
    verdict.save(force_insert=True)
    return verdict


def _add_finding(bundle: Bundle, found: Found, decided: Finding | None) -> None:
    if bundle.findings.filter(key=found.key, is_live=True).exists():
        return
    Finding.objects.create(
        bundle=bundle,
        key=found.key,
        trigger=found.trigger,
        points=decided.points if decided else found.points,
        status=decided.status if decided else found.status.value,
        confidence=found.confidence,
        act=found.act,
        source=found.source,
        note=found.note,
        evidence=list(found.evidence),
        reason=decided.reason if decided else found.reason,
        decided_by=decided.decided_by if decided else None,
    )


# Scorecards


def record_scorecard(
    bundle: Bundle,
    *,
    cause: str,
    by: User | None = None,
    reason: str = "",
    policy: Policy = CURRENT,
) -> Scorecard:
    """Record a scorecard from what is live, unless it would say what the live one says."""
    with transaction.atomic():
        match = Match.objects.select_for_update().get(pk=bundle.match_id)
        if not Bundle.objects.filter(pk=bundle.pk, is_live=True).exists():
            # Superseded while its judges worked: its breakdown must not come back to life.
            return Scorecard.objects.filter(match=match).order_by("-number").first()
        answers = answers_of(bundle)
        scored = score(answers, policy)
        body = {**scored.body, "artifacts": _artifacts(bundle)}
        digest = digest_of({"bundle": bundle.number, **body})
        live = match.scorecards.live().first()
        if live and live.digest == digest:
            return live
        scorecard = _scorecard(bundle, scored, policy)
        scorecard.number = live.number + 1 if live else 1
        scorecard.digest = digest
        scorecard.breakdown = {
            "match": match.slug,
            "revision": scorecard.number,
            "challenge_version": bundle.challenge_version.number,
            **body,
        }
        scorecard.cause, scorecard.by, scorecard.reason = cause, by, reason
        match.scorecards.live().update(is_live=False)
        scorecard.save(force_insert=True)
        standings.refresh(match.agent_id, bundle.challenge_version)
        scorecard_recorded.send(Scorecard, scorecard=scorecard)
    return scorecard


def _scorecard(bundle: Bundle, scored: Scored, policy: Policy) -> Scorecard:
    counted = {judge: scored.total.judges[judge].counted for judge in WEIGHED}
    low, high = scored.range or (None, None)
    status = scored.status
    if status == "unscored" and bundle.steps.filter(state=Step.State.FAILED).exists():
        status = Scorecard.Status.FAILED
    return Scorecard(
        match_id=bundle.match_id,
        bundle=bundle,
        challenge_version=bundle.challenge_version,
        policy=policy.version,
        status=status,
        marks=list(scored.marks),
        total=None if scored.total.total is None else rounded(scored.total.total),
        value=scored.total.unclamped,
        low=low,
        high=high,
        adjustment=scored.integrity.adjustment,
        **{judge.value: value for judge, value in counted.items()},
    )


def _artifacts(bundle: Bundle) -> list[dict[str, Any]]:
    fields = (
        "path", "kind", "suite", "run", "format", "format_version", "state", "reason", "place",
        "clock", "counts", "notes", "facts",
    )  # fmt: skip
    rows = list(bundle.artifacts.order_by("path").values(*fields, "blob_id"))
    for row in rows:
        row["digest"] = row.pop("blob_id")
        row["quotes_hidden"] = row.pop("facts").get("quotes_hidden", True)
    return rows


def answers_of(bundle: Bundle) -> Answers:
    """Gather all that is live on a bundle: opinions, seats, findings, claims, the ruling."""
    spec = bundle.challenge_version.spec
    verdicts = {(v.judge, v.seat): v for v in bundle.verdicts.filter(is_live=True)}
    opinions: dict[Judge, Opinion] = {}
    for judge in (Judge.OBJECTIVE, Judge.PROCESS, Judge.RECOVERY):
        if verdict := verdicts.get((judge.value, "")):
            opinions[judge] = _opinion_of(verdict)
    panel = verdicts.get((Judge.STRATEGY.value, ""))
    seats = tuple(
        _seat_of(verdict)
        for seat in CURRENT.panel.seats
        if (verdict := verdicts.get((Judge.STRATEGY.value, seat)))
    )
    if panel:
        ruling = verdicts.get((Judge.STRATEGY.value, RULING))
        opinions[Judge.STRATEGY] = StrategyJudge().judge(
            seats, StrategyRuling(ruling.score, ruling.rationale) if ruling else None, CURRENT
        )
    searched = verdicts.get((Judge.INTEGRITY.value, ""))
    return Answers(
        spec=spec,
        opinions=opinions,
        seats=seats,
        findings=tuple(map(_finding_of, bundle.findings.filter(is_live=True).order_by("pk"))),
        claims=tuple(searched.detail["claims"]) if searched else (),
        strategy_digest=panel.evidence_digest if panel else "",
    )


def _opinion_of(verdict: Verdict) -> Opinion:
    detail = dict(verdict.detail)
    return Opinion(
        judge=Judge(verdict.judge),
        score=verdict.score,
        reason=Reason(verdict.reason) if verdict.reason else None,
        why=detail.pop("why", ""),
        rationale=verdict.rationale,
        evidence=tuple(verdict.evidence),
        detail=detail,
        source=verdict.source,
    )


def _seat_of(verdict: Verdict) -> SeatAnswer:
    return SeatAnswer(
        seat=verdict.seat,
        state=verdict.state,
        score=verdict.score,
        levels=verdict.levels,
        rationale=verdict.rationale,
        reason=verdict.reason,
        model=verdict.model,
        evidence=tuple(verdict.evidence),
    )


def _finding_of(finding: Finding) -> FindingRecord:
    return FindingRecord(
        key=finding.key,
        trigger=finding.trigger,
        points=finding.points,
        status=finding.status,
        confidence=finding.confidence,
        act=finding.act,
        source=finding.source,
        note=finding.note,
        evidence=tuple(finding.evidence),
        reason=finding.reason,
        is_decided=finding.decided_by_id is not None,
        decided_at=finding.created_at.isoformat() if finding.decided_by_id else None,
    )


# What follows from a ruling


@transaction.atomic
def rule_strategy(
    bundle: Bundle, score: Fraction | None, *, by: User, reason: str, cause: str = "ruling"
) -> Scorecard:
    """Let a reviewer's score stand for Strategy; None upholds the number of the rule."""
    _refuse_frozen(bundle)
    panel = bundle.verdicts.get(judge=Judge.STRATEGY.value, seat="", is_live=True)
    _replace_verdict(
        Verdict(
            bundle=bundle,
            judge=Judge.STRATEGY.value,
            seat=RULING,
            source=Verdict.Source.RULING,
            state=UPHELD if score is None else SCORED,
            score=score,
            rationale=reason,
            evidence_digest=panel.evidence_digest,
            by=by,
        )
    )
    return record_scorecard(bundle, cause=cause, by=by, reason=reason)


@transaction.atomic
def decide_finding(
    bundle: Bundle,
    key: str,
    *,
    status: str,
    points: int | None = None,
    by: User,
    reason: str,
    cause: str = "ruling",
) -> Scorecard:
    """Apply or dismiss a finding: a new row, the one before stays."""
    _refuse_frozen(bundle)
    finding = bundle.findings.select_for_update().get(key=key, is_live=True)
    bundle.findings.filter(pk=finding.pk).update(is_live=False)
    finding.pk, finding._state.adding = None, True
    finding.status, finding.reason, finding.decided_by = status, reason, by
    if points is not None:
        finding.points = points
    finding.save(force_insert=True)
    return record_scorecard(bundle, cause=cause, by=by, reason=reason)


def _refuse_frozen(bundle: Bundle) -> None:
    frozen = Challenge.objects.filter(matches=bundle.match_id, state=Challenge.State.FROZEN)
    if frozen.exists():
        raise ChallengeFrozen


@dataclass(frozen=True, slots=True)
class Preview:
    """What a ruling would make of a match. Scores as they are shown; rank None off the board."""

    total: str | None
    base: str | None
    band: str | None
    status: str
    strategy_counted: str | None
    strategy_points: str
    rank: int | None
    ranked: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def preview(
    bundle: Bundle,
    *,
    strategy: Fraction | None = None,
    is_ruled: bool = False,
    findings: Mapping[str, tuple[str, int | None]] | None = None,
) -> Preview:
    """Say what a ruling would make of a match, without writing anything.

    ``strategy`` is the score that a ruling sets; ``is_ruled`` without one upholds the rule's
    number. ``findings`` gives the status and, where open, the points by key.
    """
    answers = answers_of(bundle)
    if strategy is not None or is_ruled:
        opinion = StrategyJudge().judge(answers.seats, StrategyRuling(strategy, ""), CURRENT)
        answers = replace(answers, opinions={**answers.opinions, Judge.STRATEGY: opinion})
    if findings:
        answers = replace(
            answers, findings=tuple(_decided(f, findings.get(f.key)) for f in answers.findings)
        )
    scored = score(answers, CURRENT)
    line = scored.total.judges[Judge.STRATEGY]
    is_ranked = scored.total.is_rankable and not scored.integrity.held
    rank, ranked = standings.rank_with(bundle, scored.total.unclamped if is_ranked else None)
    return Preview(
        total=None if scored.total.total is None else str(rounded(scored.total.total)),
        base=score_text(scored.total.base),
        band=scored.total.band,
        status=scored.status,
        strategy_counted=score_text(line.counted),
        strategy_points=str(line.points),
        rank=rank,
        ranked=ranked,
    )


def _decided(finding: FindingRecord, decision: tuple[str, int | None] | None) -> FindingRecord:
    if decision is None:
        return finding
    status, points = decision
    return replace(
        finding,
        status=status,
        points=finding.points if points is None else points,
        is_decided=True,
    )


# Withdrawing and excluding


@transaction.atomic
def exclude_match(match: Match, exclusion: str, *, by: User, reason: str) -> None:
    """Take a match off the boards, or put it back, with a public reason."""
    match = Match.objects.select_for_update().get(pk=match.pk)
    before = {"exclusion": match.exclusion, "reason": match.exclusion_reason}
    match.exclusion, match.exclusion_reason = exclusion, reason
    match.save(update_fields=["exclusion", "exclusion_reason"])
    audit.record(by, "exclude_match", match, before, {"exclusion": exclusion}, reason)
    if scorecard := match.scorecards.live().select_related("challenge_version").first():
        standings.refresh(match.agent_id, scorecard.challenge_version)
