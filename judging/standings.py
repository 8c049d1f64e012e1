"""The boards: an agent's row is written anew whenever one of its scorecards changes.

A row always equals what a recount from the scorecards gives; `judging.narrow.recount` does that,
and a test compares. Means are exact until they are stored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from bouts.fields import as_decimal
from bouts.models import Bundle, Challenge, ChallengeVersion, Match
from judging.models import Finding, Scorecard, Standing
from judging.scoring import bootstrap
from judging.scoring.exact import clamp, mean, rounded
from judging.scoring.policy import CURRENT

JUDGES = ("objective", "process", "strategy", "recovery")

# Marks of a match that its row on the board carries too.
ROW_MARKS = ("flagged", "reduced", "reduced_evidence")
OFF_BOARD = ("held", "incomplete")

STANDINGS_LOCK = 20261  # the first keys of the advisory locks; any numbers that are ours
BANDS_LOCK = 20262
MOST_LOOKED_AT = 5_000  # matches in which the newest of some agents are looked for

# Of a scorecard what a row is made of: not the breakdown, which is long.
CARD_FIELDS = (
    "match__agent", "match__exclusion", "bundle", "challenge_version__challenge", "challenge_version__is_live",
    "challenge_version__family",
    "status", "marks", "value", "low", "high", "adjustment", *JUDGES,
)  # fmt: skip

FIGURES = ("value", "total", "low", "high", "adjustment", *JUDGES)
WRITTEN = (
    "challenge", "made_on", "matches", "ranked_matches", "challenges", "status", "marks",
    "rounded", "spread", "triggers", "interval_low", "interval_high", "awaits_band",
    "awaits_narrow", "updated_at", *FIGURES,
)  # fmt: skip


class Place(NamedTuple):
    """The board that a row stands on: of one challenge's version, or over challenges; see
    `Standing`."""

    version: ChallengeVersion | None = None
    family: str = ""
    window: int = 0


PLACED = ("challenge_version", "family", "window")  # the columns that tell it

Row = dict[str, Any]  # the columns of a `Standing`


@transaction.atomic(savepoint=False)
def refresh(agent_id: int) -> None:
    """Write an agent's default rows anew: one a challenge version, and the overall one."""
    lock(agent_id)
    cards = cards_for_rows().filter(match__agent=agent_id)
    tally = Tally(cards, triggers_of(cards))
    rows = {Place(version): tally.on(version) for version in tally.versions}
    old = list(Standing.objects.filter(agent=agent_id, family="", window=0).only(*PLACED, "band"))
    had_band = any(row.band is not None for row in old if row.challenge_version_id is None)
    if overall := tally.over(tally.live):
        rows[Place()] = overall
        overall["awaits_band"] = had_band or overall["interval_low"] is not None
    elif had_band:
        # Whatever was in its band has to be looked at again: one row that waits is enough.
        others = Standing.objects.filter(band__isnull=False).exclude(agent=agent_id)
        others.filter(pk__in=others.values("pk")[:1]).update(awaits_band=True)
    write(agent_id, rows, old)
    if not rows:
        Standing.objects.filter(agent=agent_id).delete()


def lock(agent_id: int) -> None:
    """Let nobody else write an agent's rows until the transaction ends: two of its matches may
    finish at the same moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [STANDINGS_LOCK, agent_id])


def write(agent_id: int, rows: Mapping[Place, Row], old: Iterable[Standing]) -> None:
    """Write an agent's rows, in place of some old ones."""
    kept = {(place.version and place.version.pk, *place[1:]) for place in rows}
    gone = [row.pk for row in old if (row.challenge_version_id, row.family, row.window) not in kept]
    if gone:
        Standing.objects.filter(pk__in=gone).delete()
    Standing.objects.bulk_create(
        [
            Standing(
                agent_id=agent_id,
                challenge_version=place.version,
                challenge_id=place.version.challenge_id if place.version else None,
                family=place.family,
                window=place.window,
                updated_at=timezone.now(),
                **row,
            )
            for place, row in rows.items()
        ],
        update_conflicts=True,
        unique_fields=["agent", "challenge_version", "family", "window"],
        update_fields=WRITTEN,
    )


def cards_for_rows() -> QuerySet[Scorecard]:
    """Return live scorecards with what rows are made of, and no more."""
    return (
        Scorecard.objects.live()
        .select_related("match", "challenge_version")
        .only(*CARD_FIELDS)
        .order_by("pk")
    )


Triggers = Mapping[int, Sequence[str]]
Means = Mapping[str, Fraction | None]  # by figure


def triggers_of(cards: QuerySet[Scorecard]) -> Triggers:
    """Return the triggers of the applied findings by bundle: all that other teams may know."""
    found: dict[int, list[str]] = defaultdict(list)
    applied = Finding.objects.filter(
        is_live=True, status=Finding.Status.APPLIED, bundle__in=cards.order_by().values("bundle")
    )
    for bundle, trigger in applied.order_by("trigger").values_list("bundle", "trigger"):
        found[bundle].append(trigger)
    return found


