"""Asks: one question each, of one judge to the model in one seat.

Objective is stored before anything is asked. A worker takes an ask on a lease, stores what it
is about to send, asks outside any transaction, stores what came back, and only then, if the
lease is still its own, writes the verdict and lets the judge begin.

So nothing is paid for twice without need: where a worker dies after the answer was stored, the
next one takes that answer. Where it dies before, what was paid is lost; the call stays, its cost
counts as unknown, and the question is put again as a call of its own.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import Enum

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from bouts import blobs
from bouts.models import Bundle
from bouts.rules import Judge, SeatState
from judging import spending
from judging.dossiers import dossier_of
from judging.judges.strategy import HELD, SeatAnswer
from judging.judges.telemetry import analysed
from judging.models import CallAttempt, CallResult, ModelCall, Step, Verdict
from judging.panel import client
from judging.panel.evidence import EvidenceBundle, evidence_for
from judging.panel.prompts import Prompt, new_boundary, render
from judging.panel.seats import Seat
from judging.readings import answer_of, verdict_of
from judging.rubrics import sheet
from judging.scoring.policy import CURRENT
from judging.seats import seating

logger = logging.getLogger(__name__)

DIED = "the worker died each time"
NOTHING_TO_SHOW = "there is nothing in this bundle that this judge may show a model"
BYTES_A_TOKEN = (
    3  # fewer than any tokenizer makes of text, so that a reserve is no less than the cost
)


class Held(Exception):
    """The question may not be put now; it says why, for people."""


class LostLease(Exception):
    """Somebody else has the step by now: nothing more is written."""


def due_of(bundle: Bundle) -> list[tuple[Judge, str]]:
    """Return what is to be asked about a bundle: a judge and a seat each."""
    seats = seating()
    return list(seats.asks_of(bundle.challenge_version.spec)) if seats.is_anybody else []


def free(bundle_id: int) -> list[int]:
    """Return the asks of a bundle that may be put now."""
    seats = seating()
    if not (seats.is_anybody or seats.trouble):
        return []  # nobody was asked; what is left of other times is found by the sweep
    ready = Step.objects.asks().filter(bundle=bundle_id, state=Step.State.WAITING)
    return list(ready.filter(_objective_is_over()).order_by("pk").values_list("pk", flat=True))


def put_free(bundle_id: int) -> bool:
    """Put all questions that wait, one after the other; return whether there was any."""
    waiting = free(bundle_id)
    for step_id in waiting:
        put(step_id)
    return bool(waiting)


def _objective_is_over() -> Exists:
    return Exists(
        Step.objects.judges().filter(
            bundle=OuterRef("bundle"),
            name=Step.Name.OBJECTIVE,
            state__in=[Step.State.DONE, Step.State.FAILED],
        )
    )


def stranded() -> list[int]:
    """Return the asks whose worker is gone, whose message was lost, or that need wait no longer."""
    now = timezone.now()
    lapsed = Q(state=Step.State.RUNNING, lease_expires_at__lt=now)
    unheard = Q(state=Step.State.WAITING, created_at__lt=now - settings.STEP_LEASE / 4)
    asks = Step.objects.asks().filter(_objective_is_over())
    left = list(asks.filter(lapsed | unheard).values_list("pk", flat=True))
    held = Step.objects.asks().filter(state=Step.State.HELD, bundle__is_live=True)
    return left + [step.pk for step in _released(held.select_related("bundle"))]


def _released(held: Iterable[Step]) -> list[Step]:
    """Return those that nothing holds back any more, as far as can be told before they are put."""
    steps = list(held)
    if not steps or spending.over_day(spending.today()):
        return []
    seats = seating()
    done = set(
        Step.objects.judges()
        .filter(
            name=Step.Name.OBJECTIVE,
            state=Step.State.DONE,
            bundle__in={step.bundle_id for step in steps},
        )
        .values_list("bundle", flat=True)
    )
    matches = {step.bundle.match_id for step in steps}
    by_match = {
        row.pop("bundle__match"): spending.Spent(**row)
        for row in ModelCall.objects.filter(bundle__match__in=matches)
        .order_by()
        .values("bundle__match")
        .annotate(**spending.sums())
    }
    return [
        step
        for step in steps
        if seats.seat(step.seat)
        and step.bundle_id in done
        and not spending.over_match(by_match.get(step.bundle.match_id, spending.Spent()))
    ]


# One ask


class After(Enum):
    """What is to be looked at when an ask has been put."""

    NOTHING = "nothing"
    THE_JUDGES = "the judges"  # for they may begin
    THE_ASK = "the ask"  # for it failed, and may be tried again


def put(step_id: int) -> After:
    """Put a question to its model, and write what became of it.

    Delivered twice, the second one finds the step taken or done and leaves it alone.
    """
    taken = _take(step_id)
    if taken is None:
        return After.NOTHING
    step, was = taken
    try:
        if step.attempts > settings.STEP_ATTEMPTS:
            _give_up(step, step.reason or DIED)
            return After.THE_JUDGES
        return _ask_or_hold(step, was)
    except LostLease:
        logger.warning("%s was taken over by another worker", step)
        return After.NOTHING


def _ask_or_hold(step: Step, was: str) -> After:
    try:
        _ask(step)
    except Held as held:
        _let_go(step, Step.State.HELD, str(held), tried=False)
        return After.NOTHING if was == Step.State.HELD else After.THE_JUDGES
    except LostLease:
        raise
    except Exception as error:
        logger.exception("%s failed", step)
        reason = f"{error!r}"[:2000]
        if step.attempts >= settings.STEP_ATTEMPTS:
            _give_up(step, reason)
            return After.THE_JUDGES
        _let_go(step, Step.State.WAITING, reason)
        return After.THE_ASK
    return After.THE_JUDGES


TAKE = """
WITH free AS (
    SELECT id, state FROM judging_step
     WHERE id = %(step)s AND seat <> ''
       AND (state IN ('waiting', 'held') OR (state = 'running' AND lease_expires_at < %(now)s))
       AND EXISTS (
           SELECT FROM judging_step objective
            WHERE objective.bundle_id = judging_step.bundle_id AND objective.name = 'objective'
              AND objective.seat = '' AND objective.state IN ('done', 'failed'))
       FOR UPDATE SKIP LOCKED)
