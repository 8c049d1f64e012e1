"""Which questions are put to people: cases follow the scorecards of their match."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from adjudication import tallies
from adjudication.actions.claims import end_claims
from adjudication.models import AskAgain, Case, Claim
from adjudication.outcomes import WITH_A_SECOND
from bouts import audit
from bouts.prepared import Prepared
from bouts.rules import Judge, Stakes
from judging.models import Finding, Scorecard, Verdict
from judging.scoring.panel import Branch

# Those that the rules open and close. A review that somebody asked for, or a random audit,
# is opened by its own action and ends only with a ruling or with its evidence.
OPENED_BY_RULE = frozenset(
    {
        Case.Reason.PANEL_DISAGREEMENT,
        Case.Reason.PANEL_INCOMPLETE,
        Case.Reason.PANEL_CHAINED,
        Case.Reason.OBJECTIVE_NARRATIVE_CONFLICT,
        Case.Reason.INTEGRITY_QUARANTINE,
        Case.Reason.INTEGRITY_REVIEW,
    }
)

STANDING = Prepared(
    lambda match: (
        Case.objects.filter(match=match)
        .exclude(state=Case.State.VOID)
        .select_for_update()
        .order_by("pk")
    ),
    match=int,
)
PANEL_DIGEST = Prepared(
    lambda bundle: (
        Verdict.objects.filter(bundle=bundle, judge=Judge.STRATEGY.value, seat="", is_live=True)
        .order_by()
        .values_list("evidence_digest")
    ),
    bundle=int,
)

NEW_EVIDENCE = "A new upload changed the evidence; the rule applies afresh."
NEW_ANSWERS = "The panel was asked again; the rule applies afresh to what it says now."
NO_LONGER_ASKED = "The rules no longer ask this question."


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, on which evidence. An empty finding key asks for the Strategy score."""

    finding_key: str
    evidence_digest: str


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry of a breakdown's ``cases``."""

    question: Question
    reason: str
    blocking: bool
    is_open: bool

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Asked:
        return cls(
            Question(entry["finding_key"], entry["evidence_digest"]),
            entry["reason"],
            entry["blocking"],
            entry["status"] == "open",
        )


@transaction.atomic(savepoint=False)
def follow_scorecard(scorecard: Scorecard) -> None:
    """Open, move, settle and void the cases of a match as its new scorecard says.

    A case whose evidence is the same moves on to the new revision with all that was done on
    it. One whose evidence is gone is void. The same scorecard twice changes nothing.
    """
    at = timezone.now()
    asked = [Asked.of(entry) for entry in scorecard.breakdown["cases"]]
    cases = STANDING.rows(match=scorecard.match_id)
    standing = _standing_questions(scorecard) if cases else frozenset()
    for case in cases:
        _follow(case, scorecard, asked, standing, at)
    for entry in asked:
        if entry.is_open:
            open_case(entry, scorecard, at)
    _draw(scorecard, at)


def _draw(scorecard: Scorecard, at: datetime) -> None:
    """Open a random audit where the lot falls on a panel that agrees.

    The lot is drawn from the evidence, so that judging a match again does not draw again. A
    question that was put to people once, whatever became of it, is not drawn.
    """
    strategy = scorecard.breakdown["judges"].get(Judge.STRATEGY.value, {})
    # Without a counted score there is no total, or the challenge leaves Strategy out.
    if strategy.get("branch") != Branch.CONSENSUS or scorecard.strategy is None:
        return
    panel = PANEL_DIGEST.first(bundle=scorecard.bundle_id)
    if panel is None or not is_drawn(panel[0], settings.RANDOM_AUDIT_PERCENT):
        return
    [digest] = panel
    question = Question("", digest)
    put = Case.objects.filter(
        match=scorecard.match_id, finding_key="", evidence_digest=question.evidence_digest
    )
    if not put.exists():
        open_case(Asked(question, Case.Reason.RANDOM_AUDIT, False, True), scorecard, at)


def is_drawn(evidence_digest: str, percent: int) -> bool:
    """Whether the lot falls on a panel; on so many in a hundred of all digests it does."""
    lot = hashlib.sha256(f"random audit {evidence_digest}".encode()).digest()
    return int.from_bytes(lot[:8]) * 100 < percent << 64


def _standing_questions(scorecard: Scorecard) -> frozenset[Question]:
    """Return the questions whose evidence is that of this scorecard, asked or not."""
    panels = Verdict.objects.filter(
        bundle=scorecard.bundle_id, judge=Judge.STRATEGY.value, seat="", is_live=True
    )
    findings = Finding.objects.filter(bundle=scorecard.bundle_id, is_live=True)
    return frozenset(
        [Question("", digest) for digest in panels.values_list("evidence_digest", flat=True)]
        + [Question(key, key) for key in findings.values_list("key", flat=True)]
    )


