"""How the judges do: what they were asked, what they cost, how they vote, and who upheld them. For ops."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.htmx import render_page
from bouts.visitors import operators_only
from judging import health, spending
from judging.panel_health import FEWEST, SEATS, panel_health
from judging.seats import seating


@require_safe
@operators_only
def judge_health(request: HttpRequest) -> HttpResponse:
    panels = panel_health()
    context = {
        "seats": seating(),
        "rows": list(health.seat_rows()),
        "findings": health.finding_rows(),
        "panels": panels,
        "rates": [
            ("One vote discarded", panels.discard_rate),
            ("Chained", panels.chain_rate),
            ("Disagreement", panels.disagreement_rate),
        ],
        "leans": [
            (
                "By the agents’ base model: a seat that favours its own house leans there",
                "Base model",
                panels.by_base_model,
            ),
            (
                "By month (UTC): a model that changes under its name drifts",
                "Month",
                panels.by_month,
            ),
        ],
        "seat_names": SEATS,
        "fewest": FEWEST,
        "today": spending.today(),
    }
    return render_page(request, "judging/judge_health.html", context)
