"""What reviewers decide: the score they commit blind, the ruling, and its correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from adjudication import tallies
from adjudication.actions.claims import end_claims, live_claim, lock_case, note_slots
from adjudication.actions.opening import come_back, reopen
from adjudication.models import AskAgain, BlindScore, Case, Claim, Draft, Ruling
from adjudication.outcomes import WITH_A_SECOND, Vote, Waits, settle
from adjudication.panels import Panel, panel_of, policy_of
from adjudication.refusals import (
    AlreadyCommitted,
    AlreadyCorrected,
    BadDecision,
    CaseChanged,
    CaseClosed,
    Frozen,
    NobodyToAsk,
    NotBlindYet,
    NothingToWaitFor,
    PanelAskedAlready,
    Superseded,
)
from adjudication.signals import case_ruled
from bouts import audit
from bouts.models import Challenge, Match, User
from bouts.rules import CRITERIA, LEVELS, OPEN_TRIGGERS, POINTS, Judge
from judging import actions as judging
from judging import steps
from judging.judges.strategy import rubric_score
from judging.models import Finding, Scorecard
from judging.scoring.exact import HUNDRED, ZERO, score_text

Kind = Ruling.Kind
KINDS_ON_STRATEGY = (Kind.UPHOLD, Kind.AVERAGE, Kind.ADOPT, Kind.SET, Kind.ESCALATE)
KINDS_ON_FINDING = (Kind.CONFIRM, Kind.DISMISS, Kind.AMEND, Kind.ESCALATE)
FEWEST_TO_AVERAGE = 2


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer puts into the form of a ruling.

    `score` belongs to *set* and *escalate* and stands for their own blind score where it is
    None; `seat` to *adopt*; `points` to *amend*.
    """

    kind: str
    public_reason: str
    private_note: str = ""
    seat: str = ""
    score: Fraction | None = None
    points: int | None = None


@transaction.atomic
def commit_score(
    case_id: int,
    *,
    by: User,
    reason: str,
    levels: Mapping[str, int] | None = None,
    opinion: str = "",
) -> BlindScore:
    """Commit what a reviewer thinks before the reveal: levels on Strategy, else an opinion.

    Committing the same again returns what stands. Raises `BadDecision` for levels that are
    not the seven criteria from 1 to 5, for no opinion, and for no reason.
    """
    case, at = lock_case(case_id, by), timezone.now()
    standing = case.blind_score_of(by)
    if standing is not None:
        if (standing.levels, standing.opinion) == (levels and dict(levels), opinion):
            return standing
        raise AlreadyCommitted
    live_claim(case, by, at)
    if not reason.strip():
        raise BadDecision("reason", "Say why, in a sentence or two.")
    score = None
    if case.is_on_finding:
        if opinion not in BlindScore.Opinion.values:
            raise BadDecision("opinion", "Confirm or dismiss the finding.")
        levels = None
    else:
        score = rubric_score(_checked_levels(levels), policy_of(case.scorecard))
        opinion = ""
    blind = case.blind_scores.create(
        reviewer=by,
        levels=levels and dict(levels),
        score=score,
        opinion=opinion,
        reason=reason.strip(),
        committed_at=at,
    )
    Draft.objects.filter(case=case, reviewer=by).delete()
    said = {"opinion": opinion} if case.is_on_finding else {"score": score_text(score)}
    audit.record(by, "commit_score", case, None, said, blind.reason)
    return blind


@transaction.atomic
def rule(case_id: int, decision: Decision, *, by: User, version: int) -> Ruling:
    """Rule on a case that this person holds and has scored blind.

    Where the case needs more reviewers it then waits for them; else it is decided and the
    match has a new scorecard. Raises `BadDecision` for a decision that the rules do not
    know, and a `Refused` where the claim, the case or the challenge has moved on.
    """
    case, at = _lock_for_ruling(case_id, by), timezone.now()
    claim = live_claim(case, by, at)
    blind = _checked(case, by, version)
    ruling = Ruling(case=case, reviewer=by, slot=claim.slot, before=case.scorecard, created_at=at)
    _fill(ruling, decision, blind)
    ruling.save()
    claim.ended_at, claim.ended_how = at, Claim.End.RULED
    claim.save(update_fields=["ended_at", "ended_how"])
    if ruling.kind == Kind.ESCALATE:
        case.slots = max(case.slots, WITH_A_SECOND)
    return _settle(case, ruling, "rule")


