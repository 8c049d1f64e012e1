"""The work that follows a stored bundle: one step a judge, then the scorecard.

The rows are the truth. A worker takes a bundle's free steps on a lease, Objective is stored
before anything else is asked, and a step whose worker dies is free again when the lease
lapses. Doing a step twice changes nothing.

Where seats are configured a bundle has further steps, the asks of `judging.asks`: each puts one
question to one model, outside any transaction, as a task of its own. A judge's step begins
when its asks are over, and again when an ask that had been held back is over later.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from bouts import audit
from bouts.commits import flush_later
from bouts.copying import insert
from bouts.models import Bundle, Match, User
from bouts.prepared import Prepared, columns_of, instance_of, run
from bouts.rules import Judge
from judging import asks, fingerprints
from judging.actions import RULING, record_scorecard, refuse_frozen
from judging.dossiers import dossier_of
from judging.judges.base import Dossier, Peer
from judging.judges.integrity import Found, IntegrityJudge
from judging.judges.objective import ObjectiveJudge, TestRecord, tests_of
from judging.judges.process import ProcessJudge
from judging.judges.recovery import RecoveryJudge
from judging.judges.strategy import (
    SeatAnswer,
    StrategyJudge,
    unseated,
)
from judging.judges.telemetry import analysed
from judging.models import Finding, Step, Verdict
from judging.scoring.policy import CURRENT, Policy
from judging.scoring.telemetry import Telemetry
from judging.verdicts import (
    finding_row,
    opinion_verdict,
    panel_verdict,
    searched_verdict,
    seat_verdict,
)

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


class Ending(NamedTuple):
    """How a step went; one that was not tried waits for others, and loses no attempt."""

    state: Step.State
    reason: str = ""
    was_tried: bool = True


LAY_OUT = """
INSERT INTO judging_step (bundle_id, name, seat, round, state, attempts, reason, created_at)
SELECT %(bundle)s, name, seat, 1, 'waiting', 0, '', clock_timestamp()
  FROM unnest(%(names)s::text[], %(seats)s::text[]) due (name, seat)
    ON CONFLICT DO NOTHING
"""


def lay_out(bundle: Bundle) -> None:
    """Write down the steps of a bundle's work. Those that are there stay as they are."""
    due = [(name.value, "") for name in Step.Name]
    due += [(judge.value, seat) for judge, seat in asks.due_of(bundle)]
    names, seats = zip(*due, strict=True)
    run(LAY_OUT, {"bundle": bundle.pk, "names": list(names), "seats": list(seats)})


def run_steps(bundle: Bundle) -> None:
    """Do all of a bundle's work here and now, trying again what fails, as often as allowed."""
    while work_on(bundle.pk) or asks.put_free(bundle.pk):
        pass


def work_on(bundle_id: int) -> bool:
    """Do what is free of a bundle's work; return whether something is left to try again.

    A judge that fails holds nobody up: the others answer, and the scorecard says that it is
    missing once its attempts are used up.
    """
    taken = _take(bundle_id)
    if not taken:
        return False
    work = Work(taken[0].bundle, has_asks=taken[0].has_asks, was_judged=taken[0].was_judged)
    for names in PHASES:
        _do_phase([step for step in taken if step.name in names], work)
    return not work.is_done() and _is_more_to_do(bundle_id)


def _is_more_to_do(bundle_id: int) -> bool:
    """Whether a step waits for nobody: while others are at work, they look when they are done."""
    steps = Step.objects.filter(bundle=bundle_id).values_list("name", "seat", "state", "round")
    own = {name: state for name, seat, state, _ in steps if not seat}
    if Step.State.RUNNING in own.values():
        return False
    blocked = {name for name, seat, state, number in steps if seat and _is_due(state, number)}
    if blocked:
        blocked.add(Step.Name.SCORECARD)
    return any(state == Step.State.WAITING for name, state in own.items() if name not in blocked)


def _is_due(state: str, number: int) -> bool:
    """Whether a judge must wait for an ask in this state.

    One that is held back keeps a match that has no score yet from none of its others. A match
    that is judged again keeps the score it has until every seat has answered.
    """
    is_held = state == Step.State.HELD and number > 1
    return is_held or state in {Step.State.WAITING, Step.State.RUNNING}


