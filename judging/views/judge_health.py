"""How the judges do that ask models. For ops."""

from __future__ import annotations

from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.htmx import render_page
from bouts.visitors import operators_only
from judging import health, spending
from judging.seats import seating


@require_safe
@operators_only
def judge_health(request: HttpRequest) -> HttpResponse:
    panels = health.panels()
    context = {
        "seats": seating(),
        "rows": list(health.seat_rows()),
        "panels": panels,
        "rates": [
            ("One vote discarded", _share(panels.discard_rate)),
            ("Chained", _share(panels.chain_rate)),
            ("Disagreement", _share(panels.disagreement_rate)),
        ],
        "today": spending.today(),
    }
    return render_page(request, "judging/judge_health.html", context)


def _share(rate: Decimal | None) -> str:
    return "n/a" if rate is None else f"{rate:.1%}"
