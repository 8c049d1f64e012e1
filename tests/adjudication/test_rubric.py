from __future__ import annotations

import pytest

from bouts.rules import CRITERIA, LEVELS, Judge
from judging.rubrics import rubric
from judging.scoring.policy import POLICIES


@pytest.mark.parametrize("version", POLICIES)
def test_every_level_of_every_criterion_has_its_words(version: str) -> None:
    words = rubric("strategy", version)
    assert tuple(criterion.name for criterion in words.criteria) == CRITERIA[Judge.STRATEGY]
    for criterion in words.criteria:
        numbers = [level.number for level in criterion.levels]
        assert numbers == list(range(LEVELS.lowest, LEVELS.highest + 1))
        assert all(level.short and level.behaviour.endswith(".") for level in criterion.levels)
        assert criterion.question.endswith("?")


def test_no_words_are_used_for_two_levels() -> None:
    levels = [
        level for criterion in rubric("strategy", "2026.1").criteria for level in criterion.levels
    ]
    assert len({level.short for level in levels}) == len(levels) == 35
