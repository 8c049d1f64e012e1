"""The people of the sample competition, and the matches in `examples/`.

The first `make up` makes them, so that there is something to look at. Their passwords differ
from installation to installation: each is derived from the secret key, which only this
installation has, so that they can be shown at every start and are stored nowhere.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from bouts.models import Membership, Team, User

EXAMPLES = settings.BASE_DIR / "examples"
# There while samples are being loaded: a start that was broken off is taken up again.
UNFINISHED = settings.DATA_DIR / "samples-unfinished"


@dataclass(frozen=True)
class Login:
    """A sample person. A competitor has the slug of a team."""

    username: str
    first_name: str
    last_name: str
    role: User.Role
    team: str | None = None

    @property
    def password(self) -> str:
        """Three groups of four letters and digits: 60 bits."""
        mac = salted_hmac("bouts.samples", self.username, algorithm="sha256").digest()
        letters = base64.b32encode(mac).decode().lower()
        return "-".join((letters[:4], letters[4:8], letters[8:12]))


OPERATOR = Login("tomas", "Tomas", "Lind", User.Role.OPS)
LOGINS = (
    OPERATOR,
    Login("rosa", "Rosa", "Marek", User.Role.REVIEWER),
    Login("lena", "Lena", "Ortiz", User.Role.LEAD),
    Login("ada", "Ada", "Brandt", User.Role.ADMIN),
    Login("ines", "Ines", "Carvalho", User.Role.COMPETITOR, team="northbank"),
    Login("hal", "Hal", "Whitcombe", User.Role.COMPETITOR, team="halyard"),
)


def are_wanted() -> bool:
    """Tell whether this is a first start, or one that follows a first start cut short."""
    return UNFINISHED.exists() or not User.objects.exists()


@transaction.atomic
def make_people() -> User:
    """Make the teams and the people that are not there yet; return the operator."""
    teams = json.loads((EXAMPLES / "teams.json").read_text())
    for team in teams:
        Team.objects.get_or_create(slug=team["slug"], defaults={"name": team["name"]})
    for login in LOGINS:
        if User.objects.filter(username=login.username).exists():
            continue
        user = User.objects.create_user(
            login.username,
            f"{login.username}@example.test",
            login.password,
            first_name=login.first_name,
            last_name=login.last_name,
            role=login.role,
        )
        if login.team:
            Membership.objects.create(user=user, team=Team.objects.get(slug=login.team))
    return User.objects.get(username=OPERATOR.username)


def examples() -> Iterator[Path]:
    """Yield what to upload, challenges first since matches name them."""
    for folder in (EXAMPLES / "challenges", EXAMPLES / "bundles"):
        yield from sorted(folder.iterdir())


def usable_logins() -> list[Login]:
    """Return the sample people who are there and have kept their password."""
    users = User.objects.filter(
        is_active=True, username__in=[login.username for login in LOGINS]
    ).in_bulk(field_name="username")
    return [
        login
        for login in LOGINS
        if login.username in users and users[login.username].check_password(login.password)
    ]
