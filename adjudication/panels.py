"""The panel that a case is about: its seats as stored, and what the rule makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from bouts.models import Bundle
from bouts.rules import Judge
from judging.models import Scorecard, Verdict
from judging.scoring.panel import PanelOutcome, settle
from judging.scoring.policy import POLICIES, Policy


@dataclass(frozen=True, slots=True)
class Panel:
    seats: tuple[Verdict, ...]  # those that did not answer included
    outcome: PanelOutcome

    def seat(self, name: str) -> Verdict | None:
        return next((verdict for verdict in self.seats if verdict.seat == name), None)


def panel_of(bundle: Bundle, policy: Policy) -> Panel:
    """Return the live panel of a bundle. A ruling leaves it as it was."""
    return panel_from(
        Verdict.objects.filter(
            bundle=bundle, judge=Judge.STRATEGY.value, seat__in=policy.panel.seats, is_live=True
        ),
        policy,
    )


def panel_from(verdicts: QuerySet[Verdict], policy: Policy) -> Panel:
    """Return the panel of some seats' verdicts, one a seat."""
    seats = tuple(verdicts.order_by("seat"))
    return Panel(seats, settle({verdict.seat: verdict.score for verdict in seats}, policy))


def policy_of(scorecard: Scorecard) -> Policy:
    """Return the rule book that a scorecard was made under."""
    return POLICIES[scorecard.policy]
