"""How the exact scores of reviewers and seats look on pages."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

from django import template

from adjudication.queue import spoken
from bouts.templatetags.bouts import NOT_AVAILABLE
from judging.scoring.exact import score_text

register = template.Library()


@register.filter
def exact_score(value: Fraction | None) -> str:
    """``64.29``: an exact score as it is shown."""
    return score_text(value) or NOT_AVAILABLE


@register.filter
def length_of(value: timedelta | None) -> str:
    """``11 h 25 min``: a length of time, or that there is none."""
    if value is not None and timedelta(0) < value < timedelta(minutes=1):
        return "under 1 min"
    return NOT_AVAILABLE if value is None else spoken(value)
