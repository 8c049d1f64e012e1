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
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from bouts.fields import as_decimal
from bouts.models import Bundle, Challenge, ChallengeVersion, Match
from judging.models import Scorecard, Standing
from judging.scoring.exact import clamp, mean, rounded
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

FIGURES = ("value", "total", "low", "high", "adjustment", *JUDGES)
WRITTEN = (
    "challenge", "matches", "ranked_matches", "challenges", "status", "marks", "rounded",
    "updated_at", *FIGURES,
)  # fmt: skip


@transaction.atomic
def refresh(agent_id: int) -> None:
    """Write an agent's rows anew: one a challenge version, and the overall one."""
    # One writer an agent: two of its matches may finish at the same moment.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [STANDINGS_LOCK, agent_id])
    cards = (
        Scorecard.objects.live()
        .filter(match__agent=agent_id)
        .select_related("match", "challenge_version")
        .only(*CARD_FIELDS)
    )
    by_version: dict[ChallengeVersion | None, list[Scorecard]] = defaultdict(list)
    for card in cards:
        by_version[card.challenge_version].append(card)
    rows = {version: _row(here) for version, here in by_version.items()}
    if overall := _overall([here for version, here in by_version.items() if version.is_live]):
        rows[None] = overall
    kept = Q(challenge_version__in=[version for version in rows if version])
    if None in rows:
        kept |= Q(challenge_version=None)
    Standing.objects.filter(~kept, agent=agent_id).delete()
    Standing.objects.bulk_create(
        [
            Standing(
                agent_id=agent_id,
                challenge_version=version,
                challenge_id=version.challenge_id if version else None,
                updated_at=timezone.now(),
                **row,
            )
            for version, row in rows.items()
        ],
        update_conflicts=True,
        unique_fields=["agent", "challenge_version"],
        update_fields=WRITTEN,
    )


def _row(cards: Sequence[Scorecard]) -> dict[str, Any]:
    """Return the row of one agent's scorecards on one challenge."""
    ranked = _ranked(cards)
    return {
        "matches": len(cards),
        "ranked_matches": len(ranked),
        "challenges": 1,
        "status": _status(ranked or cards),
        "marks": _marks(cards, ranked),
        **_figures(_means(ranked)),
    }


def _overall(by_challenge: Sequence[Sequence[Scorecard]]) -> dict[str, Any] | None:
    """Return the row over all challenges: the mean of the means on their live versions."""
    cards = [card for here in by_challenge for card in here]
    if not cards:
        return None
    means = [_means(_ranked(here)) for here in by_challenge]
    figures = {name: _mean(here[name] for here in means) for name in FIGURES}
    return {
        **_row(cards),
        "challenges": sum(here["value"] is not None for here in means),
        **_figures(figures),
    }


def _ranked(cards: Sequence[Scorecard]) -> list[Scorecard]:
    """Return the scorecards that count."""
    return [card for card in cards if card.is_ranked and not card.match.exclusion]


def _means(ranked: Sequence[Scorecard]) -> dict[str, Fraction | None]:
    """Return the exact mean of every figure over ranked scorecards."""
    return {
        "value": _mean(card.value for card in ranked),
        "total": _mean(clamp(card.value) for card in ranked),
        "low": _mean(card.value if card.low is None else card.low for card in ranked),
        "high": _mean(card.value if card.high is None else card.high for card in ranked),
        "adjustment": _mean(Fraction(card.adjustment) for card in ranked),
        **{judge: _mean(getattr(card, judge) for card in ranked) for judge in JUDGES},
    }


def _figures(means: Mapping[str, Fraction | None]) -> dict[str, Decimal | None]:
    """Return the columns of a row: two places each, and the value as the board is ordered by it."""
    columns = {name: _rounded(value) for name, value in means.items()}
    return {**columns, "value": as_decimal(means["value"]), "rounded": columns["value"]}


def _marks(cards: Sequence[Scorecard], ranked: Sequence[Scorecard]) -> list[str]:
    """Return a row's marks; where no match is ranked, what keeps it off the board too."""
    marks = [mark for mark in ROW_MARKS if any(mark in card.marks for card in ranked)]
    if not ranked:
        marks += [mark for mark in OFF_BOARD if any(mark in card.marks for card in cards)]
        marks += sorted({card.match.exclusion for card in cards} - {Match.Exclusion.NONE})
    return marks


def _mean(values: Iterable[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _rounded(value: Fraction | None) -> Decimal | None:
    return None if value is None else rounded(value)


def _status(rows: Iterable[Scorecard | Standing]) -> str:
    """Return the status that stands for all: what is least settled comes first."""
    order = ("pending", "provisional", "final", "unscored", "failed")
    return min((row.status for row in rows), key=order.index)


def challenges_needed() -> int:
    """Return from how many challenges on an agent is ranked overall: 3, or all where fewer."""
    has_matches = Exists(Match.objects.filter(challenge=OuterRef("pk")))
    return min(CURRENT.ranked_from_challenges, Challenge.objects.filter(has_matches).count())


def ranked_rows(version: ChallengeVersion | None) -> QuerySet[Standing]:
    """Return the rows of a board that have a rank."""
    rows = Standing.objects.filter(challenge_version=version, value__isnull=False)
    return rows if version else rows.filter(challenges__gte=challenges_needed())


def rank_of(value: Decimal, rows: QuerySet[Standing]) -> int:
    """Return the rank of a value at two places: one more than the rows with more."""
    return rows.filter(rounded__gt=value).count() + 1


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
    agents = set(Scorecard.objects.live().values_list("match__agent", flat=True))
    Standing.objects.exclude(agent__in=agents).delete()
    for agent_id in sorted(agents):
        refresh(agent_id)


def refresh_overall(challenge: Challenge) -> None:
    """Write anew what a new version of a challenge changes: the overall rows of who fought it."""
    agents = Standing.objects.filter(challenge=challenge).values_list("agent", flat=True)
    for agent_id in sorted(set(agents)):
        refresh(agent_id)