# As `_is_due` and `_is_more_to_do`: what waits for an ask is not free.
TAKE = """
UPDATE judging_step SET state = 'running', attempts = attempts + 1,
       started_at = %(now)s, lease_expires_at = %(until)s
 WHERE bundle_id = %(bundle)s AND seat = ''
   AND (state = 'waiting' OR (state = 'running' AND lease_expires_at < %(now)s))
   AND NOT EXISTS (
       SELECT FROM judging_step ask
        WHERE ask.bundle_id = %(bundle)s AND ask.seat <> ''
          AND judging_step.name IN (ask.name, 'scorecard')
          AND (ask.state IN ('waiting', 'running') OR (ask.state = 'held' AND ask.round > 1)))
RETURNING {columns}, EXISTS (
       SELECT FROM judging_step ask
        WHERE ask.bundle_id = %(bundle)s AND ask.seat <> ''), EXISTS (
       SELECT FROM judging_verdict verdict WHERE verdict.bundle_id = %(bundle)s)
""".format(columns=", ".join(f"judging_step.{name}" for name in columns_of(Step)))

BUNDLE = Prepared(
    lambda key: (
        Bundle.objects.filter(pk=key)
        .order_by()
        .select_related("match__agent__team", "challenge_version__tree_archive")
    ),
    key=int,
)


def _take(bundle_id: int) -> list[Step]:
    """Claim a bundle's free steps for as long as a lease lasts."""
    now = timezone.now()
    values = {"bundle": bundle_id, "now": now, "until": now + settings.STEP_LEASE}
    with transaction.atomic():
        flush_later()
        rows = run(TAKE, values)
    steps = []
    bundle = BUNDLE.first(key=bundle_id) if rows else None
    for *columns, has_asks, was_judged in rows:
        step = instance_of(Step, columns)
        step.bundle, step.has_asks, step.was_judged = bundle, has_asks, was_judged
        steps.append(step)
    return sorted(steps, key=attrgetter("pk"))


LOCK = """
SELECT id, attempts, lease_expires_at FROM judging_step
 WHERE id = ANY(%(keys)s) AND state = 'running'
 ORDER BY id FOR UPDATE
"""


def _locked(steps: Iterable[Step]) -> list[Step]:
    """Lock steps and return those that are still ours: a lapsed lease may have new hands."""
    by_key = {step.pk: step for step in steps}
    return [
        by_key[key]
        for key, *hold in run(LOCK, {"keys": list(by_key)})
        if hold == [by_key[key].attempts, by_key[key].lease_expires_at]
    ]


def _do_phase(steps: Sequence[Step], work: Work) -> None:
    """Do what is still ours of some steps, and note on each row how it went.

    Mostly all go well: then one transaction and one write serve for all. Where one fails, what
    the others did is taken back, and each is done again by itself.
    """
    try:
        _do_all(steps, work, _do)
    except Exception:
        work.forget()
        _do_all(steps, work, _do_alone)


@transaction.atomic
def _do_all(steps: Sequence[Step], work: Work, do: Callable[[Step, Work], Ending]) -> None:
    ours = _locked(steps)
    if all(step.name in PHASES[0] for step in ours):
        flush_later()  # a step that is lost is done again
    endings = [do(step, work) for step in ours]
    work.write()
    alike: dict[Ending, list[int]] = defaultdict(list)
    for step, ending in zip(ours, endings, strict=True):
        alike[ending].append(step.pk)
    for ending, keys in alike.items():
        _note(keys, ending)


def _do(step: Step, work: Work) -> Ending:
    """Do a step and return how it went. Raises what it fails with."""
    if step.attempts > settings.STEP_ATTEMPTS:
        return Ending(Step.State.FAILED, step.reason or "the worker died each time")
    if step.name == Step.Name.SCORECARD and work.judges_are_due():
        return Ending(Step.State.WAITING, was_tried=False)
    DOING[Step.Name(step.name)](work)
    work.outcomes[step.name] = Step.State.DONE
    return Ending(Step.State.DONE)


def _do_alone(step: Step, work: Work) -> Ending:
    """Do a step in a savepoint of its own: when it fails, it fails alone."""
    try:
        with transaction.atomic():
            ending = _do(step, work)
            work.write()
    except Exception as error:
        logger.exception("step %s of %s failed", step.name, step.bundle)
        work.forget()
        is_over = step.attempts >= settings.STEP_ATTEMPTS
        work.outcomes[step.name] = Step.State.FAILED if is_over else Step.State.WAITING
        ending = Ending(work.outcomes[step.name], f"{error!r}"[:2000])
    return ending


