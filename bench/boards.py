"""Boards, an agent, a challenge and the search over a million scored matches, beside a thousand."""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from django.db import connection

from bench import bundles, server
from bench.report import Row
from bouts.actions import uploads
from bouts.models import Agent, ChallengeVersion, Match, User
from judging import narrow, standings, steps
from judging.models import Subtotal

AGENTS, CHALLENGES, FAMILIES = 100, 10, 2
FEW, MANY = 1, 1_000  # matches of each agent on each challenge: 1,000 and 1,000,000 in all
DAYS = 400  # over which they were fought
REQUESTS = 120
PAGES = {
    "leaderboard": "/leaderboard/",
    "of one challenge": "/leaderboard/bench-1/",
    "of one base model": "/leaderboard/?base_model=model-1",
    "of a family": "/leaderboard/?family=family-1",
    "of the last 30 days": "/leaderboard/?window=30",
    "of a challenge, 365 days": "/leaderboard/bench-1/?window=365",
    "an agent's page": "/agents/{agent}/",
    "a challenge's page": "/challenges/bench-1/",
    "search": "/search/?q=bench-1-1",
    "the matches": "/matches/",
    "matches, far down": "/matches/?before=bench-1-{agent}-1",
}


def measure(folder: Path) -> Iterator[Row]:
    """Ask for the pages with few matches behind their rows, then with many."""
    bundles.store_challenge(folder)
    path = folder / "first.zip"
    bundles.write(path, "first")
    steps.run_steps(uploads.upload(path, name=path.name, by=None).bundle)
    User.objects.get_or_create(username="bench-ops", defaults={"role": User.Role.OPS})
    with server.running() as address:
        headers = server.signed_in("bench-ops")
        _fill(FEW)
        few, _, score_of_few = _milliseconds(address, headers), *_scored()
        _fill(MANY)
        many, first_sums, score_of_many = _milliseconds(address, headers), *_scored()
        table = 1000 / server.rate(*address, "/bench/table/", headers, requests=REQUESTS)
        first, whole, rows = _exported(address, headers)
    total = AGENTS * CHALLENGES * MANY
    for what in PAGES:
        yield Row(
            f"{what}, ms", many[what], few[what],
            f"over {total:,} matches; over {AGENTS * CHALLENGES * FEW:,}", at_most=1.5,
        )  # fmt: skip

    yield Row("leaderboard, ms", many["leaderboard"], table, "a bare 60-row table")
    yield Row(
        "board rows of one more score, ms", score_of_many, score_of_few,
        f"of {CHALLENGES * MANY:,} of an agent; of {CHALLENGES * FEW}", at_most=3,
    )  # fmt: skip
    yield Row(f"sums of {CHALLENGES * MANY:,} scores made anew, s", first_sums, None, "once")
    yield Row(f"first bytes of {rows:,} matches as CSV, s", first, None, "", at_most=2)
    yield Row("matches as CSV, rows/s", rows / whole, None, "", at_least=2_000)


def _exported(address: tuple[str, int], headers: dict[str, str]) -> tuple[float, float, int]:
    """Fetch the matches of one challenge as a file; return when it began and ended to come."""
    client = http.client.HTTPConnection(*address, timeout=300)
    started = time.perf_counter()
    client.request(
        "GET", "/matches.csv?challenge=bench-1", headers={**headers, "Accept-Encoding": ""}
    )
    answer = client.getresponse()
    lines = answer.read(1).count(b"\n")
    first = time.perf_counter() - started
    while block := answer.read(1 << 16):
        lines += block.count(b"\n")
    client.close()
    return first, time.perf_counter() - started, lines - 1


def _scored() -> tuple[float, float]:
    """Write the board rows behind some matches as scoring them does.

    Return the seconds of an agent's first one, whose sums are made, and the milliseconds of a
    later one.
    """
    Subtotal.objects.all().delete()
    firsts, others = [], []
    for number in range(1, 4):
        matches = Match.objects.filter(agent__name=f"bench-{number}").order_by("pk")
        for at, match in enumerate(matches[: 5 * CHALLENGES * FEW]):
            started = time.perf_counter()
            standings.refresh(match)
            (others if at else firsts).append(time.perf_counter() - started)
    return statistics.median(firsts), 1000 * statistics.median(others)


def _milliseconds(address: tuple[str, int], headers: dict[str, str]) -> dict[str, float]:
    agent = Agent.objects.get(name="bench-1").pk
    return {
        what: 1000 / server.rate(*address, path.format(agent=agent), headers, requests=REQUESTS)
        for what, path in PAGES.items()
    }


