"""How the person behind a session is fetched."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend

from bouts.models import User


class PersonBackend(ModelBackend):
    """Fetches a person with the ids of their teams: nearly every page needs both."""

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.with_team_ids().filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
