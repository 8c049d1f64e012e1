"""Accounts: how people come in, what they may do, and how they leave."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from bouts.actions import people
from bouts.models import ApiToken, AuditEntry, Invitation, PasswordReset, User
from bouts.tokens import digest_of
from tests.factories import make_team, make_user

pytestmark = pytest.mark.django_db
WEEK = timedelta(days=7)
PASSWORD = "a rather long new one"


def invite(by: User, email: str = "noor@example.test", role: str = User.Role.REVIEWER) -> str:
    _, secret = people.invite_person(email, role, None, WEEK, by=by)
    return secret


def accept(secret: str, username: str = "noor") -> User:
    return people.accept_invitation(secret, username=username, name="Noor", password=PASSWORD)


def last_entry() -> AuditEntry:
    return AuditEntry.objects.order_by("-pk")[0]


# Invitations


def test_an_invitation_makes_one_account_with_its_role_and_team(operator: User) -> None:
    team = make_team()
    _, secret = people.invite_person("n@example.test", "competitor", team, WEEK, by=operator)
    user = accept(secret)
    assert (user.email, user.role, user.first_name) == ("n@example.test", "competitor", "Noor")
    assert list(user.teams.all()) == [team]
    assert user.check_password(PASSWORD)
    with pytest.raises(people.LinkClosed) as closed:
        accept(secret, "another")
    assert closed.value.link.state == "used"
    assert not User.objects.filter(username="another").exists()


def test_only_the_hash_of_an_invitation_is_stored(operator: User) -> None:
    secret = invite(operator)
    stored = Invitation.objects.values().get()
    assert secret not in str(stored)
    assert stored["token_digest"] == digest_of(secret)


def test_an_expired_invitation_makes_no_account(operator: User) -> None:
    secret = invite(operator)
    Invitation.objects.update(expires_at=timezone.now())
    with pytest.raises(people.LinkClosed) as closed:
        accept(secret)
    assert closed.value.link.state == "expired"


def test_a_revoked_invitation_makes_no_account(operator: User) -> None:
    secret = invite(operator)
    people.revoke_invitation(Invitation.objects.get().pk, by=operator)
    with pytest.raises(people.LinkClosed) as closed:
        accept(secret)
    assert closed.value.link.state == "revoked"
    assert last_entry().action == "revoke_invitation"


def test_ops_cannot_invite_an_admin_but_an_admin_can(operator: User, admin: User) -> None:
    with pytest.raises(people.NotAllowed):
        invite(operator, role=User.Role.ADMIN)
    assert accept(invite(admin, role=User.Role.ADMIN)).is_admin


def test_ops_cannot_revoke_what_invites_an_admin(operator: User, admin: User) -> None:
    invite(admin, role=User.Role.ADMIN)
    with pytest.raises(people.NotAllowed):
        people.revoke_invitation(Invitation.objects.get().pk, by=operator)


@pytest.mark.parametrize("role", ["competitor", "reviewer", "lead"])
def test_who_is_not_ops_invites_nobody(role: str) -> None:
    with pytest.raises(people.NotAllowed):
        invite(make_user("someone", role), role="competitor")
    assert not Invitation.objects.exists()


def test_an_address_has_one_account_and_one_open_invitation(operator: User) -> None:
    with pytest.raises(people.AlreadyThere):
        invite(operator, email=operator.email.upper())
    invite(operator)
    with pytest.raises(people.AlreadyThere):
        invite(operator, email="NOOR@example.test")


def test_a_name_that_is_taken_leaves_the_invitation_open(operator: User) -> None:
    secret = invite(operator)
    with pytest.raises(people.AlreadyThere):
        accept(secret, "TOMAS")
    assert Invitation.objects.get().is_open
    assert accept(secret, "noor").username == "noor"


@pytest.mark.parametrize("change", ["role", "activity"])
def test_what_somebody_gave_out_ends_with_their_role(
    change: str, operator: User, admin: User, competitor: User
) -> None:
    secret = invite(operator)
    _, reset = people.make_reset_link(competitor.pk, by=operator)
    if change == "role":
        people.change_role(operator.pk, "reviewer", by=admin)
    else:
        people.deactivate_person(operator.pk, by=admin)
    with pytest.raises(people.LinkClosed):
        accept(secret)
    with pytest.raises(people.LinkClosed):
        people.reset_password(reset, PASSWORD)


# Passwords


def test_a_reset_link_works_once(operator: User, competitor: User) -> None:
    _, secret = people.make_reset_link(competitor.pk, by=operator)
    people.reset_password(secret, PASSWORD)
    competitor.refresh_from_db()
    assert competitor.check_password(PASSWORD)
    with pytest.raises(people.LinkClosed):
        people.reset_password(secret, "and another long one")
    competitor.refresh_from_db()
    assert competitor.check_password(PASSWORD)


def test_a_new_reset_link_ends_the_one_before(operator: User, competitor: User) -> None:
    _, old = people.make_reset_link(competitor.pk, by=operator)
    _, new = people.make_reset_link(competitor.pk, by=operator)
    with pytest.raises(people.LinkClosed):
        people.reset_password(old, PASSWORD)
    people.reset_password(new, PASSWORD)


def test_a_password_that_the_person_changed_ends_open_reset_links(
    operator: User, competitor: User
) -> None:
    _, secret = people.make_reset_link(competitor.pk, by=operator)
    people.change_password(competitor, PASSWORD)
    with pytest.raises(people.LinkClosed):
        people.reset_password(secret, "and another long one")


def test_a_reset_link_opens_no_closed_account(operator: User, competitor: User) -> None:
    _, secret = people.make_reset_link(competitor.pk, by=operator)
    people.deactivate_person(competitor.pk, by=operator)
    with pytest.raises(people.LinkClosed):
        people.reset_password(secret, PASSWORD)
    with pytest.raises(people.NotAllowed):
        people.make_reset_link(competitor.pk, by=operator)


def test_passwords_and_secrets_are_not_in_the_log(operator: User, competitor: User) -> None:
    _, secret = people.make_reset_link(competitor.pk, by=operator)
    people.reset_password(secret, PASSWORD)
    people.change_password(competitor, "and another long one")
    invitation = invite(operator)
    _, token = people.create_token(competitor, "notebook", ["read"], WEEK)
    log = str(list(AuditEntry.objects.values()))
    for hidden in (secret, PASSWORD, "and another long one", invitation, token):
        assert hidden not in log


# Roles and activity


def test_a_change_of_role_is_logged_with_before_after_and_reason(
    admin: User, competitor: User
) -> None:
    people.change_role(competitor.pk, "reviewer", by=admin, reason="Left the team.")
    entry = last_entry()
    assert (entry.actor, entry.action, entry.subject) == (admin, "change_role", "person:ines")
    assert (entry.before, entry.after) == ({"role": "competitor"}, {"role": "reviewer"})
    assert entry.reason == "Left the team."


def test_what_changes_nothing_is_not_logged(admin: User, competitor: User) -> None:
    people.change_role(competitor.pk, "competitor", by=admin)
    people.reactivate_person(competitor.pk, by=admin)
    assert not AuditEntry.objects.exists()


def test_ops_cannot_grant_admin(operator: User, competitor: User) -> None:
    with pytest.raises(people.NotAllowed):
        people.change_role(competitor.pk, "admin", by=operator)
    competitor.refresh_from_db()
    assert competitor.role == "competitor"


def test_ops_cannot_touch_an_admin(operator: User, admin: User) -> None:
    attempts = (
        lambda: people.change_role(admin.pk, "ops", by=operator),
        lambda: people.deactivate_person(admin.pk, by=operator),
        lambda: people.make_reset_link(admin.pk, by=operator),
    )
    for attempt in attempts:
        with pytest.raises(people.NotAllowed):
            attempt()
    admin.refresh_from_db()
    assert admin.is_admin and admin.is_active
    assert not PasswordReset.objects.exists()


def test_nobody_locks_themselves_out(admin: User, operator: User) -> None:
    for person in (admin, operator):
        with pytest.raises(people.NotAllowed, match="Nobody changes their own"):
            people.deactivate_person(person.pk, by=person)
        with pytest.raises(people.NotAllowed, match="Nobody changes their own"):
            people.change_role(person.pk, "reviewer", by=person)


def test_of_two_admins_who_close_each_other_one_is_left(admin: User) -> None:
    other = make_user("abe", User.Role.ADMIN)
    people.deactivate_person(other.pk, by=admin)
    with pytest.raises(people.NotAllowed):
        people.deactivate_person(admin.pk, by=other)  # `other` still believes to be active
    admin.refresh_from_db()
    assert admin.is_active


def test_an_admin_made_by_the_command_line_can_lose_the_role(admin: User) -> None:
    call_command(
        "createsuperuser",
        interactive=False,
        username="root",
        email="root@example.test",
        verbosity=0,
    )
    root = User.objects.get(username="root")
    assert root.is_admin and root.is_operator
    people.change_role(root.pk, "ops", by=admin)
    root.refresh_from_db()
    root.save()
    assert root.role == "ops" and not root.is_superuser


def test_a_closed_account_comes_back_as_it_was(operator: User, competitor: User) -> None:
    people.deactivate_person(competitor.pk, by=operator, reason="On leave.")
    competitor.refresh_from_db()
    assert not competitor.is_active
    assert last_entry().reason == "On leave."
    people.reactivate_person(competitor.pk, by=operator)
    competitor.refresh_from_db()
    assert competitor.is_active
    assert competitor.teams.get().slug == "northbank"


@pytest.mark.parametrize("field", ["username", "email"])
def test_names_and_addresses_are_one_whatever_their_case(field: str, competitor: User) -> None:
    own = {"username": "other", "email": "other@example.test"}
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(**own | {field: getattr(competitor, field).upper()})


# Teams


def test_membership_is_logged_both_ways(operator: User, reviewer: User) -> None:
    team = people.create_team("orrery", "Orrery Labs", by=operator)
    people.add_member(team, reviewer, by=operator)
    with pytest.raises(people.AlreadyThere):
        people.add_member(team, reviewer, by=operator)
    people.remove_member(team, reviewer, by=operator)
    people.remove_member(team, reviewer, by=operator)
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["create_team", "add_member", "remove_member"]


def test_a_slug_names_one_team(operator: User) -> None:
    people.create_team("orrery", "Orrery Labs", by=operator)
    with pytest.raises(people.AlreadyThere):
        people.create_team("orrery", "Other", by=operator)


def test_only_ops_change_teams(competitor: User, reviewer: User) -> None:
    team = make_team()
    for attempt in (
        lambda: people.create_team("mine", "Mine", by=competitor),
        lambda: people.add_member(team, reviewer, by=competitor),
        lambda: people.remove_member(team, competitor, by=competitor),
    ):
        with pytest.raises(people.NotAllowed):
            attempt()
    assert list(team.members.all()) == [competitor]


# Tokens


def test_only_the_hash_of_a_token_is_stored(competitor: User) -> None:
    token, secret = people.create_token(competitor, "notebook", ["read"], WEEK)
    stored = ApiToken.objects.values().get()
    assert secret not in str(stored)
    assert stored["digest"] == digest_of(secret)
    assert secret.startswith(token.prefix)


def test_a_token_can_do_no_more_than_its_owner(competitor: User, reviewer: User) -> None:
    with pytest.raises(people.NotAllowed):
        people.create_token(competitor, "sly", ["read", "upload"], WEEK)
    with pytest.raises(people.NotAllowed):
        people.create_token(reviewer, "sly", ["upload"], WEEK)
    people.create_token(reviewer, "queue", ["adjudicate"], WEEK)


def test_a_name_means_one_live_token(competitor: User) -> None:
    token, _ = people.create_token(competitor, "notebook", ["read"], WEEK)
    with pytest.raises(people.AlreadyThere):
        people.create_token(competitor, "notebook", ["read"], WEEK)
    people.revoke_token(token.pk, by=competitor)
    people.create_token(competitor, "notebook", ["read"], WEEK)


def test_ops_may_revoke_a_competitors_token_but_not_the_reverse(
    operator: User, competitor: User
) -> None:
    own, _ = people.create_token(competitor, "notebook", ["read"], WEEK)
    theirs, _ = people.create_token(operator, "nightly", ["upload"], WEEK)
    with pytest.raises(people.NotAllowed):
        people.revoke_token(theirs.pk, by=competitor)
    people.revoke_token(own.pk, by=operator)
    assert not ApiToken.objects.get(pk=own.pk).is_live
    assert ApiToken.objects.get(pk=theirs.pk).is_live
