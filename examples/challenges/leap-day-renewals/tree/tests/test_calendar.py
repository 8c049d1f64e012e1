from datetime import date

import pytest

from renewals.calendar import add_months, due_at, renewals


def test_most_months_have_the_day():
    assert renewals(date(2026, 1, 15), 2) == [date(2026, 2, 15), date(2026, 3, 15)]


def test_a_short_month_renews_on_its_last_day():
    assert add_months(date(2026, 1, 31), 1) == date(2026, 2, 28)
    assert add_months(date(2028, 1, 31), 1) == date(2028, 2, 29)


def test_a_year_ends():
    assert add_months(date(2026, 11, 30), 3) == date(2027, 2, 28)


def test_a_leap_day_renews_every_year():
    assert renewals(date(2024, 2, 29), 2, every=12) == [date(2025, 2, 28), date(2026, 2, 28)]


def test_nothing_renews_in_the_past():
    with pytest.raises(ValueError):
        add_months(date(2026, 1, 1), -1)


def test_due_at_the_start_of_the_customers_day():
    assert due_at(date(2026, 3, 31), "Europe/Oslo").isoformat() == "2026-03-31T00:00:00+02:00"
