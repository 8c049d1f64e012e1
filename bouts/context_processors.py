"""What every page's masthead shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from bouts.models import User

EVERYBODY = frozenset(User.Role.values)
OPERATORS = frozenset({User.Role.OPS, User.Role.ADMIN})
REVIEWERS = frozenset({User.Role.REVIEWER, User.Role.LEAD})


@dataclass(frozen=True, slots=True)
class Door:
    """An entry of the main menu: the name of its page, whom it is for, and what lies behind it.

    ``rooms`` are pages; ``things`` are pages of one thing each, by its number, such as a case.
    """

    label: str
    page: str
    roles: frozenset[str]
    rooms: tuple[str, ...] = ()
    things: tuple[str, ...] = ()

    def addresses(self) -> tuple[str, ...]:
        """Return what the addresses of all that lies behind it begin with, its own page first."""
        return (
            *map(reverse, (self.page, *self.rooms)),
            *(reverse(thing, args=[0]).removesuffix("0/") for thing in self.things),
        )


# A page of an app above is named, never imported.
DOORS = (
    Door("Leaderboard", "judging:leaderboard", EVERYBODY, things=("judging:agent_detail",)),
    Door("Matches", "judging:match_list", EVERYBODY, ("judging:compare",)),
    Door("Challenges", "judging:challenge_list", EVERYBODY),
    Door(
        "Queue",
        "adjudication:case_queue",
        REVIEWERS | OPERATORS,
        ("adjudication:conflict_list",),
        ("adjudication:case_detail",),
    ),
    Door("Figures", "adjudication:lead_figures", OPERATORS | {User.Role.LEAD}),
    Door(
        "Work",
        "judging:work_list",
        OPERATORS,
        ("judging:judge_health", "judging:rejudging_list", "news:endpoint_list"),
    ),
    Door("Upload", "judging:upload_create", OPERATORS),
    Door("Team", "bouts:team_list", EVERYBODY - OPERATORS),
    Door(
        "People",
        "bouts:person_list",
        OPERATORS,
        ("bouts:invitation_list", "bouts:team_list", "bouts:audit_list"),
    ),
)


def masthead(request: HttpRequest) -> dict[str, object]:
    """Return the main menu as (label, address, whether it holds this page), and the time zone."""
    zone = timezone.get_current_timezone_name()
    # A request that was refused at the door, such as one for another host, has no user yet.
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"doors": [], "zone": zone}
    doors = doors_for(user.role)
    depths = {label: depth_of(request.path, addresses) for label, addresses in doors}
    here = max(depths, key=depths.__getitem__)
    return {
        "zone": zone,
        "doors": [
            (label, addresses[0], label == here and depths[label] > 0) for label, addresses in doors
        ],
    }


def depth_of(path: str, addresses: tuple[str, ...]) -> int:
    """Return how much of the path the longest fitting address covers; 0 where none fits."""
    return max((len(address) for address in addresses if path.startswith(address)), default=0)


@cache  # every page needs them, and they never change while a process lives
def doors_for(role: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what a role sees: (label, addresses behind it), its own page first."""
    return tuple((door.label, door.addresses()) for door in DOORS if role in door.roles)
