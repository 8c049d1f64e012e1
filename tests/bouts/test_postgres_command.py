"""`manage.py postgres`: PostgreSQL's own programs, pointed at our database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests import live

pytestmark = pytest.mark.django_db


def postgres(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "postgres", *command],
        cwd=settings.BASE_DIR,
        env=live.environment(),
        capture_output=True,
        text=True,
    )


def test_a_prompt_opens_on_our_database() -> None:
    done = postgres("psql", "-Atc", "SELECT current_database()")
    assert done.stdout.strip() == connection.settings_dict["NAME"]


def test_a_backup_is_one_command(tmp_path: Path) -> None:
    file = tmp_path / "bouts.dump"
    assert postgres("pg_dump", "-Fc", "-f", str(file)).returncode == 0
    assert "TABLE public bouts_match" in postgres("pg_restore", "--list", str(file)).stdout


def test_a_failure_is_passed_on() -> None:
    assert postgres("psql", "-c", "SELECT nothing").returncode == 1


def test_an_unknown_program_is_answered_with_the_known_ones() -> None:
    done = postgres("rm")
    assert done.returncode == 1
    assert "There is no rm." in done.stderr and "pg_restore" in done.stderr
