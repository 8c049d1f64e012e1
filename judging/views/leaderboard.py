"""The leaderboard: agents by challenge and overall."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from bouts.htmx import render_page
from bouts.models import Agent, ChallengeVersion, Team
from judging import board, standings
from judging.models import Scorecard

PER_PAGE = 60


@require_GET
def leaderboard(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """The board of a challenge's version (the live one unless asked), or over all of them."""
    version = _version(slug, request.GET.get("version", "")) if slug else None
    asked = request.GET.get("order", "total")
    order = asked.removeprefix("-") if asked.removeprefix("-") in board.COLUMNS else "total"
    filters = {
        "query": request.GET.get("q", "").strip(),
        "base_model": request.GET.get("base", ""),
        "team": request.GET.get("team", ""),
        "status": request.GET.get("status", ""),
    }
    rows = board.standings_of(version, order=order, is_ascending=asked.startswith("-"), **filters)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "version": version,
        "challenges": ChallengeVersion.objects.filter(is_live=True)
        .select_related("challenge")
        .order_by("title"),
        "page": page,
        "rows": board.ranked(page.object_list, version),
        "ranked": standings.ranked_rows(version).count(),
        "needed": None if version else standings.challenges_needed(),
        "filters": filters,
        "is_filtered": any(filters.values()),
        "order": order,
        "is_ascending": asked.startswith("-"),
        "columns": [name for name in board.COLUMNS if name != "matches"],
        "base_models": Agent.objects.order_by("base_model")
        .values_list("base_model", flat=True)
        .distinct(),
        "teams": Team.objects.filter(agents__isnull=False).distinct(),
        "statuses": [Scorecard.Status.FINAL, Scorecard.Status.PROVISIONAL],
        "is_sample": any(
            Scorecard.objects.filter(match__is_sample=True).values_list("pk", flat=True)[:1]
        ),
        "my_teams": request.user.team_ids,
    }
    return render_page(request, "judging/leaderboard.html", context, partial="board")


def _version(slug: str, number: str) -> ChallengeVersion:
    versions = ChallengeVersion.objects.select_related("challenge").filter(challenge__slug=slug)
    if number.isdecimal() and len(number) < 9:
        return get_object_or_404(versions, number=int(number))
    return get_object_or_404(versions, is_live=True)
