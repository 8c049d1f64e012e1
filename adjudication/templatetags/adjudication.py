"""How the exact scores of reviewers and seats look on pages."""

from __future__ import annotations

from fractions import Fraction

from django import template

from bouts.templatetags.bouts import NOT_AVAILABLE
from judging.scoring.exact import score_text

register = template.Library()


@register.filter
def exact_score(value: Fraction | None) -> str:
    """``64.29``: an exact score as it is shown."""
    return score_text(value) or NOT_AVAILABLE