UPDATE judging_step SET state = 'running', attempts = attempts + 1,
       started_at = %(now)s, lease_expires_at = %(until)s
  FROM free WHERE judging_step.id = free.id
RETURNING free.state
"""


def _take(step_id: int) -> tuple[Step, str] | None:
    """Take a step on a lease; return it with the state that it was in."""
    now = timezone.now()
    until = now + settings.ASK_LEASE
    with connection.cursor() as cursor:
        cursor.execute(TAKE, {"step": step_id, "now": now, "until": until})
        row = cursor.fetchone()
    if row is None:
        return None
    related = ("bundle__match__agent__team", "bundle__challenge_version")
    step = Step.objects.select_related(*related).get(pk=step_id)
    return step, row[0]


def _ask(step: Step) -> None:
    seat = seating().seat(step.seat)
    call = _answered(step)
    if call is None:
        _refuse_where_nothing_may_be_asked(step, seat)
        assert seat is not None
        dossier = dossier_of(step.bundle)
        judge = Judge(step.name)
        evidence = evidence_for(judge, dossier, analysed(dossier, CURRENT))
        if not evidence.items:
            _conclude(step, _silent(step, NOTHING_TO_SHOW))
            return
        prompt = render(judge, sheet(judge, CURRENT.version), evidence, new_boundary())
        call = _begin(step, seat, prompt, evidence)
        _store(call, client.ask(seat, prompt))
    _conclude(step, verdict_of(call, dossier_of(step.bundle)))


def _refuse_where_nothing_may_be_asked(step: Step, seat: Seat | None) -> None:
    """Raise `Held` where the settings or the match do not allow to ask, whatever it costs."""
    if seat is None:
        raise Held(seating().trouble or "No key is configured for this seat.")
    if not step.bundle.is_live:
        raise Held("A newer bundle was uploaded: nothing more is spent on this one.")
    if not step.bundle.verdicts.filter(judge=Judge.OBJECTIVE, is_live=True).exists():
        raise Held("Objective failed: nothing is asked before it has answered.")


def _answered(step: Step) -> ModelCall | None:
    """Return a call of this round whose answer was stored before its worker was gone."""
    return (
        ModelCall.objects.filter(
            bundle=step.bundle_id, judge=step.name, seat=step.seat, round=step.round
        )
        .exclude(result=None)
        .filter(verdicts=None)
        .order_by("pk")
        .first()
    )


def _begin(step: Step, seat: Seat, prompt: Prompt, evidence: EvidenceBundle) -> ModelCall:
    """Store what is about to be sent, if there is money for it and the step is still ours."""
    more = _reserve(seat, prompt)
    # Before anything is stored: an ask that waits for money is looked at again and again, each
    # time with another boundary in its prompt.
    if why := spending.why_not(step.bundle.match_id, more):
        raise Held(why)
    rendered = blobs.put(_json(prompt.as_json()))
    shown = blobs.put(_json(evidence.as_json()))
    with _hands_on(step):
        spending.lock()
        if why := spending.why_not(step.bundle.match_id, more):
            raise Held(why)
        return ModelCall.objects.create(
            bundle=step.bundle,
            judge=step.name,
            seat=step.seat,
            round=step.round,
            vendor=seat.vendor,
            wire=seat.wire,
            model=seat.model,
            template_version=prompt.template_version,
            template_digest=prompt.template_digest,
            rubric_version=prompt.rubric_version,
            rubric_digest=prompt.rubric_digest,
            prompt=rendered,
            evidence=shown,
            reserved_usd=more,
            lease_expires_at=step.lease_expires_at,
        )


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _reserve(seat: Seat, prompt: Prompt) -> Decimal | None:
    """Return the most that a first answer may cost; None where the price is not known."""
    if seat.price is None:
        return None
    sent = Decimal(len(prompt.system.encode()) + len(prompt.user.encode())) / BYTES_A_TOKEN
    cost = (sent * seat.price.input + seat.most_tokens * seat.price.output) / 1_000_000
    return cost.quantize(Decimal("0.000001"))


def _store(call: ModelCall, asked: client.Call) -> CallResult:
    """Store what came back, whoever has the step by now: it was paid for."""
    responses = [blobs.put(attempt.response) for attempt in asked.attempts]
    usage = asked.usage
    with transaction.atomic(durable=True):
        result = CallResult.objects.create(
            call=call,
            outcome=asked.outcome,
            reason=asked.reason,
            model=asked.answered_by,
            base_url=asked.base_url,
            parameters=dict(asked.parameters),
            written_by=asked.written_by,
            tokens_in=usage.input if usage else None,
            tokens_out=usage.output if usage else None,
            cost_usd=asked.cost.amount,
            least_usd=asked.cost.least if asked.cost.amount is None else asked.cost.amount,
            cost_reason=asked.cost.reason,
            latency_ms=asked.latency_ms,
        )
        CallAttempt.objects.bulk_create(
            CallAttempt(
                result=result,
                number=attempt.number,
                status=attempt.status,
                response=response,
                is_whole=attempt.is_whole,
                latency_ms=attempt.latency_ms,
                waited_ms=attempt.waited_ms,
                failure=attempt.failure,
                detail=attempt.detail,
                remark=attempt.remark,
                request_digest=attempt.request_digest,
            )
            for attempt, response in zip(asked.attempts, responses, strict=True)
        )
    return result


# How an ask ends


@contextmanager
def _hands_on(step: Step) -> Iterator[None]:
    """Lock the step for what is written in this block. Raises `LostLease` where it is others' now."""
    with transaction.atomic(durable=True):
        held = Step.objects.select_for_update().filter(
            pk=step.pk,
            state=Step.State.RUNNING,
            attempts=step.attempts,
            lease_expires_at=step.lease_expires_at,
        )
        if held.first() is None:
            raise LostLease
        yield


