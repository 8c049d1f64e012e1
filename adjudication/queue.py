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
from judging.scoring.panel import settle
from judging.scoring.policy import CURRENT

UNSETTLED = "unsettled"  # in the place of a state: whatever still wants something


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
    # Only for leads: a reviewer is to come unprimed.
    spread: str = ""
    rule: str = ""


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
    if asked.get("kind"):
        cases = cases.filter(blocking=asked["kind"] == "blocking")
    if asked.get("overdue") == "limit":
        cases = cases.unsettled().filter(opened_at__lt=at - settings.CASE_LIMIT)
    elif asked.get("overdue") == "target":
        cases = cases.unsettled().filter(
            opened_at__lt=at - settings.CASE_TARGET, opened_at__gte=at - settings.CASE_LIMIT
        )
    holder = asked.get("holder")
    if holder == "me":
        cases = cases.held_by(user, at)
    elif holder == "nobody":
        is_settled = Q(closed_at__isnull=False)
        cases = cases.filter(is_settled | Q(held_until=None) | Q(held_until__lte=at))
    elif holder:
        claims = Claim.objects.live(at).filter(reviewer__username=holder)
        cases = cases.filter(pk__in=claims.values("case"))
    return cases


def listed(cases: CaseQuerySet, state: str, at: datetime) -> CaseQuerySet:
    """Narrow to the state that a list was asked for; to all that waits with ``unsettled``."""
    if state == UNSETTLED:
        return cases.unsettled()
    return cases.in_state(state, at) if state else cases


def rows_of(cases: Iterable[Case], user: User, at: datetime) -> list[Row]:
    """Make the rows of a page of cases, with a fixed number of queries."""
    cases = list(cases)
    keys = [case.pk for case in cases]
    decidable = set()
    if user.is_reviewer:
        decidable = set(
            Case.objects.filter(pk__in=keys).decidable_by(user, at).values_list("pk", flat=True)
        )
    panels = panels_of(cases) if user.is_lead else {}
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
                **panels.get(case.pk, {}),
            )
        )
    return rows


def clock_of(case: Case, at: datetime) -> Clock:
    # At the hour itself a case is still in time, as in every count of such cases.
    age = at - case.opened_at
    share = min(100.0, 100 * age / settings.CASE_LIMIT)
    if age > settings.CASE_LIMIT:
        look, words = "is-over", f"■ {spoken(age - settings.CASE_LIMIT)} over limit"
    elif age > settings.CASE_TARGET:
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


def panels_of(cases: Iterable[Case]) -> dict[int, dict[str, str]]:
    """Say of each case on Strategy how far its votes lie apart, and which rule took them."""
    on_strategy = [case for case in cases if not case.is_on_finding]
    votes: dict[int, dict[str, Any]] = {}
    seats = Verdict.objects.filter(
        bundle__in={case.bundle_id for case in on_strategy},
        judge=Judge.STRATEGY.value,
        seat__in=CURRENT.panel.seats,
        is_live=True,
    )
    for bundle, seat, score in seats.values_list("bundle", "seat", "score"):
        votes.setdefault(bundle, {})[seat] = score
    return {case.pk: _panel(votes.get(case.bundle_id, {})) for case in on_strategy}


def _panel(votes: Mapping[str, Any]) -> dict[str, str]:
    cast = [score for score in votes.values() if score is not None]
    spread = score_text(max(cast) - min(cast)) if len(cast) > 1 else f"{len(cast)} of {len(votes)}"
    return {"spread": spread or "", "rule": settle(votes, CURRENT).branch.value}
