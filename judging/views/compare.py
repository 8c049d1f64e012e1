"""Matches side by side: where they part company, and which tests only one of them passed."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from bouts.disclosure import Audience, open_to
from bouts.htmx import render_page
from bouts.models import Match
from judging import comparison, exports
from judging.comparison import FEWEST, MOST, MOST_TESTS, Side
from judging.models import Scorecard
from judging.showing.lanes import lanes_of, run_of, ticks_of
from judging.sight import privately, sight_of
from judging.standings import newest_ranked


@require_safe
def compare(request: HttpRequest, kind: str = "") -> HttpResponse:
    """Compare the matches of the address, ``?m=a&m=b``; as a file of a ``kind``.

    ``?agent=3&agent=5`` leads to the newest ranked matches of agents on a challenge that all
    of them fought.
    """
    if "agent" in request.GET:
        return _of_agents(request)
    slugs = [slug.strip() for slug in request.GET.getlist("m")]
    asked = list(dict.fromkeys(slug for slug in slugs if slug))
    sides, missing = _sides(request, asked[:MOST])
    if kind:
        if len(sides) < FEWEST:
            raise Http404
        return exports.answer(_table(sides), kind)
    context = {
        "asked": asked[:MOST],
        "missing": missing,
        "is_cut": len(asked) > MOST,
        "most": MOST,
        "sides": sides,
        "is_enough": len(sides) >= FEWEST,
        "fields": [*asked[:MOST], *[""] * MOST][:MOST],
        "is_sample": any(side.sight.head.is_sample for side in sides),
    }
    if len(sides) >= FEWEST:
        context |= _compared(request, sides)
    return privately(render_page(request, "judging/compare.html", context))


def _compared(request: HttpRequest, sides: list[Side]) -> dict[str, object]:
    runs = [run_of(side.sight) for side in sides]
    heads = [side.sight.head for side in sides]
    is_one_challenge = len({head.challenge_slug for head in heads}) == 1
    tests = comparison.tests(sides) if is_one_challenge else None
    return {
        "ledger": comparison.ledger(sides),
        "metrics": comparison.metrics(sides),
        "criteria": comparison.criteria(sides),
        "tests": tests and tests[:MOST_TESTS],
        "tests_left_out": max(0, len(tests or ()) - MOST_TESTS),
        "has_tests": tests is not None,
        "hides_tests": comparison.hides_tests(sides),
        "is_one_challenge": is_one_challenge,
        "is_one_version": len({(head.challenge_slug, head.challenge_version) for head in heads})
        == 1,
        "is_one_model": len({side.base_model for side in sides}) == 1,
        "lanes": list(zip(sides, lanes_of(runs), strict=True)),
        "has_lanes": any(runs),
        "ticks": ticks_of(runs),
        "files": exports.addresses(request),
    }


def _sides(request: HttpRequest, slugs: list[str]) -> tuple[list[Side], list[str]]:
    """Return the matches that this viewer may see, and the ids that lead nowhere for them."""
    models = dict(
        Match.objects.filter(slug__in=slugs).values_list("slug", "agent__base_model").order_by()
    )
    sides, missing = [], []
    for slug in slugs:
        try:
            sight = sight_of(request, slug)
        except Http404:
            missing.append(slug)
            continue
        # What is dark to a reviewer is no more there than what does not exist.
        if sight.audience in {Audience.BLIND, Audience.NOBODY}:
            missing.append(slug)
            continue
        card = sight.breakdown if sight.head.card_id else None
        sides.append(Side(sight, card, models.get(slug, "")))
    return sides, missing


def _table(sides: list[Side]) -> exports.Table:
    settled = all(side.card and side.card["status"] == Scorecard.Status.FINAL for side in sides)
    matches = Match.objects.filter(pk__in=[side.sight.head.match_id for side in sides])
    policies = dict.fromkeys(side.card["policy"] for side in sides if side.card)
    return exports.Table(
        name="compare",
        columns=comparison.COLUMNS,
        rows=comparison.file_rows(sides),
        state=exports.state_of(matches, is_settled=settled),
        policy=" ".join(policies),
        facts={"matches": [side.sight.head.slug for side in sides]},
    )


def _of_agents(request: HttpRequest) -> HttpResponse:
    agents = [int(one) for one in request.GET.getlist("agent") if one.isdecimal() and len(one) < 9]
    slugs = newest_ranked(
        open_to(request.user), list(dict.fromkeys(agents))[:MOST], request.GET.get("challenge", "")
    )
    return redirect(f"{reverse('judging:compare')}?{urlencode([('m', slug) for slug in slugs])}")
