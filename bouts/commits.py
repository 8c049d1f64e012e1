"""Which commits a power cut may take back."""

from __future__ import annotations

from django.db import connection


def flush_later() -> None:
    """Let the transaction that is open be on disk only with the next one that others rely on.

    For what is done again where it is lost, such as a lease: whoever commits it waits for no
    disk. Later commits never get there before it. Inside another transaction it does nothing:
    that one's commit is not ours to weaken.
    """
    if connection.in_atomic_block and not connection.savepoint_ids:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO off")
