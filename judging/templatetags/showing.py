"""Filters for what strangers wrote; see `judging.showing.inert`."""

from __future__ import annotations

from django import template

from judging.showing import inert as showing
from judging.showing import words

register = template.Library()

register.filter("inert", showing.on_one_line)
register.filter("plain", showing.plain)
register.filter("coloured", showing.coloured)
register.filter("heading", words.title)


@register.filter
def mark_of(outcome: str) -> str:
    """The sign of a test's outcome; its word stands beside it."""
    return words.OUTCOMES.get(outcome, "?")


@register.filter
def minus(text: str) -> str:
    """A line that scoring wrote, with a capital and real minus signs."""
    return words.sentence(text)
