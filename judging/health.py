"""How the seats do: what each was asked, what came of it, what it cost, and how it votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import median

from django.db.models import Avg, Count, Q
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from bouts.rules import Judge
from judging import spending
from judging.models import ModelCall, Scorecard, Verdict
from judging.scoring.exact import mean, rounded
from judging.scoring.policy import CURRENT

OUTCOMES = ("answered", "refused", "timeout", "unavailable", "invalid")
LATEST = 2_000  # votes and panels that are looked at


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One judge, seat, model, template and rubric, with all calls since there are any."""

    judge: str
    seat: str
    model: str
    version: str
    calls: int
    outcomes: tuple[tuple[str, int], ...]
    spent: spending.Spent
    mean_latency_ms: float | None
    mean_attempts: float | None


def seat_rows() -> Iterator[SeatRow]:
    """Count the calls, in two queries."""
    by = ("judge", "seat", "model", "template_version", "rubric_version")
    counts = {name: Count("pk", filter=Q(result__outcome=name)) for name in OUTCOMES}
    calls = ModelCall.objects.order_by(*by).values(*by)
    attempts = {
        tuple(row[name] for name in by): row["requests"] / row["calls"]
        for row in calls.exclude(result=None).annotate(
            requests=Count("result__attempts"), calls=Count("pk", distinct=True)
        )
    }
    rows = calls.annotate(mean_latency=Avg("result__latency_ms"), **counts, **_renamed_sums())
    for row in rows:
        yield SeatRow(
            judge=row["judge"],
            seat=row["seat"],
            model=row["model"],
            version=f"template {row['template_version']}, rubric {row['rubric_version']}",
            calls=row["sum_calls"],
            outcomes=tuple((name, row[name]) for name in OUTCOMES if row[name]),
            spent=spending.Spent(**{name: row[f"sum_{name}"] for name in spending.sums()}),
            mean_latency_ms=row["mean_latency"],
            mean_attempts=attempts.get(tuple(row[name] for name in by)),
        )


def _renamed_sums() -> dict[str, object]:
    return {f"sum_{name}": total for name, total in spending.sums().items()}


@dataclass(frozen=True, slots=True)
class VoteRow:
    """How one seat votes beside the others. Points; None where it has not voted."""

    seat: str
    votes: int
    mean: Decimal | None
    deviation: Decimal | None  # mean distance to the median of its panels
    discarded: int


@dataclass(frozen=True, slots=True)
class Panels:
    """The live panels that have a score: how they were settled, and how wide they are."""

    total: int
    branches: Mapping[str, int]
    seats: tuple[VoteRow, ...]
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


def panels() -> Panels:
    """Look at the latest live panels, in two queries."""
    strategy = KeyTransform("strategy", KeyTransform("judges", "breakdown"))
    cards = list(
        Scorecard.objects.live()
        .order_by("-pk")
        .values_list(
            "bundle",
            KeyTextTransform("branch", strategy),
            KeyTextTransform("discarded", strategy),
        )[:LATEST]
    )
    settled = [card for card in cards if card[1] not in {None, "waiting", "no_panel"}]
    votes: dict[int, dict[str, Fraction]] = defaultdict(dict)
    live = Verdict.objects.filter(
        bundle__in=[bundle for bundle, _, _ in settled],
        judge=Judge.STRATEGY,
        seat__in=CURRENT.panel.seats,
        is_live=True,
    ).exclude(score=None)
    for bundle, seat, score in live.values_list("bundle", "seat", "score"):
        votes[bundle][seat] = score
    branches: dict[str, int] = defaultdict(int)
    discarded: dict[str, int] = defaultdict(int)
    for _, branch, out in settled:
        branches[branch] += 1
        if out:
            discarded[out] += 1
    widths = [max(cast.values()) - min(cast.values()) for cast in votes.values() if len(cast) > 1]
    return Panels(
        total=len(settled),
        branches=dict(branches),
        seats=tuple(_votes_of(seat, votes, discarded) for seat in CURRENT.panel.seats),
        mean_width=rounded(mean(widths)) if widths else None,
        is_all=len(cards) < LATEST,
    )


def _votes_of(
    seat: str, votes: Mapping[int, Mapping[str, Fraction]], discarded: Mapping[str, int]
) -> VoteRow:
    own = [cast[seat] for cast in votes.values() if seat in cast]
    beside = [
        abs(cast[seat] - median(cast.values()))
        for cast in votes.values()
        if seat in cast and len(cast) > 1
    ]
    return VoteRow(
        seat=seat,
        votes=len(own),
        mean=rounded(mean(own)) if own else None,
        deviation=rounded(mean(beside)) if beside else None,
        discarded=discarded.get(seat, 0),
    )