NOTE = """
UPDATE judging_step SET state = %(state)s, lease_expires_at = NULL,
       reason = %(reason)s, finished_at = %(now)s
 WHERE id = ANY(%(keys)s)
"""


def _note(keys: Sequence[int], ending: Ending) -> None:
    if not ending.was_tried:
        Step.objects.filter(pk__in=keys).update(
            state=ending.state, attempts=F("attempts") - 1, lease_expires_at=None
        )
        return
    values = {"state": ending.state.value, "reason": ending.reason, "now": timezone.now()}
    run(NOTE, {**values, "keys": list(keys)})


def stranded_bundles() -> list[int]:
    """Return the bundles whose worker is gone or whose message was lost."""
    now = timezone.now()
    lapsed = Q(state=Step.State.RUNNING, lease_expires_at__lt=now)
    unheard = Q(state=Step.State.WAITING, created_at__lt=now - settings.STEP_LEASE / 4)
    steps = Step.objects.judges().filter(lapsed | unheard)
    return list(steps.values_list("bundle", flat=True).distinct())


@transaction.atomic
def requeue(step_id: int, *, by: User, reason: str) -> Step:
    """Put a failed or stuck step back to the start of its attempts, and what follows from it.

    An ask that is over is asked again: that is a new question, with a new verdict.
    """
    step = Step.objects.select_for_update().select_related("bundle__match").get(pk=step_id)
    before = {"state": step.state, "attempts": step.attempts, "reason": step.reason}
    if step.is_ask:
        _ask_again(Step.objects.filter(pk=step.pk))
    names = {Step.Name.SCORECARD} if step.is_ask else {step.name, Step.Name.SCORECARD}
    _start_again(step.bundle.steps.judges().filter(name__in=names))
    audit.record(by, "requeue_step", step.bundle.match, before, {"step": step.title}, reason)
    step.refresh_from_db()
    return step


@transaction.atomic
def judge_again(bundle: Bundle, *, by: User, reason: str) -> None:
    """Have a match judged anew, by the seats of today: new verdicts beside the old."""
    Match.objects.select_for_update().get(pk=bundle.match_id)
    refuse_frozen(bundle.match_id)
    _ask_again(bundle.steps.asks())
    lay_out(bundle)
    _start_again(bundle.steps.judges())
    audit.record(by, "judge_again", bundle.match, None, {"bundle": bundle.number}, reason)


class NobodyToAsk(Exception):
    """No seat of the panel is configured."""


@transaction.atomic
def ask_panel_again(bundle: Bundle, *, by: User, reason: str) -> None:
    """Put the panel's question to the seats of today once more, on the same evidence.

    The match keeps the score it has until every one of them has answered.
    """
    seats = [seat for judge, seat in asks.due_of(bundle) if judge == Judge.STRATEGY]
    if not seats:
        raise NobodyToAsk
    Match.objects.select_for_update().get(pk=bundle.match_id)
    panel = bundle.steps.asks().filter(name=Step.Name.STRATEGY, seat__in=seats)
    _ask_again(panel)
    # A seat that was not asked before takes part in the second round all the same.
    new = [Step(bundle=bundle, name=Step.Name.STRATEGY, seat=seat, round=2) for seat in seats]
    Step.objects.bulk_create(new, ignore_conflicts=True)
    judges = {Step.Name.STRATEGY, Step.Name.SCORECARD}
    _start_again(bundle.steps.judges().filter(name__in=judges))
    audit.record(by, "ask_panel_again", bundle.match, None, {"seats": seats}, reason)


@transaction.atomic
def stop_asking_panel(bundle: Bundle, *, by: User, reason: str) -> None:
    """Wait no longer for the panel that was asked again; judge on what its seats have said.

    A seat that has not answered anew keeps what it said before; one that never answered is
    unavailable. Where no seat of ours ever answered, the uploaded panel stands as it did.
    What a model still says is stored with its call and counts for nothing.
    """
    Match.objects.select_for_update().get(pk=bundle.match_id)
    panel = bundle.steps.asks().filter(name=Step.Name.STRATEGY)
    given_up = asks.give_up(list(panel.select_for_update().order_by("pk")), reason)
    work_on(bundle.pk)
    audit.record(by, "stop_asking_panel", bundle.match, None, {"seats": given_up}, reason)


