"""Retire a challenge, freeze it, and bring it back."""

from __future__ import annotations

from django.db import transaction

from bouts import audit
from bouts.models import Challenge, User


@transaction.atomic
def change_state(slug: str, state: Challenge.State, *, by: User, reason: str) -> Challenge:
    """Put a challenge into another state; one that it is in already is left alone."""
    challenge = Challenge.objects.select_for_update(no_key=True).get(slug=slug)
    if challenge.state == state:
        return challenge
    before, challenge.state = challenge.state, state
    challenge.save(update_fields=["state"])
    audit.record(
        by, "change_challenge_state", challenge, {"state": before}, {"state": state}, reason
    )
    return challenge
