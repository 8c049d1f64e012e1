"""What the page, the API and the files of a rejudging say: counts first, then a line a match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Value, When

from bouts.words import of as word
from judging.exports import Table
from judging.models import RejudgedMatch, Rejudging
from judging.rejudging.candidates import EXACT
from judging.scoring.exact import rounded
from judging.showing import words
from judging.sums import JUDGES

State, Outcome = RejudgedMatch.State, RejudgedMatch.Outcome


@dataclass(frozen=True, slots=True)
class Counts:
    """How many matches of a rejudging came to what. The outcomes sum to ``done``; ``done``,
    ``failed``, ``left_out`` and ``under_way`` to ``matches``."""

    matches: int
    under_way: int
    done: int
    failed: int
    left_out: int
    unchanged: int
    changed: int
    up: int
    down: int
    gained: int
    lost: int
    flagged: int  # would be marked or held, and are not
    other_status: int
    changed_since: int
    moved_since: int  # of these, those that would get a new scorecard
    cases_opened: int
    cases_closed: int
    rulings_carried: int
    rulings_fallen: int
    applied: int

    @property
    def to_record(self) -> int:
        """Those that get a new scorecard if it is applied as it is."""
        return self.done - self.unchanged - self.moved_since

    @property
    def ended(self) -> int:
        return self.matches - self.under_way


def counts_of(rejudging: Rejudging) -> Counts:
    rows = rejudging.matches.order_by()
    done = Q(state=State.DONE)
    sums = ("cases_opened", "cases_closed", "rulings_carried", "rulings_fallen")
    counted = rows.aggregate(
        matches=Count("pk"),
        under_way=Count("pk", filter=Q(state__in=RejudgedMatch.UNDER_WAY)),
        done=Count("pk", filter=done),
        failed=Count("pk", filter=Q(state=State.FAILED)),
        left_out=Count("pk", filter=Q(state=State.LEFT_OUT)),
        flagged=Count("pk", filter=done & Q(is_flagged=True)),
        other_status=Count("pk", filter=done & Q(has_other_status=True)),
        applied=Count("applied"),
        **{outcome.value: Count("pk", filter=done & Q(outcome=outcome)) for outcome in Outcome},
        **{name: Sum(name, filter=done, default=0) for name in sums},
    )
    since = rejudging.matches.changed_since() if rejudging.is_open else rejudging.matches.none()
    since_then = since.order_by().aggregate(
        changed_since=Count("pk"),
        moved_since=Count("pk", filter=~Q(outcome=Outcome.UNCHANGED)),
    )
    return Counts(**counted, **since_then)


SHOWN = {
    "": "All",
    "moved": "Would change",
    "flagged": "Would be flagged",
    "since": "Changed since",
    "failed": "Failed or left out",
}
"""What the lines of a page can be narrowed to."""


def rows_of(rejudging: Rejudging, show: str = "") -> QuerySet[RejudgedMatch]:
    """Return the matches of a rejudging, what moves most first; a total on one side only is
    the most. What failed comes before all, what changes nothing last."""
    rows = rejudging.matches.select_related("match__agent__team", "match__challenge", "applied")
    since = rejudging.matches.changed_since().values("pk")
    done = Q(state=State.DONE)
    narrowed = {
        "moved": done & ~Q(outcome=Outcome.UNCHANGED),
        "flagged": done & Q(is_flagged=True),
        "since": Q(pk__in=since),
        "failed": Q(state__in=[State.FAILED, State.LEFT_OUT]),
    }
    order = Case(
        When(state=State.FAILED, then=0),
        When(outcome=Outcome.UNCHANGED, then=2),
        When(state__in=RejudgedMatch.UNDER_WAY, then=3),
        default=1,
    )
    return (
        rows.filter(narrowed.get(show, Q()))
        .annotate(
            is_since=Exists(since.filter(pk=OuterRef("pk"))) if rejudging.is_open else Value(False)
        )
        .defer("applied__breakdown")
        .order_by(order, F("moved").desc(nulls_first=True), "pk")
    )


# A line as people read it


@dataclass(frozen=True, slots=True)
class Line:
    """A match of a rejudging, with words for what its candidate says."""

    row: RejudgedMatch
    before: dict[str, Any]
    after: dict[str, Any]
    moves: tuple[str, ...]
    notes: tuple[str, ...]


MOST_MOVES = 12  # that a line of a page tells; files tell them all


def line_of(row: RejudgedMatch, most: int | None = MOST_MOVES) -> Line:
    candidate = row.candidate or {}
    moves = candidate.get("moves", ())
    told = [_move(move) for move in moves[:most]]
    if len(moves) > len(told):
        told.append(f"and {len(moves) - len(told)} more")
    return Line(
        row,
        candidate.get("card_before", {}),
        candidate.get("card", {}),
        tuple(told),
        tuple(_notes(candidate)),
    )


def _move(move: dict[str, Any]) -> str:
    """Say what moved, from what to what, and by which rule."""
    title = (
        words.JUDGES.get(move["row"]) or words.RULES.get(move["row"]) or words.title(move["row"])
    )
    was, now = move["counted"]
    if was == now:  # a finding has none; of a judge it is the share of the total that moves
        was, now = move["points"]
        title = title if move["is_finding"] else f"{title}, points"
    was, now = ("none" if one is None else one for one in (was, now))
    return f"{title} {was} → {now}: {move['why']}"


def _notes(candidate: dict[str, Any]) -> Iterator[str]:
    """Say what else would be otherwise."""
    if not candidate:
        return
    before, after = candidate["card_before"], candidate["card"]
    if before["status"] != after["status"]:
        yield f"{before['status']} → {after['status']}"
    for mark in after["marks"]:
        if mark not in before["marks"]:
            yield f"marked {word(mark)}"
    for mark in before["marks"]:
        if mark not in after["marks"]:
            yield f"no longer {word(mark)}"
    versions = candidate["challenge_version"]
    if versions[0] != versions[1]:
        yield f"challenge version {versions[0]} → {versions[1]}"
    if candidate["policy"][0] != candidate["policy"][1]:
        yield f"policy {candidate['policy'][0]} → {candidate['policy'][1]}"
    for judge, (was, now) in candidate["judge_versions"].items():
        yield f"{words.JUDGES[judge]} judge version {'unknown' if was is None else was} → {now}"
    if candidate["reads"]:
        yield "its files are read anew"
    for reason in candidate["cases"]["open"]:
        yield f"case opens: {words.CASES.get(reason, reason)}"
    for reason in candidate["cases"]["close"]:
        yield f"case closes: {words.CASES.get(reason, reason)}"
    for on in candidate["rulings"]["carried"]:
        yield f"ruling on {words.title(on)} carries over"
    for on in candidate["rulings"]["fallen"]:
        yield f"ruling on {words.title(on)} falls: its evidence is gone"


# Files

COMPARED = ("total", "value", "status", "marks", "adjustment", *JUDGES)
COLUMNS = (
    "match", "challenge", "team", "agent", "agent_version", "state", "reason", "changed_since",
    "outcome", "moved", *(f"{name}_{side}" for name in COMPARED for side in ("before", "after")),
    "challenge_version_before", "challenge_version_after", "policy_before", "policy_after",
    "moved_by", "cases_opened", "cases_closed", "rulings_carried", "rulings_fallen",
    "applied_revision",
)  # fmt: skip


def table_of(rejudging: Rejudging) -> Table:
    """Return all matches of a rejudging as a file has them; its state says whether they count."""
    return Table(
        name=f"rejudging-{rejudging.pk}",
        columns=COLUMNS,
        rows=map(_cells, rows_of(rejudging).iterator(chunk_size=200)),
        state=rejudging.get_state_display(),
        policy=rejudging.policy,
        facts={
            "rejudging": rejudging.pk,
            "reason": rejudging.reason,
            "choice": rejudging.choice,
            "judges": rejudging.judges,
            "ranks": rejudging.ranks,
        },
    )


def _cells(row: RejudgedMatch) -> list[Any]:
    line, agent = line_of(row, most=None), row.match.agent
    candidate = row.candidate or {}
    sides = (line.before, line.after)
    return [
        row.match.slug,
        row.match.challenge.slug,
        agent.team.slug,
        agent.name,
        agent.version,
        row.state,
        row.reason,
        row.is_since,
        row.outcome or None,
        None if row.moved is None else str(row.moved),
        *(_shown(side, name) for name in COMPARED for side in sides),
        *candidate.get("challenge_version", (None, None)),
        *candidate.get("policy", (None, None)),
        "; ".join(line.moves),
        *((candidate.get("cases") or {}).get(name, []) for name in ("open", "close")),
        *((candidate.get("rulings") or {}).get(name, []) for name in ("carried", "fallen")),
        row.applied.number if row.applied else None,
    ]


def _shown(figures: dict[str, Any], name: str) -> Any:
    value = figures.get(name)
    return str(rounded(Fraction(value))) if name in EXACT and value is not None else value
