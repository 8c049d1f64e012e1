"""Sessions in the database, as Django keeps them, found by a query that stands ready."""

from __future__ import annotations

from datetime import datetime

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from bouts.prepared import Prepared


def _unexpired(key: str, now: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=now)


UNEXPIRED = Prepared(_unexpired, key=str, now=datetime)


class SessionStore(DatabaseStore):
    def _validate_session_key(self, key: str | None) -> bool:
        # A quoted cookie can hold a NUL, for which PostgreSQL has no place: that is no session.
        return super()._validate_session_key(key) and "\0" not in key

    def _get_session_from_db(self) -> Session | None:
        session = UNEXPIRED.first(key=self.session_key, now=timezone.now())
        if session is None:
            self._session_key = None
        return session
