from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from judging.charts.waterfall import Step, waterfall
from judging.scoring.policy import CURRENT

points = st.decimals(-25, 45, places=2)


def place(text: str) -> float:
    assert text.endswith("%")
    return float(text.removesuffix("%"))


@given(st.lists(points, min_size=1, max_size=12))
def test_every_bar_lies_within_the_picture_and_ends_where_the_next_begins(
    steps: list[Decimal],
) -> None:
    total = min(max(sum(steps), Decimal(0)), Decimal(100))
    picture = waterfall(
        [Step(f"row {at}", value) for at, value in enumerate(steps)], total, CURRENT.bands, "", None
    )
    running = Decimal(0)
    for bar, value in zip(picture.bars, steps, strict=True):
        running += value
        assert 0 <= place(bar.x) <= 100
        assert place(bar.x) + place(bar.width) <= 100.011
        assert abs(place(bar.end) - float(min(max(running, Decimal(0)), Decimal(100)))) < 0.011
    assert abs(place(picture.total_x) - float(total)) < 0.011


def test_losses_gains_and_what_is_open_look_different() -> None:
    picture = waterfall(
        [
            Step("Objective", Decimal("40"), is_judge=True),
            Step("Strategy", Decimal("10"), is_judge=True, is_open=True),
            Step("Bonus", Decimal("3")),
            Step("Penalty", Decimal("-5")),
        ],
        Decimal("48"),
        CURRENT.bands,
        "struggling",
        (Decimal("44"), Decimal("52")),
    )
    assert [bar.look for bar in picture.bars] == ["bar", "bar-open", "bar-soft", "minus"]
    assert (picture.range_x, picture.range_width) == ("44%", "8%")
    assert picture.text == (
        "Waterfall from the judges to the total: Objective 40, Strategy 10, Bonus 3, Penalty "
        "minus 5; total 48. Open range 44 to 52."
    )
    assert [band.name for band in picture.bands if band.is_own] == ["struggling"]
