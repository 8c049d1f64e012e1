"""One revision of a match's scorecard, at an address that never changes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from judging.sight import sight_of
from judging.views.match_detail import scorecard_page


@require_safe
def scorecard_detail(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    return scorecard_page(request, sight_of(request, slug, number))
