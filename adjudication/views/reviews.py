"""Where a competitor asks for a review, and reads what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from adjudication import actions
from adjudication.actions.reviews import closes_at, refuse_to_ask
from adjudication.forms import ReviewForm
from adjudication.refusals import BadDecision, Refused
from bouts.disclosure import Audience
from bouts.htmx import confirm_kept, render_page
from judging.showing import words
from judging.showing.addresses import Link
from judging.sight import Sight, privately, sight_of

MOST_ANCHORS = 80  # offered to choose from: a form, not the whole record


def review_request(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a review of a match of one's own team, once.

    Whoever is of another team is told so, and keeps what they wrote. Officials have no
    business here unless they are of the team: they find the request in its case.
    """
    sight = sight_of(request, slug)
    if sight.audience is Audience.OTHERS and not sight.looking_as:
        return _told(request, sight, "Only the team that fought this match may ask.", status=403)
    if sight.audience is not Audience.TEAM or sight.looking_as:
        raise Http404
    if sight.head.card_id is None:
        return _told(request, sight, "There is no total yet, so there is nothing to review.")
    offered = dict(sorted(_anchors(sight), key=lambda each: _in_order(each[0])))
    questions = _questions(sight.breakdown)
    form = ReviewForm(
        questions,
        [(key, link.label) for key, (_, link) in offered.items()],
        request.POST or None,
        initial={"revision": sight.head.card_number, "about": _about(request, questions)},
    )
    if request.method == "POST" and form.is_valid():
        try:
            asked = actions.ask_for_review(
                sight.head.match_id,
                by=request.user,
                finding_key=form.finding_key,
                text=form.cleaned_data["text"],
                evidence=[offered[key][0] for key in form.cleaned_data["evidence"]],
                revision=form.cleaned_data["revision"],
            )
        except BadDecision as fault:
            form.add_error(fault.field, str(fault))
        except Refused as refusal:
            return _told(request, sight, str(refusal), status=409)
        except PermissionDenied:  # left the team a moment ago
            return _told(request, sight, "You are no longer of this team.", status=403)
        else:
            confirm_kept(request, f"review-{slug}", f"{asked.case} is open. The answer comes here.")
            return redirect("judging:match_detail", slug)
    if not form.is_bound:
        try:
            refuse_to_ask(sight.match, sight.card, timezone.now())
        except Refused as refusal:
            return _told(request, sight, str(refusal), status=200)
    context = {
        "head": sight.head,
        "form": form,
        "anchors": list(zip(form["evidence"], (link for _, link in offered.values()), strict=True)),
        "until": closes_at(sight.card),
        "is_sample": sight.head.is_sample,
    }
    status = 422 if form.is_bound else 200
    return privately(
        render_page(request, "adjudication/review_request.html", context, status=status)
    )


def _told(request: HttpRequest, sight: Sight, why: str, *, status: int = 409) -> HttpResponse:
    """Say why nothing was asked, with what was written still there to be copied."""
    context = {
        "head": sight.head,
        "refusal": why,
        "written": request.POST.get("text", "")[: ReviewForm.LONGEST].replace("\0", "␀"),
        "is_sample": sight.head.is_sample,
    }
    page = render_page(request, "adjudication/review_request.html", context, status=status)
    return privately(page)


def _about(request: HttpRequest, questions: list[tuple[str, str]]) -> str:
    """Return what is chosen before anybody chooses: what the address names, or the only one."""
    only = questions[0][0] if len(questions) == 1 else ""
    return request.GET.get("about", only)


def _questions(shown: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what may be questioned on a card: the Strategy score, and each finding."""
    strategy = shown["judges"]["strategy"]
    found = []
    if strategy.get("raw") is not None:
        found.append((ReviewForm.STRATEGY, f"The Strategy score, {strategy['raw']}"))
    for finding in shown["integrity"]["findings"]:
        label = f"{words.title(finding['trigger'])}, {finding['status']}"
        found.append((finding["key"], f"The finding: {label}"))
    return found


def _anchors(sight: Sight) -> Iterator[tuple[str, tuple[dict[str, str], Link]]]:
    """Yield the evidence that the page shows this team, each place once, with its link."""
    seen: set[str] = set()
    for anchor in _walk({key: sight.breakdown[key] for key in ("judges", "integrity")}):
        key = f"{anchor['artifact']}#{anchor['place']}"
        link = sight.addresses.link({**anchor, "excerpt": ""})
        if key in seen or link.address is None:
            continue
        seen.add(key)
        yield key, ({"artifact": anchor["artifact"], "place": anchor["place"]}, link)
        if len(seen) == MOST_ANCHORS:
            return


def _in_order(key: str) -> list[tuple[int, str]]:
    """Return what sorts places by file, and in it event 9 before event 10."""
    parts = re.split(r"(\d+)", key)
    return [(len(part) if part.isdecimal() else 0, part) for part in parts]


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    match value:
        case {"artifact": str(), "place": str()}:
            yield value
        case dict():
            for item in value.values():
                yield from _walk(item)
        case list():
            for item in value:
                yield from _walk(item)