@transaction.atomic
def ask_again(
    case_id: int, *, by: User, version: int, public_reason: str, private_note: str = ""
) -> AskAgain:
    """Have the panel asked again on the same evidence, once a case; the case waits for it.

    Whoever calls this rings the worker when it is committed (`judging.tasks.ring`).
    """
    case, at = _lock_for_ruling(case_id, by), timezone.now()
    live_claim(case, by, at)
    _checked(case, by, version)
    if case.is_on_finding:
        raise BadDecision("ruling", "No panel was asked about a finding.")
    if not public_reason.strip():
        raise BadDecision("public_reason", "Give a reason that the competitor can read.")
    if AskAgain.objects.filter(case=case).exists():
        raise PanelAskedAlready
    if case.rulings.in_force().exists():
        raise BadDecision("ruling", "Another reviewer has ruled on what the panel said.")
    strategy = case.bundle.verdicts.filter(judge=Judge.STRATEGY, is_live=True)
    asked = AskAgain.objects.create(
        case=case,
        reviewer=by,
        public_reason=public_reason.strip(),
        private_note=private_note.strip(),
        verdicts=sorted(strategy.values_list("pk", flat=True)),
        asked_at=at,
    )
    try:
        steps.ask_panel_again(case.bundle, by=by, reason=asked.public_reason)
    except steps.NobodyToAsk as nobody:
        raise NobodyToAsk from nobody
    end_claims(case, Claim.End.ASKED, at)
    was, case.state = case.state, Case.State.AWAITING_PANEL
    case.version += 1
    case.save()
    Draft.objects.filter(case=case, reviewer=by).delete()
    audit.record(by, "ask_again", case, {"state": was}, {"state": case.state}, public_reason)
    return asked


@transaction.atomic
def end_wait(case_id: int, *, by: User, reason: str) -> Case:
    """Wait no longer for a panel that was asked again, as a lead or ops may.

    The case is open again on what the seats have said, and stays the one that it was.
    """
    if not (by.is_active and (by.is_lead or by.is_operator)):
        raise PermissionDenied
    Match.objects.select_for_update(of=("self",)).filter(cases=case_id).first()
    cases = Case.objects.visible_to(by).select_related("challenge", "bundle")
    case = cases.select_for_update(of=("self",)).get(pk=case_id)
    if not reason.strip():
        raise BadDecision("reason", "Say why; it goes into the log.")
    if case.challenge.state == Challenge.State.FROZEN:
        raise Frozen
    if case.state != Case.State.AWAITING_PANEL:
        raise NothingToWaitFor
    steps.stop_asking_panel(case.bundle, by=by, reason=reason.strip())
    # The case has followed the scorecard that this led to, in another instance of its row.
    case.refresh_from_db()
    if case.state == Case.State.AWAITING_PANEL:
        # Another judge still has the scorecard waiting: the case need not wait with it.
        come_back(case)
        case.version += 1
        case.save()
    audit.record(
        by,
        "end_wait",
        case,
        {"state": Case.State.AWAITING_PANEL.value},
        {"state": case.state},
        reason.strip(),
    )
    return case


@transaction.atomic
def correct_ruling(ruling_id: int, decision: Decision, *, by: User, version: int) -> Ruling:
    """Replace a ruling by a new one that names it, as its author or, once it is decided, a lead.

    Needs no claim: a ruling can be replaced only once.
    """
    case_id = Ruling.objects.values_list("case_id", flat=True).get(pk=ruling_id)
    case, at = _lock_for_ruling(case_id, by), timezone.now()
    replaced = case.rulings.visible_to(by).get(pk=ruling_id)
    if case.state == Case.State.VOID:
        raise CaseClosed("This case is void: its evidence is no longer that of the match.")
    if not replaced.may_be_corrected_by(by):
        raise PermissionDenied
    if not case.rulings.in_force().filter(pk=ruling_id).exists():
        raise AlreadyCorrected
    others = case.rulings.in_force().exclude(pk=ruling_id)
    if others.filter(reviewer=by).exists():
        raise PermissionDenied  # nobody fills two slots
    if decision.kind == Kind.ESCALATE:
        raise BadDecision("kind", "A correction decides; it cannot escalate.")
    if replaced.reviewer_id == by.pk:
        blind = _checked(case, by, version)
    else:
        _refuse_stale(case, version)
        blind = None
    ruling = Ruling(
        case=case,
        reviewer=by,
        slot=replaced.slot,
        supersedes=replaced,
        before=case.scorecard,
        created_at=at,
    )
    _fill(ruling, decision, blind)
    ruling.save()
    return _settle(case, ruling, "correct_ruling")


