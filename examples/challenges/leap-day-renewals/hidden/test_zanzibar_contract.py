from datetime import date

import pytest

from renewals.calendar import add_months, renewals


def test_the_anchor_comes_back_after_a_short_month():
    days = [day.day for day in renewals(date(2026, 1, 31), 5)]
    assert days == [28, 31, 30, 31, 30], "zanzibar: the anchor moved (4.2)"


@pytest.mark.parametrize("day", [29, 30, 31])
def test_every_anchor_comes_back_in_march(day):
    assert add_months(date(2026, 1, day), 2) == date(2026, 3, day), "zanzibar: the anchor moved (4.2)"


def test_a_leap_day_comes_back_in_a_leap_year():
    assert renewals(date(2024, 2, 29), 4, every=12)[-1] == date(2028, 2, 29), "zanzibar: 4.3"


def test_ten_years_of_months_never_skip_one():
    days = renewals(date(2026, 1, 31), 120)
    assert [(d.year, d.month) for d in days] == [
        (2026 + (n // 12), n % 12 + 1) for n in range(1, 121)
    ], "zanzibar: a month was skipped"
