"""The sample people: made once, with passwords that only this installation has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import override_settings

from bouts import samples
from bouts.models import Team, User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_unfinished() -> Iterator[None]:
    yield
    samples.UNFINISHED.unlink(missing_ok=True)


def test_samples_are_wanted_at_the_first_start_only() -> None:
    assert samples.are_wanted()
    samples.make_people()
    assert not samples.are_wanted()


def test_a_first_start_that_was_cut_short_is_taken_up_again() -> None:
    samples.make_people()
    samples.UNFINISHED.touch()
    assert samples.are_wanted()


def test_people_have_their_roles_and_the_two_competitors_are_rivals() -> None:
    samples.make_people()
    roles = {user.username: user.role for user in User.objects.all()}
    assert roles == {login.username: login.role for login in samples.LOGINS}
    assert [team.slug for team in User.objects.get(username="ines").teams.all()] == ["northbank"]
    assert [team.slug for team in User.objects.get(username="hal").teams.all()] == ["halyard"]


def test_making_them_again_changes_nobody() -> None:
    samples.make_people()
    ines = User.objects.get(username="ines")
    ines.set_password("another password")
    ines.save()
    teams = Team.objects.count()
    samples.make_people()
    ines.refresh_from_db()
    assert ines.check_password("another password")
    assert User.objects.count() == len(samples.LOGINS)
    assert Team.objects.count() == teams


def test_who_has_another_password_or_no_account_any_more_is_not_shown() -> None:
    samples.make_people()
    ines, hal = User.objects.get(username="ines"), User.objects.get(username="hal")
    ines.set_password("another password")
    ines.save()
    hal.is_active = False
    hal.save()
    shown = {login.username for login in samples.usable_logins()}
    assert shown == {login.username for login in samples.LOGINS} - {"ines", "hal"}


def test_another_installation_has_other_passwords() -> None:
    here = [login.password for login in samples.LOGINS]
    with override_settings(SECRET_KEY="another installation's key"):
        there = [login.password for login in samples.LOGINS]
    assert len({*here, *there}) == 2 * len(samples.LOGINS)
