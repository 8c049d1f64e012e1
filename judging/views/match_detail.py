"""A match: its live scorecard, or how far its judges have come."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.messages import get_messages
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.utils.cache import patch_vary_headers
from django.utils.http import quote_etag
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from bouts.backends import counted
from bouts.disclosure import Audience
from bouts.htmx import render_page, varied, wants_part
from bouts.packing import PartedResponse
from judging.models import Step
from judging.showing.card import card_key, card_part
from judging.sight import Sight, privately, sight_of

# Stands for the token in a frame that is kept; nobody can have written it into a name.
TOKEN = secrets.token_hex()


@require_safe
def match_detail(request: HttpRequest, slug: str) -> HttpResponse:
    return scorecard_page(request, sight_of(request, slug))


@require_safe
def match_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Say how far the judges have come; asked again and again until they are done."""
    sight = sight_of(request, slug)
    if sight.audience in {Audience.BLIND, Audience.NOBODY} or not sight.has_unfinished_work:
        return HttpResponseClientRefresh() if request.htmx else match_detail(request, slug)
    context = {**_frame(sight), "progress": _progress(sight)}
    return privately(render_page(request, "judging/match_detail.html", context, partial="progress"))


def scorecard_page(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show a scorecard with what stands around it, or why there is none to see."""
    if sight.audience is Audience.BLIND:
        context = {"head": sight.head}
        return privately(render_page(request, "judging/match_blind.html", context))
    if sight.head.card_id is None:
        context = {**_frame(sight), "progress": _progress(sight)}
        return privately(render_page(request, "judging/match_detail.html", context))
    frame = _frame_key(request, sight)
    etag = frame and _etag(request, frame)
    if etag and request.headers.get("If-None-Match") == etag:
        response: HttpResponse = HttpResponse(status=304)
    else:
        response = _page(request, sight, frame)
    if etag:
        response.headers["ETag"] = etag
    patch_vary_headers(response, ["Cookie"])
    return privately(response)


def _page(request: HttpRequest, sight: Sight, key: str | None) -> HttpResponse:
    """Put the card into its frame, which like the card is kept for whom it was made.

    The token against forged requests is no part of what is kept: it is masked anew each time.
    """
    card = card_part(sight)
    kept: list[list[bytes]] | None = cache.get(key) if key and not settings.DEBUG else None
    if kept is None:
        # Rendered by an autoescaping template.
        context = {**_frame(sight), "card_html": mark_safe(card.html.decode())}
        if sight.has_unfinished_work:
            context["progress"] = _progress(sight)
        if not key:
            return render_page(request, "judging/match_detail.html", context)
        page = render_page(request, "judging/match_detail.html", {**context, "csrf_token": TOKEN})
        before, _, after = page.content.partition(card.html)
        kept = [before.split(TOKEN.encode()), after.split(TOKEN.encode())]
        cache.set(key, kept)
    token = get_token(request).encode()
    before, after = (token.join(pieces) for pieces in kept)
    return varied(PartedResponse(before, card, after))


def _frame(sight: Sight) -> dict[str, Any]:
    """Return what stands around the card: title, notices, and whose eyes one looks through."""
    return {
        "sight": sight,
        "head": sight.head,
        "addresses": sight.pages,
        "permanent": sight.pages.scorecard(sight.head.card_number) if sight.head.card_id else "",
        "is_sample": sight.head.is_sample,
        "review": _review(sight),
        "may_ask": sight.audience is Audience.TEAM and sight.is_live and not sight.looking_as,
    }


def _review(sight: Sight) -> dict[str, Any] | None:
    """Return the review that the team asked for, and once it is decided the answer."""
    review = sight.review
    if review is None:
        return None
    return {
        **review,
        "asked_at": datetime.fromisoformat(review["asked_at"]),
        "answers": [sight.gate.text(reason) for reason in review["answers"]],
    }


def _frame_key(request: HttpRequest, sight: Sight) -> str | None:
    """Tell one page from another: the card, what stands around it, and who looks.

    None where something is shown once, such as a message.
    """
    if wants_part(request) or sight.has_unfinished_work or len(get_messages(request)):
        return None
    user, head = request.user, sight.head
    if not sight.shows_evidence:
        # Reviews and open cases are not on the page: its ETag must not tell of them either.
        head = replace(head, review=None, is_contested=False)
    around = (
        card_key(sight),
        head,
        user.pk,
        str(user),
        user.role,
        user.uses_keys,
        [getattr(user, name, None) for name in counted],  # told in the masthead
    )
    return f"frame:{hashlib.sha256(repr(around).encode()).hexdigest()}"


def _etag(request: HttpRequest, frame: str) -> str:
    """Tell apart too whose token against forged requests the page holds."""
    get_token(request)  # the page holds one in any case; now it is known which
    around = f"{frame}:{request.META['CSRF_COOKIE']}"
    return "W/" + quote_etag(hashlib.sha256(around.encode()).hexdigest()[:32])


def _progress(sight: Sight) -> dict[str, Any]:
    """Return the steps of the live bundle's work, with how long each has been at it."""
    steps = list(
        Step.objects.filter(bundle__match=sight.head.match_id, bundle__is_live=True).order_by("pk")
    )
    if sight.audience is not Audience.STAFF:
        # In the order of the seats, rows without a name would tell which seat it was that failed.
        steps.sort(key=_without_seats)
    over = {Step.State.DONE, Step.State.FAILED, Step.State.HELD}
    return {
        "steps": steps,
        "done": sum(step.state in over for step in steps),
        "is_over": bool(steps) and all(step.state in over for step in steps),
        "has_failed": any(step.state == Step.State.FAILED for step in steps),
        "shows_reasons": sight.audience is Audience.STAFF,
    }


def _without_seats(step: Step) -> tuple[bool, int, str, float]:
    """Order asks by judge and by how far they are; the judges' own steps stay before them."""
    if not step.is_ask:
        return False, step.pk, "", 0
    since = step.finished_at.timestamp() if step.finished_at else 0
    return True, list(Step.Name).index(step.name), step.state, since
