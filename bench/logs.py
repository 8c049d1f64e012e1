"""A log of 50 MB by range, at its end and looked through, beside one of 5 MB."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.test import Client

from bench import bundles, server
from bench.memory import peak_kb
from bench.report import Row
from bouts.actions import uploads
from bouts.models import Artifact, User
from judging import steps

LINES = {"short": 240_000, "long": 2_350_000}  # some 5 and 50 MB
REQUESTS = 80
PAGES = {
    "by range": "?at=lines:{middle}-{until}",
    "its last page": "?at=line:{last}",
    "a search that finds": "?find=line+{early}",
    "a search in vain": "?find=nothing+of+the+kind",
}


def measure(folder: Path) -> Iterator[Row]:
    """Ask for places in a short log and in a long one, and for the memory that the long one takes."""
    bundles.store_challenge(folder)
    User.objects.get_or_create(username="bench-ops", defaults={"role": User.Role.OPS})
    for match, lines in LINES.items():
        path = folder / f"{match}.zip"
        bundles.write(path, match, logged=lines)
        steps.run_steps(uploads.upload(path, name=path.name, by=None).bundle)
    with server.running() as address:
        headers = server.signed_in("bench-ops")
        took = {
            (match, what): 1000 / server.rate(*address, path, headers, requests=REQUESTS)
            for match in LINES
            for what, path in addresses(match).items()
        }
    for what in PAGES:
        # In vain a search looks through 16 MB, and then says where to go on.
        goal = 3.5 if what == "a search in vain" else 1.2
        yield Row(
            f"a log of 50 MB, {what}, ms", took["long", what], took["short", what],
            "one of 5 MB", at_most=goal,
        )  # fmt: skip
    alone = "from bench import memory, logs; logs.main()"  # the first sets Django up
    told = subprocess.run([sys.executable, "-c", alone], check=True, capture_output=True, text=True)
    yield Row("the same, peak MB", float(told.stdout), None, "above those of 5 MB", at_most=32)


def addresses(match: str) -> dict[str, str]:
    log = Artifact.objects.get(bundle__match__slug=match, path="run.log")
    lines = LINES[match]
    places = {"middle": lines // 2, "until": lines // 2 + 199, "last": lines, "early": 12_345}
    return {
        what: f"/matches/{match}/evidence/{log.blob_id}/{query.format(**places)}"
        for what, query in PAGES.items()
    }


def main() -> None:
    """Print the megabytes that places in the long log take above those in the short one.

    A process of its own, as for `bench.memory`.
    """
    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    client.force_login(User.objects.get(username="bench-ops"))
    peaks = []
    for match in LINES:
        for address in addresses(match).values():
            assert client.get(address).status_code == 200
        peaks.append(peak_kb())
    short, long = peaks
    print((long - short) / 1024)
