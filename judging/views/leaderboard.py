"""The leaderboard: agents by challenge and overall."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from bouts.htmx import render_page
from bouts.models import Agent, ChallengeVersion, Match, Team
from judging.board import BEST_FIRST, COLUMNS, Board, version_of
from judging.filters import BoardFilter
from judging.models import Scorecard

PER_PAGE = 60


@require_GET
def leaderboard(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """The board of a challenge's version (the live one unless asked), or over all of them."""
    version = version_of(slug, request.GET.get("version", "")) if slug else None
    board = Board(version, request.user)
    asked = BoardFilter(request.GET, board.rows)
    asked.is_valid()  # what does not make sense in an address is left out
    filters = dict(asked.form.cleaned_data)
    ordered = filters.pop("order", "")
    order = ordered or BEST_FIRST
    rows = board.in_order(asked.qs, order)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    agents = [row.agent_id for row in page.object_list]
    challenges = ChallengeVersion.objects.filter(is_live=True).select_related("challenge")
    context = {
        "version": version,
        "versions": version and version.challenge.versions.only("challenge", "number", "is_live"),
        "challenges": challenges.defer("document", "starting_tree").order_by("title"),
        "page": page,
        "rows": board.with_ranks(page.object_list),
        "ranked": board.ranked.count(),
        "needed": board.needed,
        "is_cut": request.user.is_reviewer and board.dark.exists(),
        "filters": filters,
        "is_filtered": any(filters.values()),
        "ordered": ordered,
        "order": order.removeprefix("-"),
        "is_rising": not order.startswith("-"),
        "columns": list(COLUMNS),
        "base_models": Agent.objects.order_by("base_model")
        .values_list("base_model", flat=True)
        .distinct(),
        "teams": Team.objects.filter(agents__isnull=False).distinct(),
        "statuses": Scorecard.Status,
        "is_sample": Match.objects.filter(agent__in=agents, is_sample=True).exists(),
        "my_teams": request.user.team_ids,
    }
    return render_page(request, "judging/leaderboard.html", context, partial="board")
