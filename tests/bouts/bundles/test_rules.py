"""The words that a manifest may use are those that the scoring policy gives a meaning."""

from __future__ import annotations

from bouts import rules
from judging.scoring import policy


def current() -> policy.Policy:
    return policy.POLICIES["2026.1"]


def test_judges_and_severities_are_the_policys() -> None:
    assert tuple(rules.Seat) == current().panel.seats


def test_weight_ranges_are_the_policys() -> None:
    theirs = {judge.value: bounds for judge, bounds in current().weight_ranges.items()}
    assert {judge.value: tuple(bounds) for judge, bounds in rules.WEIGHT_RANGES.items()} == theirs


def test_criteria_and_levels_are_the_policys() -> None:
    halves = current().halves
    theirs = {judge.value: criteria for judge, criteria in halves.rubrics.items()}
    assert {judge.value: criteria for judge, criteria in rules.CRITERIA.items()} == theirs
    assert (halves.lowest_level, halves.highest_level) == rules.LEVELS


def test_triggers_and_their_points_are_the_policys() -> None:
    theirs = {
        name: (trigger.points if trigger.gravest is None else trigger.gravest, trigger.points)
        for name, trigger in current().integrity.triggers.items()
    }
    assert {name: tuple(points) for name, points in rules.POINTS.items()} == theirs