class Tally:
    """Scorecards of one agent, and the rows that they make."""

    def __init__(self, cards: Iterable[Scorecard], triggers: Triggers) -> None:
        self._cards: dict[ChallengeVersion, list[Scorecard]] = defaultdict(list)
        for card in cards:
            self._cards[card.challenge_version].append(card)
        self._triggers = triggers

    @property
    def versions(self) -> list[ChallengeVersion]:
        return list(self._cards)

    @property
    def live(self) -> list[ChallengeVersion]:
        """The versions that a board over challenges is made of."""
        return [version for version in self._cards if version.is_live]

    @cached_property
    def _means(self) -> dict[ChallengeVersion, Means]:
        return {version: _means(_ranked(here)) for version, here in self._cards.items()}

    def on(self, version: ChallengeVersion) -> Row:
        """Return the row of one version."""
        return {
            **_counted(self._cards[version], self._triggers),
            "challenges": 1,
            "interval_low": None,
            "interval_high": None,
            **_figures(self._means[version]),
        }

    def over(self, versions: Sequence[ChallengeVersion]) -> Row | None:
        """Return the row over some live versions: the mean of the means. None without any."""
        if not versions:
            return None
        means = [self._means[version] for version in versions]
        scores = {
            str(version.challenge_id): here["value"]
            for version, here in zip(versions, means, strict=True)
            if here["value"] is not None
        }
        sure = bootstrap.interval(scores)
        cards = [card for version in versions for card in self._cards[version]]
        return {
            **_counted(cards, self._triggers),
            "challenges": len(scores),
            "interval_low": sure and rounded(sure.low),
            "interval_high": sure and rounded(sure.high),
            **_figures({name: _mean(here[name] for here in means) for name in FIGURES}),
        }


def _counted(cards: Sequence[Scorecard], triggers: Triggers) -> Row:
    """Return what a row says of its matches beside their means."""
    ranked = _ranked(cards)
    return {
        "matches": len(cards),
        "ranked_matches": len(ranked),
        "status": _status(ranked or cards),
        "marks": _marks(cards, ranked),
        "spread": _spread(ranked),
        "triggers": dict(
            sorted(
                Counter(one for card in ranked for one in triggers.get(card.bundle_id, ())).items()
            )
        ),
        "awaits_band": False,
    }


def _spread(ranked: Sequence[Scorecard]) -> dict[str, list[str]]:
    """Return the lowest and the highest score by judge; of one match there is no spread."""
    spread = {}
    for judge in JUDGES:
        known = [score for card in ranked if (score := getattr(card, judge)) is not None]
        if len(known) > 1:
            spread[judge] = [str(rounded(min(known))), str(rounded(max(known)))]
    return spread


def _ranked(cards: Sequence[Scorecard]) -> list[Scorecard]:
    """Return the scorecards that count."""
    return [card for card in cards if card.is_ranked and not card.match.exclusion]


def _means(ranked: Sequence[Scorecard]) -> Means:
    """Return the exact mean of every figure over ranked scorecards."""
    return {
        "value": _mean(card.value for card in ranked),
        "total": _mean(clamp(card.value) for card in ranked),
        "low": _mean(card.value if card.low is None else card.low for card in ranked),
        "high": _mean(card.value if card.high is None else card.high for card in ranked),
        "adjustment": _mean(Fraction(card.adjustment) for card in ranked),
        **{judge: _mean(getattr(card, judge) for card in ranked) for judge in JUDGES},
    }


def _figures(means: Means) -> dict[str, Decimal | None]:
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
    rows = Standing.objects.of_board(version).filter(value__isnull=False)
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


def newest_ranked(matches: QuerySet[Match], agents: Sequence[int], challenge: str) -> list[str]:
    """Return the newest ranked match of each agent on a challenge, of those that may be seen.

    Without a challenge it is the one on which most of the agents have such a match.
    """
    cards = Scorecard.objects.live().filter(
        match__in=matches, match__agent__in=agents, match__exclusion="", value__isnull=False
    )
    if challenge:
        cards = cards.filter(match__challenge__slug=challenge)
    newest: dict[str, dict[int, str]] = defaultdict(dict)
    newest_first = cards.order_by("-match__created_at").values_list(
        "match__challenge__slug", "match__agent", "match__slug", "marks"
    )
    for slug, agent, match, marks in newest_first[:MOST_LOOKED_AT]:
        if not set(marks) & set(OFF_BOARD):
            newest[slug].setdefault(agent, match)
    found = max(newest.values(), key=len, default={})
    return [found[agent] for agent in agents if agent in found]


@transaction.atomic
def settle_bands() -> bool:
    """Write the tie bands of the overall board anew where a row of it changed; say whether.

    One row can move the bands of all below it, so this is no part of `refresh`: the sweep does
    it, and until then the page says that newer scores are still to be settled.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [BANDS_LOCK, 0])
    if not awaiting_bands().exists():
        return False
    overall = Standing.objects.of_board(None)
    rows = list(overall.filter(value__isnull=False).order_by("-value", "pk"))
    scores: dict[int, dict[str, Fraction]] = defaultdict(dict)
    on_challenges = Standing.objects.default().filter(
        challenge_version__is_live=True, value__isnull=False
    )
    for agent, challenge, value in on_challenges.values_list("agent", "challenge", "value"):
        scores[agent][str(challenge)] = Fraction(value)
    bands = bootstrap.bands([scores[row.agent_id] for row in rows])
    unranked = overall.filter(value=None)
    unranked.filter(Q(awaits_band=True) | Q(band__isnull=False)).update(
        band=None, awaits_band=False
    )
    for row, band in zip(rows, bands, strict=True):
        if row.awaits_band or row.band != band:
            # A row that changed meanwhile goes on waiting.
            overall.filter(pk=row.pk, updated_at=row.updated_at).update(
                band=band, awaits_band=False
            )
    return True


def awaiting_bands() -> QuerySet[Standing]:
    """Return the rows whose figures changed since tie bands were settled last."""
    return Standing.objects.filter(awaits_band=True)


def refresh_overall(challenge: Challenge) -> None:
    """Write anew what a new version of a challenge changes: the overall rows of who fought it."""
    agents = Standing.objects.default().filter(challenge=challenge)
    for agent_id in sorted(set(agents.values_list("agent", flat=True))):
        refresh(agent_id)
