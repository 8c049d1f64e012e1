"""The queue and the next case with a hundred thousand cases, beside the same with a hundred."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from django.db import connection

from adjudication import tallies
from bench import server
from bench.claims import first_case, token_of
from bench.report import Row
from bouts.models import User

FEW, MANY = 100, 100_000
REQUESTS = 80
PAGES = {
    "first page of the queue, ms": "/queue/",
    "the queue, filtered, ms": "/queue/?state=open&stakes=standard&overdue=target",
}


def measure(folder: Path) -> Iterator[Row]:
    """Ask for pages and for next cases among few cases, then among many; seven in ten are settled."""
    case = first_case(folder)
    User.objects.get_or_create(username="bench-lead", defaults={"role": User.Role.LEAD})
    token = token_of(0)
    with server.running() as address:
        headers = server.signed_in("bench-lead")
        measured = []
        for count in (FEW, MANY):
            _fill(case.pk, count)
            times = {
                what: 1000 / server.rate(*address, path, headers, requests=REQUESTS)
                for what, path in PAGES.items()
            }
            measured.append({**times, "next case, ms": _next(address, token)})
    few, many = measured
    for what, floor in few.items():
        yield Row(what, many[what], floor, f"{MANY:,} cases beside {FEW}", at_most=1.5)


def _next(address: tuple[str, int], token: str) -> float:
    """Return how long one reviewer waits for a next case, the median in milliseconds."""
    headers = {"Authorization": f"Bearer {token}"}
    waited = []
    for _ in range(25):
        started = time.perf_counter()
        status, body = server.get(*address, "/api/cases/next/", headers, "POST")
        assert status == 201, (status, body[:300])
        waited.append(time.perf_counter() - started)
    return 1000 * median(waited)


def _fill(case_id: int, count: int) -> None:
    """Bring the cases to so many: copies of one, of all ages, each on a match of its own."""
    with connection.cursor() as cursor:
        cursor.execute(MATCHES_SQL, [count, case_id])
        cursor.execute(CASES_SQL, [case_id])
        cursor.execute("ANALYZE")
    tallies.recount()


MATCHES_SQL = """
INSERT INTO bouts_match (slug, bout, challenge_id, agent_id, exclusion, exclusion_reason,
                         is_sample, created_at)
SELECT 'queue-' || n, '', m.challenge_id, m.agent_id, '', '', false, now()
FROM generate_series(2, %s) n, bouts_match m
WHERE m.id = (SELECT match_id FROM adjudication_case WHERE id = %s) ON CONFLICT DO NOTHING
"""
CASES_SQL = """
INSERT INTO adjudication_case (match_id, challenge_id, team_id, bundle_id, scorecard_id, reason,
    blocking, finding_key, evidence_digest, stakes, slots, state, version, opened_at, closed_at,
    closed_reason)
SELECT m.id, c.challenge_id, c.team_id, c.bundle_id, c.scorecard_id, c.reason, m.id %% 3 = 0, '',
    c.evidence_digest, c.stakes, 1, CASE WHEN m.id %% 10 < 7 THEN 'decided' ELSE 'open' END, 1,
    now() - m.id %% 4000 * interval '1 minute', CASE WHEN m.id %% 10 < 7 THEN now() END, ''
FROM bouts_match m, adjudication_case c
WHERE c.id = %s AND m.slug LIKE 'queue-%%' ON CONFLICT DO NOTHING
"""
