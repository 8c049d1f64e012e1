"""The queue as a person sees it: which cases, and what a row may say of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from adjudication.models import Case, CaseQuerySet, Claim
from bouts.models import User
from bouts.rules import Judge
from judging.models import Verdict
from judging.scoring.exact import score_text
from judging.scoring.policy import CURRENT


@dataclass(frozen=True, slots=True)
class Clock:
    """How old a case is against its target and its limit."""

    look: str  # is-over, is-late, or nothing
    words: str
    share: str  # of the limit, in per cent


@dataclass(frozen=True, slots=True)
class Row:
    case: Case
    state: Case.State
    clock: Clock | None  # None: it has stopped
    claims: tuple[Claim, ...]
    mine: Claim | None
    may_claim: bool
    spread: str  # only for leads


def narrowed(
    cases: CaseQuerySet, asked: Mapping[str, Any], user: User, at: datetime
) -> CaseQuerySet:
    """Apply the filters of the queue, all but the state."""
    if asked.get("reason"):
        cases = cases.filter(reason=asked["reason"])
    if asked.get("challenge"):
        cases = cases.filter(challenge=asked["challenge"])
    if asked.get("stakes"):
        cases = cases.filter(stakes=asked["stakes"])
    if asked.get("holder") == "me":
        cases = cases.held_by(user, at)
    elif asked.get("holder") == "nobody":
        cases = cases.filter(Q(held_until=None) | Q(held_until__lte=at))
    return cases


def rows_of(cases: Iterable[Case], user: User, at: datetime) -> list[Row]:
    """Make the rows of a page of cases, with a fixed number of queries."""
    cases = list(cases)
    keys = [case.pk for case in cases]
    decidable = set()
    if user.is_reviewer:
        decidable = set(
            Case.objects.filter(pk__in=keys).decidable_by(user, at).values_list("pk", flat=True)
        )
    # A reviewer is to come unprimed; leads watch over the queue.
    spreads = spreads_of(cases) if user.is_lead else {}
    rows = []
    for case in cases:
        claims = tuple(claim for claim in case.open_claims if claim.is_live(at))
        rows.append(
            Row(
                case=case,
                state=case.state_at(at),
                clock=None if case.is_settled else clock_of(case, at),
                claims=claims,
                mine=next((claim for claim in claims if claim.reviewer_id == user.pk), None),
                may_claim=case.pk in decidable,
                spread=spreads.get(case.pk, ""),
            )
        )
    return rows


def clock_of(case: Case, at: datetime) -> Clock:
    age = at - case.opened_at
    share = min(100.0, 100 * age / settings.CASE_LIMIT)
    if age >= settings.CASE_LIMIT:
        look, words = "is-over", f"■ {spoken(age - settings.CASE_LIMIT)} over limit"
    elif age >= settings.CASE_TARGET:
        look, words = "is-late", f"▲ {spoken(settings.CASE_LIMIT - age)} to limit"
    else:
        look, words = "", f"{spoken(settings.CASE_TARGET - age)} to target"
    return Clock(look, words, f"{share:.1f}%")


def spoken(length: timedelta) -> str:
    """Write a length of time as ``3 d 2 h``, ``11 h 25 min`` or ``32 min``."""
    minutes = int(length.total_seconds() // 60)
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def spreads_of(cases: Iterable[Case]) -> dict[int, str]:
    """Say of each case on Strategy how far its votes lie apart, or how many there are."""
    on_strategy = [case for case in cases if not case.is_on_finding]
    votes: dict[int, list[Any]] = {}
    seats = Verdict.objects.filter(
        bundle__in=[case.bundle_id for case in on_strategy],
        judge=Judge.STRATEGY.value,
        seat__in=CURRENT.panel.seats,
        is_live=True,
    )
    for bundle, score in seats.values_list("bundle", "score"):
        votes.setdefault(bundle, []).append(score)
    return {case.pk: _spread(votes.get(case.bundle_id, [])) for case in on_strategy}


def _spread(scores: list[Any]) -> str:
    cast = [score for score in scores if score is not None]
    if len(cast) < 2:
        return f"{len(cast)} of {len(scores)}"
    return score_text(max(cast) - min(cast)) or ""
