"""An agent: where it stands, its form, its strongest and weakest judge, and what to mend first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_safe

from bouts.disclosure import Audience, audience_in, dark_to
from bouts.htmx import render_page
from bouts.models import Agent, Match, User
from judging import exports
from judging.board import Board, BoardRow, on_challenges
from judging.charts.form import form_figure
from judging.disclosed import PUBLIC_MARKS
from judging.models import Scorecard, Standing
from judging.scoring.exact import mean, rounded, score_text
from judging.scoring.policy import CURRENT, WEIGHED
from judging.showing import words
from judging.showing.addresses import Addresses
from judging.showing.judges import Links, paragraphs_of
from judging.showing.mending import worth_mending
from judging.sight import breakdowns_for, privately

MOST_MATCHES = 60  # the newest, in the picture and in the table
MOST_LOOKED_AT = 1_000
MOST_READ = 10  # of the ranked ones, whose cards are read for what to mend
MOST_LINKS = 4


@dataclass(frozen=True, slots=True)
class JudgeNote:
    """A judge by an agent's ranked matches, and the match that shows it best."""

    judge: str
    title: str
    mean: str
    slug: str
    score: str
    paragraphs: Sequence[Any]
    links: Links


@require_safe
def agent_detail(request: HttpRequest, agent_id: int, kind: str = "") -> HttpResponse:
    agent = get_object_or_404(Agent.objects.select_related("team"), pk=agent_id)
    user = request.user
    is_own = agent.team_id in user.team_ids
    # As on the board: nothing of an agent whose match this reviewer may still score blind.
    if not is_own and Match.objects.filter(dark_to(user), agent=agent).exists():
        raise Http404
    cards = list(_cards(agent)[:MOST_MATCHES])
    if kind:
        return exports.answer(_table(agent, cards), kind)
    ranked = [card for card in cards if card.is_ranked and not card.match.exclusion]
    newest = [card.pk for card in ranked[:MOST_READ]]
    shown = dict(breakdowns_for(user, Scorecard.objects.filter(pk__in=newest)))
    read = [shown[pk] for pk in newest]
    audience = audience_in(user, agent.team_id, is_dark=lambda: False)
    context = {
        "agent": agent,
        "cards": cards,
        "is_cut": len(cards) == MOST_MATCHES,
        "most": MOST_MATCHES,
        "ranked": len(ranked),
        "read": len(read),
        "standings": _standings(agent, user),
        "mends": worth_mending(read, CURRENT),
        "notes": _notes(ranked, read),
        "shows_evidence": audience in {Audience.STAFF, Audience.TEAM},
        "is_own": is_own,
        "figure": _figure(cards),
        "columns": [words.JUDGES[judge.value] for judge in WEIGHED],
        "peers": Agent.objects.filter(base_model=agent.base_model)
        .exclude(pk=agent.pk)
        .filter(standings__value__isnull=False)
        .exclude(pk__in=Match.objects.filter(dark_to(user)).values("agent"))
        .select_related("team")
        .distinct()
        .order_by("name", "version")[:12],
        "is_sample": any(card.match.is_sample for card in cards),
        "files": exports.addresses(request),
    }
    return privately(render_page(request, "judging/agent_detail.html", context))


def _cards(agent: Agent) -> Any:
    """Return an agent's live scorecards without their breakdowns, the newest match first.

    Newest is what was fought last, of the `MOST_LOOKED_AT` that came last: to put ten thousand
    in order takes longer than all the rest of the page.
    """
    last = Match.objects.filter(agent=agent).order_by("-created_at", "-pk")[:MOST_LOOKED_AT]
    return (
        Scorecard.objects.live()
        .filter(match__in=last.values("pk"))
        .select_related("match__challenge", "challenge_version")
        .defer("breakdown", "rests_on", "challenge_version__document")
        .defer("challenge_version__starting_tree")
        .annotate(started_at=F("bundle__started_at"))
        .order_by("-started_at", "-pk")
    )


