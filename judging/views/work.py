"""Work that waits, runs or has failed: how old it is, at which stage, why, and what to do."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from bouts.htmx import render_page
from bouts.models import Upload
from bouts.visitors import operators_only
from judging import steps, tasks
from judging.models import Step

PER_PAGE = 50


@require_GET
@operators_only
def work_list(request: HttpRequest) -> HttpResponse:
    """Unfinished steps, the failed ones first, then the oldest."""
    rank = Case(
        When(state=Step.State.FAILED, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    unfinished = (
        Step.objects.exclude(state=Step.State.DONE)
        .select_related("bundle__match__agent__team", "bundle__match__challenge")
        .order_by(rank, "created_at", "pk")
    )
    context = {
        "page": Paginator(unfinished, PER_PAGE).get_page(request.GET.get("page")),
        "counts": {
            state.label: unfinished.filter(state=state).count()
            for state in (Step.State.FAILED, Step.State.RUNNING, Step.State.WAITING)
        },
        "uploads": Upload.objects.filter(
            state__in=[Upload.State.RECEIVED, Upload.State.WORKING, Upload.State.FAILED]
        ).select_related("by")[:PER_PAGE],
        "now": timezone.now(),
    }
    return render_page(request, "judging/work_list.html", context, partial="work")


@require_POST
@operators_only
def step_requeue(request: HttpRequest, step_id: int) -> HttpResponse:
    reason = request.POST.get("reason", "").strip() or "requeued from the work page"
    step = steps.requeue(step_id, by=request.user, reason=reason)
    tasks.ring(step.bundle_id)
    messages.success(request, f"{step.get_name_display()} of {step.bundle.match} is queued again.")
    return redirect("judging:work_list")
