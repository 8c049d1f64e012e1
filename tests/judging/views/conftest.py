"""Somebody for each way of seeing a match, and a count of what a page asks of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bouts.models import Bundle, User
from tests.judging.views.making import rich

ClientOf = Callable[[User], Client]


@pytest.fixture(autouse=True)
def nothing_cached() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def bundle(db: None, tmp_path: Path) -> Bundle:
    """A judged match of Northbank whose every part quotes a hidden test somewhere."""
    return rich(tmp_path)


@pytest.fixture
def as_team(bundle: Bundle, competitor: User, client_of: ClientOf) -> Client:
    return client_of(competitor)


@pytest.fixture
def as_rival(bundle: Bundle, rival: User, client_of: ClientOf) -> Client:
    return client_of(rival)


@pytest.fixture
def as_blind(bundle: Bundle, reviewer: User, client_of: ClientOf) -> Client:
    """A reviewer who may still be asked to score the match."""
    return client_of(reviewer)


@pytest.fixture
def as_staff(bundle: Bundle, operator: User, client_of: ClientOf) -> Client:
    return client_of(operator)


@pytest.fixture
def at_most() -> Callable[[int], AbstractContextManager[None]]:
    """Fail where a block asks the database more often than so many times."""

    @contextmanager
    def counted(most: int) -> Iterator[None]:
        with CaptureQueriesContext(connection) as queries:
            yield
        # Of a prepared statement the log has no text.
        told = "\n".join(str(query["sql"])[:200] for query in queries)
        assert len(queries) <= most, f"{len(queries)} queries:\n{told}"

    return counted