def _conclude(step: Step, verdict: Verdict, state: Step.State = Step.State.DONE) -> None:
    """Write the seat's verdict beside older ones, and let its judge begin."""
    with _hands_on(step):
        place = step.bundle.verdicts.filter(judge=step.name, seat=step.seat)
        place.filter(is_live=True).update(is_live=False)
        verdict.save(force_insert=True)
        _note(step, state, verdict.reason if state == Step.State.FAILED else "")
        _let_the_judge_begin(step)


def _let_go(step: Step, state: Step.State, reason: str, *, tried: bool = True) -> None:
    with _hands_on(step):
        step.attempts -= not tried
        _note(step, state, reason)


def _note(step: Step, state: Step.State, reason: str) -> None:
    step.state, step.reason, step.lease_expires_at = state, reason, None
    step.finished_at = timezone.now()
    step.save(update_fields=["state", "reason", "attempts", "lease_expires_at", "finished_at"])


def _let_the_judge_begin(step: Step) -> None:
    """Have the judge and the scorecard done again, even by a worker who is at them now."""
    names = {step.name, Step.Name.SCORECARD}
    judges = Step.objects.judges().filter(bundle=step.bundle_id, name__in=names)
    keys = list(judges.select_for_update().order_by("pk").values_list("pk", flat=True))
    Step.objects.filter(pk__in=keys).exclude(state=Step.State.WAITING).update(
        state=Step.State.WAITING, attempts=0, reason="", lease_expires_at=None
    )


