"""Claims over HTTP by sixteen reviewers at once, beside the bare lock in the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import psycopg
from django.db import connection

from adjudication.models import Case
from bench import bundles, server
from bench.report import Row
from bouts.actions import uploads
from bouts.models import ApiToken, Bundle, User
from bouts.tokens import digest_of, new_secret
from judging import steps

REVIEWERS = 16
CASES = 2000


def measure(folder: Path) -> Iterator[Row]:
    """Let sixteen reviewers claim two thousand cases; no case may go to two of them."""
    cases = _open_cases(folder)
    tokens = [token_of(number) for number in range(REVIEWERS)]
    claimed: list[int] = []
    with server.running() as address:
        started = time.perf_counter()
        threads = [
            threading.Thread(target=_claim_all, args=(address, token, claimed)) for token in tokens
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ours = len(claimed) / (time.perf_counter() - started)
    assert len(claimed) == len(set(claimed)) == cases, (len(claimed), len(set(claimed)), cases)
    yield Row(
        "claims, 16 reviewers, a second", ours, _bare(), "FOR UPDATE SKIP LOCKED", at_least=0.15
    )


def first_case(folder: Path) -> Case:
    """Upload a match whose panel disagrees, and return its case."""
    bundles.store_challenge(folder)
    path = folder / "split.zip"
    bundles.write(path, "split", scores=(60, 76, 92))
    bundle = uploads.upload(path, name=path.name, by=None).bundle
    steps.run_steps(bundle)
    return Case.objects.get(bundle=bundle)


def _open_cases(folder: Path) -> int:
    """Make matches whose panels disagree: the first by upload, the rest as copies of its rows."""
    first = first_case(folder)
    bundle = first.bundle
    matches = [_copied(bundle.match, slug=f"split-{number}") for number in range(1, CASES)]
    type(bundle.match).objects.bulk_create(matches)
    copies = [_copied(bundle, match=match) for match in matches]
    Bundle.objects.bulk_create(copies)
    Case.objects.bulk_create([_copied(first, match=c.match, bundle=c) for c in copies])
    return CASES


def _copied(row: object, **changes: object) -> object:
    fields = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not field.primary_key
    }
    copy = type(row)(**fields)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


def token_of(number: int) -> str:
    """Return the secret of a token with which a reviewer works on cases."""
    reviewer, _ = User.objects.get_or_create(
        username=f"bench-reviewer-{number}", defaults={"role": User.Role.REVIEWER}
    )
    secret = new_secret()
    ApiToken.objects.create(
        user=reviewer, name="bench", prefix=secret[:8], digest=digest_of(secret),
        scopes=[ApiToken.Scope.READ, ApiToken.Scope.ADJUDICATE],
    )  # fmt: skip
    return secret


def _claim_all(address: tuple[str, int], token: str, claimed: list[int]) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    while True:
        status, body = server.get(*address, "/api/cases/next/", headers, "POST")
        if status == 204:
            return
        assert status == 201, (status, body[:300])
        claimed.append(orjson.loads(body)["case"])


def _bare() -> float:
    """Return the rate at which sixteen connections take rows with nothing around it."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_claims (id bigserial PRIMARY KEY, holder int)")
        cursor.execute(
            "INSERT INTO bench_claims (holder) SELECT NULL FROM generate_series(1, %s)", [CASES * 4]
        )
        cursor.execute("CREATE INDEX ON bench_claims (id) WHERE holder IS NULL")

    def take(holder: int) -> None:
        with psycopg.connect(server.database_url(), autocommit=True) as bare:
            while bare.execute(
                "UPDATE bench_claims SET holder = %s WHERE id = (SELECT id FROM bench_claims"
                " WHERE holder IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
                [holder],
            ).fetchone():
                pass

    started = time.perf_counter()
    threads = [threading.Thread(target=take, args=(number,)) for number in range(REVIEWERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = CASES * 4 / (time.perf_counter() - started)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE bench_claims")
    return rate