def _standings(agent: Agent, user: User) -> list[tuple[Standing, BoardRow, int]]:
    """Return where the agent stands: overall, then on every challenge it fought."""
    rows = Standing.objects.default().filter(agent=agent).select_related("agent__team")
    board = Board(None, user)
    overall = list(rows.filter(challenge_version=None))
    found = [(row.standing, row, board.ranked_count) for row in board.with_ranks(overall)]
    on_live = (
        rows.filter(challenge_version__is_live=True)
        .select_related("challenge_version__challenge")
        .defer("challenge_version__document", "challenge_version__starting_tree")
        .order_by("challenge_version__title", "pk")
    )
    return [*found, *on_challenges(on_live, user)]


def _notes(ranked: Sequence[Scorecard], read: Sequence[Mapping[str, Any]]) -> list[JudgeNote]:
    """Return the strongest and the weakest judge; none where fewer than two have a score."""
    means: dict[str, Fraction] = {}
    for judge in WEIGHED:
        known = [score for card in ranked if (score := getattr(card, judge.value)) is not None]
        if known:
            means[judge.value] = mean(known)
    if len(means) < 2:
        return []
    strongest, weakest = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    notes = [_note(strongest, means, read, best=True), _note(weakest, means, read, best=False)]
    return [note for note in notes if note is not None]


def _note(
    judge: str, means: Mapping[str, Fraction], read: Sequence[Mapping[str, Any]], *, best: bool
) -> JudgeNote | None:
    scored = [card for card in read if card["judges"][judge]["counted"] is not None]
    if not scored:
        return None
    pick = max if best else min
    card = pick(scored, key=lambda one: float(one["judges"][judge]["counted"]))
    shown = card["judges"][judge]
    digests = {row["path"]: row["digest"] for row in card.get("artifacts", ()) if row["digest"]}
    addresses = Addresses(match=card["match"], digests=digests)
    anchors = shown.get("evidence")
    links = [addresses.link(one) for one in anchors] if isinstance(anchors, list) else []
    return JudgeNote(
        judge=judge,
        title=words.JUDGES[judge],
        mean=str(rounded(means[judge])),
        slug=card["match"],
        score=shown["counted"],
        paragraphs=paragraphs_of(shown.get("rationale") or "")[:1],
        links=Links.of(links[:MOST_LINKS]),
    )


def _figure(cards: Sequence[Scorecard]) -> dict[str, Any] | None:
    points = [
        (
            timezone.localtime(card.started_at),
            str(card.total),
            card.match.slug,
            card.is_ranked and not card.match.exclusion,
        )
        for card in reversed(cards)
        if card.total is not None
    ]
    return form_figure(points, timezone.get_current_timezone_name()) if len(points) > 1 else None


FILE_COLUMNS = (
    "match", "challenge", "challenge_version", "fought", "status", "marks", "exclusion",
    "exclusion_reason", "total", *(judge.value for judge in WEIGHED), "integrity", "revision",
)  # fmt: skip


def _table(agent: Agent, cards: Sequence[Scorecard]) -> exports.Table:
    is_final = all(card.status == Scorecard.Status.FINAL for card in cards)
    facts = {"team": agent.team.slug, "agent": agent.name, "version": agent.version}
    return exports.Table(
        name=f"agent-{agent.pk}",
        columns=FILE_COLUMNS,
        rows=map(_file_row, cards),
        state=exports.state_of(agent.matches.all(), is_settled=is_final),
        facts={**facts, "base_model": agent.base_model},
    )


def _file_row(card: Scorecard) -> list[Any]:
    match = card.match
    return [
        match.slug, match.challenge.slug, card.challenge_version.number,
        card.started_at.isoformat(), card.status,
        [mark for mark in card.marks if mark in PUBLIC_MARKS], match.exclusion,
        match.exclusion_reason, None if card.total is None else str(card.total),
        *(score_text(getattr(card, judge.value)) for judge in WEIGHED), card.adjustment,
        card.number,
    ]  # fmt: skip
