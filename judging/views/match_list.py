"""The list of matches, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.disclosure import open_to
from bouts.htmx import render_page
from bouts.models import Bundle, Match, User
from judging import exports
from judging.disclosed import PUBLIC_MARKS
from judging.forms import JUDGING, MatchFilter
from judging.models import Scorecard, Step
from judging.scoring.exact import score_text
from judging.scoring.policy import WEIGHED
from judging.sight import breakdowns_for

PER_PAGE = 25
MOST_COUNTED = 1_000  # of more it is said that they are more


@require_safe
def match_list(request: HttpRequest, kind: str = "") -> HttpResponse:
    """List matches, a page at a time; all that fit the filters as a file of a ``kind``.

    With ``?rationales=1`` a file also says why, where this person may see it.
    """
    form = MatchFilter(request.GET)
    form.is_valid()  # what does not make sense in an address is left out
    matches = narrowed(open_to(request.user), form.cleaned_data)
    if kind:
        reader = request.user if request.GET.get("rationales") == "1" else None
        return exports.answer(_table(with_scores(matches), reader), kind)
    context = {
        "form": form,
        "page": page_of(matches, request.GET, among=open_to(request.user)),
        "most_counted": MOST_COUNTED,
        "is_narrowed": any(form.cleaned_data.values()),
        "own_teams": request.user.team_ids,
        "files": exports.addresses(request),
        "files_with_rationales": exports.addresses(request, rationales="1"),
    }
    return render_page(request, "judging/match_list.html", context, partial="matches")


@dataclass(frozen=True, slots=True)
class Page:
    """Some matches of a list, and the ids from which the newer and the older ones are had."""

    matches: Sequence[Match]
    after: str  # empty where there are none
    before: str
    count: int | None  # of the whole list; None where it is more than `MOST_COUNTED`


def page_of(matches: QuerySet[Match], asked: Mapping[str, str], among: QuerySet[Match]) -> Page:
    """Return the newest matches, those ``before`` a match, or those ``after`` it.

    Pages have no numbers: to walk past a hundred thousand rows, or to count them, takes longer
    than all the rest. An id that is not ``among`` those that may be seen is left out.
    """
    is_backward = bool(asked.get("after"))
    slug = asked.get("after") or asked.get("before") or ""
    place = among.filter(slug=slug).values_list("created_at", "pk").first() if slug else None
    is_backward = is_backward and place is not None
    there = matches if place is None else matches.filter(_beyond(*place, newer=is_backward))
    order = ("created_at", "pk") if is_backward else ("-created_at", "-pk")
    found = list(with_scores(there).order_by(*order)[: PER_PAGE + 1])
    goes_on, found = len(found) > PER_PAGE, found[:PER_PAGE]
    if is_backward and not goes_on:
        return page_of(matches, {}, among)  # the newest, and no less than a page of them
    if is_backward:
        found.reverse()
    count = matches.order_by()[: MOST_COUNTED + 1].count()
    return Page(
        matches=found,
        # Whoever came from a page can go back to it.
        after=found[0].slug if found and place is not None else "",
        before=found[-1].slug if found and (goes_on or is_backward) else "",
        count=count if count <= MOST_COUNTED else None,
    )


def _beyond(created_at: datetime, pk: int, *, newer: bool) -> Q:
    # The first condition leads the index to the place, the second cuts what is at that moment.
    if newer:
        return Q(created_at__gte=created_at) & (Q(created_at__gt=created_at) | Q(pk__gt=pk))
    return Q(created_at__lte=created_at) & (Q(created_at__lt=created_at) | Q(pk__lt=pk))


COLUMNS = (
    "match", "bout", "challenge", "team", "agent", "version", "base_model", "fought", "status",
    "marks", "exclusion", "exclusion_reason", "total", "objective", "process", "strategy",
    "recovery", "integrity", "reason", "revision",
)  # fmt: skip
RATIONALES = tuple(f"{judge.value}_rationale" for judge in WEIGHED)
NO_RATIONALES = [None] * len(RATIONALES)
FILE_CHUNK = 500


def _table(matches: QuerySet[Match], reader: User | None) -> exports.Table:
    """Return the matches as a file, with the rationales as ``reader`` may see them."""
    unsettled = Scorecard.objects.live().exclude(status=Scorecard.Status.FINAL)
    is_open = matches.filter(
        ~Exists(Scorecard.objects.live().filter(match=OuterRef("pk")))
        | Exists(unsettled.filter(match=OuterRef("pk")))
    ).exists()
    return exports.Table(
        name="matches",
        columns=COLUMNS if reader is None else COLUMNS + RATIONALES,
        rows=_file_rows(matches, reader),
        state=exports.state_of(matches.order_by().values("pk"), is_settled=not is_open),
    )


def _file_rows(matches: QuerySet[Match], reader: User | None) -> Iterator[list[Any]]:
    """Read some matches at a time, and their breakdowns in one query a time."""
    found = matches.iterator(chunk_size=FILE_CHUNK)
    while chunk := list(islice(found, FILE_CHUNK)):
        whys = _rationales(chunk, reader) if reader else {}
        for match in chunk:
            row = _file_row(match)
            yield row if reader is None else [*row, *whys.get(match.pk, NO_RATIONALES)]


def _rationales(matches: Sequence[Match], reader: User) -> dict[int, list[str | None]]:
    """Return by match why each judge gave its score; None where that is not shown."""
    cards = {card.pk: match.pk for match in matches for card in match.live_cards}
    shown = breakdowns_for(reader, Scorecard.objects.filter(pk__in=cards))
    return {
        cards[pk]: [breakdown["judges"][judge.value].get("rationale") for judge in WEIGHED]
        for pk, breakdown in shown
    }


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
        .order_by("-created_at", "-pk")
    )
