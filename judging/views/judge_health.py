"""How the judges do that ask models. For ops."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from bouts.htmx import render_page
from bouts.visitors import operators_only
from judging import health, spending
from judging.seats import seating


@require_GET
@operators_only
def judge_health(request: HttpRequest) -> HttpResponse:
    panels = health.panels()
    context = {
        "seats": seating(),
        "rows": list(health.seat_rows()),
        "panels": panels,
        "rates": [
            ("One vote discarded", panels.discard_rate),
            ("Chained", panels.chain_rate),
            ("Disagreement", panels.disagreement_rate),
        ],
        "today": spending.today(),
    }
    return render_page(request, "judging/judge_health.html", context)
