"""How far agents of one base model lie apart: by all judges, and by Objective alone.

A competition of agents that share a base model ranks little if all of them come out alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from judging.models import Scorecard
from judging.scoring.exact import clamp, mean

FEWEST = 2  # matches, for there is no spread of one


@dataclass(frozen=True, slots=True)
class Spread:
    """Scores of some matches, 0 to 100: lowest, highest, and their standard deviation."""

    lowest: Fraction
    highest: Fraction
    deviation: float
    different: int  # scores that differ when rounded to two places, as a board shows them

    @classmethod
    def of(cls, scores: Sequence[Fraction]) -> Spread:
        middle = mean(list(scores))
        squares = sum((score - middle) ** 2 for score in scores)
        return cls(
            lowest=min(scores),
            highest=max(scores),
            deviation=sqrt(squares / (len(scores) - 1)),
            different=len({round(score, 2) for score in scores}),
        )

    @property
    def width(self) -> Fraction:
        return self.highest - self.lowest


@dataclass(frozen=True, slots=True)
class Row:
    """The matches of one base model on one challenge."""

    challenge: str
    base_model: str
    matches: int
    total: Spread
    objective: Spread


def rows(*, samples_only: bool) -> Iterator[Row]:
    """Yield a row for each challenge and base model that has two matches with a total."""
    cards = Scorecard.objects.live().exclude(value=None).exclude(objective=None)
    if samples_only:
        cards = cards.filter(match__is_sample=True)
    groups: dict[tuple[str, str], list[tuple[Fraction, Fraction]]] = defaultdict(list)
    fields = ("match__challenge__slug", "match__agent__base_model", "value", "objective")
    for challenge, model, value, objective in cards.values_list(*fields).order_by("pk"):
        groups[challenge, model].append((clamp(value), objective))
    for (challenge, model), scores in sorted(groups.items()):
        if len(scores) >= FEWEST:
            totals, objectives = zip(*scores, strict=True)
            yield Row(challenge, model, len(scores), Spread.of(totals), Spread.of(objectives))
