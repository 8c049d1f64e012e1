"""The boards: an agent's row is written anew whenever one of its scorecards changes.

A row always equals what a recount from the scorecards gives; `recount` does that, and a test
compares. Means are exact until they are stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from bouts.fields import as_decimal
from bouts.models import Agent, Bundle, Challenge, ChallengeVersion, Match
from judging.models import Scorecard, Standing
from judging.scoring.exact import mean, rounded
from judging.scoring.policy import CURRENT

JUDGES = ("objective", "process", "strategy", "recovery")

# Marks of a match that its row on the board carries too.
ROW_MARKS = ("flagged", "reduced", "reduced_evidence")
OFF_BOARD = ("held", "incomplete")

STANDINGS_LOCK = 20261  # the first key of the advisory lock; any number that is ours

# Of a scorecard what a row is made of: not the breakdown, which is long.
CARD_FIELDS = (
    "match__exclusion", "challenge_version__challenge", "challenge_version__is_live",
    "status", "marks", "value", "low", "high", "adjustment", *JUDGES,
)  # fmt: skip

FIGURES = ("value", "low", "high", "adjustment", *JUDGES)
WRITTEN = (
    "challenge", "matches", "ranked_matches", "challenges", "status", "marks", "shown",
    "updated_at", *FIGURES,
)  # fmt: skip


@transaction.atomic
def refresh(agent_id: int, version: ChallengeVersion) -> None:
    """Write an agent's rows anew: that of a challenge version, then the overall one."""
    # One writer a row: two matches of one agent may finish at the same moment.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [STANDINGS_LOCK, agent_id])
    cards = list(
        Scorecard.objects.live()
        .filter(match__agent=agent_id)
        .filter(Q(challenge_version=version) | Q(challenge_version__is_live=True))
        .select_related("match", "challenge_version")
        .only(*CARD_FIELDS)
    )
    here = [card for card in cards if card.challenge_version_id == version.pk]
    live = [card for card in cards if card.challenge_version.is_live]
    rows = {version: _row(here), None: _overall(live)}
    Standing.objects.bulk_create(
        [
            Standing(
                agent_id=agent_id,
                challenge_version=board,
                challenge_id=board.challenge_id if board else None,
                updated_at=timezone.now(),
                **row,
            )
            for board, row in rows.items()
            if row
        ],
        update_conflicts=True,
        unique_fields=["agent", "challenge_version"],
        update_fields=WRITTEN,
    )
    for board in (board for board, row in rows.items() if not row):
        Standing.objects.filter(agent=agent_id, challenge_version=board).delete()


def _row(cards: Sequence[Scorecard]) -> dict[str, Any] | None:
    """Return the row of some scorecards of one agent on one challenge; None for none."""
    if not cards:
        return None
    ranked = [card for card in cards if _counts(card)]
    return {
        "matches": len(cards),
        "ranked_matches": len(ranked),
        "challenges": 1,
        "status": _status(ranked or cards),
        "marks": _marks(cards, ranked),
        **_figures(_means(ranked)),
    }


def _overall(cards: Sequence[Scorecard]) -> dict[str, Any] | None:
    """Return the row over all challenges: the mean of the means on their live versions."""
    by_challenge: dict[int, list[Scorecard]] = defaultdict(list)
    for card in cards:
        by_challenge[card.challenge_version_id].append(card)
    if not by_challenge:
        return None
    everything = [card for group in by_challenge.values() for card in group]
    ranked = [card for card in everything if card.is_ranked and not card.match.exclusion]
    means = [_means([card for card in group if card in ranked]) for group in by_challenge.values()]
    return {
        "matches": len(cards),
        "ranked_matches": len(ranked),
        "challenges": sum(group["value"] is not None for group in means),
        "status": _status(ranked or cards),
        "marks": _marks(cards, ranked),
        **_figures({name: _mean(group[name] for group in means) for name in FIGURES}),
    }


def _counts(card: Scorecard) -> bool:
    return card.is_ranked and not card.match.exclusion


def _means(ranked: Sequence[Scorecard]) -> dict[str, Fraction | None]:
    """Return the exact mean of every figure over ranked scorecards."""
    return {
        "value": _mean(card.value for card in ranked),
        "low": _mean(card.value if card.low is None else card.low for card in ranked),
        "high": _mean(card.value if card.high is None else card.high for card in ranked),
        "adjustment": _mean(Fraction(card.adjustment) for card in ranked),
        **{judge: _mean(getattr(card, judge) for card in ranked) for judge in JUDGES},
    }


def _figures(means: Mapping[str, Fraction | None]) -> dict[str, Decimal | None]:
    """Return the columns of a row: the value as the board is ordered by it, all as shown."""
    columns = {name: _shown(value) for name, value in means.items()}
    return {**columns, "value": as_decimal(means["value"]), "shown": columns["value"]}


def _marks(cards: Sequence[Scorecard], ranked: Sequence[Scorecard]) -> list[str]:
    """Return a row's marks; where no match is ranked, what keeps it off the board too."""
    marks = [mark for mark in ROW_MARKS if any(mark in card.marks for card in ranked)]
    if not ranked:
        marks += [mark for mark in OFF_BOARD if any(mark in card.marks for card in cards)]
        if any(card.match.exclusion for card in cards):
            marks.append("excluded")
    return marks


def _mean(values: Iterable[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _shown(value: Fraction | None) -> Decimal | None:
    return None if value is None else rounded(value)


def _status(rows: Iterable[Scorecard | Standing]) -> str:
    """Return the status that stands for all: what is least settled comes first."""
    order = ("pending", "provisional", "final", "unscored", "failed")
    return min((row.status for row in rows), key=order.index)


def challenges_needed() -> int:
    """Return from how many challenges on an agent is ranked overall: 3, or all where fewer."""
    known = Challenge.objects.filter(matches__isnull=False).distinct().count()
    return min(CURRENT.ranked_from_challenges, known)


def ranked_rows(version: ChallengeVersion | None) -> Any:
    """Return the rows of a board that have a rank."""
    rows = Standing.objects.filter(challenge_version=version, value__isnull=False)
    return rows if version else rows.filter(challenges__gte=challenges_needed())


def rank_of(shown: Decimal, rows: Any) -> int:
    """Return the rank of a value: one more than the rows that show more; equals share it."""
    return rows.filter(shown__gt=shown).count() + 1


def rank_with(bundle: Bundle, value: Fraction | None) -> tuple[int | None, int]:
    """Return the rank that an agent would have on the challenge's board, and of how many.

    ``value`` is the match's unclamped total as it would be; None takes it off the board.
    """
    version = bundle.challenge_version
    others = ranked_rows(version).exclude(agent=bundle.match.agent_id)
    cards = (
        Scorecard.objects.live()
        .filter(match__agent=bundle.match.agent_id, challenge_version=version)
        .exclude(match=bundle.match_id)
        .filter(match__exclusion=Match.Exclusion.NONE)
    )
    values = [card.value for card in cards if card.is_ranked]
    if value is not None and not bundle.match.exclusion:
        values.append(value)
    average = _mean(values)
    if average is None:
        return None, others.count()
    return rank_of(rounded(average), others), others.count() + 1


def recount() -> None:
    """Write every row anew from the scorecards."""
    pairs = Scorecard.objects.live().values_list("match__agent", "challenge_version").distinct()
    versions = ChallengeVersion.objects.in_bulk({version for _, version in pairs})
    stale = ~Q(agent__in=Agent.objects.filter(matches__scorecards__is_live=True))
    Standing.objects.filter(stale).delete()
    for agent_id, version_id in pairs:
        refresh(agent_id, versions[version_id])
