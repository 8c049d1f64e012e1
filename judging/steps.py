"""The work that follows a stored bundle: one step a judge, then the scorecard.

The rows are the truth. A worker takes a bundle's free steps on a lease, Objective is stored
before anything else is asked, and a step whose worker dies is free again when the lease
lapses. Doing a step twice changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from bouts import audit
from bouts.models import Bundle, User
from bouts.rules import Judge
from judging.actions import RULING, record_scorecard
from judging.breakdown import claims_json
from judging.dossiers import dossier_of
from judging.judges.base import Dossier, Opinion
from judging.judges.integrity import Found, IntegrityJudge
from judging.judges.objective import ObjectiveJudge, TestRecord, tests_of
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import SCORED, StrategyJudge, strategy_digest
from judging.judges.telemetry import analysed
from judging.models import Finding, Scorecard, Step, Verdict
from judging.scoring.policy import CURRENT, Policy
from judging.scoring.telemetry import Telemetry

logger = logging.getLogger(__name__)

# What is done together, in order: a phase begins when the ones before it are over.
PHASES: tuple[tuple[Step.Name, ...], ...] = (
    (Step.Name.OBJECTIVE,),
    (
        Step.Name.PROCESS,
        Step.Name.STRATEGY,
        Step.Name.RECOVERY,
        Step.Name.INTEGRITY,
        Step.Name.SCORECARD,
    ),
)

NOTED = ("state", "attempts", "reason", "finished_at", "lease_expires_at")


def lay_out(bundle: Bundle) -> None:
    """Write down the steps of a bundle's work."""
    Step.objects.bulk_create(
        [Step(bundle=bundle, name=name) for name in Step.Name], ignore_conflicts=True
    )


def run_steps(bundle: Bundle) -> None:
    """Do all of a bundle's work here and now, trying again what fails, as often as allowed."""
    while work_on(bundle.pk):
        pass


def work_on(bundle_id: int) -> bool:
    """Do what is free of a bundle's work; return whether something is left to try again.

    A judge that fails holds nobody up: the others answer, and the scorecard says that it is
    missing once its attempts are used up.
    """
    taken = _take(bundle_id)
    if not taken:
        return False
    work = Work(taken[0].bundle)
    for names in PHASES:
        with transaction.atomic():
            mine = _locked(step for step in taken if step.name in names)
            for step in mine:
                _do(step, work)
            Step.objects.bulk_update(mine, NOTED)
    return _is_more_to_do(bundle_id)


def _is_more_to_do(bundle_id: int) -> bool:
    """Whether a step waits for nobody: while others are at work, they look when they are done."""
    states = set(Step.objects.filter(bundle=bundle_id).values_list("state", flat=True))
    return Step.State.WAITING in states and Step.State.RUNNING not in states


def _take(bundle_id: int) -> list[Step]:
    """Claim a bundle's free steps for as long as a lease lasts."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE judging_step SET state = %(running)s, attempts = attempts + 1,
                   started_at = %(now)s, lease_expires_at = %(until)s
             WHERE bundle_id = %(bundle)s
               AND (state = %(waiting)s OR (state = %(running)s AND lease_expires_at < %(now)s))
            RETURNING id
            """,
            {
                "bundle": bundle_id,
                "now": now,
                "until": now + settings.STEP_LEASE,
                "waiting": Step.State.WAITING,
                "running": Step.State.RUNNING,
            },
        )
        keys = [key for (key,) in cursor.fetchall()]
    if not keys:
        return []
    steps = Step.objects.select_related("bundle__match", "bundle__challenge_version").filter(
        pk__in=keys
    )
    return sorted(steps, key=lambda step: step.pk)


def _locked(steps: Iterable[Step]) -> list[Step]:
    """Lock steps and return those that are still ours: a lapsed lease may have new hands."""
    by_key = {step.pk: step for step in steps}
    rows = Step.objects.select_for_update().filter(pk__in=by_key, state=Step.State.RUNNING)
    return [
        by_key[key]
        for key, attempts in rows.order_by("pk").values_list("pk", "attempts")
        if attempts == by_key[key].attempts
    ]


