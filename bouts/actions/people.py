"""Accounts: how people come in, what they may do, and how they leave."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from bouts import audit
from bouts.locks import one_at_a_time
from bouts.models import (
    ApiToken,
    FormerMembership,
    Invitation,
    Membership,
    PasswordReset,
    Team,
    User,
)
from bouts.tokens import API_PREFIX, digest_of, new_secret


class NotAllowed(Exception):
    """This person may not do that to that one; the text says why, for the page."""


class AlreadyThere(Exception):
    """What should be made exists; the text says what, for the page."""


class LinkClosed(Exception):
    """The link was used, revoked or has expired: `link.state`."""

    def __init__(self, link: Invitation | PasswordReset) -> None:
        super().__init__(link.state)
        self.link = link


# Invitations


@transaction.atomic
def invite_person(
    email: str, role: str, team: Team | None, lifetime: timedelta, *, by: User
) -> tuple[Invitation, str]:
    """Return an invitation and the secret of its link, which nobody can read again."""
    if role not in by.grantable_roles:
        raise NotAllowed(f"You may not give the role {role}.")
    one_at_a_time(f"invite {email.lower()}")
    if User.objects.filter(email__iexact=email).exists():
        raise AlreadyThere("Somebody with this address has an account.")
    if Invitation.objects.open().filter(email__iexact=email).exists():
        raise AlreadyThere("An invitation to this address is open. Revoke it to make another.")
    secret = new_secret()
    invitation = Invitation.objects.create(
        token_digest=digest_of(secret),
        email=email,
        role=role,
        team=team,
        invited_by=by,
        expires_at=timezone.now() + lifetime,
    )
    after = {"email": email, "role": role, "team": team and team.slug}
    audit.record(by, "invite_person", invitation, after=after)
    return invitation, secret


@transaction.atomic
def revoke_invitation(invitation_id: int, *, by: User) -> None:
    invitation = Invitation.objects.select_for_update().get(pk=invitation_id)
    if not invitation.is_open:
        raise LinkClosed(invitation)
    if invitation.role not in by.grantable_roles:
        raise NotAllowed("Only an admin may revoke an admin's invitation.")
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    audit.record(by, "revoke_invitation", invitation, {"state": "open"}, {"state": "revoked"})


@transaction.atomic
def accept_invitation(secret: str, *, username: str, name: str, password: str) -> User:
    """Make the account that the invitation is for, and use the invitation up."""
    invitation = Invitation.objects.by_secret(secret).select_for_update(of=["self"]).get()
    if not invitation.is_open:
        raise LinkClosed(invitation)
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                username, invitation.email, password, first_name=name, role=invitation.role
            )
    except IntegrityError as error:
        raise AlreadyThere("Somebody has this name or this address already.") from error
    if invitation.team is not None:
        Membership.objects.create(user=user, team=invitation.team)
    invitation.used_at = timezone.now()
    invitation.accepted_by = user
    invitation.save(update_fields=["used_at", "accepted_by"])
    after = {
        "email": user.email,
        "role": user.role,
        "team": invitation.team and invitation.team.slug,
        "invitation": invitation.pk,
    }
    audit.record(user, "accept_invitation", user, after=after)
    return user


# Passwords


@transaction.atomic
def make_reset_link(person_id: int, *, by: User) -> tuple[PasswordReset, str]:
    """Return a link for a new password and its secret; older links of the person end."""
    person = _person_to_manage(person_id, by=by)
    if not person.is_active:
        raise NotAllowed("This account is inactive; reactivate it first.")
    now = timezone.now()
    person.password_resets.open().update(revoked_at=now)
    secret = new_secret()
    link = person.password_resets.create(
        token_digest=digest_of(secret),
        made_by=by,
        expires_at=now + settings.PASSWORD_RESET_LIFETIME,
    )
    audit.record(by, "make_reset_link", person, after={"expires_at": link.expires_at})
    return link, secret


@transaction.atomic
def reset_password(secret: str, password: str) -> User:
    """Set a new password with a link. Every session of the person ends."""
    link = (
        PasswordReset.objects.by_secret(secret)
        .select_related("user")
        .select_for_update(of=["self"])
        .get()
    )
    if not link.is_open or not link.user.is_active:
        raise LinkClosed(link)
    link.used_at = timezone.now()
    link.save(update_fields=["used_at"])
    _set_password(link.user, password)
    audit.record(link.user, "reset_password", link.user)
    return link.user


@transaction.atomic
def change_password(person: User, password: str) -> None:
    """Set a person's own new password. Their other sessions end, and open links with them."""
    person.password_resets.open().update(revoked_at=timezone.now())
    _set_password(person, password)
    audit.record(person, "change_password", person)


def _set_password(person: User, password: str) -> None:
    person.set_password(password)
    person.save(update_fields=["password"])


# Roles and activity