def _follow(
    case: Case,
    scorecard: Scorecard,
    asked: Iterable[Asked],
    standing: Collection[Question],
    at: datetime,
) -> None:
    if case.scorecard_id == scorecard.pk:
        return
    if case.state == Case.State.AWAITING_PANEL:
        asked_again = case.ask_again
        if case.bundle_id == scorecard.bundle_id and not _has_answered(asked_again):
            return
        come_back(case)
    question = question_of(case)
    if question not in standing:
        is_new = case.bundle_id != scorecard.bundle_id
        _close(case, Case.State.VOID, NEW_EVIDENCE if is_new else NEW_ANSWERS, at)
        return
    case.bundle_id, case.scorecard_id = scorecard.bundle_id, scorecard.pk
    case.version += 1
    entries = [entry for entry in asked if entry.question == question]
    if not case.is_settled and case.reason in OPENED_BY_RULE:
        _follow_rule(case, entries, at)
    case.save()


def _has_answered(asked: AskAgain) -> bool:
    """Whether the panel's own row is another one than when it was asked again."""
    return not Verdict.objects.filter(pk__in=asked.verdicts, seat="", is_live=True).exists()


def come_back(case: Case) -> None:
    """Bring a case whose panel has answered again back to its reviewers, on the new answers."""
    panel = Verdict.objects.filter(
        bundle=case.bundle_id, judge=Judge.STRATEGY.value, seat="", is_live=True
    )
    case.evidence_digest = panel.values_list("evidence_digest", flat=True).get()
    case.state = Case.State.OPEN
    audit.record(None, "panel_answered", case, None, {"state": case.state})


def _follow_rule(case: Case, entries: list[Asked], at: datetime) -> None:
    """Do to an unsettled case what the rules now say of its question."""
    if any(not entry.is_open for entry in entries):
        _close(case, Case.State.DECIDED, _settled_by(case), at)
        return
    same = [entry for entry in entries if entry.reason == case.reason]
    # A finding is one question, whatever it is called: confidence and severity may change.
    now = same or (entries if case.is_on_finding else [])
    if not now and AskAgain.objects.filter(case=case).exists():
        # Whoever had the panel asked again is to rule on what it says now. Where the rule
        # settles that by itself, nothing waits for the ruling.
        case.blocking = False
        return
    if not now:
        _close(case, Case.State.VOID, NO_LONGER_ASKED, at)
        return
    case.reason, case.blocking = now[0].reason, now[0].blocking


def _settled_by(case: Case) -> str:
    other = (
        Case.objects.on_the_question_of(case)
        .filter(state=Case.State.DECIDED, closed_reason="")
        .order_by("-closed_at")
        .first()
    )
    return f"Settled by the ruling on {other}." if other else "Settled by an earlier ruling."


def _close(case: Case, state: Case.State, reason: str, at: datetime) -> None:
    was = case.state
    if case.is_settled:
        tallies.count(case, -1)
    end_claims(case, Claim.End.SETTLED, at)
    case.state, case.closed_at, case.closed_reason = state, at, reason
    case.save()
    tallies.count(case, 1)
    audit.record(None, "close_case", case, {"state": was}, {"state": state.value}, reason)


def reopen(case: Case, scorecard: Scorecard, at: datetime) -> None:
    """Put a settled case back into the queue: the ruling that had settled it fell.

    Its clock starts anew, what was ruled on it stays.
    """
    has_rulings = case.rulings.exists()
    tallies.count(case, -1)
    case.state = Case.State.AWAITING_SECOND if has_rulings else Case.State.OPEN
    case.bundle_id, case.scorecard_id = scorecard.bundle_id, scorecard.pk
    case.closed_at, case.closed_reason, case.opened_at = None, "", at
    case.save()
    audit.record(None, "reopen_case", case, {"state": "decided"}, {"state": case.state})


def open_case(entry: Asked, scorecard: Scorecard, at: datetime) -> Case:
    """Open a case and return it, or the one that puts the question already."""
    key = {
        "match_id": scorecard.match_id,
        "reason": entry.reason,
        "finding_key": entry.question.finding_key,
    }
    standing = Case.objects.exclude(state=Case.State.VOID).filter(**key).first()
    if standing is not None:
        if not standing.is_settled:
            return standing
        if question_of(standing) == entry.question:
            reopen(standing, scorecard, at)
            return standing
        # The ruling of a settled case holds only as long as the scorecard knows of it.
        _close(standing, Case.State.VOID, NEW_EVIDENCE, at)
    match = scorecard.match
    stakes = scorecard.bundle.challenge_version.spec.stakes
    case = Case.objects.create(
        **key,
        challenge_id=match.challenge_id,
        team_id=match.agent.team_id,
        bundle_id=scorecard.bundle_id,
        scorecard=scorecard,
        blocking=entry.blocking,
        evidence_digest=entry.question.evidence_digest,
        stakes=stakes,
        slots=WITH_A_SECOND if stakes == Stakes.HIGH else 1,
        opened_at=at,
    )
    audit.record(None, "open_case", case, None, {"reason": entry.reason, "match": match.slug})
    return case


def question_of(case: Case) -> Question:
    return Question(case.finding_key, case.evidence_digest)
