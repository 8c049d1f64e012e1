"""Who works on which case: claims, their leases, and what a reviewer will not decide."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from adjudication.models import Case, Claim, Draft
from adjudication.next_case import take_next_case, turn_of
from adjudication.refusals import (
    AlreadyClaimed,
    AlreadyRuled,
    CaseClosed,
    ClaimLapsed,
    Declined,
    Frozen,
)
from bouts import audit
from bouts.locks import one_at_a_time
from bouts.models import Challenge, User


@transaction.atomic
def claim_case(case_id: int, *, by: User) -> Claim:
    """Claim a free slot of a case, or return the claim that this person holds already.

    Raises `Case.DoesNotExist` for whoever may not know of the case.
    """
    one_thing_at_a_time(by)
    case, at = lock_case(case_id, by), timezone.now()
    mine = case.claim_of(by, at)
    if mine is not None:
        return mine
    refuse_to_claim(case, by)
    return _give_slot(case, by, at, "claim_case")


def claim_next(*, by: User) -> Claim | None:
    """Claim the most urgent case that this person may decide; None when none is left.

    Whoever holds as many cases as one may hold at once gets the oldest of them back. Cases
    that somebody is claiming at this moment are passed over, so that nobody waits and nobody
    gets the same case.
    """
    if not (by.is_active and by.is_reviewer):
        raise PermissionDenied
    at = timezone.now()
    until = at + settings.CLAIM_LEASE
    taken = take_next_case(by, at, until)
    if taken is not None and taken.claim is None:
        with transaction.atomic():
            # Once more, so that the case that it finds stays locked while its slot is given.
            taken = take_next_case(by, at, until)
            if taken is not None and taken.claim is None:
                return _give_slot(Case.objects.get(pk=taken.case_id), by, at, "claim_next")
    return taken and taken.claim


@transaction.atomic
def renew(case_id: int, *, by: User) -> Claim:
    """Put the end of a live claim's lease off. A lapsed one is not revived."""
    case, at = lock_case(case_id, by), timezone.now()
    claim = live_claim(case, by, at)
    claim.expires_at = at + settings.CLAIM_LEASE
    claim.save(update_fields=["expires_at"])
    note_slots(case, at)
    return claim


@transaction.atomic
def release(case_id: int, *, by: User) -> None:
    """Give a claim back. Releasing what is no longer held changes nothing."""
    case, at = lock_case(case_id, by), timezone.now()
    claim = case.claim_of(by, at)
    if claim is None:
        return
    _end(claim, Claim.End.RELEASED, at)
    note_slots(case, at)
    audit.record(by, "release", case, {"holder": by.username}, {"holder": None})


@transaction.atomic
def take_over(case_id: int, claim_id: int, *, by: User, reason: str) -> Claim:
    """Take another reviewer's slot, as only a lead may. What they typed stays theirs."""
    if not by.is_lead:
        raise PermissionDenied
    one_thing_at_a_time(by)
    case, at = lock_case(case_id, by), timezone.now()
    refuse_to_claim(case, by)
    if case.claim_of(by, at) is not None:
        raise AlreadyClaimed("You hold a slot of this case yourself.")
    claim = case.claims.live(at).filter(pk=claim_id).select_related("reviewer").first()
    if claim is None:
        raise ClaimLapsed("That claim has ended in the meantime.")
    _end(claim, Claim.End.TAKEN_OVER, at)
    return _give_slot(
        case, by, at, "take_over", before={"holder": claim.reviewer.username}, reason=reason
    )


@transaction.atomic
def decline(case_id: int, *, by: User, reason: str = "") -> None:
    """Say no to a case for good. It fills no slot and is not offered to this person again."""
    case, at = lock_case(case_id, by), timezone.now()
    if case.rulings.in_force().filter(reviewer=by).exists():
        raise AlreadyRuled
    if case.is_settled:
        raise CaseClosed
    claim = case.claim_of(by, at)
    if claim is None:
        claim = Claim(case=case, slot=1, reviewer=by, claimed_at=at, expires_at=at)
    claim.ended_at, claim.ended_how = at, Claim.End.DECLINED
    claim.save()
    note_slots(case, at)
    audit.record(by, "decline", case, reason=reason)


