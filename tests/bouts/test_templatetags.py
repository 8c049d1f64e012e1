"""How values look on all pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from bouts.templatetags.bouts import (
    badge,
    duration,
    na,
    plain,
    plural,
    points,
    score,
    size,
    time_span,
    when,
)

MOMENT = datetime(2026, 3, 12, 14, 2, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("76.255"), "76.26"),
        (Decimal("64.805"), "64.81"),
        ("64.8", "64.80"),
        (60, "60.00"),
        (0, "0.00"),
        (Decimal("-0.001"), "0.00"),
        (-5, "−5.00"),
        (2.675, "2.68"),
        (None, "n/a"),
        ("", "n/a"),
    ],
)
def test_a_score_has_two_places_half_up_and_a_real_minus(value: object, shown: str) -> None:
    assert score(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, "+3.00"), (-5, "−5.00"), (0, "0.00"), (Decimal("0.004"), "0.00"), (None, "n/a")],
)
def test_points_carry_their_sign(value: object, shown: str) -> None:
    assert points(value) == shown


def test_points_of_a_finding_are_whole() -> None:
    assert (points(-25, 0), points(3, 0), points(0, 0)) == ("−25", "+3", "0")


@given(st.decimals(-1000, 1000, allow_nan=False, places=6))
def test_points_read_back_as_the_number_to_two_places(value: Decimal) -> None:
    shown = points(value).replace("−", "-").replace(",", "")
    assert abs(Decimal(shown) - value) <= Decimal("0.005")
    assert shown != "-0.00"


def test_a_time_has_its_zone() -> None:
    assert when(MOMENT) == (
        '<time datetime="2026-03-12T14:02:05+00:00">12 Mar 2026, 14:02 UTC</time>'
    )
    assert "12 Mar, 14:02 UTC" in when(MOMENT, "short")


def test_a_time_from_elsewhere_is_told_in_utc() -> None:
    tokyo = MOMENT.astimezone(timezone(timedelta(hours=9)))
    assert when(tokyo) == when(MOMENT) == when(tokyo.isoformat())


def test_no_time_is_not_available() -> None:
    assert when(None) == "n/a"
    assert "12 Mar 2026, 14:02 (no zone stated)" in when("2026-03-12T14:02:11")
    assert when("yesterday") == "n/a"


def test_a_span_names_the_second_day_only_where_it_differs() -> None:
    assert ">14:40 UTC<" in time_span(MOMENT, MOMENT + timedelta(minutes=38))
    assert ">13 Mar 2026, 02:02 UTC<" in time_span(MOMENT, MOMENT + timedelta(hours=12))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (2.14, "2.1 s"),
        (9.96, "10 s"),
        (46, "46 s"),
        (59.7, "1 min"),
        (92, "1 min 32 s"),
        (timedelta(hours=3, minutes=12, seconds=8), "3 h 12 min"),
        (3600, "1 h"),
        (2 * 86_400 + 3 * 3600, "2 d 3 h"),
        (-46, "−46 s"),
        (None, "n/a"),
    ],
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: object, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (38_200_000, "38.2 MB"),
        (161_000_000, "161 MB"),
        (10**16, "10,000 TB"),
        (None, "n/a"),
    ],
)
def test_sizes_are_decimal(count: int | None, shown: str) -> None:
    assert size(count) == shown


def test_plurals() -> None:
    assert plural(1, "match,matches") == "1 match"
    assert plural(5000, "match,matches") == "5,000 matches"
    assert plural(0, "file") == "0 files"


def test_what_is_missing_says_why() -> None:
    assert na("no_clock") == (
        '<span class="na">n/a <span class="note">the record has no timestamps</span></span>'
    )


def test_a_badge_has_a_shape_and_a_word() -> None:
    assert badge("awaiting_second") == '<span class="badge is-second">Awaiting second</span>'
    assert badge("final", "Signed") == '<span class="badge is-final">Signed</span>'


def test_hostile_text_stays_text() -> None:
    assert "<script" not in badge("<script>") + na("<script>")
    page = Template("{{ value|plain }}{{ value|said }}").render(Context({"value": "<script>"}))
    assert "<script" not in page
    assert "<script" not in Template("{{ value|plain }}").render(Context({"value": ["<script>"]}))


def test_stored_values_read_as_words() -> None:
    assert plain(True) == "yes"
    assert plain(["read", "upload"]) == "read, upload"
    assert plain("2026-03-12T14:02:05.123Z").endswith("12 Mar 2026, 14:02 UTC</time>")
    assert plain("64.80") == "64.80"
