"""The time zone in which a person reads times: their own choice, else their browser's, else UTC."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "zone"  # what the browser says of itself; static/js/page.js sets it
UTC = "UTC"


@cache
def names() -> tuple[str, ...]:
    """Return the zones that can be chosen: those of places, and UTC."""
    areas = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")  # fmt: skip
    places = (name for name in available_timezones() if name.partition("/")[0] in areas)
    return (UTC, *sorted(places))


def zone_of(request: HttpRequest) -> str:
    """Return the name of a visitor's zone; one that we do not know is UTC."""
    user = getattr(request, "user", None)
    chosen = user.time_zone if user is not None and user.is_authenticated else ""
    name = chosen or request.COOKIES.get(COOKIE, "")
    return name if name in names() else UTC


class TimeZoneMiddleware:
    """Show every time of an answer in the visitor's zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(ZoneInfo(zone_of(request))):
            return self.get_response(request)
