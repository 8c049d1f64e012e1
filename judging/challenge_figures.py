"""What a challenge's matches tell of it: which tests tell agents apart, and what judges agree on."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.contrib.postgres.aggregates import Corr
from django.core.cache import cache
from django.db.models import Avg, Case, Count, FloatField, Value, When
from django.db.models.functions import Cast

from bouts.formats.types import Kind
from bouts.models import Artifact, ChallengeVersion, Match, TestResult
from bouts.rules import Judge, Severity, Suite
from judging.models import Scorecard, Verdict
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
    def is_open(self) -> bool:
        """Whether the figures may be shown to other teams without telling whose they are."""
        return self.matches >= FEWEST_MATCHES and self.teams >= FEWEST_TEAMS

    @property
    def case_rate(self) -> float | None:
        return self.with_case / self.matches if self.matches else None


def figures_of(version: ChallengeVersion, severities: Mapping[str, str]) -> Figures:
    """Return the figures of a version's newest matches that have a total and count.

    ``severities`` are those of the manifest by test id. Made anew when other matches are the
    newest, or one of them has another scorecard.
    """
    cards = Scorecard.objects.live().filter(
        challenge_version=version, value__isnull=False, match__exclusion=Match.Exclusion.NONE
    )
    newest = cards.order_by("-created_at", "-pk").values_list("pk", "bundle", "match__agent__team")
    rows = tuple(newest[:NEWEST])
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()
    key = f"challenge:{build_id()}:{version.pk}:{digest}"
    found = cache.get(key)
    if found is None:
        found = _made(rows, severities)
        cache.set(key, found)
    return found


def _made(rows: Sequence[tuple[int, int, int]], severities: Mapping[str, str]) -> Figures:
    """Return the figures of some matches: of each the scorecard, the bundle and the team."""
    bundles = [bundle for _, bundle, _ in rows]
    return Figures(
        matches=len(rows),
        teams=len({team for _, _, team in rows}),
        tests=_tests(bundles, severities),
        with_case=Scorecard.objects.filter(pk__in=[pk for pk, _, _ in rows])
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
