"""What every page's masthead shows."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from bouts.models import User

EVERYBODY = frozenset(User.Role.values)
OPERATORS = frozenset({User.Role.OPS, User.Role.ADMIN})
REVIEWERS = frozenset({User.Role.REVIEWER, User.Role.LEAD})
LEADS = frozenset({User.Role.LEAD, User.Role.ADMIN, User.Role.OPS})


@dataclass(frozen=True, slots=True)
class Door:
    """An entry of the main menu: whom it is for, and the name of its page."""

    label: str
    page: str
    roles: frozenset[str]


# A page of an app above is named, never imported.
DOORS = (
    Door("Leaderboard", "judging:leaderboard", EVERYBODY),
    Door("Matches", "judging:match_list", EVERYBODY),
    Door("Challenges", "judging:challenge_list", EVERYBODY),
    Door("Queue", "adjudication:case_queue", REVIEWERS | OPERATORS),
    Door("Judge health", "judging:health", LEADS),
    Door("Work", "judging:work_list", OPERATORS),
    Door("Upload", "bouts:upload_create", OPERATORS),
    Door("Team", "bouts:team_list", EVERYBODY - OPERATORS),
    Door("People", "bouts:person_list", OPERATORS),
)


def masthead(request: HttpRequest) -> dict[str, object]:
    """Return the main menu as (label, address, whether it holds this page)."""
    if not request.user.is_authenticated:
        return {"doors": []}
    doors = [
        (door.label, address)
        for door in DOORS
        if request.user.role in door.roles and (address := address_of(door.page))
    ]
    # The longest address that this page lies under, so that only one entry is marked.
    here = max(
        (address for _, address in doors if request.path.startswith(address)), key=len, default=None
    )
    return {"doors": [(label, address, address == here) for label, address in doors]}


def address_of(page: str) -> str | None:
    """Return the address of a page, or None where this installation has no such page."""
    try:
        return reverse(page)
    except NoReverseMatch:
        return None
