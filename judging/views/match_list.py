"""The list of matches, the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from bouts.disclosure import open_to
from bouts.htmx import render_page
from bouts.models import Bundle, Match
from judging.forms import JUDGING, MatchFilter
from judging.models import Scorecard, Step

PER_PAGE = 25


@require_GET
def match_list(request: HttpRequest) -> HttpResponse:
    form = MatchFilter(request.GET)
    form.is_valid()  # what does not make sense in an address is left out
    matches = narrowed(open_to(request.user), form.cleaned_data)
    page = Paginator(with_scores(matches), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "is_narrowed": any(form.cleaned_data.values()),
        "own_teams": request.user.team_ids,
    }
    return render_page(request, "judging/match_list.html", context, partial="matches")


def narrowed(matches: QuerySet[Match], asked: Mapping[str, Any]) -> QuerySet[Match]:
    for name, lookup in (
        ("challenge", "challenge__slug"),
        ("team", "agent__team__slug"),
        ("agent", "agent__name__iexact"),
        ("model", "agent__base_model"),
        ("bout", "bout"),
    ):
        if asked.get(name):
            matches = matches.filter(**{lookup: asked[name]})
    if asked.get("q"):
        text = asked["q"]
        matches = matches.filter(
            Q(slug__icontains=text)
            | Q(agent__name__icontains=text)
            | Q(agent__team__name__icontains=text)
        )
    return _of_status(matches, asked.get("status", ""))


def _of_status(matches: QuerySet[Match], status: str) -> QuerySet[Match]:
    live = Scorecard.objects.live().filter(match=OuterRef("pk"))
    if status in Match.Exclusion.values and status:
        return matches.filter(exclusion=status)
    if status == JUDGING:
        return matches.filter(~Exists(live))
    return matches.filter(Exists(live.filter(status=status))) if status else matches


def with_scores(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Fetch all that a row shows, however many rows there are."""
    live_bundle = Bundle.objects.filter(match=OuterRef("pk"), is_live=True)
    failed = Step.objects.filter(
        bundle__match=OuterRef("pk"), bundle__is_live=True, state=Step.State.FAILED
    )
    return (
        matches.select_related("agent__team", "challenge")
        .annotate(
            started_at=Subquery(live_bundle.values("started_at")),
            title=Subquery(live_bundle.values("challenge_version__title")),
            has_failed=Exists(failed),
        )
        .prefetch_related(
            Prefetch(
                "scorecards", Scorecard.objects.live().defer("breakdown"), to_attr="live_cards"
            )
        )
        .order_by(F("created_at").desc(), "-pk")
    )
