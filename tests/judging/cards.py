"""Scorecards for tests of boards: rows as judging records them, with whatever score is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from django.utils import timezone

from bouts.models import Agent, Bundle, Challenge, ChallengeVersion, Match
from judging import standings
from judging.models import Scorecard
from judging.scoring.exact import clamp, rounded
from tests.factories import make_team


def make_version(slug: str = "refunds", number: int = 1) -> ChallengeVersion:
    """Give a challenge another version, the live one from now on."""
    challenge, _ = Challenge.objects.get_or_create(slug=slug)
    challenge.versions.update(is_live=False)
    return challenge.versions.create(
        number=number,
        title=f"Title of {slug}",
        document={"schema": "bouts.challenge/1", "slug": slug, "title": slug, "briefing": ""},
        digest=f"{slug}{number}",
    )


def make_agent(name: str = "Heron", team: str = "northbank", model: str = "quill-4") -> Agent:
    agent, _ = Agent.objects.get_or_create(
        team=make_team(team), name=name, version="1", defaults={"base_model": model}
    )
    return agent


def record(
    agent: Agent,
    version: ChallengeVersion,
    value: Fraction | str | int | None,
    *,
    match: str = "",
    status: str = Scorecard.Status.FINAL,
    marks: Sequence[str] = (),
    low: Fraction | None = None,
    high: Fraction | None = None,
    breakdown: dict[str, Any] | None = None,
    **judges: Any,
) -> Scorecard:
    """Record a scorecard of a match, a new one unless it is named, as an action would."""
    row, _ = Match.objects.get_or_create(
        slug=match or f"m-{Match.objects.count() + 1}",
        defaults={"challenge": version.challenge, "agent": agent},
    )
    number = row.scorecards.count() + 1
    row.bundles.update(is_live=False)
    bundle = Bundle.objects.create(
        match=row,
        number=number,
        digest=f"{row.slug} {number}",
        manifest={},
        challenge_version=version,
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    exact = None if value is None else Fraction(value)
    row.scorecards.update(is_live=False)
    card = row.scorecards.create(
        bundle=bundle,
        challenge_version=version,
        number=number,
        policy="2026.1",
        status=status,
        marks=list(marks),
        value=exact,
        total=None if exact is None else rounded(clamp(exact)),
        low=low,
        high=high,
        breakdown=breakdown or {"reason": None if exact is not None else "no_tests"},
        digest="",
        cause="test",
        **judges,
    )
    standings.refresh(row)
    return card