# Checks


def _lock_for_ruling(case_id: int, by: User) -> Case:
    """Lock the match, then the case: judging, which a ruling calls, locks in that order."""
    Match.objects.select_for_update(of=("self",)).filter(cases=case_id).first()
    return lock_case(case_id, by)


def _checked(case: Case, by: User, version: int) -> BlindScore:
    _refuse_stale(case, version)
    blind = case.blind_score_of(by)
    if blind is None:
        raise NotBlindYet
    return blind


def _refuse_stale(case: Case, version: int) -> None:
    if case.challenge.state == Challenge.State.FROZEN:
        raise Frozen
    # Its verdicts are read for the new bundle already: a ruling on the old one would be lost.
    if not case.bundle.is_live:
        raise Superseded
    if case.version != version:
        raise CaseChanged


def _checked_levels(levels: Mapping[str, int] | None) -> Mapping[str, int]:
    criteria = CRITERIA[Judge.STRATEGY]
    for criterion in criteria:
        level = (levels or {}).get(criterion)
        if type(level) is not int or not LEVELS.lowest <= level <= LEVELS.highest:
            raise BadDecision(
                criterion, f"Choose a level from {LEVELS.lowest} to {LEVELS.highest}."
            )
    unknown = sorted(set(levels or {}) - set(criteria))
    if unknown:
        raise BadDecision(unknown[0], "There is no such criterion.")
    return levels or {}


# What a decision comes to


def _fill(ruling: Ruling, decision: Decision, blind: BlindScore | None) -> None:
    """Put a decision into a ruling, or raise `BadDecision`."""
    case = ruling.case
    kinds = KINDS_ON_FINDING if case.is_on_finding else KINDS_ON_STRATEGY
    if decision.kind not in kinds:
        raise BadDecision("kind", "Choose one of the rulings.")
    if not decision.public_reason.strip():
        raise BadDecision("public_reason", "Give a reason that the competitor can read.")
    ruling.kind = decision.kind
    ruling.public_reason = decision.public_reason.strip()
    ruling.private_note = decision.private_note.strip()
    if case.is_on_finding:
        ruling.answer, ruling.points = answer_to(finding_of(case), decision, blind)
    else:
        panel = panel_of(case.bundle, policy_of(case.scorecard))
        ruling.score = score_by(panel, decision, blind)
        ruling.seat = decision.seat if decision.kind == Kind.ADOPT else ""


def score_by(panel: Panel, decision: Decision, blind: BlindScore | None) -> Fraction:
    """Return the Strategy score that a decision arrives at, 0 to 100, or raise `BadDecision`."""
    match decision.kind:
        case Kind.UPHOLD:
            if panel.outcome.score is None:
                raise BadDecision("kind", "No seat voted: there is no number to uphold.")
            return panel.outcome.score
        case Kind.AVERAGE:
            if panel.outcome.mean is None or panel.outcome.votes < FEWEST_TO_AVERAGE:
                raise BadDecision("kind", "There are not two votes to average.")
            return panel.outcome.mean
        case Kind.ADOPT:
            seat = panel.seat(decision.seat)
            if seat is None or seat.score is None:
                raise BadDecision("seat", "Choose a seat that voted.")
            return seat.score
    score = decision.score
    if score is None and blind is not None:
        score = blind.score
    if score is None or not ZERO <= score <= HUNDRED:
        raise BadDecision("score", "Give a score from 0 to 100.")
    return score


