"""The boards: an agent's row is written anew whenever one of its scorecards changes.

It is made of what the agent's scorecards add up to, which is kept (`judging.subtotals`), so that
one more costs the same whether there are ten or ten thousand. A row always equals what a recount
from the scorecards gives; `judging.narrow.recount` does that, and a test compares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from bouts.models import Bundle, Challenge, ChallengeVersion, Match
from bouts.prepared import Prepared, run
from judging import subtotals
from judging.models import Scorecard, Standing, Subtotal
from judging.scoring import bootstrap
from judging.scoring.exact import rounded
from judging.scoring.policy import CURRENT
from judging.sums import FIGURES, OFF_BOARD, Row, Sums, counts, row_on, row_over

STANDINGS_LOCK = 20261  # the first keys of the advisory locks; any numbers that are ours
BANDS_LOCK = 20262
MOST_LOOKED_AT = 5_000  # matches in which the newest of some agents are looked for

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

LOCK = f"SELECT pg_advisory_xact_lock({STANDINGS_LOCK}, %(agent)s::int)"
VERSIONS = Prepared(
    lambda match: (
        Scorecard.objects.filter(match=match).order_by().values_list("challenge_version").distinct()
    ),
    match=int,
)
DEFAULT_ROWS = Prepared(
    lambda agent: Standing.objects.default().filter(agent=agent).only(*PLACED, "band"), agent=int
)
WHOLES = Prepared(
    lambda agent: (
        Subtotal.objects.wholes()
        .filter(agent=agent)
        .select_related("challenge_version")
        .only("sums", "challenge_version__challenge", "challenge_version__is_live")
    ),
    agent=int,
)


@transaction.atomic(savepoint=False)
def refresh(match: Match) -> None:
    """Write anew the default rows that a match's scorecard stands behind.

    On the challenge version that it was scored under, and on those it was scored under before;
    and the agent's overall row.
    """
    agent_id = match.agent_id
    lock(agent_id)
    versions = {version for (version,) in VERSIONS.rows(match=match.pk)}
    for version_id in versions:
        subtotals.count(agent_id, version_id, match.pk)
    _write_default(agent_id, versions)


@transaction.atomic(savepoint=False)
def recount(agent_id: int) -> None:
    """Write all of an agent's default rows anew, from its scorecards."""
    lock(agent_id)
    subtotals.recount(agent_id)
    _write_default(agent_id, None)


def _write_default(agent_id: int, versions: Collection[int] | None) -> None:
    """Write an agent's rows on some versions, or on all, and its overall one, by the sums kept."""
    old = DEFAULT_ROWS.rows(agent=agent_id)
    sums = _wholes(agent_id, [row.challenge_version_id for row in old])
    rows = {
        Place(version): row_on(here)
        for version, here in sums.items()
        if versions is None or version.pk in versions
    }
    had_band = any(row.band is not None for row in old if row.challenge_version_id is None)
    if overall := row_over({version: here for version, here in sums.items() if version.is_live}):
        rows[Place()] = overall
        overall["awaits_band"] = had_band or overall["interval_low"] is not None
    elif had_band:
        # Whatever was in its band has to be looked at again: one row that waits is enough.
        others = Standing.objects.filter(band__isnull=False).exclude(agent=agent_id)
        others.filter(pk__in=others.values("pk")[:1]).update(awaits_band=True)
    touched = [
        row for row in old if versions is None or row.challenge_version_id in {None, *versions}
    ]
    write(agent_id, rows, touched)
    if not sums:
        Standing.objects.filter(agent=agent_id).delete()


def _wholes(agent_id: int, stood_on: Iterable[int | None]) -> dict[ChallengeVersion, Sums]:
    """Return what an agent's cards add up to on every version, made where none was kept yet."""
    kept = WHOLES.rows(agent=agent_id)
    missing = {*stood_on} - {None, *(row.challenge_version_id for row in kept)}
    for version_id in missing:
        subtotals.recount(agent_id, version_id)
    rows = WHOLES.rows(agent=agent_id) if missing else kept
    return {row.challenge_version: Sums.read(row.sums) for row in rows}


def lock(agent_id: int) -> None:
    """Let nobody else write an agent's rows until the transaction ends: two of its matches may
    finish at the same moment."""
    run(LOCK, {"agent": agent_id})


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
    match, version = bundle.match, bundle.challenge_version
    others = ranked_rows(version).exclude(agent=match.agent_id)
    kept = subtotals.whole_of(match.agent_id, version.pk).figures.get("value")
    total, number = (kept.sum, kept.number) if kept else (Fraction(0), 0)
    card = match.scorecards.live().filter(challenge_version=version).first()
    if card and counts(card):
        total, number = total - card.value, number - 1
    if value is not None and not match.exclusion:
        total, number = total + value, number + 1
    if not number:
        return None, others.count()
    return rank_of(rounded(total / number), others), others.count() + 1


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


@transaction.atomic
def refresh_overall(challenge: Challenge) -> None:
    """Write anew what a new version of a challenge changes: the overall rows of who fought it."""
    fought = Standing.objects.default().filter(challenge=challenge)
    for agent_id in sorted(set(fought.values_list("agent", flat=True))):
        lock(agent_id)
        _write_default(agent_id, ())
        Standing.objects.default().filter(agent=agent_id).update(awaits_narrow=True)
