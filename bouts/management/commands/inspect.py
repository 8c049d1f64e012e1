"""Say what is in files: kind, format, clock, counts, and what was noted or cannot be read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from bouts.bundles.inspection import Inspected, inspect
from bouts.bundles.reading import State
from bouts.formats.sniff import READERS
from bouts.formats.text import single_line
from bouts.formats.types import Kind

KINDS = sorted({reader.kind.value for reader in READERS})
FORMATS = sorted({reader.format for reader in READERS})
HEADINGS = ("file", "kind", "format", "version", "state", "clock")


class Command(BaseCommand):
    help = f"{__doc__} Needs no database; exits with 1 when one file is unreadable."
    requires_system_checks: Sequence[str] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE", help="- for standard input"
        )
        parser.add_argument("--kind", choices=KINDS, help="sniff the formats of this kind only")
        parser.add_argument(
            "--format",
            choices=FORMATS,
            metavar="FORMAT",
            help="read as this, whatever it looks like",
        )
        parser.add_argument("--json", action="store_true", help="print an array, an object a file")

    def handle(
        self, *, files: list[Path], kind: str | None, format: str | None, json: bool, **options: Any
    ) -> None:
        found = [inspect(file, kind=Kind(kind) if kind else None, format=format) for file in files]
        text = as_json(found) if json else as_table(found)
        # A name may hold what the terminal, or no text at all, can.
        encoding = self.stdout.encoding or "utf-8"
        self.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        if any(one.state is State.UNREADABLE for one in found):
            sys.exit(1)


def as_json(found: Iterable[Inspected]) -> str:
    return json.dumps([one.as_json() for one in found], indent=2)


def as_table(found: Sequence[Inspected]) -> str:
    """Return a row a file, with its counts and notes below it."""
    rows = [
        tuple(
            single_line(value) if value else "–"
            for value in (one.path, one.kind, one.format, one.version, one.state.value, one.clock)
        )
        for one in found
    ]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    lines = [_row(HEADINGS, widths)]
    for one, row in zip(found, rows, strict=True):
        lines.append(_row(row, widths))
        if one.counts:
            lines.append(
                "  " + ", ".join(f"{name} {count:,}" for name, count in one.counts.items())
            )
        lines += [
            f"  {single_line(note.text)}" + (f" ({single_line(note.place)})" if note.place else "")
            for note in one.notes
        ]
    return "\n".join(lines)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()
