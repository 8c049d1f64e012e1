"""What models were asked about a match, and what they said to the byte. For staff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from bouts import blobs
from bouts.htmx import render_page
from judging import spending
from judging.models import CallAttempt, ModelCall
from judging.readings import document_in
from judging.showing.inert import inert
from judging.sight import Sight, privately, sight_of

MOST_TEXT = 400_000  # characters of one text that a page shows


@require_safe
def call_list(request: HttpRequest, slug: str) -> HttpResponse:
    """Every call about a match, whatever bundle and round, with what all of them cost."""
    sight = _staff_sight(request, slug)
    calls = ModelCall.objects.filter(bundle__match=sight.head.match_id)
    context = {
        "head": sight.head,
        "calls": calls.select_related("result", "bundle__match")
        .defer("bundle__manifest", "bundle__hidden_words")
        .order_by("-pk"),
        "spent": spending.spent(calls),
    }
    return privately(render_page(request, "judging/call_list.html", context))


@require_safe
def call_detail(request: HttpRequest, slug: str, call_id: int) -> HttpResponse:
    """One call: prompt, responses, digests, tokens, cost, time, attempts."""
    sight = _staff_sight(request, slug)
    calls = ModelCall.objects.select_related("result", "prompt", "evidence", "bundle__match")
    call = get_object_or_404(calls, pk=call_id, bundle__match=sight.head.match_id)
    result = call.result_or_none
    prompt = document_in(call.prompt)
    context = {
        "head": sight.head,
        "call": call,
        "result": result,
        "parameters": _pretty(result.parameters) if result else "",
        "system": _shown(prompt["system"]),
        "user": _shown(prompt["user"]),
        "attempts": [_attempt(row) for row in result.attempts.select_related("response")]
        if result
        else [],
        "verdicts": call.verdicts.all(),
    }
    return privately(render_page(request, "judging/call_detail.html", context))


def _staff_sight(request: HttpRequest, slug: str) -> Sight:
    """Return the sight of staff; prompts and seats are no matter of anybody else's."""
    sight = sight_of(request, slug)
    if not sight.gate.shows_staff_matters:
        raise Http404
    return sight


@dataclass(frozen=True, slots=True)
class AttemptRow:
    attempt: CallAttempt
    text: str


def _attempt(row: CallAttempt) -> AttemptRow:
    data = blobs.whole(row.response)
    try:
        text = _pretty(orjson.loads(data))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # deeper than it writes is as bad
        text = data.decode(errors="replace")
    return AttemptRow(row, _shown(text))


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _shown(text: str) -> str:
    """Return a text as a page may hold it; its end is missing only where that is said."""
    if len(text) > MOST_TEXT:
        left = len(text) - MOST_TEXT
        text = f"{text[:MOST_TEXT]}\n[{left:,} more characters; the stored bytes have them]"
    return inert(text)
