"""The embedded PostgreSQL: who starts it, who stops it, and which folders it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from bouts import embedded

USER = """
import sys, psycopg
from pathlib import Path
from bouts import embedded
address = embedded.url(Path(sys.argv[1]))
print("up", flush=True)
sys.stdin.readline()
print(psycopg.connect(address).execute("SELECT 'served'").fetchone()[0], flush=True)
"""


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder that another user can reach: as root the server runs as one."""
    with tempfile.TemporaryDirectory(prefix="bouts-embedded-") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def own_lock_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", os.environ.get("XDG_RUNTIME_DIR", ""))


def use(data: Path) -> subprocess.Popen[str]:
    """Start a process that uses the server of this folder until it is sent a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", USER, str(data)],
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdout.readline() == "up\n"
    return process


def is_up(data: Path) -> bool:
    return (data / "postgres" / "postmaster.pid").exists()


def test_the_last_to_end_stops_the_server_whoever_started_it(data: Path) -> None:
    starter, other = use(data), use(data)
    assert starter.communicate("\n")[0] == "served\n"
    assert is_up(data)
    assert other.communicate("\n")[0] == "served\n"
    assert not is_up(data)


def test_a_killed_process_keeps_the_server_up_only_until_the_next_has_ended(data: Path) -> None:
    killed = use(data)
    killed.kill()
    killed.communicate()
    assert is_up(data)
    assert use(data).communicate("\n")[0] == "served\n"
    assert not is_up(data)


def test_another_major_version_is_refused_with_the_dump_command(data: Path) -> None:
    folder = data / "postgres"
    folder.mkdir()
    (folder / "PG_VERSION").write_text("15\n")
    with pytest.raises(embedded.OtherMajorVersion, match=r"(?s)PostgreSQL 15.*pg_dump.*pg_restore"):
        embedded.url(data)
    assert [file.name for file in folder.iterdir()] == ["PG_VERSION"]


def test_a_folder_of_somebody_else_is_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "postgres").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(embedded.OtherOwner, match=r"this process runs as user 54321.*BOUTS_DATA"):
        embedded.url(data)


def test_a_folder_with_a_space_is_refused(data: Path) -> None:
    with pytest.raises(embedded.UnusableFolder, match="space"):
        embedded.url(data / "my matches")
    assert not (data / "my matches").exists()
