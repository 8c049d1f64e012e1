"""Ingest beside COPY of the same data as plain rows, one transaction a match.

Ours is all the work there is: validated, stored, judged by all five judges with every detector,
the scorecard written, boards and cases brought up to date. The floor only copies. Both are done by
as many processes as `make up` starts for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import django
from django.db import connection, transaction

from bench import bundles
from bench.report import Row
from bouts.actions import uploads
from bouts.serve import TASK_WORKERS
from judging import steps

MATCHES = 120
ALONE = 20  # of them, whose costs are told
FIRST = 8  # that the workers get ready with
EVENTS = 200
# Of the large bundle, 200 MB: 100 MB of telemetry with long outputs, and as much of a log.
LARGE = {"events": 20_000, "shown": 880, "logged": 3_800_000}


def measure(folder: Path) -> Iterator[Row]:
    """Upload, judge and score bundles in as many workers as there are; then copy as many rows."""
    bundles.store_challenge(folder)
    paths = []
    for number in range(MATCHES):
        path = folder / f"b-{number}.zip"
        bundles.write(path, f"bench-{number}", events=EVENTS)
        paths.append(path)
    yield from _told(paths[:ALONE])
    ours = _rate(_ingest, paths[ALONE:])
    with _table():
        floor = _rate(_copy, range(MATCHES))
    yield Row("ingest, matches/s", ours, floor, "COPY of the same rows", at_least=0.3)
    yield Row("ingest, events/s", ours * EVENTS, None, "", at_least=20_000)
    stored, judged = _memory(folder)
    yield Row("200 MB bundle stored, MB", stored, None, "above an idle worker", at_most=32)
    yield Row("200 MB bundle judged, MB", judged, None, "above an idle worker", at_most=32)


def _told(paths: Sequence[Path]) -> Iterator[Row]:
    """Tell what one match takes of this process, and how often it asks the database."""
    stored, judged, asked = [], [], 0
    for path in paths:
        count = _Count()
        with connection.execute_wrapper(count):
            begun = time.process_time()
            bundle = uploads.upload(path, name=path.name, by=None).bundle
            between = time.process_time()
            steps.run_steps(bundle)
            stored.append(between - begun)
            judged.append(time.process_time() - between)
        asked = count.statements
    # Of the first ones much is made that stays.
    yield Row("a match stored, ms CPU", 1000 * median(stored), None, "without the database's")
    yield Row("a match judged, ms CPU", 1000 * median(judged), None, "without the database's")
    yield Row("statements of a match", asked, None, "without COPY and commits")


def _memory(folder: Path) -> tuple[float, float]:
    """Return the megabytes that a large bundle takes at most while it is stored, and judged."""
    small, large = folder / "small.zip", folder / "large.zip"
    bundles.write(small, "bench-small")
    bundles.write(large, "bench-large", **LARGE)
    command = [sys.executable, "-m", "bench.memory", str(small), str(large)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told["stored"], told["judged"]


Item = TypeVar("Item")

ROWS = [
    *((number, "event", f"Step {number} " * 10) for number in range(EVENTS)),
    *((number, "test", f"{test} passed") for number, test in enumerate(bundles.TESTS)),
    *((number, "verdict", "A sound order of work.") for number in range(3)),
]


def _rate(work: Callable[[Item], None], items: Sequence[Item]) -> float:
    """Return how many items a second the workers get done, once they are ready."""
    with get_context("spawn").Pool(TASK_WORKERS, initializer=django.setup) as workers:
        workers.map(work, items[:FIRST], chunksize=1)
        rest = items[FIRST:]
        started = time.perf_counter()
        workers.map(work, rest, chunksize=1)
        return len(rest) / (time.perf_counter() - started)


def _ingest(path: Path) -> None:
    outcome = uploads.upload(path, name=path.name, by=None)
    steps.run_steps(outcome.bundle)


def _copy(match: int) -> None:
    """Store as much as a match is as rows, without any thought."""
    with (
        transaction.atomic(),
        connection.cursor() as cursor,
        cursor.copy("COPY bench_rows (match_id, seq, kind, body) FROM STDIN") as copy,
    ):
        for row in ROWS:
            copy.write_row((match, *row))


@contextmanager
def _table() -> Iterator[None]:
    """Have the table that the floor writes into."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bench_rows"
            " (id bigserial PRIMARY KEY, match_id bigint, seq int, kind text, body text)"
        )
        yield
        cursor.execute("DROP TABLE bench_rows")


class _Count:
    """Counts the statements that Django's cursors and ours are given."""

    def __init__(self) -> None:
        self.statements = 0

    def __call__(self, execute: Callable[..., Any], *given: Any) -> Any:
        self.statements += 1
        return execute(*given)
