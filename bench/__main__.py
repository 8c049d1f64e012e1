"""Measure speed as ratios to a floor in the same run: `make bench`.

With names of sections (formats, ingest, pages, logs, boards, claims, queue) only those are measured.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from bench import boards, claims, formats, ingest, logs, pages, queue  # noqa: E402

SECTIONS = {
    "formats": formats.measure,
    "ingest": ingest.measure,
    "pages": pages.measure,
    "logs": logs.measure,
    "boards": boards.measure,
    "claims": claims.measure,
    "queue": queue.measure,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        print(f"no such section: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
        return 2
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    print(f"{'':<38}{'ours':>12}{'floor':>12}{'ratio':>8}  goal")
    with tempfile.TemporaryDirectory() as folder:
        for name in names or SECTIONS:
            # What one section has filled the tables with is no part of the next one's figures.
            call_command("flush", interactive=False, verbosity=0)
            for row in SECTIONS[name](Path(folder)):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
