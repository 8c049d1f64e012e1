"""What a competitor may ask: once a match, soon after a final total, with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from adjudication.actions.opening import Asked, Question, open_case
from adjudication.models import Case, ReviewRequest
from adjudication.panels import policy_of
from adjudication.refusals import (
    AskedAlready,
    BadDecision,
    ChangedSince,
    Frozen,
    NotFinal,
    Superseded,
    WindowClosed,
)
from bouts import audit
from bouts.models import Challenge, Match, User
from bouts.rules import Judge
from judging.models import Finding, Scorecard, Verdict

FROZEN = "This challenge is frozen: no review can be asked for until ops lift that."


def closes_at(scorecard: Scorecard) -> datetime | None:
    """Return until when a review of this total may be asked for; None while it is not final.

    The days count from when the total became final. A revision that says the same total
    again, final before and after, does not start them anew.
    """
    if scorecard.status != Scorecard.Status.FINAL:
        return None
    earlier = Scorecard.objects.filter(match=scorecard.match_id, number__lte=scorecard.number)
    other = earlier.filter(
        ~Q(status=Scorecard.Status.FINAL, total=scorecard.total, bundle=scorecard.bundle_id)
    ).order_by("-number")
    since = earlier.filter(number__gt=other.values_list("number", flat=True).first() or 0)
    first = since.order_by("number").values_list("created_at", flat=True).first()
    days = policy_of(scorecard).cases.review_window_days
    return (first or scorecard.created_at) + timedelta(days=days)


def refuse_to_ask(match: Match, scorecard: Scorecard, at: datetime) -> None:
    """Raise why no review of this match can be asked for now; see `adjudication.refusals`."""
    if ReviewRequest.objects.filter(match=match).exists():
        raise AskedAlready
    if match.challenge.state == Challenge.State.FROZEN:
        raise Frozen(FROZEN)
    if not scorecard.bundle.is_live:
        raise Superseded
    until = closes_at(scorecard)
    if until is None:
        raise NotFinal
    if at > until:
        raise WindowClosed(f"The time to ask for a review ended on {until:%-d %B %Y, %H:%M} UTC.")


@transaction.atomic
def ask_for_review(
    match_id: int,
    *,
    by: User,
    finding_key: str,
    text: str,
    evidence: Sequence[Mapping[str, str]],
    revision: int,
) -> ReviewRequest:
    """Ask for a review of the Strategy score, or of the finding of a key.

    `evidence` are anchors that this person may see; whoever calls has looked. `revision` is
    the scorecard that they had before them. Raises `PermissionDenied` for whoever is not of
    the team, `BadDecision` for a request that says too little, and a `Refused` where the
    match, its window or its challenge stand against it. Nothing about the score changes.
    """
    matches = Match.objects.select_related("agent", "challenge").select_for_update(of=("self",))
    match, at = matches.get(pk=match_id), timezone.now()
    if not by.is_active or match.agent.team_id not in by.team_ids:
        raise PermissionDenied
    scorecard = match.scorecards.live().select_related("bundle").first()
    if scorecard is None:
        raise NotFinal
    refuse_to_ask(match, scorecard, at)
    if scorecard.number != revision:
        raise ChangedSince
    if not text.strip():
        raise BadDecision("text", "Say what speaks against it.")
    if not evidence:
        raise BadDecision("evidence", "Choose the evidence that speaks against it.")
    question = _question(scorecard, finding_key)
    case = open_case(Asked(question, Case.Reason.REVIEW_REQUESTED, False, True), scorecard, at)
    request = ReviewRequest.objects.create(
        match=match,
        case=case,
        scorecard=scorecard,
        by=by,
        text=text.strip(),
        evidence=[dict(anchor) for anchor in evidence],
        asked_at=at,
    )
    audit.record(
        by, "ask_for_review", match, None, {"case": str(case), "finding": finding_key or None}
    )
    return request


def _question(scorecard: Scorecard, finding_key: str) -> Question:
    """Return the question and the evidence that it rests on, as it stands now."""
    if finding_key:
        found = Finding.objects.filter(
            bundle=scorecard.bundle_id, key=finding_key, is_live=True
        ).exists()
        if not found:
            raise BadDecision("about", "There is no such finding.")
        return Question(finding_key, finding_key)
    panel = Verdict.objects.filter(
        bundle=scorecard.bundle_id, judge=Judge.STRATEGY.value, seat="", is_live=True
    ).first()
    if panel is None or scorecard.strategy is None:
        raise BadDecision("about", "There is no Strategy score to review.")
    return Question("", panel.evidence_digest)
