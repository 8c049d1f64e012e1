"""The queue: what waits, most urgent first, as a page and as CSV, and the key to the next case."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from adjudication import actions
from adjudication.census import Census, census, count_of
from adjudication.context_processors import Badge
from adjudication.forms import QueueFilter, SavedViewForm
from adjudication.models import Case, CaseQuerySet, Claim
from adjudication.queue import UNSETTLED, listed, narrowed, rows_of
from adjudication.table import columns_for, lines_of
from adjudication.urgency import Spot, everything, stretch
from adjudication.visitors import officials_only, reviewers_only
from bouts.csv_stream import csv_response
from bouts.htmx import render_page
from bouts.models import User

PER_PAGE = 50
AT_A_TIME = 500  # rows of a download that are fetched together


@require_safe
@officials_only
def case_queue(request: HttpRequest) -> HttpResponse:
    at = timezone.now()
    seen = Case.objects.visible_to(request.user)
    form, asked = _asked(request, seen, at)
    fitting = narrowed(seen, asked, request.user, at)
    of_all = census(request.user, at)
    is_narrowed = any(value for name, value in asked.items() if name != "state")
    counted = census(request.user, at, asked) if is_narrowed else of_all
    state = asked.get("state") or ""
    after, before = (Spot.read(request.GET.get(name, "")) for name in ("after", "before"))
    part = stretch(
        listed(fitting, state, at),
        request.user,
        at,
        size=PER_PAGE,
        after=None if before else after,
        before=before,
    )
    chips = [("", "All", counted.total), (UNSETTLED, "Unsettled", counted.unsettled)]
    chips += [(each.value, each.label, counted.by_state[each.value]) for each in Case.State]
    mine = seen.held_by(request.user, at).count() if request.user.is_reviewer else None
    context = {
        "form": form,
        "chips": chips,
        "state": state,
        "filters": [
            f"{field.label}: {dict(field.field.choices).get(field.value(), field.value())}"
            for field in form
            if field.name != "state" and asked.get(field.name)
        ],
        "part": part,
        "listed_count": count_of(counted, state),
        "rows": rows_of(part.cases, request.user, at),
        "tally": of_all,
        "shortcuts": list(_shortcuts(of_all, mine)),
        # The page's own count, not a second one of a moment later.
        "badge": Badge(request.user, of_all.unsettled) if request.user.is_reviewer else None,
        "views": list(request.user.saved_views.all()),
        "view_form": SavedViewForm(initial={"query": request.GET.urlencode()}, label_suffix=""),
        "at": at,
    }
    return render_page(request, "adjudication/case_queue.html", context, partial="cases")


def _shortcuts(counted: Census, mine: int | None) -> Iterator[tuple[str, int, str]]:
    """Yield what is counted at the head of the page, and the filters that list just that."""
    yield "Over limit", counted.over_limit, "overdue=limit"
    yield "Past target", counted.past_target, "overdue=target"
    yield "Blocking", counted.blocking, f"state={UNSETTLED}&kind=blocking"
    yield "Advisory", counted.advisory, f"state={UNSETTLED}&kind=advisory"
    if mine is not None:
        yield "Yours", mine, "holder=me"


def _asked(
    request: HttpRequest, seen: CaseQuerySet, at: datetime
) -> tuple[QueueFilter, dict[str, Any]]:
    """Return the filters of an address; what does not make sense in it filters nothing."""
    claims = Claim.objects.live(at).filter(case__in=seen.filter(held_until__gt=at))
    holders = User.objects.filter(pk__in=claims.values("reviewer")).only(
        "username", "first_name", "last_name"
    )
    form = QueueFilter(request.GET, holders=holders)
    form.is_valid()
    return form, form.cleaned_data


@require_safe
@officials_only
def case_export(request: HttpRequest) -> StreamingHttpResponse:
    """Send the list under the filters of the address, whole, in its order, as CSV."""
    at = timezone.now()
    seen = Case.objects.visible_to(request.user)
    _, asked = _asked(request, seen, at)
    cases = listed(narrowed(seen, asked, request.user, at), asked.get("state") or "", at)

    def rows() -> Iterator[list[object]]:
        yield list(columns_for(request.user))
        for some in everything(cases, request.user, at, AT_A_TIME):
            yield from lines_of(rows_of(some, request.user, at), request.user)

    return csv_response(rows(), "cases.csv")


@require_POST
@reviewers_only
def case_next(request: HttpRequest) -> HttpResponse:
    """Claim the most urgent case and open it; the one that is held already comes first."""
    began = timezone.now()
    claim = actions.claim_next(by=request.user)
    if claim is None:
        messages.info(request, "No case is left that you could decide.")
        return redirect("adjudication:case_queue")
    if claim.claimed_at < began:
        messages.info(
            request, f"You hold {claim.case} already. Settle or release it to get another."
        )
    return redirect(claim.case)


# What a person keeps of their own


@require_POST
@officials_only
def view_save(request: HttpRequest) -> HttpResponse:
    """Keep filters under a name; the same name again replaces what it stood for."""
    form = SavedViewForm(request.POST)
    if not form.is_valid():
        for problems in form.errors.values():
            messages.error(request, " ".join(problems))
        return redirect("adjudication:case_queue")
    view, _ = request.user.saved_views.update_or_create(
        name=form.cleaned_data["name"], defaults={"query": form.cleaned_data["query"]}
    )
    messages.success(request, f"Saved: {view}.")
    return redirect(view)


@require_POST
@officials_only
def view_drop(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(request.user.saved_views, pk=view_id)
    view.delete()
    messages.success(request, f"Dropped: {view}.")
    return redirect("adjudication:case_queue")


@require_POST
@officials_only
def keys_switch(request: HttpRequest) -> HttpResponse:
    """Switch single keys on or off for this person, on every page and in every browser."""
    request.user.uses_keys = request.POST.get("on") == "1"
    request.user.save(update_fields=["uses_keys"])
    return HttpResponse(status=204)
