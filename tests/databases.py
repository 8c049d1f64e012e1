"""The databases of test runs: one a run, copied from a template that has every table already.

Migrating takes as long as some hundred tests. So the first run after a migration was added
keeps a copy of its database before any test, and the runs that follow begin with that.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
from django.apps import apps
from django.db import connection
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
CREATE = sql.SQL("CREATE DATABASE {} TEMPLATE {}")


def template_name() -> str:
    """Name the template after all that migrations are made of, those of packages too."""
    digest = hashlib.sha256((ROOT / "requirements.lock").read_bytes())
    for app in apps.get_app_configs():
        if Path(app.path).is_relative_to(ROOT):
            for file in sorted(Path(app.path, "migrations").glob("*.py")):
                digest.update(file.name.encode() + file.read_bytes())
    return f"bouts_template_{digest.hexdigest()[:12]}"


def prepare() -> None:
    """Drop what runs that were killed left behind, and have this run begin with the template."""
    with server() as there:
        for name in names(there, r"test\_bouts\_%"):
            if not psutil.pid_exists(int(name.rpartition("_")[2])):
                there.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        if template_name() in names(there, r"bouts\_template\_%"):
            connection.settings_dict["TEST"]["TEMPLATE"] = template_name()


def keep_as_template() -> None:
    """Keep a copy of this run's database, which no test has touched, for the runs that follow."""
    if connection.settings_dict["TEST"].get("TEMPLATE") == template_name():
        return
    made_of = sql.Identifier(connection.settings_dict["NAME"])
    connection.close()  # nobody may be connected to what is copied
    with server() as there:
        for name in names(there, r"bouts\_template\_%"):
            with suppress(psycopg.errors.ObjectInUse):
                there.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        # Another run that began at the same time may have been faster.
        with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            there.execute(CREATE.format(sql.Identifier(template_name()), made_of))


def server() -> psycopg.Connection:
    parameters = connection.get_connection_params() | {"dbname": "postgres"}
    return psycopg.connect(**parameters, autocommit=True)


def names(there: psycopg.Connection, pattern: str) -> list[str]:
    found = there.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [pattern])
    return [name for (name,) in found.fetchall()]
