"""Conflicts of interest: declaring one's own, and reading them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from adjudication import actions
from adjudication.forms import ConflictForm
from adjudication.models import Case, Conflict
from adjudication.visitors import reviewers_only
from bouts.htmx import render_page


@reviewers_only
def conflict_list(request: HttpRequest) -> HttpResponse:
    """Show one's own conflicts; a POST declares another, with a team."""
    form = ConflictForm(request.POST or None, label_suffix="")
    if request.method == "POST" and form.is_valid():
        conflict = actions.declare_conflict(by=request.user, **form.cleaned_data)
        messages.success(request, f"Declared. Cases of {conflict.team} are no longer yours to see.")
        return redirect("adjudication:conflict_list")
    context = {
        "form": form,
        "teams": request.user.teams.all(),
        "conflicts": Conflict.objects.filter(reviewer=request.user).select_related("team", "match"),
    }
    status = 422 if request.method == "POST" else 200
    return render_page(request, "adjudication/conflict_list.html", context, status=status)


@require_POST
@reviewers_only
def case_conflict(request: HttpRequest, case_id: int) -> HttpResponse:
    """Declare a conflict with the match of a case, also while its agent is still hidden."""
    case = Case.objects.visible_to(request.user).filter(pk=case_id).first()
    if case is None:
        raise Http404
    note = request.POST.get("note", "")[:1_000].replace("\0", "␀")
    actions.declare_conflict(by=request.user, match=case.match, note=note)
    messages.success(request, f"Declared. {case} is no longer yours to see.")
    return redirect("adjudication:case_queue")
