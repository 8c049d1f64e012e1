"""A commit that waits for no disk is that transaction's own affair."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection, transaction

from bouts.commits import flush_later


def waits_for_the_disk() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        return cursor.fetchone() != ("off",)


@pytest.fixture
def durable(transactional_db: None) -> Iterator[None]:
    """Have this connection wait for the disk, as those of the product do."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
        yield
        cursor.execute("RESET synchronous_commit")


@pytest.mark.django_db(transaction=True)
def test_one_transaction_is_flushed_later_and_the_next_one_at_once(durable: None) -> None:
    with transaction.atomic():
        flush_later()
        assert not waits_for_the_disk()
    assert waits_for_the_disk()


@pytest.mark.django_db(transaction=True)
def test_a_transaction_around_it_is_not_weakened(durable: None) -> None:
    with transaction.atomic():
        with transaction.atomic():
            flush_later()
        assert waits_for_the_disk()