def answer_to(
    finding: Finding, decision: Decision, blind: BlindScore | None
) -> tuple[str, int | None]:
    """Return what a decision makes of a finding: applied with its points, or dismissed."""
    match decision.kind:
        case Kind.DISMISS:
            return Ruling.Answer.DISMISSED, None
        case Kind.AMEND:
            allowed = POINTS[finding.trigger]
            if finding.trigger not in OPEN_TRIGGERS:
                raise BadDecision("kind", "The rule fixes the points of this finding.")
            if decision.points is None or not allowed.lowest <= decision.points <= allowed.highest:
                raise BadDecision(
                    "points", f"Give points from {allowed.lowest} to {allowed.highest}."
                )
            return Ruling.Answer.APPLIED, decision.points
        case Kind.ESCALATE if blind is not None and blind.opinion == BlindScore.Opinion.DISMISS:
            return Ruling.Answer.DISMISSED, None
    return Ruling.Answer.APPLIED, finding.points


def finding_of(case: Case) -> Finding:
    """Return the finding that a case is about as it was found, before anybody decided on it."""
    found = Finding.objects.filter(bundle__match=case.match_id, key=case.finding_key)
    return found.earliest("pk")


def vote_of(ruling: Ruling) -> Vote:
    return Vote(ruling.score, ruling.kind == Kind.UPHOLD, ruling.answer, ruling.points)


def _settle(case: Case, ruling: Ruling, action: str) -> Ruling:
    """Draw the consequence of a ruling that is written: decide the case, or let it wait."""
    at = ruling.created_at
    in_force = list(case.rulings.in_force().order_by("slot"))
    outcome = settle([vote_of(each) for each in in_force], case.slots, policy_of(case.scorecard))
    was = case.state
    if isinstance(outcome, Waits):
        case.slots = outcome.slots
        if case.is_settled:
            ruling.after = _take_back(case, ruling)
            ruling.save(update_fields=["after"])
        case.state = Case.State.AWAITING_SECOND
        case.save(update_fields=["slots", "state"])
        note_slots(case, at)
    else:
        end_claims(case, Claim.End.SETTLED, at)
        is_new = not case.is_settled
        case.state, case.closed_at = Case.State.DECIDED, case.closed_at or at
        case.save()
        if is_new:
            tallies.count(case, 1)
        ruling.after = _take_effect(case, outcome, in_force, ruling)
        ruling.save(update_fields=["after"])
    Draft.objects.filter(case=case, reviewer=ruling.reviewer).delete()
    audit.record(
        ruling.reviewer,
        action,
        case,
        {"state": was, "total": _shown(ruling.before)},
        {
            "state": case.state,
            "total": _shown(ruling.after or ruling.before),
            "kind": ruling.kind,
            "score": score_text(ruling.score),
            "answer": ruling.answer or None,
            "points": ruling.points,
            "supersedes": ruling.supersedes_id,
        },
        ruling.public_reason,
    )
    case_ruled.send(Ruling, ruling=ruling)
    return ruling


def _take_effect(
    case: Case, outcome: Vote, in_force: Sequence[Ruling], ruling: Ruling
) -> Scorecard:
    """Hand the outcome to judging, which writes a new scorecard and announces it."""
    reason = "\n\n".join(each.public_reason for each in in_force)
    if case.is_on_finding:
        return judging.decide_finding(
            case.bundle,
            case.finding_key,
            status=outcome.answer,
            points=outcome.points,
            by=ruling.reviewer,
            reason=reason,
        )
    return judging.rule_strategy(
        case.bundle,
        None if outcome.upholds else outcome.score,
        by=ruling.reviewer,
        reason=reason,
        cause=f"ruling on {case}",
    )


def _take_back(case: Case, ruling: Ruling) -> Scorecard:
    """Undo what a decided case came to: with this correction its reviewers differ too much.

    The rule's number, or the finding as it was found, stands again until another reviewer has
    ruled; the case is open again, and its clock starts anew.
    """
    reopen(case, case.scorecard, ruling.created_at)
    told = {
        "by": ruling.reviewer,
        "reason": ruling.public_reason,
        "cause": f"correction of a ruling on {case}; another reviewer is to rule",
    }
    if case.is_on_finding:
        after = judging.reopen_finding(case.bundle, case.finding_key, **told)
    else:
        after = judging.withdraw_ruling(case.bundle, **told)
    # The case has followed the scorecard in another instance of its row.
    case.refresh_from_db()
    return after


def _shown(scorecard: Scorecard) -> str | None:
    return None if scorecard.total is None else str(scorecard.total)
