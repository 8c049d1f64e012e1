"""Rows for tests, made by plain functions."""

from __future__ import annotations

from bouts.models import Membership, Team, User

PASSWORD = "correct horse battery"


def make_team(slug: str = "northbank", name: str | None = None) -> Team:
    team, _ = Team.objects.get_or_create(slug=slug, defaults={"name": name or slug.title()})
    return team


def make_user(
    username: str,
    role: str = User.Role.COMPETITOR,
    *,
    teams: tuple[str, ...] = (),
    is_active: bool = True,
) -> User:
    user = User.objects.create_user(
        username,
        email=f"{username}@example.test",
        password=PASSWORD,
        role=role,
        is_active=is_active,
    )
    for slug in teams:
        Membership.objects.create(user=user, team=make_team(slug))
    return user
