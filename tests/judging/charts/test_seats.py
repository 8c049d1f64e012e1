from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from judging.charts.seats import NEAR_FIGURES, NEAR_MARKS, Vote, seat_scale

scores = st.lists(st.decimals(0, 100, places=2), min_size=1, max_size=3).map(sorted)


@given(scores)
def test_no_two_marks_and_no_two_figures_cover_each_other(votes: list[Decimal]) -> None:
    scale = seat_scale([Vote("ABC"[at], score) for at, score in enumerate(votes)], 15)
    for at, one in enumerate(scale.marks):
        for other in scale.marks[at + 1 :]:
            apart = other.score - one.score
            assert apart >= NEAR_MARKS or one.y != other.y
            assert apart >= NEAR_FIGURES or one.y_figure != other.y_figure


def test_each_band_reaches_up_from_its_seat_and_stays_on_the_scale() -> None:
    scale = seat_scale([Vote("A", Decimal("57.14")), Vote("B", Decimal("92.86"))], 15)
    assert [(mark.x, mark.band_width, mark.band_end) for mark in scale.marks] == [
        ("57.14%", "15%", "72.14%"),
        ("92.86%", "7.14%", ""),
    ]
    assert scale.gaps[0].points == Decimal("35.72")
    assert scale.text == (
        "Seats A 57.14, B 92.86. Each band reaches 15 points up from a seat; gaps 35.72."
    )
