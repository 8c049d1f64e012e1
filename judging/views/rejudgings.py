"""Rejudgings, for ops: choose what, watch the preview, look at what would move, apply or drop."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from bouts import audit
from bouts.htmx import confirm_kept, render_page
from bouts.models import AuditEntry
from bouts.rules import Judge
from bouts.visitors import operators_only
from judging import exports, spending, tasks
from judging.forms import RejudgingForm
from judging.models import RejudgedMatch, Rejudging
from judging.rejudging import actions
from judging.rejudging.choice import Choice
from judging.rejudging.report import SHOWN, counts_of, line_of, rows_of, table_of
from judging.seats import seating

PER_PAGE = 50
LISTED = 25
FORM = "rejudging"  # where what is typed is kept until it is saved

REFUSED = {
    actions.NothingChosen: "No match fits this. Widen the choice.",
    actions.ChallengeFrozen: "The challenge is frozen: nothing of it is rejudged.",
    actions.TellsOfHidden: "The reason names or quotes a hidden test, and competitors read it."
    " Use other words.",
}


@require_safe
@operators_only
def rejudging_list(request: HttpRequest) -> HttpResponse:
    """All rejudgings, the newest first; what is not settled says how far it is."""
    under_way = Q(matches__state__in=RejudgedMatch.UNDER_WAY)
    rows = (
        Rejudging.objects.select_related("by", "settled_by")
        .defer("ranks")
        .annotate(
            count=Count("matches"),
            waiting=Count("matches", filter=under_way),
            recorded=Count("matches__applied"),
        )
        .order_by("-pk")
    )
    page = Paginator(rows, LISTED).get_page(request.GET.get("page"))
    for row in page:
        row.words = ", ".join(Choice(**row.choice).words())
    return render_page(request, "judging/rejudging_list.html", {"page": page})


@operators_only
def rejudging_create(request: HttpRequest) -> HttpResponse:
    """Choose matches and judges and say why; the preview is made in the background."""
    asked = {name: request.GET[name] for name in Choice.__dataclass_fields__ if name in request.GET}
    form = RejudgingForm(request.POST or None, initial=asked)
    if request.method == "POST" and form.is_valid():
        try:
            rejudging = actions.propose(
                form.choice,
                judges=map(Judge, form.cleaned_data["judges"]),
                to_newest=form.cleaned_data["to_newest"],
                reason=form.cleaned_data["reason"],
                by=request.user,
            )
        except tuple(REFUSED) as refused:
            form.add_error(None, REFUSED[type(refused)])
        else:
            tasks.ring_for_rejudging(rejudging.pk)
            confirm_kept(request, FORM, f"{rejudging} is being previewed. Nothing counts yet.")
            return redirect(rejudging)
    status = 422 if form.errors else 200
    return render_page(request, "judging/rejudging_create.html", {"form": form}, status=status)


@require_safe
@operators_only
def rejudging_detail(request: HttpRequest, rejudging_id: int) -> HttpResponse:
    """What a rejudging would come to, or what it came to: counts, ranks, a line a match."""
    related = Rejudging.objects.select_related("by", "settled_by")
    rejudging = get_object_or_404(related, pk=rejudging_id)
    counts = counts_of(rejudging)
    show = request.GET.get("show", "")
    page = Paginator(rows_of(rejudging, show), PER_PAGE).get_page(request.GET.get("page"))
    seats = [seat.name.value for seat in seating().panel.seats]
    context = {
        "rejudging": rejudging,
        "words": list(Choice(**rejudging.choice).words()),
        "judges": [Judge(name).value.capitalize() for name in rejudging.judges],
        "counts": counts,
        "is_moving": rejudging.is_previewing or rejudging.state == Rejudging.State.APPLYING,
        "can_anew": rejudging.is_open
        and (counts.failed or counts.left_out or counts.changed_since),
        "shown": [(value, label) for value, label in SHOWN.items()],
        "show": show if show in SHOWN else "",
        "page": page,
        "lines": [line_of(row) for row in page],
        "files": {
            kind: f"{rejudging.get_absolute_url().removesuffix('/')}.{kind}"
            for kind in exports.KINDS
        },
        "seats": seats,
        "cost": spending.of_asking(seats, counts.matches),
        "entries": list(
            AuditEntry.objects.filter(subject=audit.subject_of(rejudging)).select_related("actor")
        ),
        "now": timezone.now(),
    }
    return render_page(request, "judging/rejudging_detail.html", context, partial="rejudging")


@require_safe
@operators_only
def rejudging_file(request: HttpRequest, rejudging_id: int, kind: str) -> HttpResponse:
    """All lines of a rejudging as CSV or JSON, and the ranks with JSON."""
    rejudging = get_object_or_404(Rejudging, pk=rejudging_id)
    return exports.answer(table_of(rejudging), kind)


@require_POST
@operators_only
def rejudging_anew(request: HttpRequest, rejudging_id: int) -> HttpResponse:
    """Preview those once more that failed, were left out or changed since."""
    rejudging = get_object_or_404(Rejudging, pk=rejudging_id)
    try:
        count = actions.preview_anew(rejudging.pk, by=request.user)
    except actions.Settled:
        messages.error(request, f"{rejudging} is settled. Nothing was changed.")
    else:
        tasks.ring_for_rejudging(rejudging.pk)
        messages.success(request, f"Previewed anew: {count}.")
    return redirect(rejudging)


@require_POST
@operators_only
def rejudging_apply(request: HttpRequest, rejudging_id: int) -> HttpResponse:
    """Let it count, as it was looked at."""
    rejudging = get_object_or_404(Rejudging, pk=rejudging_id)
    try:
        seen = parse_datetime(request.POST.get("seen", ""))
    except ValueError:
        seen = None
    try:
        actions.ask_to_apply(rejudging.pk, seen=seen, by=request.user)
    except actions.NotReady:
        messages.error(request, "The preview is still being made. Nothing was applied.")
    except actions.Stale:
        messages.error(
            request, "There is another preview by now than you looked at. Nothing was applied."
        )
    except actions.Settled:
        messages.error(request, f"{rejudging} was dropped. Nothing was applied.")
    else:
        tasks.ring_to_apply(rejudging.pk)
        messages.success(request, f"{rejudging} is being applied.")
    return redirect(rejudging)


@require_POST
@operators_only
def rejudging_drop(request: HttpRequest, rejudging_id: int) -> HttpResponse:
    """Let nothing of it count, for good; the record stays."""
    rejudging = get_object_or_404(Rejudging, pk=rejudging_id)
    try:
        actions.drop(rejudging.pk, by=request.user)
    except actions.Settled:
        messages.error(request, f"{rejudging} is applied, and cannot be dropped.")
    else:
        messages.success(request, f"{rejudging} is dropped. Nothing of it counts.")
    return redirect(rejudging)
