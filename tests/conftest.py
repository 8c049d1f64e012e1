"""People for every test: two rival competitors and those who run the competition."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import psycopg
import pytest
from django.db import connection
from django.test import Client
from psycopg import sql

from bouts.models import User
from tests.factories import make_user


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Drop the databases of test runs that were killed, before this run makes its own."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as server:
        names = server.execute(
            r"SELECT datname FROM pg_database WHERE datname LIKE 'test\_bouts\_%'"
        )
        for (name,) in names.fetchall():
            if not psutil.pid_exists(int(name.rpartition("_")[2])):
                server.execute(
                    sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
                )


@pytest.fixture
def competitor(db: None) -> User:
    return make_user("ines", teams=("northbank",))


@pytest.fixture
def rival(db: None) -> User:
    return make_user("hal", teams=("halyard",))


@pytest.fixture
def reviewer(db: None) -> User:
    return make_user("rosa", User.Role.REVIEWER)


@pytest.fixture
def lead(db: None) -> User:
    return make_user("lena", User.Role.LEAD)


@pytest.fixture
def operator(db: None) -> User:
    return make_user("tomas", User.Role.OPS)


@pytest.fixture
def admin(db: None) -> User:
    return make_user("ada", User.Role.ADMIN)


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    """Return a client that is signed in as this person."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in
