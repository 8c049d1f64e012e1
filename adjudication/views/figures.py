"""How the reviewers do, for leads: on the screen, and every decision as a file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from adjudication import figures, pictures
from adjudication.figures import Asked, Scope
from adjudication.forms import FiguresFilter
from adjudication.visitors import leads_only
from bouts.htmx import render_page
from judging import exports

ON_SCREEN = 20  # decisions


@require_safe
@leads_only
def lead_figures(request: HttpRequest) -> HttpResponse:
    form, scope = _scope(request)
    times, weeks = figures.times(scope), figures.weeks(scope)
    reviewers, seats = figures.reviewers(scope), figures.seats(scope)
    context = {
        "form": form,
        "times": times,
        "weeks": weeks,
        "overdue": figures.overdue(scope),
        "reviewers": reviewers,
        "agreements": figures.agreements(scope),
        "seats": seats,
        "decisions": scope.rulings.select_related("case__challenge", "reviewer", "before", "after")[
            :ON_SCREEN
        ],
        "time_picture": pictures.of_time(weeks) if weeks else None,
        "load_picture": pictures.of_load(reviewers) if any(r.rulings for r in reviewers) else None,
        "seat_picture": pictures.of_seats(seats) if any(seat.votes for seat in seats) else None,
        "query": request.GET.urlencode(),
    }
    return render_page(request, "adjudication/lead_figures.html", context)


@require_safe
@leads_only
def decision_file(request: HttpRequest) -> StreamingHttpResponse:
    """Send every ruling in force that fits the filters, in the columns of the page."""
    _, scope = _scope(request)
    rows = figures.decisions(scope.rulings)
    return exports.answer(exports.Table("decisions", figures.COLUMNS, rows, exports.FINAL), "csv")


def _scope(request: HttpRequest) -> tuple[FiguresFilter, Scope]:
    form = FiguresFilter(request.GET)
    form.is_valid()  # what does not make sense in an address filters nothing
    asked = Asked(**{name: form.cleaned_data.get(name) for name in form.fields})
    return form, Scope(request.user, asked, timezone.now())
