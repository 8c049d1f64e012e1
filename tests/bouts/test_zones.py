"""Times in the reader's zone, with the zone beside them; UTC where nobody says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from bouts import zones
from bouts.models import User
from bouts.templatetags.bouts import time_span, when

SUMMER = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)
ClientOf = Callable[[User], Client]


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "1 Jul 2026, 22:30 UTC"),
        ("Europe/Berlin", "2 Jul 2026, 00:30 CEST"),
        ("America/Sao_Paulo", "1 Jul 2026, 19:30 UTC-03"),
        ("Asia/Kathmandu", "2 Jul 2026, 04:15 UTC+0545"),
    ],
)
def test_a_time_is_shown_in_the_zone_that_it_names(zone: str, shown: str) -> None:
    with timezone.override(ZoneInfo(zone)):
        html = when(SUMMER)
        assert shown in html
        assert 'datetime="2026-07-01T22:30:00+00:00"' in html  # machines read the same anywhere
        assert shown.rpartition(" ")[2] in time_span(SUMMER, SUMMER)


@pytest.mark.django_db
def test_own_choice_comes_before_the_browsers_word(client_of: ClientOf, competitor: User) -> None:
    client = client_of(competitor)
    footer = "Times of {}"
    assert "All times UTC" in client.get("/account/").content.decode()
    client.cookies[zones.COOKIE] = "Asia/Tokyo"
    assert footer.format("Asia/Tokyo") in client.get("/account/").content.decode()
    answer = client.post("/account/time-zone/", {"time_zone": "Europe/Lisbon"}, follow=True)
    assert footer.format("Europe/Lisbon") in answer.content.decode()
    client.post("/account/time-zone/", {"time_zone": ""})
    assert footer.format("Asia/Tokyo") in client.get("/account/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "odd", ["", "Nowhere/Else", "../../etc/passwd", "localtime", "<b>", "\x00"]
)
def test_a_zone_that_is_none_is_utc(client_of: ClientOf, competitor: User, odd: str) -> None:
    client = client_of(competitor)
    client.cookies[zones.COOKIE] = odd
    assert "All times UTC" in client.get("/account/").content.decode()
    answer = client.post("/account/time-zone/", {"time_zone": odd}, follow=True)
    assert ("There is no such time zone" in answer.content.decode()) is bool(odd)
    competitor.refresh_from_db()
    assert competitor.time_zone == ""


def test_a_stranger_reads_utc_and_changes_nothing(db: None, client: Client) -> None:
    assert client.post("/account/time-zone/", {"time_zone": "Asia/Tokyo"}).status_code == 302
    assert "All times UTC" in client.get("/sign-in/").content.decode()
