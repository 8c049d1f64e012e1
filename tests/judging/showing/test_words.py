"""The words of the breakdown."""

from __future__ import annotations

import pytest

from judging.rubrics import rubric, title_of
from judging.scoring.policy import CURRENT, WEIGHED
from judging.showing.words import event_numbers


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((), ""),
        ((4,), "#4"),
        ((3, 5, 6, 7, 8), "#3, #5–8"),
        ((1, 2, 4), "#1–2, #4"),
        ((1, 3, 5, 7, 9), "#1, #3, #5, #7 and others"),
    ],
)
def test_event_numbers_that_follow_each_other_are_said_as_one(
    numbers: tuple[int, ...], said: str
) -> None:
    assert event_numbers(numbers) == said


def test_a_criterion_is_called_as_in_its_rubric() -> None:
    for judge in WEIGHED[1:]:
        for criterion in rubric(judge, CURRENT.version).criteria:
            assert title_of(judge, CURRENT.version, criterion.name) == criterion.title
