"""What a challenge's matches tell of it: which tests tell agents apart, and what judges agree on.

Of other teams' matches a competitor sees scores and no test (SCORING.md, 9). Whoever saw these
figures before and after one match could work out its tests from the difference. So all but ops
see them as they were published, and they are published anew only once as many matches of as
many teams have come, gone or been judged again as are needed to publish any.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from django.contrib.postgres.aggregates import Corr
from django.core.cache import cache
from django.db import transaction
from django.db.models import Avg, Case, Count, FloatField, Value, When
from django.db.models.functions import Cast
from pydantic import TypeAdapter

from bouts.formats.types import Kind
from bouts.locks import one_at_a_time
from bouts.models import Artifact, ChallengeVersion, Match, TestResult
from bouts.rules import Judge, Severity, Suite
from judging.models import PublishedFigures, Scorecard, Verdict
from judging.scoring.agreement import Agreement, agreement
from judging.scoring.policy import CURRENT
from judging.showing.build import build_id

NEWEST = 500  # matches that the figures are made of, at most
# Of fewer matches, or of fewer teams, a rate would tell whose it is.
FEWEST_MATCHES, FEWEST_TEAMS = 5, 3
# Matches below which a correlation says nothing.
FEWEST_TO_TELL = 10


@dataclass(frozen=True, slots=True)
class TestFigure:
    """A test over the matches. ``tells`` is the correlation of passing with the total, None
    where there are too few matches or where all passed or all failed."""

    __test__ = False  # not a test class, whatever pytest thinks

    id: str
    suite: str
    severity: str
    matches: int
    rate: float
    tells: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    matches: int
    teams: int
    tests: tuple[TestFigure, ...]
    with_case: int
    agreement: Agreement

    @property
    def case_rate(self) -> float | None:
        return self.with_case / self.matches if self.matches else None


STORED = TypeAdapter(Figures)


def figures_of(version: ChallengeVersion, severities: Mapping[str, str]) -> Figures:
    """Return the figures of a version's newest matches that have a total and count, for ops.

    ``severities`` are those of the manifest by test id. Made anew when other matches are the
    newest, or one of them has another scorecard.
    """
    return _cached(version, _newest(version), severities)


@transaction.atomic
def published_figures(version: ChallengeVersion, severities: Mapping[str, str]) -> Figures | None:
    """Return the figures as all may see them; None where too few matches would tell whose they are."""
    # Two that publish at once, each on its own matches, would show the difference of one match.
    one_at_a_time(f"figures of {version.pk}")
    kept = PublishedFigures.objects.filter(version=version).first()
    rows = _newest(version)
    changed = set(rows) ^ {Row(*row) for row in kept.rows} if kept else set(rows)
    if _are_enough(rows) and _are_enough(changed):
        made = STORED.dump_python(_cached(version, rows, severities), mode="json")
        kept, _ = PublishedFigures.objects.update_or_create(
            version=version, defaults={"rows": rows, "figures": made}
        )
    return STORED.validate_python(kept.figures) if kept else None


class Row(NamedTuple):
    """A match that figures are made of."""

    card: int
    bundle: int
    match: int
    team: int


def _newest(version: ChallengeVersion) -> tuple[Row, ...]:
    cards = Scorecard.objects.live().filter(
        challenge_version=version, value__isnull=False, match__exclusion=Match.Exclusion.NONE
    )
    newest = cards.order_by("-created_at", "-pk")
    found = newest.values_list("pk", "bundle", "match", "match__agent__team")[:NEWEST]
    return tuple(Row(*row) for row in found)


def _are_enough(rows: Collection[Row]) -> bool:
    """Tell whether what is made of these rows does not tell whose they are."""
    matches, teams = {row.match for row in rows}, {row.team for row in rows}
    return len(matches) >= FEWEST_MATCHES and len(teams) >= FEWEST_TEAMS


def _cached(
    version: ChallengeVersion, rows: Sequence[Row], severities: Mapping[str, str]
) -> Figures:
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()
    key = f"challenge:{build_id()}:{version.pk}:{digest}"
    found = cache.get(key)
    if found is None:
        found = _made(rows, severities)
        cache.set(key, found)
    return found


def _made(rows: Sequence[Row], severities: Mapping[str, str]) -> Figures:
    bundles = [row.bundle for row in rows]
    return Figures(
        matches=len(rows),
        teams=len({row.team for row in rows}),
        tests=_tests(bundles, severities),
        with_case=Scorecard.objects.filter(pk__in=[row.card for row in rows])
        .exclude(breakdown__cases=[])
        .count(),
        agreement=_agreement(bundles),
    )


def _tests(bundles: Sequence[int], severities: Mapping[str, str]) -> tuple[TestFigure, ...]:
    """Return each test with how often it passed, what tells most first: one query."""
    passed = Case(When(outcome="passed", then=Value(1.0)), default=Value(0.0))
    total = Cast("artifact__bundle__scorecards__total", FloatField())
    rows = (
        TestResult.objects.filter(
            artifact__bundle__in=bundles,
            artifact__kind=Kind.TESTS,
            artifact__state=Artifact.State.READ,
            artifact__bundle__scorecards__is_live=True,
        )
        .order_by()
        .values("test_id", "artifact__suite")
        .annotate(
            matches=Count("artifact__bundle", distinct=True),
            rate=Avg(passed, output_field=FloatField()),
            tells=Corr(passed, total),
        )
    )
    figures = [
        TestFigure(
            id=row["test_id"],
            suite=row["artifact__suite"],
            severity=severities.get(row["test_id"]) or Severity.MEDIUM,
            matches=row["matches"],
            rate=row["rate"],
            tells=row["tells"] if row["matches"] >= FEWEST_TO_TELL else None,
        )
        for row in rows
    ]
    return tuple(sorted(figures, key=_most_telling))


def _most_telling(one: TestFigure) -> tuple[bool, float, float, str]:
    """Order by the correlation; without one, by how near the pass rate is to a half."""
    return one.tells is None, -(one.tells or 0), abs(one.rate - 0.5), one.id


def _agreement(bundles: Sequence[int]) -> Agreement:
    """Measure the panel on the raw scores of all these matches, flagged or not."""
    votes: dict[str, dict[int, Fraction]] = defaultdict(dict)
    verdicts = Verdict.objects.filter(
        bundle__in=bundles, judge=Judge.STRATEGY, is_live=True, seat__in=CURRENT.panel.seats
    ).exclude(score=None)
    for bundle, seat, score in verdicts.values_list("bundle", "seat", "score"):
        votes[seat][bundle] = score
    return agreement([[votes[s].get(b) for b in bundles] for s in CURRENT.panel.seats], CURRENT)


def shown_tests(figures: Figures, *, hidden: bool) -> list[TestFigure]:
    """Return the tests that may be named: hidden ones only to those who see hidden tests."""
    return [one for one in figures.tests if hidden or one.suite == Suite.STATIC]
