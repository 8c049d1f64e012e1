"""How the person behind a session is fetched."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.contrib.auth.backends import ModelBackend

from bouts import prepared
from bouts.models import User

# What every page shows a person of themselves, by name: an expression over the person, counted
# in the one query that fetches them. Registered by the app above that knows.
counted: dict[str, Callable[[], Any]] = {}

SOMEBODY = -1  # stands for the key in the statement that is written once


class PersonBackend(ModelBackend):
    """Fetches a person with the ids of their teams: nearly every page needs both."""

    def get_user(self, user_id: int) -> User | None:
        rows = prepared.run(_person_by_key(), {"key": user_id})
        if not rows:
            return None
        own = len(prepared.columns_of(User))
        user = prepared.instance_of(User, rows[0][:own])
        for name, value in zip(_fetched_beside(), rows[0][own:], strict=True):
            setattr(user, name, value)
        return user if self.user_can_authenticate(user) else None


def _fetched_beside() -> tuple[str, ...]:
    return ("fetched_team_ids", *counted)


@cache  # every request comes through here
def _person_by_key() -> str:
    counts = {name: count() for name, count in counted.items()}
    people = User.objects.with_team_ids().annotate(**counts).filter(pk=SOMEBODY).order_by()
    fields = people.values_list(*prepared.columns_of(User), *_fetched_beside())
    return prepared.written(fields, {SOMEBODY: "key"})
