"""Ranks on the boards as they are, and as they would be with a rejudging applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from bouts.models import Agent, ChallengeVersion
from judging import standings
from judging.models import RejudgedMatch, Rejudging, Scorecard, Standing
from judging.rejudging.candidates import put_figures
from judging.standings import Place
from judging.subtotals import live_cards
from judging.sums import Row, Sums, by_version, row_on, row_over

MOST_ROWS = 20_000  # of a board that is ranked anew here
MOST_SHOWN = 200  # rows whose rank or value changes, by board

JsonDict = dict[str, Any]
Values = dict[int, Decimal]  # by agent, what a board is ordered by


def before_and_after(rejudging: Rejudging) -> list[JsonDict]:
    """Return the boards on which something would move, each with the rows that would."""
    rows = list(
        rejudging.matches.filter(state=RejudgedMatch.State.DONE)
        .exclude(outcome=RejudgedMatch.Outcome.UNCHANGED)
        .select_related("bundle__challenge_version", "match")
    )
    if not rows:
        return []
    agents = {row.match.agent_id for row in rows}
    after = _after(agents, rows)
    places = {place: None for tallied in after.values() for place in tallied}
    standing = Standing.objects.default().filter(agent__in=agents)
    for old in standing.select_related("challenge_version"):
        places[Place(old.challenge_version)] = None
    boards = (_board(place, agents, after) for place in sorted(places, key=_order))
    return [board for board in boards if board["rows"] or board["is_too_long"]]


def _order(place: Place) -> tuple[bool, str, int]:
    version = place.version
    return (version is not None, version.title if version else "", version.number if version else 0)


def _after(agents: Iterable[int], rows: Iterable[RejudgedMatch]) -> dict[int, dict[Place, Row]]:
    """Return the rows that the agents would have, by agent and board."""
    by_card = {row.before_id: row for row in rows}
    cards: dict[int, list[Scorecard]] = {agent: [] for agent in agents}
    versions = _versions_after(by_card.values())
    for card in live_cards(*agents):
        if row := by_card.get(card.pk):
            put_figures(card, row.candidate["card"])
            card.challenge_version = versions[row.candidate["version"]]
        cards[card.match.agent_id].append(card)
    return {agent: _rows(by_version(found, {})) for agent, found in cards.items()}


def _versions_after(rows: Iterable[RejudgedMatch]) -> Mapping[int, ChallengeVersion]:
    keys = {row.candidate["version"] for row in rows}
    return ChallengeVersion.objects.defer("document", "starting_tree").in_bulk(keys)


def _rows(on: Mapping[ChallengeVersion, Sums]) -> dict[Place, Row]:
    rows = {Place(version): row_on(sums) for version, sums in on.items()}
    if overall := row_over({version: sums for version, sums in on.items() if version.is_live}):
        rows[Place()] = overall
    return rows


def _board(
    place: Place, agents: Iterable[int], after: Mapping[int, Mapping[Place, Row]]
) -> JsonDict:
    version = place.version
    board: JsonDict = {
        "challenge": version and version.challenge.slug,
        "title": version and version.title,
        "version": version and version.number,
        "is_too_long": False,
        "rows": [],
        "more": 0,
    }
    ranked = standings.ranked_rows(version)
    now: Values = dict(ranked.values_list("agent", "rounded")[: MOST_ROWS + 1])
    if len(now) > MOST_ROWS:
        return {**board, "is_too_long": True}
    then = dict(now)
    least = 0 if version else standings.challenges_needed()
    for agent in agents:
        row = after[agent].get(place)
        then.pop(agent, None)
        if row and row["rounded"] is not None and row["challenges"] >= least:
            then[agent] = row["rounded"]
    was, will = _ranks(now), _ranks(then)
    moved = [
        (agent, was.get(agent), will.get(agent))
        for agent in was.keys() | will.keys()
        if was.get(agent) != will.get(agent) or now.get(agent) != then.get(agent)
    ]
    moved.sort(key=lambda one: (one[2] or len(then) + 1, one[1] or len(now) + 1, one[0]))
    names = _names(agent for agent, _, _ in moved[:MOST_SHOWN])
    board["rows"] = [
        {
            **names[agent],
            "rank": [before, behind],
            "value": [_text(now.get(agent)), _text(then.get(agent))],
        }
        for agent, before, behind in moved[:MOST_SHOWN]
    ]
    board["more"] = max(0, len(moved) - MOST_SHOWN)
    return board


def _ranks(values: Values) -> dict[int, int]:
    """Return ranks as the boards give them: equal at two places share one (1, 1, 3)."""
    ranks: dict[int, int] = {}
    rank, last = 0, None
    best_first = sorted(values.items(), key=lambda item: -item[1])
    for place, (agent, value) in enumerate(best_first, start=1):
        if value != last:
            rank, last = place, value
        ranks[agent] = rank
    return ranks


def _names(agents: Iterable[int]) -> dict[int, JsonDict]:
    rows = Agent.objects.filter(pk__in=list(agents)).select_related("team")
    return {row.pk: {"agent": str(row), "team": row.team.slug, "agent_id": row.pk} for row in rows}


def _text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)
