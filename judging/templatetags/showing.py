"""Filters for what strangers wrote; see `judging.showing.inert`."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from bouts.evidence import EventPlace, JsonPlace, LinesPlace
from judging.showing import inert as showing
from judging.showing import words
from judging.showing.addresses import Addresses
from judging.spending import dollars

register = template.Library()

register.filter("inert", showing.on_one_line)
register.filter("plain", showing.plain)
register.filter("coloured", showing.coloured)
register.filter("heading", words.title)
register.filter("dollars", dollars)


@register.filter
def seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.1f}"


@register.filter
def mark_of(outcome: str) -> str:
    """The sign of a test's outcome; its word stands beside it."""
    return words.OUTCOMES.get(outcome, "?")


@register.filter
def counted(counts: Mapping[str, int]) -> list[str]:
    """What a reader counted, the most first; PostgreSQL keeps no order of its own."""
    most_first = sorted((counts or {}).items(), key=lambda item: (-item[1], item[0]))
    return [f"{name.replace('_', ' ')} {count:,}" for name, count in most_first]


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
