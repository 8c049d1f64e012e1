"""The default leaderboard over a million scored matches, beside the same over a thousand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.db import connection

from bench import bundles, server
from bench.report import Row
from bouts.models import ChallengeVersion, User
from judging import standings

AGENTS, CHALLENGES = 100, 10
FEW, MANY = 1, 1_000  # matches of each agent on each challenge: 1,000 and 1,000,000 in all
REQUESTS = 200


def measure(folder: Path) -> Iterator[Row]:
    """Ask for the board over all challenges with few matches behind its rows, then with many."""
    bundles.store_challenge(folder)
    User.objects.get_or_create(username="bench-ops", defaults={"role": User.Role.OPS})
    with server.running() as address:
        headers = server.signed_in("bench-ops")
        _fill(FEW)
        few = server.rate(*address, "/leaderboard/", headers, requests=REQUESTS)
        _fill(MANY)
        many = server.rate(*address, "/leaderboard/", headers, requests=REQUESTS)
    total = AGENTS * CHALLENGES * MANY
    yield Row(
        f"leaderboard over {total:,} matches, ms", 1000 / many, 1000 / few,
        f"over {AGENTS * CHALLENGES * FEW:,}", at_most=1.5,
    )  # fmt: skip


def _fill(each: int) -> None:
    """Bring every agent to so many matches on every challenge, and write the boards' rows.

    The rows of matches are made in the database: what is measured is reading, not ingest.
    The scores are whole numbers, so that sums in SQL are as exact as ours.
    """
    with connection.cursor() as cursor:
        cursor.execute(AGENTS_SQL, [AGENTS])
        for number in range(CHALLENGES):
            version = _version(number)
            cursor.execute(MATCHES_SQL, [version.challenge_id, f"bench-{number}", each])
            cursor.execute(BUNDLES_SQL, [version.pk, version.challenge_id])
            cursor.execute(CARDS_SQL, [version.pk, version.pk])
        cursor.execute("ANALYZE")
    for agent_id in _agents() if each == FEW else ():
        standings.refresh(agent_id)
    if each != FEW:
        with connection.cursor() as cursor:
            cursor.execute(STANDINGS_SQL)
    standings.settle_bands()


def _version(number: int) -> ChallengeVersion:
    first = ChallengeVersion.objects.filter(is_live=True).order_by("pk").first()
    assert first is not None
    challenge, _ = type(first.challenge).objects.get_or_create(slug=f"bench-{number}")
    version, _ = ChallengeVersion.objects.get_or_create(
        challenge=challenge, number=1,
        defaults={"title": challenge.slug, "document": first.document, "digest": challenge.slug},
    )  # fmt: skip
    return version


def _agents() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM bouts_agent WHERE name LIKE 'bench-%' ORDER BY id")
        return [row[0] for row in cursor.fetchall()]


AGENTS_SQL = """
INSERT INTO bouts_agent (team_id, name, version, base_model, scaffold)
SELECT (SELECT min(id) FROM bouts_team), 'bench-' || n, '1', 'model-' || n % 7, ''
FROM generate_series(1, %s) n ON CONFLICT DO NOTHING
"""
MATCHES_SQL = """
INSERT INTO bouts_match (slug, bout, challenge_id, agent_id, exclusion, exclusion_reason,
                         is_sample, created_at)
SELECT c.slug || '-' || a.id || '-' || n, '', c.id, a.id, '', '', false, now()
FROM (SELECT %s::bigint AS id, %s AS slug) c, bouts_agent a, generate_series(1, %s) n
WHERE a.name LIKE 'bench-%%' ON CONFLICT DO NOTHING
"""
BUNDLES_SQL = """
INSERT INTO bouts_bundle (match_id, number, digest, manifest, challenge_version_id, started_at,
                          finished_at, hidden_words, uploaded_at, is_live)
SELECT m.id, 1, m.slug, '{}', %s, now(), now(), '[]', now(), true
FROM bouts_match m WHERE m.challenge_id = %s ON CONFLICT DO NOTHING
"""
CARDS_SQL = """
INSERT INTO judging_scorecard (match_id, bundle_id, challenge_version_id, number, policy, status,
    marks, total, value, objective, process, strategy, recovery, adjustment, breakdown, digest,
    rests_on, cause, reason, created_at, is_live)
SELECT b.match_id, b.id, %s, 1, '2026.1', 'final', '{}', s.score, s.score::text, s.score::text,
    s.score::text, s.score::text, s.score::text, 0, '{}', '', '{}', 'bench', '', now(), true
FROM bouts_bundle b CROSS JOIN LATERAL (SELECT 20 + (b.match_id * 7919) %% 60 AS score) s
WHERE b.challenge_version_id = %s ON CONFLICT DO NOTHING
"""
# As `standings.refresh` would, a million scorecards at once.
STANDINGS_SQL = """
UPDATE judging_standing s
SET matches = n.matches, ranked_matches = n.matches, value = n.value, rounded = round(n.value, 2),
    total = round(n.value, 2), low = round(n.value, 2), high = round(n.value, 2),
    objective = round(n.value, 2), process = round(n.value, 2), strategy = round(n.value, 2),
    recovery = round(n.value, 2), awaits_band = s.challenge_version_id IS NULL
FROM (
    SELECT m.agent_id, c.challenge_version_id, count(*) AS matches, avg(c.total) AS value
    FROM judging_scorecard c JOIN bouts_match m ON m.id = c.match_id
    WHERE c.is_live GROUP BY GROUPING SETS ((1, 2), (1))
) n
WHERE n.agent_id = s.agent_id
  AND n.challenge_version_id IS NOT DISTINCT FROM s.challenge_version_id
"""