@transaction.atomic
def change_role(person_id: int, role: str, *, by: User, reason: str = "") -> User:
    person = _person_to_manage(person_id, by=by)
    if role not in by.grantable_roles:
        raise NotAllowed("Only an admin may make somebody an admin.")
    before = person.role
    if role == before:
        return person
    person.role = role
    person.is_superuser = person.is_superuser and person.is_admin
    person.save(update_fields=["role", "is_superuser"])
    _revoke_links_by(person)
    audit.record(by, "change_role", person, {"role": before}, {"role": role}, reason)
    return person


def deactivate_person(person_id: int, *, by: User, reason: str = "") -> User:
    """Close an account: its sessions and tokens stop working, and the links it gave out."""
    return _set_active(person_id, False, by=by, reason=reason)


def reactivate_person(person_id: int, *, by: User, reason: str = "") -> User:
    return _set_active(person_id, True, by=by, reason=reason)


@transaction.atomic
def _set_active(person_id: int, is_active: bool, *, by: User, reason: str) -> User:
    person = _person_to_manage(person_id, by=by)
    if person.is_active == is_active:
        return person
    person.is_active = is_active
    person.save(update_fields=["is_active"])
    _revoke_links_by(person)
    action = "reactivate_person" if is_active else "deactivate_person"
    before, after = {"active": not is_active}, {"active": is_active}
    audit.record(by, action, person, before, after, reason)
    return person


def _revoke_links_by(person: User) -> None:
    """End what somebody gave out under a role that they no longer have."""
    now = timezone.now()
    Invitation.objects.open().filter(invited_by=person).update(revoked_at=now)
    PasswordReset.objects.open().filter(made_by=person).update(revoked_at=now)


def _person_to_manage(person_id: int, *, by: User) -> User:
    """Lock both rows and return the person, if the one may still manage the other.

    Only an active admin manages an admin, and nobody manages themselves. So whoever is
    managed, an admin is left: the last one can be neither deactivated nor moved, not even
    by two admins who press the button on each other at once, since both rows are locked.
    """
    # Rows that only reference a person need not wait for us: hence no_key.
    rows = User.objects.select_for_update(no_key=True).filter(pk__in={person_id, by.pk})
    people = {row.pk: row for row in rows.order_by("pk")}
    person, actor = people[person_id], people[by.pk]
    if person == actor:
        raise NotAllowed("Nobody changes their own role or closes their own account. Ask an admin.")
    if not actor.is_active or not actor.may_manage(person):
        raise NotAllowed(f"Only an admin may do that to {person}, who is an admin.")
    return person


# Teams


@transaction.atomic
def create_team(slug: str, name: str, *, by: User) -> Team:
    if not by.is_operator:
        raise NotAllowed("Only ops make teams.")
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
    except IntegrityError as error:
        raise AlreadyThere(f"A team {slug} exists.") from error
    audit.record(by, "create_team", team, after={"name": name})
    return team


@transaction.atomic
def add_member(team: Team, person: User, *, by: User) -> None:
    """Add somebody to a team. Anybody, ops too, may be added: it is a conflict of interest then."""
    if not by.is_operator:
        raise NotAllowed("Only ops change who is in a team.")
    _, is_new = Membership.objects.get_or_create(team=team, user=person)
    if not is_new:
        raise AlreadyThere(f"{person} is in {team} already.")
    audit.record(by, "add_member", person, after={"team": team.slug})


@transaction.atomic
def remove_member(team: Team, person: User, *, by: User) -> None:
    """Take somebody out of a team. That they were in it stays on record: see `FormerMembership`."""
    if not by.is_operator:
        raise NotAllowed("Only ops change who is in a team.")
    removed, _ = Membership.objects.filter(team=team, user=person).delete()
    if removed:
        FormerMembership.objects.update_or_create(
            team=team, user=person, defaults={"left_at": timezone.now()}
        )
        audit.record(by, "remove_member", person, before={"team": team.slug})


# Keys to the API


@transaction.atomic
def create_token(
    owner: User, name: str, scopes: list[str], lifetime: timedelta
) -> tuple[ApiToken, str]:
    """Return a token and its secret, which nobody can read again."""
    too_much = sorted(set(scopes) - set(owner.token_scopes))
    if too_much:
        raise NotAllowed(f"Your tokens cannot have {', '.join(too_much)}.")
    one_at_a_time(f"token of {owner.pk}")
    if owner.api_tokens.live().filter(name=name).exists():
        raise AlreadyThere("You have a token of this name. Revoke it or choose another name.")
    secret = new_secret(API_PREFIX)
    token = owner.api_tokens.create(
        name=name,
        prefix=secret[:12],
        digest=digest_of(secret),
        scopes=sorted(scopes),
        expires_at=timezone.now() + lifetime,
    )
    after = {"name": name, "scopes": token.scopes, "expires_at": token.expires_at}
    audit.record(owner, "create_token", token, after=after)
    return token, secret


@transaction.atomic
def revoke_token(token_id: int, *, by: User) -> ApiToken:
    token = ApiToken.objects.select_related("user").select_for_update(of=["self"]).get(pk=token_id)
    if by != token.user and not by.may_manage(token.user):
        raise NotAllowed("This token is not yours.")
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(
            by, "revoke_token", token, after={"name": token.name, "owner": str(token.user)}
        )
    return token