@transaction.atomic
def save_draft(
    case_id: int, fields: Mapping[str, object], *, by: User, was_refused: bool = False
) -> Draft:
    """Keep what a reviewer has typed so far, whether or not the claim still lives.

    It takes the place of what was kept before. What was refused only adds to that: it may be
    of another tab, and of a form that is not the one they are writing in by now.
    """
    if not by.is_reviewer:
        raise PermissionDenied
    case = Case.objects.visible_to(by).get(pk=case_id)
    draft, is_new = Draft.objects.select_for_update().get_or_create(
        case=case, reviewer=by, defaults={"fields": dict(fields)}
    )
    if not is_new:
        draft.fields = {**(draft.fields if was_refused else {}), **fields}
        draft.save()
    return draft


# What all actions on a case share


def one_thing_at_a_time(by: User) -> None:
    """Wait for what this person claims, or declares a conflict with, at the same moment.

    Comes before any lock on a row. Without it a claim and a conflict would pass each other
    unseen, and leave a case in the hands of somebody who may not know of it.
    """
    one_at_a_time(turn_of(by))


def lock_case(case_id: int, by: User) -> Case:
    """Lock a case that this reviewer may know of; nothing about it changes until we are done."""
    if not (by.is_active and by.is_reviewer):
        raise PermissionDenied
    visible = Case.objects.visible_to(by).select_related("challenge", "bundle")
    return visible.select_for_update(of=("self",)).get(pk=case_id)


def refuse_to_claim(case: Case, by: User) -> None:
    if case.is_settled:
        raise CaseClosed
    if case.state not in Case.WANTING:
        raise CaseClosed("This case waits for the panel.")
    if case.challenge.state == Challenge.State.FROZEN:
        raise Frozen
    if case.rulings.in_force().filter(reviewer=by).exists():
        raise AlreadyRuled
    if case.claims.filter(reviewer=by, ended_how=Claim.End.DECLINED).exists():
        raise Declined


def live_claim(case: Case, by: User, at: datetime) -> Claim:
    """Return this person's claim, or raise what became of it."""
    claim = case.claim_of(by, at)
    if claim is not None:
        return claim
    if case.is_settled:
        raise CaseClosed
    if case.rulings.in_force().filter(reviewer=by).exists():
        raise AlreadyRuled
    raise ClaimLapsed


def end_claims(case: Case, how: Claim.End, at: datetime) -> None:
    """End every claim on a case that has been settled."""
    case.claims.open().update(ended_at=at, ended_how=how)
    case.held_until = case.full_until = None


def note_slots(case: Case, at: datetime) -> None:
    """Write down on the case how long it is held, and how long every slot of it is taken.

    Lists, counts and "next case" read these two times alone.
    """
    leases = sorted(case.claims.open().values_list("expires_at", flat=True))
    live = [lease for lease in leases if lease > at]
    is_full = len(live) + case.rulings.in_force().count() >= case.slots
    # A lapsed lease is noted too: whoever claims next sees that there is one to end.
    case.held_until = leases[-1] if leases else None
    case.full_until = live[0] if live and is_full else None
    case.save(update_fields=["held_until", "full_until"])


def _give_slot(
    case: Case,
    by: User,
    at: datetime,
    action: str,
    before: Mapping[str, object] | None = None,
    reason: str = "",
) -> Claim:
    """Write a claim on a case that is locked and that this person may claim."""
    slot = 1
    if case.slots > 1 or case.held_until is not None:
        _end_lapsed(case, at)
        slot = _free_slot(case, at)
    claim = case.claims.create(
        slot=slot, reviewer=by, claimed_at=at, expires_at=at + settings.CLAIM_LEASE
    )
    if case.slots > 1:
        note_slots(case, at)
    else:
        case.held_until = case.full_until = claim.expires_at
        case.save(update_fields=["held_until", "full_until"])
    audit.record(by, action, case, before, {"holder": by.username}, reason)
    return claim


def _free_slot(case: Case, at: datetime) -> int:
    taken = {
        *case.claims.live(at).values_list("slot", flat=True),
        *case.rulings.in_force().values_list("slot", flat=True),
    }
    free = next((slot for slot in range(1, case.slots + 1) if slot not in taken), None)
    if free is None:
        raise AlreadyClaimed
    return free


def _end_lapsed(case: Case, at: datetime) -> None:
    case.claims.lapsed(at).update(ended_at=F("expires_at"), ended_how=Claim.End.LAPSED)


def _end(claim: Claim, how: Claim.End, at: datetime) -> None:
    claim.ended_at, claim.ended_how = at, how
    claim.save(update_fields=["ended_at", "ended_how"])
