"""Boards over some of the matches: of a family of challenges, or of the last days.

Their rows are made of an agent's scorecards by the functions that make the default ones, but
not while a scorecard is recorded: an agent with ten thousand matches would keep the judges
waiting. The sweep writes them, and until then their boards say that they are behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from bouts.models import ChallengeVersion
from judging import standings, subtotals
from judging.models import Scorecard, Standing, Subtotal
from judging.standings import Place
from judging.sums import Row, Sums, by_version, row_on, row_over

WINDOWS = {7: "Last 7 days", 30: "Last 30 days", 90: "Last 90 days", 365: "Last 365 days"}
MOST_AT_ONCE = 200  # agents whose rows one sweep writes; the others wait for the next


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def since(window: int, day: date) -> datetime:
    """Return the moment from which matches are within: so many whole days before the day.

    Days are those of UTC. A window that moved with the clock would be another at each look.
    """
    return datetime.combine(day - timedelta(days=window), time.min, UTC)


def settle(most: int = MOST_AT_ONCE) -> int:
    """Write the rows of agents whose scores have changed, or whose windows have moved on.

    Return how many agents that were.
    """
    due = Standing.objects.filter(_CHANGED | Q(made_on__lt=today()))
    agents = list(due.order_by("agent").values_list("agent", flat=True).distinct()[:most])
    for agent_id in agents:
        refresh(agent_id)
    return len(agents)


_CHANGED = Q(awaits_narrow=True, family="", window=0)


def is_behind(version: ChallengeVersion | None, family: str, window: int) -> bool:
    """Whether a narrower board lacks something that the default one has."""
    if Standing.objects.filter(_CHANGED).exists():
        return True
    rows = Standing.objects.of_board(version, family, window)
    return bool(window) and rows.filter(made_on__lt=today()).exists()


@transaction.atomic
def refresh(agent_id: int) -> None:
    """Write an agent's rows on all narrower boards anew."""
    standings.lock(agent_id)
    cards = subtotals.live_cards(agent_id)
    triggers = subtotals.triggers_of(cards)
    day = today()
    within = list(cards.annotate(started_at=F("bundle__started_at")))
    rows = _rows(by_version(within, triggers), 0)
    for window in sorted(WINDOWS, reverse=True):
        within = [card for card in within if card.started_at >= since(window, day)]
        rows |= _rows(by_version(within, triggers), window)
    for place, row in rows.items():
        row |= {"awaits_narrow": False, "made_on": day if place.window else None}
    mine = Standing.objects.filter(agent=agent_id)
    standings.write(agent_id, rows, mine.exclude(family="", window=0).only(*standings.PLACED))
    mine.filter(_CHANGED).update(awaits_narrow=False)


def _rows(on: Mapping[ChallengeVersion, Sums], window: int) -> dict[Place, Row]:
    """Return the rows that scorecards make beside the default ones."""
    live = {version: sums for version, sums in on.items() if version.is_live}
    by_family: dict[str, dict[ChallengeVersion, Sums]] = defaultdict(dict)
    for version, sums in live.items():
        if version.family:
            by_family[version.family][version] = sums
    overall = {Place(None, family, window): row_over(here) for family, here in by_family.items()}
    if window:
        overall[Place(None, "", window)] = row_over(live)
    rows = {place: row for place, row in overall.items() if row is not None}
    if window:
        rows |= {Place(version, "", window): row_on(sums) for version, sums in on.items()}
    return rows


def recount() -> int:
    """Write every row of every board anew from the scorecards; return of how many agents."""
    agents = set(Scorecard.objects.live().values_list("match__agent", flat=True))
    for kept in (Standing, Subtotal):
        kept.objects.exclude(agent__in=agents).delete()
    for agent_id in sorted(agents):
        standings.recount(agent_id)
        refresh(agent_id)
    standings.settle_bands()
    return len(agents)
