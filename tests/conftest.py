"""People for every test: two rival competitors and those who run the competition."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from bouts.celery import app
from bouts.models import User
from tests import databases, live
from tests.factories import make_user
from tests.skips import (  # noqa: F401 (hooks)
    pytest_configure,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from tests.vendors.server import VendorServer, vendors

# No test asserts how long something takes: not by Hypothesis' deadline either. On CI its own
# profile has none.
if hypothesis_settings.get_current_profile_name() == "default":
    hypothesis_settings.register_profile("unhurried", deadline=None)
    hypothesis_settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    databases.prepare()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Part with the database before it is dropped: our broker, and what killed workers left open."""
    with django_db_blocker.unblock():
        databases.keep_as_template()
    yield
    app.pool.force_close_all()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
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


@pytest.fixture
def storage(tmp_path: Path, settings: Settings) -> Path:
    """The folder of the stored files, this test's own and empty."""
    folder = tmp_path / "storage"
    folder.mkdir()
    options = {**settings.STORAGES["default"], "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "default": options}
    return folder


@pytest.fixture(scope="session")
def server(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[live.Server]:
    """A real server, gunicorn as `make up` runs it, over the database of the tests.

    It sees only what is committed: use it with `transactional_db`.
    """
    with django_db_blocker.unblock():
        env = live.environment()
    subprocess.run([sys.executable, "manage.py", "collectstatic", "-v0"], check=True, env=env)
    server = live.Server(env)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def site(server: live.Server) -> str:
    """The address of the server."""
    return f"http://{server.address}"


@pytest.fixture
def vendor_server() -> Iterator[VendorServer]:
    """The vendors of models, played by a server of our own."""
    with vendors() as server:
        yield server
