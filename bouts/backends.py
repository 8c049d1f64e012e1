"""How the person behind a session is fetched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.backends import ModelBackend

from bouts.models import User

# What every page shows a person of themselves, by name: an expression over the person, counted
# in the one query that fetches them. Registered by the app above that knows.
counted: dict[str, Callable[[], Any]] = {}


class PersonBackend(ModelBackend):
    """Fetches a person with the ids of their teams: nearly every page needs both."""

    def get_user(self, user_id: int) -> User | None:
        counts = {name: count() for name, count in counted.items()}
        user = User.objects.with_team_ids().annotate(**counts).filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
