"""What an agent's scorecards add up to, and the row of a board that this makes.

Sums of some cards and sums of others add up to those of all, exactly. So a board's row can be
made of sums that are kept (`judging.subtotals`), and equals one made of the cards themselves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any, Self

from bouts.fields import as_decimal
from bouts.models import ChallengeVersion
from judging.models import Scorecard
from judging.scoring import bootstrap
from judging.scoring.exact import clamp, mean, rounded, total
from judging.scoring.policy import WEIGHED

JUDGES = tuple(judge.value for judge in WEIGHED)

# Marks of a match that its row on the board carries too.
ROW_MARKS = ("flagged", "reduced", "reduced_evidence")
OFF_BOARD = ("held", "incomplete")

FIGURES: Mapping[str, Callable[[Scorecard], Fraction | None]] = {
    "value": lambda card: card.value,
    "total": lambda card: clamp(card.value),
    "low": lambda card: card.value if card.low is None else card.low,
    "high": lambda card: card.value if card.high is None else card.high,
    "adjustment": lambda card: Fraction(card.adjustment),
    "objective": lambda card: card.objective,
    "process": lambda card: card.process,
    "strategy": lambda card: card.strategy,
    "recovery": lambda card: card.recovery,
}

Triggers = Mapping[int, Sequence[str]]  # of applied findings, by bundle
Row = dict[str, Any]  # the columns of a `Standing`


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of some cards: the sum and number of those that have it, and its extremes."""

    sum: Fraction
    number: int
    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, values: Sequence[Fraction]) -> Self:
        return cls(total(values), len(values), min(values), max(values))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        return cls(
            total([part.sum for part in parts]),
            sum(part.number for part in parts),
            min(part.low for part in parts),
            max(part.high for part in parts),
        )

    @property
    def mean(self) -> Fraction:
        return self.sum / self.number


@dataclass(frozen=True, slots=True)
class Sums:
    """What some scorecards add up to. Figures, triggers and spread are of the ranked ones."""

    cards: int = 0
    ranked: int = 0
    statuses: frozenset[str] = frozenset()
    ranked_statuses: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()  # of `ROW_MARKS`
    off_board: frozenset[str] = frozenset()  # of all: marks of `OFF_BOARD`, and exclusions
    triggers: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)  # where any card has one

    @classmethod
    def of(cls, cards: Sequence[Scorecard], triggers: Triggers) -> Self:
        ranked = [card for card in cards if counts(card)]
        known = {
            name: [value for card in ranked if (value := read(card)) is not None]
            for name, read in FIGURES.items()
        }
        marks = set(chain.from_iterable(card.marks for card in cards))
        return cls(
            cards=len(cards),
            ranked=len(ranked),
            statuses=frozenset(card.status for card in cards),
            ranked_statuses=frozenset(card.status for card in ranked),
            marks=frozenset(chain.from_iterable(card.marks for card in ranked)) & set(ROW_MARKS),
            off_board=frozenset(marks & set(OFF_BOARD) | {card.match.exclusion for card in cards}),
            triggers=Counter(
                chain.from_iterable(triggers.get(card.bundle_id, ()) for card in ranked)
            ),
            figures={name: Figure.of(values) for name, values in known.items() if values},
        )

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        parts = list(parts)
        figures: dict[str, list[Figure]] = defaultdict(list)
        triggers: Counter[str] = Counter()
        for part in parts:
            triggers.update(part.triggers)
            for name, figure in part.figures.items():
                figures[name].append(figure)
        return cls(
            cards=sum(part.cards for part in parts),
            ranked=sum(part.ranked for part in parts),
            statuses=_union(part.statuses for part in parts),
            ranked_statuses=_union(part.ranked_statuses for part in parts),
            marks=_union(part.marks for part in parts),
            off_board=_union(part.off_board for part in parts),
            triggers=triggers,
            figures={name: Figure.joined(found) for name, found in figures.items()},
        )

    def kept(self) -> dict[str, Any]:
        """Return what `read` makes them of again: JSON, with exact numbers as text."""
        texts = {
            name: [str(one.sum), one.number, str(one.low), str(one.high)]
            for name, one in self.figures.items()
        }
        sets = {name: sorted(getattr(self, name)) for name in SETS}
        numbers = {"cards": self.cards, "ranked": self.ranked}
        return {**numbers, **sets, "triggers": dict(self.triggers), "figures": texts}

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        figures = {
            name: Figure(Fraction(whole), number, Fraction(low), Fraction(high))
            for name, (whole, number, low, high) in kept["figures"].items()
        }
        return cls(**{**kept, **{name: frozenset(kept[name]) for name in SETS}, "figures": figures})

    @property
    def value(self) -> Fraction | None:
        """The exact mean by which a board is ordered."""
        return self.figures["value"].mean if "value" in self.figures else None


