"""Upload bundles and challenges, and watch what becomes of them. It lives with judging, whose
steps it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Case, Q, QuerySet, When
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from bouts import tasks
from bouts.actions import uploads
from bouts.htmx import render_page
from bouts.models import Artifact, Bundle, Upload
from bouts.visitors import operators_only
from judging.models import Scorecard, Step
from judging.showing.stages import BAD, DONE, stages_of

PER_PAGE = 20
FILES_PER_PAGE = 100
FORM_BYTES = 1_000_000  # what a form adds to the files it carries

UNDER_WAY = (Upload.State.RECEIVED, Upload.State.WORKING)
UNFINISHED = (Step.State.WAITING, Step.State.RUNNING)


def bounded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Refuse what is too large by its announced size, before any of it is read.

    The CSRF check reads the form, so it comes after this one.
    """
    protected = csrf_protect(view)

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
        if announced > settings.BUNDLE_LIMITS["bundle_bytes"] + FORM_BYTES:
            return _page(request, error=f"{uploads.limits().bundle}. Nothing was read.", status=413)
        return protected(request, *args, **kwargs)

    return csrf_exempt(guarded)


@operators_only
@bounded
def upload_create(request: HttpRequest) -> HttpResponse:
    """The drop zone with the latest uploads; posting files takes them in."""
    if request.method != "POST":
        return _page(request)
    files = request.FILES.getlist("bundles")
    if not files:
        return _page(request, error="Choose a file: nothing was sent.", status=422)
    rows = [
        uploads.receive(file, by=request.user, is_check="check" in request.POST) for file in files
    ]
    for row in rows:
        tasks.ring(str(row.pk))
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"uploads": [row.get_absolute_url() for row in rows]}, status=202)
    return redirect(rows[0] if len(rows) == 1 else "judging:upload_create")


def _page(request: HttpRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    page = Paginator(_uploads(), PER_PAGE).get_page(request.GET.get("page"))
    lines = _lines(page.object_list)
    context = {
        "page": page,
        "lines": lines,
        "is_moving": any(line.upload.state in UNDER_WAY or line.is_judging for line in lines),
        "limits": uploads.limits(),
        "error": error,
    }
    template = "judging/upload_create.html"
    return render_page(request, template, context, partial="uploads", status=status)


def _uploads() -> QuerySet[Upload]:
    return Upload.objects.select_related(
        "by",
        "bundle__match__agent",
        "bundle__challenge_version",
        "challenge_version__challenge",
    ).defer(
        "bundle__manifest",
        "bundle__hidden_words",
        "bundle__challenge_version__document",
        "bundle__challenge_version__starting_tree",
        "challenge_version__document",
        "challenge_version__starting_tree",
    )


@dataclass(frozen=True, slots=True)
class Line:
    """An upload in the list, with what its match came to."""

    upload: Upload
    card: Scorecard | None
    is_judging: bool
    has_failed: bool


def _lines(rows: Sequence[Upload]) -> list[Line]:
    """Add what the judges say of each upload's bundle, in two queries however many there are."""
    bundles = [row.bundle_id for row in rows if row.bundle_id]
    cards = Scorecard.objects.live().filter(bundle__in=bundles).defer("breakdown")
    card_of = {card.bundle_id: card for card in cards}
    states: dict[int, set[str]] = {}
    for bundle, state in Step.objects.filter(bundle__in=bundles).values_list("bundle", "state"):
        states.setdefault(bundle, set()).add(state)
    return [
        Line(
            row,
            card_of.get(row.bundle_id),
            is_judging=not states.get(row.bundle_id, set()).isdisjoint(UNFINISHED),
            has_failed=Step.State.FAILED in states.get(row.bundle_id, set()),
        )
        for row in rows
    ]


@require_safe
@operators_only
def upload_detail(request: HttpRequest, upload_id: str) -> HttpResponse:
    """One upload: its stages until the match is scored, or all its faults."""
    row = get_object_or_404(_uploads(), pk=upload_id)
    steps = list(row.bundle.steps.order_by("pk")) if row.bundle else []
    stages = stages_of(row, steps, timezone.now())
    context = {
        "upload": row,
        "stages": stages,
        "done": sum(stage.state == DONE for stage in stages),
        "is_broken": any(stage.state == BAD for stage in stages),
        "is_moving": row.state in UNDER_WAY or any(step.state in UNFINISHED for step in steps),
        "line": _lines([row])[0],
        **_files(row.bundle, request.GET.get("page")),
    }
    return render_page(request, "judging/upload_detail.html", context, partial="progress")


def _files(bundle: Bundle | None, page: str | None) -> dict[str, object]:
    """How the files of a bundle were read, a page of them, the unreadable ones first."""
    if bundle is None:
        return {}
    unreadable = Q(state=Artifact.State.UNREADABLE)
    files = bundle.artifacts.defer("facts").order_by(
        Case(When(unreadable, then=0), default=1), "path"
    )
    return {
        "files": Paginator(files, FILES_PER_PAGE).get_page(page),
        "unreadable": bundle.artifacts.filter(unreadable).count(),
    }


@require_safe
@operators_only
def upload_faults(request: HttpRequest, upload_id: str) -> JsonResponse:
    """The faults of a refused upload, for whoever mends them by program."""
    row = get_object_or_404(Upload, pk=upload_id)
    return JsonResponse({"name": row.name, "state": row.state, "faults": row.faults})


@require_POST
@operators_only
def upload_retry(request: HttpRequest, upload_id: str) -> HttpResponse:
    row = get_object_or_404(Upload, pk=upload_id)
    uploads.retry(row, by=request.user)
    tasks.ring(str(row.pk))
    return redirect(row)