def _do(step: Step, work: Work) -> None:
    """Do a step in a savepoint of its own and note on the row how it went."""
    step.lease_expires_at = None
    if step.attempts > settings.STEP_ATTEMPTS:
        _note(step, Step.State.FAILED, step.reason or "the worker died each time")
        return
    if step.name == Step.Name.SCORECARD and work.judges_are_due():
        step.state = Step.State.WAITING
        step.attempts -= 1  # it did not come to try
        return
    try:
        with transaction.atomic():
            DOING[Step.Name(step.name)](work)
    except Exception as error:
        logger.exception("step %s of %s failed", step.name, step.bundle)
        is_over = step.attempts >= settings.STEP_ATTEMPTS
        state = Step.State.FAILED if is_over else Step.State.WAITING
        _note(step, state, f"{error!r}"[:2000])
        work.outcomes[step.name] = state
    else:
        _note(step, Step.State.DONE, "")
        work.outcomes[step.name] = Step.State.DONE


def _note(step: Step, state: Step.State, reason: str) -> None:
    step.state, step.reason, step.finished_at = state, reason, timezone.now()


def stranded_bundles() -> list[int]:
    """Return the bundles whose worker is gone or whose message was lost."""
    now = timezone.now()
    lapsed = Q(state=Step.State.RUNNING, lease_expires_at__lt=now)
    unheard = Q(state=Step.State.WAITING, created_at__lt=now - settings.STEP_LEASE / 4)
    return list(Step.objects.filter(lapsed | unheard).values_list("bundle", flat=True).distinct())


@transaction.atomic
def requeue(step_id: int, *, by: User, reason: str) -> Step:
    """Put a failed or stuck step back to the start of its attempts, and the scorecard with it."""
    step = Step.objects.select_for_update().select_related("bundle__match").get(pk=step_id)
    before = {"state": step.state, "attempts": step.attempts, "reason": step.reason}
    Step.objects.filter(bundle=step.bundle, name__in={step.name, Step.Name.SCORECARD}).update(
        state=Step.State.WAITING, attempts=0, reason="", lease_expires_at=None
    )
    audit.record(by, "requeue_step", step.bundle.match, before, {"step": step.name}, reason)
    step.refresh_from_db()
    return step


# What each step does


class Work:
    """A bundle and what its judges read, loaded once for all the steps that are done together."""

    def __init__(self, bundle: Bundle, policy: Policy = CURRENT) -> None:
        self.bundle = bundle
        self.policy = policy
        self.outcomes: dict[str, Step.State] = {}

    @cached_property
    def dossier(self) -> Dossier:
        return dossier_of(self.bundle)

    @cached_property
    def telemetry(self) -> Telemetry:
        return analysed(self.dossier, self.policy)

    @cached_property
    def tests(self) -> tuple[TestRecord, ...]:
        return tests_of(self.dossier)

    @property
    def earlier(self) -> QuerySet[Bundle]:
        """The bundles of this match that came before. A ruling on the same evidence in any of
        them holds here too, also where another bundle came in between."""
        return Bundle.objects.filter(match=self.bundle.match, number__lt=self.bundle.number)

    @cached_property
    def _was_judged(self) -> bool:
        return self.bundle.verdicts.exists()

    def judges_are_due(self) -> bool:
        """Whether a judge of this bundle is still to answer, here or in other hands."""
        over = {Step.State.DONE, Step.State.FAILED}
        states = dict(self.bundle.steps.values_list("name", "state")) | self.outcomes
        return any(
            state not in over for name, state in states.items() if name != Step.Name.SCORECARD
        )

    def add(self, verdicts: Sequence[Verdict]) -> None:
        """Add verdicts; those that were live in their places stay, no longer live."""
        if self._was_judged:
            places = Q()
            for verdict in verdicts:
                places |= Q(judge=verdict.judge, seat=verdict.seat)
            self.bundle.verdicts.filter(places, is_live=True).update(is_live=False)
        Verdict.objects.bulk_create(verdicts)


