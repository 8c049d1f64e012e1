"""Locks on things that have no row yet."""

from __future__ import annotations

from django.db import connection


def one_at_a_time(what: str) -> None:
    """Wait for whoever is doing the same thing; ours until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [what])
