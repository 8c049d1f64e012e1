"""How the person behind a session is fetched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db.models import QuerySet

from bouts.models import User
from bouts.prepared import Prepared

# What every page shows a person of themselves, by name: an expression over the person, counted
# in the one query that fetches them. Registered by the app above that knows.
counted: dict[str, Callable[[], Any]] = {}


def _by_key(key: int) -> QuerySet[User]:
    counts = {name: count() for name, count in counted.items()}
    return User.objects.with_team_ids().annotate(**counts).filter(pk=key).order_by()


PERSON = Prepared(_by_key, key=int)  # every request comes through here


class PersonBackend(ModelBackend):
    """Fetches a person with the ids of their teams: nearly every page needs both."""

    def get_user(self, user_id: int) -> User | None:
        user = PERSON.first(key=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