def _fill(each: int) -> None:
    """Bring every agent to so many matches on every challenge, and write the boards' rows.

    The rows of matches are made in the database: what is measured is reading, not ingest.
    The scores are whole numbers, so that sums in SQL are as exact as ours.
    """
    with connection.cursor() as cursor:
        cursor.execute(AGENTS_SQL, {"agents": AGENTS})
        for number in range(CHALLENGES):
            version = _version(number)
            values = {
                "version": version.pk,
                "challenge": version.challenge_id,
                "slug": version.challenge.slug,
                "each": each,
                "days": DAYS,
            }
            for statement in (MATCHES_SQL, BUNDLES_SQL, CARDS_SQL):
                cursor.execute(statement, values)
        cursor.execute("ANALYZE")
    if each == FEW:
        narrow.recount()
        return
    with connection.cursor() as cursor:
        cursor.execute(STANDINGS_SQL, {"windows": [0, *narrow.WINDOWS]})
        cursor.execute("VACUUM ANALYZE")  # as the server does by itself in time
    standings.settle_bands()


def _version(number: int) -> ChallengeVersion:
    first = ChallengeVersion.objects.filter(is_live=True).order_by("pk").first()
    assert first is not None
    challenge, _ = type(first.challenge).objects.get_or_create(slug=f"bench-{number}")
    version, _ = ChallengeVersion.objects.get_or_create(
        challenge=challenge, number=1,
        defaults={
            "title": challenge.slug, "family": f"family-{number % FAMILIES}",
            "document": first.document, "digest": challenge.slug,
        },
    )  # fmt: skip
    return version


AGENTS_SQL = """
INSERT INTO bouts_agent (team_id, name, version, base_model, scaffold)
SELECT (SELECT min(id) FROM bouts_team), 'bench-' || n, '1', 'model-' || n %% 7, ''
FROM generate_series(1, %(agents)s) n ON CONFLICT DO NOTHING
"""
MATCHES_SQL = """
INSERT INTO bouts_match (slug, bout, challenge_id, agent_id, exclusion, exclusion_reason,
                         is_sample, created_at)
SELECT %(slug)s || '-' || a.id || '-' || n, '', %(challenge)s, a.id, '', '', false,
       now() - interval '1 day' * ((n - 1) %% %(days)s)
FROM bouts_agent a, generate_series(1, %(each)s) n
WHERE a.name LIKE 'bench-%%' ON CONFLICT DO NOTHING
"""
BUNDLES_SQL = """
INSERT INTO bouts_bundle (match_id, number, digest, manifest, challenge_version_id, started_at,
                          finished_at, hidden_words, uploaded_at, is_live)
SELECT m.id, 1, m.slug, '{}', %(version)s, m.created_at, m.created_at, '[]', m.created_at, true
FROM bouts_match m WHERE m.challenge_id = %(challenge)s ON CONFLICT DO NOTHING
"""
# The newest, which an agent's page reads, have a breakdown; a million of them would fill the disk.
CARDS_SQL = """
INSERT INTO judging_scorecard (match_id, bundle_id, challenge_version_id, number, policy, status,
    marks, total, value, objective, process, strategy, recovery, adjustment, breakdown, digest,
    rests_on, cause, reason, created_at, is_live)
SELECT b.match_id, b.id, %(version)s, 1, '2026.1', 'final', '{}', s.score, s.score::text,
    s.score::text, s.score::text, s.score::text, s.score::text, 0,
    CASE WHEN b.started_at > now() - interval '3 days' THEN c.breakdown ELSE '{}' END, '', '{}', 'bench',
    '', b.uploaded_at, true
FROM bouts_bundle b CROSS JOIN LATERAL (SELECT 20 + (b.match_id * 7919) %% 60 AS score) s
CROSS JOIN (
    SELECT breakdown FROM judging_scorecard JOIN bouts_match m ON m.id = match_id
    WHERE m.slug = 'first'
) c
WHERE b.challenge_version_id = %(version)s ON CONFLICT DO NOTHING
"""
# As the sweep would write them, a million scorecards at once. Every board has its rows already.
STANDINGS_SQL = """
UPDATE judging_standing s
SET matches = n.matches, ranked_matches = n.matches, value = n.value, rounded = round(n.value, 2),
    total = round(n.value, 2), low = round(n.value, 2), high = round(n.value, 2),
    objective = round(n.value, 2), process = round(n.value, 2), strategy = round(n.value, 2),
    recovery = round(n.value, 2),
    awaits_band = s.challenge_version_id IS NULL AND s.family = '' AND s."window" = 0
FROM (
    SELECT m.agent_id, c.challenge_version_id, v.family, w.days, count(*) AS matches,
           avg(c.total) AS value
    FROM judging_scorecard c
    JOIN bouts_match m ON m.id = c.match_id
    JOIN bouts_bundle b ON b.id = c.bundle_id
    JOIN bouts_challengeversion v ON v.id = c.challenge_version_id
    JOIN unnest(%(windows)s) w (days)
      ON w.days = 0 OR b.started_at >= date_trunc('day', now(), 'UTC') - interval '1 day' * w.days
    WHERE c.is_live
    GROUP BY w.days, GROUPING SETS ((1, 2), (1, 3), (1))
) n
WHERE n.agent_id = s.agent_id
  AND n.challenge_version_id IS NOT DISTINCT FROM s.challenge_version_id
  AND s.family = CASE WHEN n.challenge_version_id IS NULL THEN coalesce(n.family, '') ELSE '' END
  AND n.days = s."window"
"""