def _give_up(step: Step, reason: str) -> None:
    """Let the judges go on without this seat."""
    _conclude(step, _silent(step, reason), Step.State.FAILED)


def give_up(panel: Sequence[Step], reason: str) -> list[str]:
    """End the asks of a locked panel that have no answer yet; return their seats.

    A seat that answered in an earlier round has that answer still.
    """
    over = {Step.State.DONE, Step.State.FAILED}
    unanswered = [step for step in panel if step.state not in over]
    own = Verdict.objects.filter(
        bundle__in={step.bundle_id for step in panel},
        judge=Judge.STRATEGY,
        source=Verdict.Source.OWN,
        is_live=True,
    )
    answered = set(own.exclude(seat="").values_list("seat", flat=True))
    if not answered:
        # Nobody of ours ever said a word: as if nobody had been asked.
        Step.objects.filter(pk__in=[step.pk for step in unanswered]).delete()
    else:
        silent = [step for step in unanswered if step.seat not in answered]
        Verdict.objects.bulk_create(_silent(step, reason) for step in silent)
        for step in unanswered:
            _note(step, Step.State.DONE, "")
    return [step.seat for step in unanswered]


def _silent(step: Step, reason: str) -> Verdict:
    """Return the verdict of a seat that was not asked, or whose answer our side lost."""
    return Verdict(
        bundle=step.bundle,
        judge=step.name,
        seat=step.seat,
        source=Verdict.Source.OWN,
        state=SeatState.UNAVAILABLE,
        reason=reason,
    )


# What the judges make of it


def answers(bundle: Bundle) -> Mapping[Judge, tuple[SeatAnswer, ...]]:
    """Return what was asked about a bundle, by judge; a seat that is held back says why."""
    live = {
        (verdict.judge, verdict.seat): verdict
        for verdict in bundle.verdicts.filter(is_live=True, source=Verdict.Source.OWN)
    }
    asked: dict[Judge, list[SeatAnswer]] = defaultdict(list)
    for step in bundle.steps.asks().order_by("pk"):
        verdict = live.get((step.name, step.seat))
        # Judged again, a seat has what it said before until it has answered anew.
        if verdict is not None:
            asked[Judge(step.name)].append(answer_of(verdict))
        else:
            # The first sentence is for everybody, the figures that follow it are for ops.
            why = f"{step.reason.partition('. ')[0].removesuffix('.')}."
            asked[Judge(step.name)].append(SeatAnswer(step.seat, HELD, reason=why, source="own"))
    return {judge: tuple(seats) for judge, seats in asked.items()}
