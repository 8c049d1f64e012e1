"""Filters for what strangers wrote; see `judging.showing.inert`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from django import template

from bouts.evidence import EventPlace, JsonPlace, LinesPlace
from bouts.templatetags.bouts import NOT_AVAILABLE, score
from judging.scoring.exact import rounded, score_text
from judging.showing import inert as showing
from judging.showing import words
from judging.showing.addresses import Addresses
from judging.sight import Sight
from judging.spending import dollars

register = template.Library()

register.filter("inert", showing.on_one_line)
register.filter("plain", showing.plain)
register.filter("coloured", showing.coloured)
register.filter("heading", words.title)
register.filter("event_numbers", words.event_numbers)
register.filter("dollars", dollars)


@register.filter
def seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.1f}"


@register.filter
def share(value: Decimal | None) -> str:
    """``33.3%``: a share of 1; of nothing there is none."""
    return NOT_AVAILABLE if value is None else f"{rounded(100 * Fraction(value), 1)}%"


@register.filter
def mark_of(outcome: str) -> str:
    """The sign of a test's outcome; its word stands beside it."""
    return words.OUTCOMES.get(outcome, "?")


@register.filter
def counted(counts: Mapping[str, int]) -> list[str]:
    """What a reader counted, the most first; PostgreSQL keeps no order of its own."""
    most_first = sorted((counts or {}).items(), key=lambda item: (-item[1], item[0]))
    return [f"{name.replace('_', ' ')} {count:,}" for name, count in most_first]


@register.filter
def exact_score(value: Fraction | None) -> str:
    """An exact score as it is shown: two places, or "n/a"."""
    return score(score_text(value))


@register.simple_tag
def evidence_place(addresses: Addresses, digest: str, seq: int) -> str:
    """The address of an event of a telemetry file."""
    return addresses.place(digest, EventPlace(seq))


@register.simple_tag
def evidence_record(addresses: Addresses, digest: str, pointer: str) -> str:
    """The address of a record of a JSON file, as the tool wrote it."""
    return addresses.place(digest, JsonPlace(pointer))


@register.simple_tag
def evidence_lines(addresses: Addresses, digest: str, lines: tuple[int, int]) -> str:
    """The address of some lines of a file."""
    return addresses.place(digest, LinesPlace(*lines))


@register.filter
def ratio(value: Fraction | None, places: int = 4) -> str:
    """A rate or a coefficient; one that the data do not define is "undefined", never 0 or 1."""
    return "undefined" if value is None else score(rounded(value, places), places)


@register.simple_tag
def lane_page(sight: Sight) -> str:
    """The address of the timeline of a match that is compared."""
    return sight.pages.tab("timeline_detail")


@register.simple_tag
def lane_event(sight: Sight, seq: int) -> str:
    """The address of an event in the timeline of a match that is compared."""
    return f"{sight.pages.tab('timeline_detail', at=seq)}#e-{seq}"


@register.simple_tag
def file_address(addresses: Addresses, digest: str) -> str:
    """The address of a file, without what a form adds to it."""
    return addresses.artifact(digest).partition("?")[0]


@register.simple_tag
def line_base(addresses: Addresses, digest: str) -> str:
    """The address of a line of a file, up to its number."""
    address = addresses.artifact(digest)
    return f"{address}{'&' if '?' in address else '?'}at=line:"


@register.simple_tag
def found_from(addresses: Addresses, digest: str, wanted: str, line: int) -> str:
    """The address of what a search finds in a file from a line on."""
    return addresses.artifact(digest, **{"find": wanted, "from": line})
