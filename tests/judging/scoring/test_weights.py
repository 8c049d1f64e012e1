"""A challenge's weights: refused unless each is in its range and all sum to exactly 100."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given

from bouts.rules import Judge
from judging.scoring.policy import CURRENT
from judging.scoring.weights import WeightsRefused, checked_weights

from .making import bounded, weight_sets

GOOD = {"objective": 45, "process": 20, "strategy": 20, "recovery": 15}


def faults_of(weights: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    with pytest.raises(WeightsRefused) as refused:
        checked_weights(weights, CURRENT)
    return {fault.field: (fault.found, fault.expected) for fault in refused.value.faults}


def test_weights_within_their_ranges_that_sum_to_100_are_taken() -> None:
    assert checked_weights(GOOD, CURRENT) == CURRENT.weights


def test_the_order_of_the_weights_is_that_of_the_judges() -> None:
    assert list(checked_weights(dict(reversed(GOOD.items())), CURRENT)) == list(CURRENT.weights)


@bounded
@given(weight_sets())
def test_every_set_within_the_rules_is_taken(weights: Mapping[Judge, Fraction]) -> None:
    assert checked_weights(weights, CURRENT) == weights


def test_fractions_of_a_weight_are_exact() -> None:
    weights = {**GOOD, "objective": Decimal("47.5"), "process": 17.5}
    assert checked_weights(weights, CURRENT)[Judge.PROCESS] == Fraction(35, 2)


def test_weights_that_sum_to_95_are_refused_with_the_sum() -> None:
    assert faults_of({**GOOD, "objective": 40}) == {"sum": ("95", "exactly 100")}


def test_weights_that_sum_to_almost_100_are_refused() -> None:
    assert faults_of({**GOOD, "objective": Decimal("45.0001")})["sum"][0] == "100.0001"


def test_all_faults_are_told_at_once() -> None:
    assert faults_of(
        {"objective": 60, "process": "20", "strategy": True, "luck": 5, "recovery": 15}
    ) == {
        "objective": ("60", "a number from 40 to 55"),
        "process": ("'20'", "a number from 15 to 20"),
        "strategy": ("True", "a number from 15 to 20"),
        "luck": ("5", "no weight: only objective, process, strategy, recovery have one"),
    }


def test_a_missing_weight_is_named() -> None:
    assert faults_of({"objective": 45, "process": 20, "strategy": 20}) == {
        "recovery": ("nothing", "a number from 10 to 15")
    }


def test_integrity_has_no_weight() -> None:
    assert "integrity" in faults_of({**GOOD, "integrity": 10})


def test_a_weight_that_is_no_finite_number_is_refused() -> None:
    assert "objective" in faults_of({**GOOD, "objective": float("nan")})


def test_a_fault_says_what_was_found_and_what_was_expected() -> None:
    with pytest.raises(WeightsRefused, match="sum: found 95, expected exactly 100"):
        checked_weights({**GOOD, "objective": 40}, CURRENT)
