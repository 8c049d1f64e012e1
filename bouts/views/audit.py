"""The log of who changed what, for ops."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.forms import AuditFilter
from bouts.htmx import render_page
from bouts.models import AuditEntry
from bouts.visitors import operators_only

PER_PAGE = 50


@require_safe
@operators_only
def audit_list(request: HttpRequest) -> HttpResponse:
    """Show the log, newest first. Pages are cut by entry: counting a long log would cost more."""
    form = AuditFilter(request.GET, label_suffix="")
    form.is_valid()  # what does not make sense in an address is left out
    asked = form.cleaned_data
    found = AuditEntry.objects.select_related("actor").order_by("-pk")
    if asked.get("subject"):
        found = found.filter(subject__startswith=asked["subject"])
    if asked.get("action"):
        found = found.filter(action__startswith=asked["action"].replace(" ", "_"))
    if asked.get("person"):
        found = found.filter(actor__username__iexact=asked["person"])
    if asked.get("before"):
        found = found.filter(pk__lt=asked["before"])
    entries = list(found[: PER_PAGE + 1])
    context = {
        "form": form,
        "entries": entries[:PER_PAGE],
        "is_narrowed": any(asked.values()),
        "older": entries[PER_PAGE - 1].pk if len(entries) > PER_PAGE else None,
    }
    return render_page(request, "bouts/audit_list.html", context, partial="log")