SETS = ("statuses", "ranked_statuses", "marks", "off_board")


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return reduce(or_, sets, frozenset())


def counts(card: Scorecard) -> bool:
    """Whether a card counts on a board: it is ranked, and its match is not taken off."""
    return card.is_ranked and not card.match.exclusion


def by_version(cards: Iterable[Scorecard], triggers: Triggers) -> dict[ChallengeVersion, Sums]:
    found: dict[ChallengeVersion, list[Scorecard]] = defaultdict(list)
    for card in cards:
        found[card.challenge_version].append(card)
    return {version: Sums.of(here, triggers) for version, here in found.items()}


def row_on(sums: Sums) -> Row:
    """Return the row that an agent's cards on one challenge version make."""
    means = {name: _mean([sums], name) for name in FIGURES}
    return {
        **_counted(sums),
        "challenges": 1,
        "interval_low": None,
        "interval_high": None,
        **_columns(means),
    }


def row_over(on: Mapping[ChallengeVersion, Sums]) -> Row | None:
    """Return the row over some live versions: the mean of the means. None without any."""
    if not on:
        return None
    scores = {
        str(version.challenge_id): sums.value
        for version, sums in on.items()
        if sums.value is not None
    }
    sure = bootstrap.interval(scores)
    return {
        **_counted(Sums.joined(on.values())),
        "challenges": len(scores),
        "interval_low": sure and rounded(sure.low),
        "interval_high": sure and rounded(sure.high),
        **_columns({name: _mean(on.values(), name) for name in FIGURES}),
    }


def _counted(sums: Sums) -> Row:
    """Return what a row says of its matches beside their means."""
    return {
        "matches": sums.cards,
        "ranked_matches": sums.ranked,
        "status": least_settled(sums.ranked_statuses or sums.statuses),
        "marks": _marks(sums),
        "spread": {
            judge: [str(rounded(figure.low)), str(rounded(figure.high))]
            for judge in JUDGES
            # Of one match there is no spread.
            if (figure := sums.figures.get(judge)) and figure.number > 1
        },
        "triggers": dict(sorted(sums.triggers.items())),
        "awaits_band": False,
    }


def _marks(sums: Sums) -> list[str]:
    """Return a row's marks; where no match is ranked, what keeps it off the board too."""
    marks = [mark for mark in ROW_MARKS if mark in sums.marks]
    if not sums.ranked:
        marks += [mark for mark in OFF_BOARD if mark in sums.off_board]
        marks += sorted(sums.off_board - {*OFF_BOARD, ""})
    return marks


def _mean(parts: Iterable[Sums], name: str) -> Fraction | None:
    known = [part.figures[name].mean for part in parts if name in part.figures]
    return mean(known) if known else None


def _columns(means: Mapping[str, Fraction | None]) -> dict[str, Decimal | None]:
    """Return the columns of a row: two places each, and the value as the board is ordered by it."""
    columns = {name: None if one is None else rounded(one) for name, one in means.items()}
    return {**columns, "value": as_decimal(means["value"]), "rounded": columns["value"]}


def least_settled(statuses: Iterable[str]) -> str:
    """Return the status that stands for all: what is least settled comes first."""
    order = ("pending", "provisional", "final", "unscored", "failed")
    return min(statuses, key=order.index)
