"""Work that waits, runs or has failed: how old it is, at which stage, why, and what to do."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, F
from django.db.models.lookups import Exact
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from bouts.htmx import render_page
from bouts.models import Upload
from bouts.visitors import operators_only
from judging import spending, steps, tasks
from judging.models import Rejudging, Step
from judging.seats import seating

PER_PAGE = 50

FAILED_FIRST = Exact(F("state"), Step.State.FAILED).desc()


@require_safe
@operators_only
def work_list(request: HttpRequest) -> HttpResponse:
    """Steps and uploads that are not through, the failed ones first, then the oldest."""
    unfinished = Step.objects.exclude(state=Step.State.DONE)
    states = dict(unfinished.values_list("state").annotate(Count("pk")).order_by())
    rows = unfinished.select_related("bundle__match__agent", "bundle__match__challenge").defer(
        "bundle__manifest", "bundle__hidden_words"
    )
    uploads = Upload.objects.filter(
        state__in=[Upload.State.RECEIVED, Upload.State.WORKING, Upload.State.FAILED]
    )
    context = {
        "page": Paginator(rows.order_by(FAILED_FIRST, "created_at", "pk"), PER_PAGE).get_page(
            request.GET.get("page")
        ),
        "counts": [
            (state.label, states.get(state, 0))
            for state in (
                Step.State.FAILED,
                Step.State.RUNNING,
                Step.State.WAITING,
                Step.State.HELD,
            )
        ],
        "seats": seating(),
        "today": spending.today(),
        "budget_day": settings.BUDGET_DAY_USD,
        "budget_match": settings.BUDGET_MATCH_USD,
        "uploads": uploads.order_by(FAILED_FIRST, "created_at")[:PER_PAGE],
        "upload_count": uploads.count(),
        "rejudgings": Rejudging.objects.unsettled().count(),
        "now": timezone.now(),
    }
    return render_page(request, "judging/work_list.html", context, partial="work")


@require_POST
@operators_only
def step_requeue(request: HttpRequest, step_id: int) -> HttpResponse:
    """Start a step again; one that is done by now is left alone."""
    row = get_object_or_404(Step, pk=step_id)
    if row.state == Step.State.DONE:
        messages.info(request, f"{row.title} is done by now. Nothing was changed.")
        return redirect("judging:work_list")
    step = steps.requeue(step_id, by=request.user, reason="requeued from the work page")
    tasks.ring(step.bundle_id)
    messages.success(request, f"{step.title} of {step.bundle.match} is queued again.")
    return redirect("judging:work_list")
