"""Conflicts of interest: who must have nothing to do with a team or a match."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from adjudication.actions.claims import note_slots, one_thing_at_a_time
from adjudication.models import Case, Claim, Conflict
from bouts import audit
from bouts.models import Match, Team, User


@transaction.atomic
def declare_conflict(
    *, by: User, team: Team | None = None, match: Match | None = None, note: str = ""
) -> Conflict:
    """Declare a conflict with a team or with one match. Claims on its cases end at once.

    What was decided before stays; leads see the declaration and may correct it.
    """
    if not by.is_reviewer:
        raise PermissionDenied
    one_thing_at_a_time(by)
    conflict, is_new = Conflict.objects.get_or_create(
        reviewer=by, team=team, match=match, defaults={"note": note.strip()}
    )
    if not is_new:
        return conflict
    at = timezone.now()
    touched = Q(team=team) if team else Q(match=match)
    held = Case.objects.filter(touched).held_by(by, at).order_by("pk")
    # A ruling locks its match before its cases; whoever locks several cases does the same.
    list(
        Match.objects.select_for_update(of=("self",))
        .filter(cases__in=held.values("pk"))
        .order_by("pk")
    )
    for case in held.select_for_update(of=("self",)):
        case.claims.live(at).filter(reviewer=by).update(ended_at=at, ended_how=Claim.End.CONFLICT)
        note_slots(case, at)
    audit.record(by, "declare_conflict", team or match or by, reason=note.strip())
    return conflict
