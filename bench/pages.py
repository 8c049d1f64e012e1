"""The breakdown page beside a bare table, and a long match beside a short one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench import bundles, server
from bench.report import Row
from bouts.actions import uploads
from bouts.models import User
from judging import steps

REQUESTS = 400
SHORT, LONG = 200, 20_000


def measure(folder: Path) -> Iterator[Row]:
    """Ask for the breakdown of a match with 200 events and of one with 20,000."""
    bundles.store_challenge(folder)
    User.objects.get_or_create(username="bench-ops", defaults={"role": User.Role.OPS})
    for match, events in (("short", SHORT), ("long", LONG)):
        path = folder / f"{match}.zip"
        bundles.write(path, match, events=events)
        steps.run_steps(uploads.upload(path, name=path.name, by=None).bundle)
    with server.running() as address:
        headers = server.signed_in("bench-ops")
        table = server.rate(*address, "/bench/table/", headers, requests=REQUESTS)
        short = server.rate(*address, "/matches/short/", headers, requests=REQUESTS)
        long = server.rate(*address, "/matches/long/", headers, requests=REQUESTS)
    yield Row("breakdown page, requests/s", short, table, "a bare 60-row table", at_least=1.0)
    yield Row(
        f"a match of {LONG:,} events, ms", 1000 / long, 1000 / short, f"one of {SHORT}", at_most=1.2
    )