def _ask_again(asks: QuerySet[Step]) -> None:
    """Begin another round of asks: what was answered before is no answer to it."""
    over = asks.filter(state__in=[Step.State.DONE, Step.State.FAILED])
    over.update(round=F("round") + 1)
    _start_again(asks)


def _start_again(steps: QuerySet[Step]) -> None:
    """Take steps out of whatever hands they are in."""
    keys = list(steps.select_for_update().order_by("pk").values_list("pk", flat=True))
    Step.objects.filter(pk__in=keys).update(
        state=Step.State.WAITING, attempts=0, reason="", lease_expires_at=None
    )


# What each step does


class Searched(NamedTuple):
    """What Integrity says: its own row, what it found, and the matches that were compared."""

    verdict: Verdict
    found: Sequence[Found]
    peers: Sequence[Peer]


class Work:
    """A bundle and what its judges read, loaded once for all the steps that are done together."""

    def __init__(
        self,
        bundle: Bundle,
        policy: Policy = CURRENT,
        *,
        has_asks: bool = False,
        was_judged: bool = True,
    ) -> None:
        self.bundle = bundle
        self.policy = policy
        self.has_asks = has_asks
        self._was_judged = was_judged  # then there may be verdicts that others take the place of
        self.outcomes: dict[str, Step.State] = {}
        self._verdicts: list[Verdict] = []  # that are to be written

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

    def earlier_ruling(self, digest: str) -> Verdict | None:
        """Return the ruling on Strategy that carries over: made on this evidence before, and not
        carried over yet. What became of it here since then stands."""
        if self.bundle.number == 1:
            return None
        rulings = Verdict.objects.filter(judge=Judge.STRATEGY, seat=RULING, evidence_digest=digest)
        if rulings.filter(bundle=self.bundle).exists():
            return None
        earlier = rulings.filter(bundle__in=self.earlier, is_live=True)
        return earlier.order_by("created_at").last()

    @cached_property
    def asked(self) -> Mapping[Judge, tuple[SeatAnswer, ...]]:
        """What our own models answered, by judge."""
        return asks.answers(self.bundle) if self.has_asks else {}

    def reader_for(self, judge: Judge) -> SeatAnswer | None:
        """Return what a model of our own said for a judge; None where none was asked."""
        return next(iter(self.asked.get(judge, ())), None)

    @property
    def panel(self) -> tuple[SeatAnswer, ...]:
        """The seats of our own panel, those that are not configured too; empty without one."""
        said = {seat.seat: seat for seat in self.asked.get(Judge.STRATEGY, ())}
        if not said:
            return ()
        return tuple(said.get(name) or unseated(name) for name in self.policy.panel.seats)

    def set_aside_what_was_uploaded(self) -> None:
        """End uploaded verdicts that counted before there were seats of our own."""
        uploaded = Verdict.Source.UPLOADED
        panel = self.bundle.verdicts.filter(judge=Judge.STRATEGY, source=uploaded, is_live=True)
        panel.update(is_live=False)

    def end_ruling_on_other_evidence(self, digest: str) -> None:
        """End a ruling that was made before the seats said what they say now."""
        rulings = self.bundle.verdicts.filter(judge=Judge.STRATEGY, seat=RULING, is_live=True)
        rulings.exclude(evidence_digest=digest).update(is_live=False)

    def is_done(self) -> bool:
        """Whether every step there is was done here: then nothing can be left to do."""
        done = {name for name, state in self.outcomes.items() if state == Step.State.DONE}
        return not self.has_asks and done == set(Step.Name)

    def judges_are_due(self) -> bool:
        """Whether a judge of this bundle is still to answer, here or in other hands."""
        over = {Step.State.DONE, Step.State.FAILED}
        states: dict[str, str] = dict(self.outcomes)
        if not states.keys() >= set(Step.Name) - {Step.Name.SCORECARD}:
            steps = self.bundle.steps.judges().exclude(name=Step.Name.SCORECARD)
            states = dict(steps.values_list("name", "state")) | states
        return any(state not in over for state in states.values())

    # What the judges make of it. Nothing is stored by these.

    def objective(self) -> Verdict:
        return opinion_verdict(self.bundle, ObjectiveJudge().judge(self.dossier, self.policy))

    def half(self, judge: ProcessJudge | RecoveryJudge) -> Verdict:
        """Return what a judge says that goes by telemetry, and by a model's word where one spoke."""
        asked = self.reader_for(judge.slug)
        opinion = judge.judge(self.dossier, self.telemetry, self.policy, asked)
        return opinion_verdict(self.bundle, opinion)

    def strategy(self) -> list[Verdict]:
        """Return the uploaded votes where there are none of our own, and last the panel's row."""
        uploaded = StrategyJudge().seats(self.dossier, self.policy)
        own = self.panel
        panel = panel_verdict(self.bundle, self.dossier, own, uploaded)
        votes = [
            seat_verdict(self.bundle, seat, panel.evidence_digest)
            for seat in (() if own else uploaded)
        ]
        return [*votes, panel]

    def integrity(self) -> Searched:
        reader = self.reader_for(Judge.INTEGRITY)
        proposals = reader.proposals if reader else ()
        dossier = self.dossier
        integrity = IntegrityJudge().judge(dossier, self.tests, self.policy, proposals)
        peers = dossier.peers() if dossier.peers and dossier.applies(Judge.INTEGRITY) else ()
        verdict = searched_verdict(self.bundle, integrity, peers, reader)
        return Searched(verdict, integrity.found, peers)

    # Writing

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Have verdicts written, with those of the other judges that answer now."""
        self._verdicts += verdicts

    def write(self) -> None:
        """Write what was added; what was live in its places stays, no longer live."""
        if self._verdicts and self._was_judged:
            places = Q()
            for verdict in self._verdicts:
                places |= Q(judge=verdict.judge, seat=verdict.seat)
            self.bundle.verdicts.filter(places, is_live=True).update(is_live=False)
        insert(self._verdicts)
        self._verdicts = []

    def forget(self) -> None:
        """Let go of what was added: whoever added it failed."""
        self._verdicts = []


def judge_objective(work: Work) -> None:
    # Before any match is compared: of two that are judged at once, one sees the other.
    fingerprints.store(work.bundle, work.dossier, work.policy)
    work.add([work.objective()])


def judge_process(work: Work) -> None:
    work.add([work.half(ProcessJudge())])


def judge_recovery(work: Work) -> None:
    work.add([work.half(RecoveryJudge())])


def judge_strategy(work: Work) -> None:
    """Store what the panel is made of; a ruling made on the same evidence carries over.

    The answers of our own seats are stored already, each by its ask. What was uploaded counts
    where there are none, and is kept beside them where there are.
    """
    verdicts = work.strategy()
    digest = verdicts[-1].evidence_digest
    if work.panel:
        work.set_aside_what_was_uploaded()
        work.end_ruling_on_other_evidence(digest)
    if ruling := work.earlier_ruling(digest):
        ruling.pk, ruling.bundle = None, work.bundle
        verdicts.append(ruling)
    work.add(verdicts)


def judge_integrity(work: Work) -> None:
    """Store what was found and claimed; decisions on the same evidence carry over."""
    verdict, found, peers = work.integrity()
    work.add([verdict])
    fingerprints.reopen_copies(peers, work.policy)
    has_earlier = found and work.bundle.number > 1
    decided = decisions_on(work.earlier) if has_earlier else {}
    Finding.objects.bulk_create(
        [finding_row(work.bundle, item, decision(item, decided)) for item in found],
        ignore_conflicts=True,  # what is there already stands, with whatever was decided of it
    )


def decisions_on(bundles: QuerySet[Bundle]) -> Mapping[str, Finding]:
    """Return the live findings of some bundles that somebody decided, the last one by its key."""
    decisions = Finding.objects.filter(bundle__in=bundles, is_live=True, decided_by__isnull=False)
    return {finding.key: finding for finding in decisions.order_by("created_at", "pk")}


def decision(found: Found, decided: Mapping[str, Finding]) -> Finding | None:
    """Return what was decided of a finding, also where it was known by another key."""
    keys = (found.key, *found.also_known_as)
    return next((decided[key] for key in keys if key in decided), None)


def compose_scorecard(work: Work) -> None:
    work.write()
    record_scorecard(work.bundle, policy=work.policy)


DOING: Mapping[Step.Name, Callable[[Work], None]] = {
    Step.Name.OBJECTIVE: judge_objective,
    Step.Name.PROCESS: judge_process,
    Step.Name.STRATEGY: judge_strategy,
    Step.Name.RECOVERY: judge_recovery,
    Step.Name.INTEGRITY: judge_integrity,
    Step.Name.SCORECARD: compose_scorecard,
}
