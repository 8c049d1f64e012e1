"""Filters and tags that every template has: how values look on all pages.

Unknown is "n/a", a minus is a real minus, a time has its zone.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django import template
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString

from bouts import words

register = template.Library()

MINUS = "\N{MINUS SIGN}"
NOT_AVAILABLE = "n/a"
# As DjangoJSONEncoder writes a time.
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
UNITS = ("B", "kB", "MB", "GB", "TB")

Number = Decimal | int | float | str


def fixed(value: Number, places: int) -> str:
    """Return the number rounded half up, with a real minus and thousands apart: ``−1,234.50``."""
    # Through str: a float's own digits are meant, not its binary tail.
    number = Decimal(str(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{abs(number):,f}" if number >= 0 else f"{MINUS}{abs(number):,f}"


# Numbers


@register.filter
def score(value: Number | None, places: int = 2) -> str:
    """``76.26``: a score, a rate (with ``:4``) or any figure that is not an adjustment."""
    return NOT_AVAILABLE if value is None or value == "" else fixed(value, places)


@register.filter
def points(value: Number | None, places: int = 2) -> str:
    """``+3.00``, ``−5.00``, ``0.00``: what is added to a total; ``:0`` for a finding's ``−5``."""
    shown = score(value, places)
    is_gain = not shown.startswith(MINUS) and any(digit in shown for digit in "123456789")
    return f"+{shown}" if is_gain else shown


@register.filter
def plural(count: int, nouns: str) -> str:
    """``{{ 3|plural:"match,matches" }}`` is ``3 matches``; one noun takes an s."""
    one, _, many = nouns.partition(",")
    return f"{fixed(count, 0)} {one if count == 1 else many or one + 's'}"


@register.filter
def size(count: int | None) -> str:
    """``38.2 MB``: bytes in decimal units."""
    if count is None:
        return NOT_AVAILABLE
    step = min((len(str(abs(count))) - 1) // 3, len(UNITS) - 1)
    amount = Decimal(count) / 1000**step
    places = 1 if step and amount < 100 else 0
    return f"{fixed(amount, places)} {UNITS[step]}"


@register.simple_tag
def na(reason: str | None = None) -> SafeString:
    """``n/a`` with the words for its reason code: no value ever stands without one."""
    if not reason:
        return format_html('<span class="na">{}</span>', NOT_AVAILABLE)
    return format_html(
        '<span class="na">{} <span class="note">{}</span></span>', NOT_AVAILABLE, words.of(reason)
    )


# Times


def _moment(value: datetime | str | None) -> datetime | None:
    if isinstance(value, str):
        value = parse_datetime(value)
    if value is None or timezone.is_naive(value):
        return value
    return timezone.localtime(value)


def _day(moment: date) -> str:
    return f"{moment.day} {moment:%b %Y}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M}"


def _zone(moment: datetime) -> str:
    """``UTC``, ``CET``; a zone without a name of its own is told by its offset, ``UTC+03``."""
    name = moment.tzname() or ""
    return f"UTC{name}" if name[:1] in {"+", "-"} else name


@register.filter
def when(value: datetime | str | None, form: str = "") -> str:
    """``12 Mar 2026, 14:02 UTC`` in a time element; without the year where form is ``short``.

    In the visitor's zone (`bouts.zones`), with the zone. Takes a datetime or its ISO form, as
    JSON fields hold it. One without a zone, as some recordings have, is shown as it stands.
    """
    moment = _moment(value)
    if moment is None:
        return NOT_AVAILABLE
    day = f"{moment.day} {moment:%b}" if form == "short" else _day(moment)
    if timezone.is_naive(moment):
        return format_html(
            '<time datetime="{}">{}, {} (no zone stated)</time>',
            moment.isoformat(timespec="seconds"),
            day,
            _clock(moment),
        )
    return format_html(
        '<time datetime="{}">{}, {} {}</time>',
        moment.astimezone(UTC).isoformat(timespec="seconds"),
        day,
        _clock(moment),
        _zone(moment),
    )


@register.simple_tag
def time_span(start: datetime | str, end: datetime | str) -> SafeString:
    """``12 Mar 2026, 14:02–14:40 UTC``; both days where they differ."""
    first, last = _moment(start), _moment(end)
    day = "" if first.date() == last.date() else f"{_day(last)}, "
    return format_html(
        '<time datetime="{}">{}, {}</time>–<time datetime="{}">{}{} {}</time>',
        first.astimezone(UTC).isoformat(timespec="seconds"),
        _day(first),
        _clock(first),
        last.astimezone(UTC).isoformat(timespec="seconds"),
        day,
        _clock(last),
        _zone(last),
    )


@register.filter
def duration(value: timedelta | float | None) -> str:
    """``2.1 s``, ``46 s``, ``3 h 12 min``: seconds or a timedelta, in its two largest units."""
    if value is None:
        return NOT_AVAILABLE
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds < 0:
        return MINUS + duration(-seconds)
    if seconds < 9.95:
        return f"{fixed(seconds, 1).removesuffix('.0')} s"
    rest = round(seconds)
    parts = []
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, rest = divmod(rest, length)
        parts.append((amount, unit))
    first = next(at for at, (amount, _) in enumerate(parts) if amount)
    return " ".join(f"{amount} {unit}" for amount, unit in parts[first : first + 2] if amount)


@register.filter
def age(since: datetime, now: datetime) -> str:
    """How long ago a moment was: ``46 s``, ``3 h 12 min``."""
    return duration(now - since)


# Words


@register.filter
def said(code: str | None) -> str:
    """The words for a stored code: ``no_telemetry`` is "no telemetry"."""
    return words.of(code) if code else NOT_AVAILABLE


@register.filter
def plain(value: object) -> str:
    """A stored JSON value for people: yes and no, lists with commas, times as times."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, str) and TIME.fullmatch(value):
        return when(value)
    return str(value)


@register.simple_tag
def badge(code: str, text: str | None = None) -> SafeString:
    """A status: a shape and a word, never a colour alone. `text` replaces the usual words."""
    look = words.LOOKS.get(str(code), "")
    label = text or words.of(str(code))
    return format_html(
        '<span class="badge{}">{}</span>',
        f" is-{look}" if look else "",
        label[:1].upper() + label[1:],
    )


@register.filter
def kept(message: object) -> str:
    """The form whose draft a message says is saved; see `bouts.htmx.confirm_kept`."""
    tags = str(getattr(message, "extra_tags", None) or "")
    return tags.removeprefix("kept:") if tags.startswith("kept:") else ""
