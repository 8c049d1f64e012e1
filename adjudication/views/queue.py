"""The queue: what waits, most urgent first, and the key to the next case."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from adjudication import actions
from adjudication.forms import QueueFilter
from adjudication.models import Case
from adjudication.queue import narrowed, rows_of
from adjudication.visitors import officials_only, reviewers_only
from bouts.htmx import render_page

PER_PAGE = 50


@require_GET
@officials_only
def case_queue(request: HttpRequest) -> HttpResponse:
    at = timezone.now()
    form = QueueFilter(request.GET)
    form.is_valid()  # what does not make sense in an address filters nothing
    asked = form.cleaned_data
    seen = Case.objects.visible_to(request.user)
    fitting = narrowed(seen, asked, request.user, at)
    counts = fitting.counts(at)
    state = asked.get("state") or ""
    listed = fitting.in_state(state, at) if state else fitting
    paginator = Paginator(listed.in_order(at).for_list(), PER_PAGE)
    # The count of the chosen chip is that of the list: no second query, no second number.
    paginator.count = counts[state] if state else sum(counts.values())
    page = paginator.get_page(request.GET.get("page"))
    context = {
        "form": form,
        "chips": [("", "All", sum(counts.values()))]
        + [(each.value, each.label, counts[each.value]) for each in Case.State],
        "state": state,
        "filters": [
            f"{field.label}: {dict(field.field.choices).get(field.value(), field.value())}"
            for field in form
            if field.name != "state" and asked.get(field.name)
        ],
        "page": page,
        "rows": rows_of(page.object_list, request.user, at),
        "tally": seen.tally(request.user, at),
        "at": at,
    }
    return render_page(request, "adjudication/case_queue.html", context, partial="cases")


@require_POST
@reviewers_only
def case_next(request: HttpRequest) -> HttpResponse:
    """Claim the most urgent case and open it."""
    claim = actions.claim_next(by=request.user)
    if claim is None:
        messages.info(request, "No case is left that you could decide.")
        return redirect("adjudication:case_queue")
    return redirect(claim.case)
