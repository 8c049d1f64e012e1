"""Which matches are rejudged: what is chosen narrows all that there are, one thing after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from bouts.models import Artifact, Bundle, Match
from judging.models import Scorecard, Verdict
from judging.rejudging.candidates import older_readings
from judging.scoring.policy import CURRENT
from judging.verdicts import VERSIONS


@dataclass(frozen=True, slots=True)
class Choice:
    """What ops choose; what is empty narrows nothing. Days are those of UTC, both included."""

    challenge: str = ""  # slug
    team: str = ""  # slug
    agent: str = ""  # name, with or without its version
    match: str = ""  # slug
    since: str = ""  # ISO date
    until: str = ""
    older: bool = False

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}

    def matches(self) -> QuerySet[Match]:
        """Return the matches that are chosen, in the order in which they came in."""
        rows = Match.objects.order_by("pk")
        if self.challenge:
            rows = rows.filter(challenge__slug=self.challenge)
        if self.team:
            rows = rows.filter(agent__team__slug=self.team)
        if self.agent:
            name, _, version = self.agent.rpartition(" ")
            is_agent = Q(agent__name=self.agent) | Q(agent__name=name, agent__version=version)
            rows = rows.filter(is_agent)
        if self.match:
            rows = rows.filter(slug=self.match)
        if self.since or self.until:
            bundles = Bundle.objects.filter(match=OuterRef("pk"), is_live=True)
            if self.since:
                bundles = bundles.filter(started_at__gte=_at(self.since, time.min))
            if self.until:
                bundles = bundles.filter(started_at__lte=_at(self.until, time.max))
            rows = rows.filter(Exists(bundles))
        return rows.filter(_judged_by_older()) if self.older else rows

    def words(self) -> Iterator[str]:
        """Say what is chosen, a phrase each."""
        if self.match:
            yield f"match {self.match}"
        if self.challenge:
            yield f"challenge {self.challenge}"
        if self.team:
            yield f"team {self.team}"
        if self.agent:
            yield f"agent {self.agent}"
        if self.since:
            yield f"begun on {self.since} or later"
        if self.until:
            yield f"begun on {self.until} or before"
        if self.older:
            yield "judged by an older judge, reader, policy or challenge version"


def _at(day: str, moment: time) -> datetime:
    return datetime.combine(date.fromisoformat(day), moment, UTC)


def _judged_by_older() -> Q:
    """Narrow to matches that today's code, rules or challenge could bring to another score."""
    old_policy = (
        Scorecard.objects.live()
        .filter(match=OuterRef("pk"))
        .exclude(policy=CURRENT.version, challenge_version__is_live=True)
    )
    older = Q()
    for judge, version in VERSIONS.items():
        # A verdict without a version was stored before versions were.
        older |= Q(judge=judge) & (Q(judge_version=None) | Q(judge_version__lt=version))
    verdicts = Verdict.objects.filter(
        older,
        bundle__match=OuterRef("pk"),
        bundle__is_live=True,
        is_live=True,
        seat="",
        source=Verdict.Source.OWN,
    )
    readings = Artifact.objects.filter(
        older_readings(), bundle__match=OuterRef("pk"), bundle__is_live=True
    )
    return Q(Exists(old_policy)) | Q(Exists(verdicts)) | Q(Exists(readings))
