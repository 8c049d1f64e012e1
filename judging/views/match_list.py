"""The list of matches, the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from bouts.disclosure import open_to
from bouts.htmx import render_page
from bouts.models import Bundle, Match
from judging import exports
from judging.disclosed import PUBLIC_MARKS
from judging.forms import JUDGING, MatchFilter
from judging.models import Scorecard, Step
from judging.scoring.exact import score_text
from judging.scoring.policy import WEIGHED

PER_PAGE = 25


@require_GET
def match_list(request: HttpRequest, kind: str = "") -> HttpResponse:
    """List matches, a page at a time; all that fit the filters as a file of a ``kind``."""
    form = MatchFilter(request.GET)
    form.is_valid()  # what does not make sense in an address is left out
    matches = narrowed(open_to(request.user), form.cleaned_data)
    if kind:
        return exports.answer(_table(with_scores(matches)), kind)
    page = Paginator(with_scores(matches), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "is_narrowed": any(form.cleaned_data.values()),
        "own_teams": request.user.team_ids,
        "files": exports.addresses(request),
    }
    return render_page(request, "judging/match_list.html", context, partial="matches")


COLUMNS = (
    "match", "bout", "challenge", "team", "agent", "version", "base_model", "fought", "status",
    "marks", "exclusion", "exclusion_reason", "total", "objective", "process", "strategy",
    "recovery", "integrity", "reason", "revision",
)  # fmt: skip
FILE_CHUNK = 500


def _table(matches: QuerySet[Match]) -> exports.Table:
    unsettled = Scorecard.objects.live().exclude(status=Scorecard.Status.FINAL)
    is_open = matches.filter(
        ~Exists(Scorecard.objects.live().filter(match=OuterRef("pk")))
        | Exists(unsettled.filter(match=OuterRef("pk")))
    ).exists()
    return exports.Table(
        name="matches",
        columns=COLUMNS,
        rows=map(_file_row, matches.iterator(chunk_size=FILE_CHUNK)),
        state=exports.PROVISIONAL if is_open else exports.FINAL,
    )


def _file_row(match: Match) -> list[Any]:
    card = next(iter(match.live_cards), None)
    agent = match.agent
    known = [
        match.slug, match.bout, match.challenge.slug, agent.team.slug, agent.name, agent.version,
        agent.base_model, match.started_at and match.started_at.isoformat(),
    ]  # fmt: skip
    excluded = [match.exclusion, match.exclusion_reason]
    if card is None:
        status = Scorecard.Status.FAILED if match.has_failed else Scorecard.Status.PENDING
        return [*known, status.value, [], *excluded, *[None] * 6, "judging", None]
    judges = [score_text(getattr(card, judge.value)) for judge in WEIGHED]
    return [
        *known, card.status, [mark for mark in card.marks if mark in PUBLIC_MARKS], *excluded,
        None if card.total is None else str(card.total), *judges, card.adjustment,
        card.reason_code if card.total is None else None, card.number,
    ]  # fmt: skip


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
                "scorecards",
                Scorecard.objects.live()
                .defer("breakdown")
                .annotate(reason_code=KeyTextTransform("reason", "breakdown")),
                to_attr="live_cards",
            )
        )
        .order_by(F("created_at").desc(), "-pk")
    )
