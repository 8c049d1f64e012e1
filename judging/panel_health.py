"""How the seats of the Strategy panel vote: beside one another, beside reviewers, by model, by
the agents' base model and by month. For ops, who see who sits where.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from statistics import median

from django.db.models import F
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce

from bouts.rules import Judge
from judging.actions import RULING
from judging.models import Scorecard, Verdict
from judging.scoring.agreement import agreement
from judging.scoring.exact import mean, rounded
from judging.scoring.policy import CURRENT
from judging.showing.agreement import AgreementRow

LATEST = 2_000  # panels that are looked at
MOST_MODELS = 20  # base models of a table, those with most panels
MOST_MONTHS = 12
SEATS = CURRENT.panel.seats
# A mean over fewer panels says more of those panels than of a seat (SCORING.md, 10).
FEWEST = CURRENT.agreement.indicative_from_units
FLAGGED = frozenset({"disagree", "pair_split", "single"})


@dataclass(frozen=True, slots=True)
class Vote:
    """What one seat answered; no ``score`` where it did not, and then ``state`` says why."""

    model: str
    state: str
    score: Fraction | None
    at: datetime


@dataclass(slots=True)
class Panel:
    """A live panel: what its seats answered, how it was settled, and what a reviewer said."""

    branch: str
    discarded: str | None
    base_model: str  # of the agent
    votes: dict[str, Vote] = field(default_factory=dict)
    ruling: Fraction | None = None

    @property
    def scores(self) -> dict[str, Fraction]:
        return {seat: vote.score for seat, vote in self.votes.items() if vote.score is not None}

    def lean_of(self, seat: str) -> Fraction | None:
        """Return how far a vote lies above the median of its panel; None of a lone vote."""
        scores = self.scores
        if seat not in scores or len(scores) < 2:
            return None
        return scores[seat] - median(scores.values())


@dataclass(frozen=True, slots=True)
class VoteRow:
    """How one model in one seat votes. Points; None where there is nothing to say it of."""

    seat: str
    model: str
    votes: int
    silences: tuple[tuple[str, int], ...]  # how often it gave none, by state
    mean: Decimal | None
    lean: Decimal | None  # mean distance to the median of its panels, above is positive
    deviation: Decimal | None  # the same, whichever way
    discarded: int
    ruled: int  # of its votes, those on whose panel a reviewer set a score
    upheld: int  # of these, within 15 points of it
    beside_ruling: Decimal | None  # mean distance to what reviewers said, above is positive


@dataclass(frozen=True, slots=True)
class LeanRow:
    """How the seats lean on some panels, in order of `SEATS`: in points above the panels' medians.

    A lean is None where fewer than `FEWEST` of the panels tell of it.
    """

    title: str | date
    panels: int
    cells: tuple[tuple[Decimal | None, int], ...]  # of each seat its lean, and votes discarded


@dataclass(frozen=True, slots=True)
class PanelHealth:
    """The latest live panels that have a score; ``is_all`` where there are no older ones."""

    total: int
    branches: Mapping[str, int]
    rows: tuple[VoteRow, ...]
    by_base_model: tuple[LeanRow, ...]
    by_month: tuple[LeanRow, ...]  # the newest first
    agreement: AgreementRow
    mean_width: Decimal | None  # from the lowest to the highest vote
    is_all: bool

    def rate(self, *branches: str) -> Decimal | None:
        """Return the share of the panels that were settled by these branches."""
        if not self.total:
            return None
        number = sum(self.branches.get(branch, 0) for branch in branches)
        return Decimal(number) / self.total

    @property
    def discard_rate(self) -> Decimal | None:
        return self.rate("outlier_high", "outlier_low")

    @property
    def chain_rate(self) -> Decimal | None:
        return self.rate("chained")

    @property
    def disagreement_rate(self) -> Decimal | None:
        return self.rate("disagree", "pair_split")


def panel_health() -> PanelHealth:
    """Look at the latest live panels, in two queries."""
    found, is_all = _panels()
    panels = [panel for panel in found if panel.scores]
    widths = [
        max(scores) - min(scores) for panel in panels if len(scores := panel.scores.values()) > 1
    ]
    return PanelHealth(
        total=len(found),
        branches=Counter(panel.branch for panel in found),
        rows=tuple(_vote_rows(found)),
        by_base_model=tuple(_by_base_model(panels)),
        by_month=tuple(_by_month(panels)),
        agreement=AgreementRow(
            "Seats with one another",
            "All votes of these panels, before any is discarded.",
            sum(panel.branch in FLAGGED for panel in panels if len(panel.scores) > 1),
            agreement([[panel.scores.get(seat) for panel in panels] for seat in SEATS], CURRENT),
        ),
        mean_width=rounded(mean(widths)) if widths else None,
        is_all=is_all,
    )


def _panels() -> tuple[list[Panel], bool]:
    strategy = KeyTransform("strategy", KeyTransform("judges", "breakdown"))
    cards = list(
        Scorecard.objects.live()
        .order_by("-pk")
        .values_list(
            "bundle",
            KeyTextTransform("branch", strategy),
            KeyTextTransform("discarded", strategy),
            "match__agent__base_model",
        )[:LATEST]
    )
    panels = {
        bundle: Panel(branch, discarded, base_model)
        for bundle, branch, discarded, base_model in cards
        if branch not in {None, "waiting", "no_panel"}
    }
    verdicts = Verdict.objects.filter(
        bundle__in=panels, judge=Judge.STRATEGY, seat__in=(*SEATS, RULING), is_live=True
    )
    at = Coalesce("answered_at", F("created_at"))
    for bundle, seat, *vote in verdicts.values_list(
        "bundle", "seat", "model", "state", "score", at
    ):
        if seat == RULING:
            panels[bundle].ruling = vote[2]
        else:
            panels[bundle].votes[seat] = Vote(*vote)
    return list(panels.values()), len(cards) < LATEST


def _vote_rows(panels: Iterable[Panel]) -> Iterable[VoteRow]:
    by_model: dict[tuple[str, str], list[Panel]] = defaultdict(list)
    for panel in panels:
        for seat, vote in panel.votes.items():
            by_model[seat, vote.model].append(panel)
    for (seat, model), some in sorted(
        by_model.items(), key=lambda row: (SEATS.index(row[0][0]), row[0][1])
    ):
        yield _vote_row(seat, model, some)


def _vote_row(seat: str, model: str, panels: Sequence[Panel]) -> VoteRow:
    votes = [panel.votes[seat] for panel in panels]
    scores = [vote.score for vote in votes if vote.score is not None]
    leans = [lean for panel in panels if (lean := panel.lean_of(seat)) is not None]
    beside = [
        panel.scores[seat] - panel.ruling
        for panel in panels
        if panel.ruling is not None and seat in panel.scores
    ]
    return VoteRow(
        seat=seat,
        model=model,
        votes=len(scores),
        silences=tuple(sorted(Counter(v.state for v in votes if v.score is None).items())),
        mean=_mean(scores),
        lean=_mean(leans),
        deviation=_mean(list(map(abs, leans))),
        discarded=sum(panel.discarded == seat for panel in panels),
        ruled=len(beside),
        upheld=sum(abs(distance) <= CURRENT.agreement.within for distance in beside),
        beside_ruling=_mean(beside),
    )


def _by_base_model(panels: Iterable[Panel]) -> Iterable[LeanRow]:
    """Yield a row a base model of agents: a seat that favours its own house leans there."""
    groups: dict[str, list[Panel]] = defaultdict(list)
    for panel in panels:
        groups[panel.base_model].append(panel)
    in_order = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return (_lean_row(model, some) for model, some in in_order[:MOST_MODELS])


def _by_month(panels: Iterable[Panel]) -> Iterable[LeanRow]:
    """Yield a row a month (UTC) of the last vote: a model that changes under its name drifts."""
    groups: dict[date, list[Panel]] = defaultdict(list)
    for panel in panels:
        last = max(vote.at for vote in panel.votes.values())
        groups[last.date().replace(day=1)].append(panel)
    return (_lean_row(month, groups[month]) for month in sorted(groups, reverse=True)[:MOST_MONTHS])


def _lean_row(title: str | date, panels: Sequence[Panel]) -> LeanRow:
    discarded = Counter(panel.discarded for panel in panels)
    cells = []
    for seat in SEATS:
        known = [lean for panel in panels if (lean := panel.lean_of(seat)) is not None]
        cells.append((_mean(known) if len(known) >= FEWEST else None, discarded[seat]))
    return LeanRow(title, len(panels), tuple(cells))


def _mean(values: Sequence[Fraction]) -> Decimal | None:
    return rounded(mean(values)) if values else None
