"""What an agent's scorecards add up to, kept by the hundred, so that one more is soon counted.

An agent's matches on a challenge version are parted, by their keys, into runs of some hundred.
A match's first card is added to the sums of its run and of the whole. One that changes has those of
its run made anew, from the cards themselves, and added to those that the other runs keep. Nothing
is ever taken off a sum: what is kept cannot drift from the cards, and lowest and highest come as
the sums do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from django.db.models import F, Q, QuerySet
from psycopg.types.json import Jsonb

from bouts.prepared import Prepared, together
from judging.models import Finding, Scorecard, Subtotal
from judging.sums import JUDGES, Sums, Triggers

LONGEST = 128  # matches in a run; one more, and it is cut in two

# Of a scorecard what sums are made of: not the breakdown, which is long.
CARD_FIELDS = (
    "match__agent", "match__exclusion", "bundle", "challenge_version__challenge", "challenge_version__is_live",
    "challenge_version__family",
    "status", "marks", "value", "low", "high", "adjustment", *JUDGES,
)  # fmt: skip


def live_cards(*agent_ids: int) -> QuerySet[Scorecard]:
    """Return the live scorecards of some agents with what sums are made of, and no more."""
    return (
        Scorecard.objects.live()
        .filter(match__agent__in=agent_ids)
        .select_related("match", "challenge_version")
        .only(*CARD_FIELDS)
        .order_by("match_id")
    )


def triggers_of(cards: QuerySet[Scorecard]) -> Triggers:
    """Return the triggers of the applied findings by bundle: all that other teams may know."""
    found: dict[int, list[str]] = defaultdict(list)
    applied = Finding.objects.filter(
        is_live=True, status=Finding.Status.APPLIED, bundle__in=cards.order_by().values("bundle")
    )
    for bundle, trigger in applied.values_list("bundle", "trigger"):
        found[bundle].append(trigger)
    return found


def whole_of(agent_id: int, version_id: int) -> Sums:
    """Return what all cards of an agent on a version add up to."""
    kept = Subtotal.objects.wholes().filter(agent=agent_id, challenge_version=version_id)
    sums = kept.values_list("sums", flat=True).first()
    if sums is not None:
        return Sums.read(sums)
    cards = live_cards(agent_id).filter(challenge_version=version_id)
    return Sums.of(list(cards), triggers_of(cards))


# The sums of the whole, and those of the run that a match belongs to.
AROUND = Prepared(
    lambda agent, version, match: (
        Subtotal.objects.filter(agent=agent, challenge_version=version)
        .filter(Q(starts_at=None) | Q(starts_at__lte=match))
        .order_by(F("starts_at").desc(nulls_first=True))
        .values_list("starts_at", "matches", "sums")[:2]
    ),
    agent=int,
    version=int,
    match=int,
)
ADD = """
UPDATE judging_subtotal SET matches = %(matches)s::bigint[], sums = %(sums)s
 WHERE agent_id = %(agent)s AND challenge_version_id = %(version)s
   AND starts_at IS NOT DISTINCT FROM %(starts_at)s::bigint
"""
CARD = Prepared(
    lambda agent, version, match: live_cards(agent).filter(challenge_version=version, match=match),
    agent=int,
    version=int,
    match=int,
)
TRIGGERS = Prepared(
    lambda bundle: (
        Finding.objects.filter(is_live=True, status=Finding.Status.APPLIED, bundle=bundle)
        .order_by()
        .values_list("trigger")
    ),
    bundle=int,
)


def count(agent_id: int, version_id: int, match_id: int) -> None:
    """Count a match's card on a version: it came, changed or went."""
    place = {"agent": agent_id, "version": version_id}
    around = AROUND.rows(**place, match=match_id)
    if len(around) < 2:
        recount(agent_id, version_id)
        return
    (_, _, whole), (starts_at, matches, sums) = around
    if match_id in matches or len(matches) >= LONGEST:
        _count_anew(agent_id, version_id, match_id)
        return
    card = CARD.first(**place, match=match_id)
    if card is None:
        return
    triggers = [trigger for (trigger,) in TRIGGERS.rows(bundle=card.bundle_id)]
    new = Sums.of([card], {card.bundle_id: triggers})
    matches = sorted([*matches, match_id])
    together(
        *(
            (ADD, {**place, "starts_at": at, "matches": held, "sums": Jsonb(more.kept())})
            for at, held, more in (
                (None, [], Sums.joined([Sums.read(whole), new])),
                (starts_at, matches, Sums.joined([Sums.read(sums), new])),
            )
        )
    )


def _count_anew(agent_id: int, version_id: int, match_id: int) -> None:
    """Make the sums of an agent on a version anew from the cards of the run that a match is in."""
    kept = Subtotal.objects.filter(agent=agent_id, challenge_version=version_id)
    runs = {
        starts_at: sums
        for starts_at, sums in kept.values_list("starts_at", "sums")
        if starts_at is not None
    }
    # The first begins at 0, so that there always is one.
    at = max(starts_at for starts_at in runs if starts_at <= match_id)
    matches = kept.values_list("matches", flat=True).get(starts_at=at)
    cards = live_cards(agent_id).filter(
        challenge_version=version_id, match__in={*matches, match_id}
    )
    others = [Sums.read(sums) for starts_at, sums in runs.items() if starts_at != at]
    _keep(agent_id, version_id, _runs(list(cards), at), triggers_of(cards), others)


def recount(agent_id: int, version_id: int | None = None) -> None:
    """Make the sums of an agent anew from all its cards: on a version, or on every one."""
    kept, cards = Subtotal.objects.filter(agent=agent_id), live_cards(agent_id)
    if version_id is not None:
        kept = kept.filter(challenge_version=version_id)
        cards = cards.filter(challenge_version=version_id)
    kept.delete()
    on: dict[int, list[Scorecard]] = defaultdict(list)
    for card in cards:
        on[card.challenge_version_id].append(card)
    triggers = triggers_of(cards)
    for version, here in on.items():
        _keep(agent_id, version, _runs(here, 0), triggers, [])


Runs = dict[int, Sequence[Scorecard]]  # by where they begin


def _runs(cards: Sequence[Scorecard], starts_at: int) -> Runs:
    """Part cards, which are in the order of their matches, into runs that may grow."""
    if len(cards) <= LONGEST:
        return {starts_at: cards}
    size = math.ceil(len(cards) / (len(cards) // (LONGEST // 2)))
    parts = [cards[at : at + size] for at in range(0, len(cards), size)]
    return {starts_at: parts[0], **{part[0].match_id: part for part in parts[1:]}}


def _keep(
    agent_id: int, version_id: int, runs: Runs, triggers: Triggers, others: Sequence[Sums]
) -> None:
    """Write some runs of an agent on a version, and with the others' sums the whole."""
    sums = {starts_at: Sums.of(cards, triggers) for starts_at, cards in runs.items()}
    whole = Sums.joined([*others, *sums.values()])
    if not whole.cards:
        Subtotal.objects.filter(agent=agent_id, challenge_version=version_id).delete()
        return
    rows = [(None, [], whole)]
    for starts_at, cards in runs.items():
        rows.append((starts_at, [card.match_id for card in cards], sums[starts_at]))
    Subtotal.objects.bulk_create(
        [
            Subtotal(
                agent_id=agent_id,
                challenge_version_id=version_id,
                starts_at=starts_at,
                matches=matches,
                sums=one.kept(),
            )
            for starts_at, matches, one in rows
        ],
        update_conflicts=True,
        unique_fields=["agent", "challenge_version", "starts_at"],
        update_fields=["matches", "sums"],
    )