def judge_objective(work: Work) -> None:
    work.add([_verdict(work.bundle, ObjectiveJudge().judge(work.dossier, work.policy))])


def judge_process(work: Work) -> None:
    opinion = ProcessJudge().judge(work.dossier, work.telemetry, work.policy)
    work.add([_verdict(work.bundle, opinion)])


def judge_recovery(work: Work) -> None:
    opinion = RecoveryJudge().judge(work.dossier, work.telemetry, work.policy)
    work.add([_verdict(work.bundle, opinion)])


def judge_strategy(work: Work) -> None:
    """Store the seats' answers; a ruling made on the same evidence carries over."""
    seats = StrategyJudge().seats(work.dossier, work.policy)
    digest = strategy_digest(work.dossier, seats)
    verdicts = [
        Verdict(
            bundle=work.bundle,
            judge=Judge.STRATEGY,
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
            answered_at=seat.answered_at,
        )
        for seat in seats
    ]
    verdicts.append(
        Verdict(
            bundle=work.bundle,
            judge=Judge.STRATEGY,
            source=Verdict.Source.OWN,
            state="panel",
            evidence_digest=digest,
        )
    )
    rulings = Verdict.objects.filter(
        bundle__in=work.earlier, judge=Judge.STRATEGY, seat=RULING, evidence_digest=digest
    )
    is_first = work.bundle.number == 1
    if not is_first and (ruling := rulings.filter(is_live=True).order_by("created_at").last()):
        ruling.pk, ruling.bundle = None, work.bundle
        verdicts.append(ruling)
    work.add(verdicts)


def judge_integrity(work: Work) -> None:
    """Store what was found and claimed; decisions on the same evidence carry over."""
    judge = IntegrityJudge()
    claims = claims_json(judge.claims(work.dossier, work.tests))
    work.add(
        [
            Verdict(
                bundle=work.bundle,
                judge=Judge.INTEGRITY,
                source=Verdict.Source.OWN,
                state="searched",
                detail={"claims": list(claims)},
            )
        ]
    )
    if not work.dossier.applies(Judge.INTEGRITY):
        return
    found = judge.findings(work.dossier, work.tests, work.policy)
    decided: Mapping[str, Finding] = {}
    if found and work.bundle.number > 1:
        decisions = Finding.objects.filter(
            bundle__in=work.earlier, is_live=True, decided_by__isnull=False
        )
        decided = {finding.key: finding for finding in decisions.order_by("created_at", "pk")}
    Finding.objects.bulk_create(
        [_finding(work.bundle, item, decided.get(item.key)) for item in found],
        ignore_conflicts=True,  # what is there already stands, with whatever was decided of it
    )


def compose_scorecard(work: Work) -> None:
    is_first = not Scorecard.objects.filter(match=work.bundle.match).exists()
    cause = "first scorecard" if is_first else f"bundle {work.bundle.number}"
    record_scorecard(work.bundle, cause=cause, policy=work.policy)


DOING: Mapping[Step.Name, Callable[[Work], None]] = {
    Step.Name.OBJECTIVE: judge_objective,
    Step.Name.PROCESS: judge_process,
    Step.Name.STRATEGY: judge_strategy,
    Step.Name.RECOVERY: judge_recovery,
    Step.Name.INTEGRITY: judge_integrity,
    Step.Name.SCORECARD: compose_scorecard,
}


def _verdict(bundle: Bundle, opinion: Opinion) -> Verdict:
    return Verdict(
        bundle=bundle,
        judge=opinion.judge,
        source=opinion.source,
        state=SCORED if opinion.score is not None else "no_score",
        reason=opinion.reason.value if opinion.reason else "",
        score=opinion.score,
        rationale=opinion.rationale,
        evidence=list(opinion.evidence),
        detail={"why": opinion.why, **opinion.detail},
    )


def _finding(bundle: Bundle, found: Found, decided: Finding | None) -> Finding:
    return Finding(
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
