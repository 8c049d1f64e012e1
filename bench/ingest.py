"""Ingest beside COPY of the same data as plain rows, one transaction a match."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from django.db import connection, transaction

from bench import bundles
from bench.report import Row
from bouts.actions import uploads
from judging import steps

MATCHES = 60
EVENTS = 200


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
    started = time.perf_counter()
    for path in paths[5:]:
        _ingest(path)
    ours = MATCHES / (time.perf_counter() - started)
    floor = _copied()
    yield Row("ingest, matches/s", ours, floor, "COPY of the same rows", at_least=0.3)
    yield Row("ingest, events/s", ours * EVENTS, None, "", at_least=20_000)


def _ingest(path: Path) -> None:
    outcome = uploads.upload(path, name=path.name, by=None)
    steps.run_steps(outcome.bundle)


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
