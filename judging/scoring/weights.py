"""The weights that a challenge may carry: checked whole, with all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from bouts.rules import Judge
from judging.scoring.exact import HUNDRED, NotANumber, exact, plain
from judging.scoring.policy import WEIGHED, Policy

Weights = Mapping[Judge, Fraction]


@dataclass(frozen=True, slots=True)
class WeightFault:
    """One thing wrong with a set of weights. `field` is a judge, or "sum"."""

    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.field}: found {self.found}, expected {self.expected}"


class WeightsRefused(ValueError):
    """A set of weights breaks the rules; `faults` has every way in which it does."""

    def __init__(self, faults: tuple[WeightFault, ...]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


def checked_weights(given: Mapping[str, object], policy: Policy) -> Weights:
    """The weights of a challenge as exact numbers, in the order of the judges.

    Each of the four judges needs a number within its range, and the four sum to exactly
    100. Raises `WeightsRefused` with all faults.
    """
    faults = [
        WeightFault(name, repr(value), "no weight: only " + ", ".join(WEIGHED) + " have one")
        for name, value in given.items()
        if name not in WEIGHED
    ]
    weights: dict[Judge, Fraction] = {}
    for judge in WEIGHED:
        low, high = policy.weight_ranges[judge]
        expected = f"a number from {low} to {high}"
        if judge not in given:
            faults.append(WeightFault(judge, "nothing", expected))
            continue
        try:
            weights[judge] = exact(given[judge])
        except NotANumber:
            faults.append(WeightFault(judge, repr(given[judge]), expected))
            continue
        if not low <= weights[judge] <= high:
            faults.append(WeightFault(judge, plain(weights[judge], 4), expected))
    total = sum(weights.values())
    if len(weights) == len(WEIGHED) and total != HUNDRED:
        faults.append(WeightFault("sum", plain(Fraction(total), 4), "exactly 100"))
    if faults:
        raise WeightsRefused(tuple(faults))
    return MappingProxyType(weights)
