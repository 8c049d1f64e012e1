"""Ingest beside COPY of the same data as plain rows, one transaction a match.

Ours is all the work there is: validated, stored, judged by all five judges with every detector,
the scorecard written, boards and cases brought up to date. The floor only copies.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.db import connection, transaction

from bench import bundles
from bench.report import Row
from bouts.actions import uploads
from bouts.celery import spare_what_stays
from judging import steps

MATCHES = 60
EVENTS = 200
# Of the large bundle, 200 MB: 100 MB of telemetry with long outputs, and as much of a log.
LARGE = {"events": 20_000, "shown": 880, "logged": 3_800_000}


def measure(folder: Path) -> Iterator[Row]:
    """Upload, judge and score bundles one after the other; then copy as many rows."""
    bundles.store_challenge(folder)
    paths = []
    for number in range(MATCHES + 5):
        path = folder / f"b-{number}.zip"
        bundles.write(path, f"bench-{number}", events=EVENTS)
        paths.append(path)
    for path in paths[:5]:
        _ingest(path)
    spare_what_stays()  # as in a worker
    started = time.perf_counter()
    for path in paths[5:]:
        _ingest(path)
    ours = MATCHES / (time.perf_counter() - started)
    floor = _copied()
    yield Row("ingest, matches/s", ours, floor, "COPY of the same rows", at_least=0.3)
    yield Row("ingest, events/s", ours * EVENTS, None, "", at_least=20_000)
    stored, judged = _memory(folder)
    yield Row("200 MB bundle stored, MB", stored, None, "above an idle worker", at_most=32)
    yield Row("200 MB bundle judged, MB", judged, None, "above an idle worker", at_most=32)


def _ingest(path: Path) -> None:
    outcome = uploads.upload(path, name=path.name, by=None)
    steps.run_steps(outcome.bundle)


def _memory(folder: Path) -> tuple[float, float]:
    """Return the megabytes that a large bundle takes at most while it is stored, and judged."""
    small, large = folder / "small.zip", folder / "large.zip"
    bundles.write(small, "bench-small")
    bundles.write(large, "bench-large", **LARGE)
    command = [sys.executable, "-m", "bench.memory", str(small), str(large)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told["stored"], told["judged"]


def _copied() -> float:
    """Return the matches a second at which the same data goes in as rows, without any thought."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE UNLOGGED TABLE IF NOT EXISTS bench_rows"
            " (id bigserial PRIMARY KEY, match_id bigint, seq int, kind text, body text)"
        )
        cursor.execute("ALTER TABLE bench_rows SET LOGGED")
    rows = [(number, "event", f"Step {number} " * 10) for number in range(EVENTS)]
    rows += [(number, "test", f"{test} passed") for number, test in enumerate(bundles.TESTS)]
    rows += [(number, "verdict", "A sound order of work.") for number in range(3)]
    started = time.perf_counter()
    for match in range(MATCHES):
        with (
            transaction.atomic(),
            connection.cursor() as cursor,
            cursor.copy("COPY bench_rows (match_id, seq, kind, body) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row((match, *row))
    rate = MATCHES / (time.perf_counter() - started)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE bench_rows")
    return rate
