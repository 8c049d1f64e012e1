"""The leaderboard: agents by challenge, by family, in a window of time, and overall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.htmx import render_page
from bouts.models import Agent, ChallengeVersion, Match, Team
from judging import exports
from judging.board import BEST_FIRST, COLUMNS, Board, BoardRow, board_of, version_of
from judging.filters import BoardFilter
from judging.models import Scorecard, Standing
from judging.narrow import WINDOWS
from judging.scoring import bootstrap
from judging.sums import JUDGES

PER_PAGE = 60
FILE_CHUNK = 500  # rows of a file that get their ranks together


@require_safe
def leaderboard(request: HttpRequest, slug: str | None = None, kind: str = "") -> HttpResponse:
    """The board of a challenge's version (the live one unless asked), or over all of them.

    As a file of a ``kind`` it holds every row that fits the filters.
    """
    version = version_of(slug, request.GET.get("version", "")) if slug else None
    board = board_of(version, request.user, request.GET)
    asked = BoardFilter(request.GET, board.rows)
    asked.is_valid()  # what does not make sense in an address is left out
    filters = dict(asked.form.cleaned_data)
    ordered = filters.pop("order", "")
    order = ordered or BEST_FIRST
    rows = board.in_order(asked.qs, order)
    if kind:
        return exports.answer(_table(board, rows), kind)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    agents = [row.agent_id for row in page.object_list]
    live = ChallengeVersion.objects.filter(is_live=True).select_related("challenge")
    challenges = list(live.defer("document", "starting_tree").order_by("title"))
    context = {
        "version": version,
        "versions": version and version.challenge.versions.only("challenge", "number", "is_live"),
        "challenges": challenges,
        "families": sorted({one.family for one in challenges if one.family}),
        "windows": [(str(days), label) for days, label in WINDOWS.items()],
        "board": board,
        "page": page,
        "rows": board.with_ranks(page.object_list),
        "ranked": board.ranked_count,
        "needed": board.needed,
        "fewest": bootstrap.FEWEST,
        "awaits_bands": board.awaits_bands,
        "within_models": board.within_models(),
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
        "files": exports.addresses(request),
    }
    return render_page(request, "judging/leaderboard.html", context, partial="board")


FILE_COLUMNS = (
    "rank", "best_rank", "worst_rank", "band", "team", "agent", "version", "base_model", "total",
    "low", "high", "interval_low", "interval_high",
    *(name for judge in JUDGES for name in (judge, f"{judge}_low", f"{judge}_high")),
    "integrity", "findings", "status", "marks", "reason", "ranked_matches", "matches",
)  # fmt: skip


def _table(board: Board, rows: Sequence[Standing]) -> exports.Table:
    version = board.version
    return exports.Table(
        name=f"leaderboard-{version.challenge.slug}" if version else "leaderboard",
        columns=FILE_COLUMNS,
        rows=_file_rows(board, rows),
        # A board is final when nothing on it is open, and no sooner.
        state=exports.PROVISIONAL if board.is_open else exports.FINAL,
        facts={
            "challenge": version and version.challenge.slug,
            "challenge_version": version and version.number,
            "family": board.family or None,
            "since": board.since and board.since.isoformat(),
            "is_behind": board.is_behind,
            "ranked_from_challenges": board.needed,
        },
    )


def _file_rows(board: Board, rows: Sequence[Standing]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), FILE_CHUNK):
        for row in board.with_ranks(rows[start : start + FILE_CHUNK]):
            yield _file_row(row)


def _file_row(row: BoardRow) -> list[Any]:
    standing, agent = row.standing, row.standing.agent
    best, worst = row.reach or (None, None)
    judges = []
    for judge in JUDGES:
        low, high = standing.spread.get(judge) or (None, None)
        judges += [_text(getattr(standing, judge)), low, high]
    return [
        row.rank, best, worst, standing.band, agent.team.slug, agent.name, agent.version,
        agent.base_model, _text(standing.total), _text(standing.low), _text(standing.high),
        _text(standing.interval_low), _text(standing.interval_high), *judges,
        _text(standing.adjustment),
        [f"{trigger}:{count}" for trigger, count in standing.triggers.items()],
        standing.status, standing.marks, row.reason or None, standing.ranked_matches,
        standing.matches,
    ]  # fmt: skip


def _text(value: object) -> str | None:
    return None if value is None else str(value)
