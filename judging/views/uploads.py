"""Upload bundles and challenges, and watch what becomes of them. It lives with judging, whose
steps it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.dateparse import parse_datetime
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_POST

from bouts import tasks
from bouts.actions import uploads
from bouts.htmx import render_page
from bouts.models import Upload
from bouts.visitors import operators_only
from judging.models import Step

PER_PAGE = 20
FORM_BYTES = 1_000_000  # what a form adds to the files it carries

UNFINISHED = (Upload.State.RECEIVED, Upload.State.WORKING)


def bounded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Refuse what is too large by its announced size, before any of it is read.

    The CSRF check reads the form, so it comes after this one.
    """
    protected = csrf_protect(view)

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
        if announced > settings.BUNDLE_LIMITS["bundle_bytes"] + FORM_BYTES:
            return _page(request, error=uploads.limits().bundle, status=413)
        return protected(request, *args, **kwargs)

    return csrf_exempt(guarded)


@bounded
@operators_only
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
        return JsonResponse({"uploads": [_address(row) for row in rows]}, status=202)
    return redirect(_address(rows[0]) if len(rows) == 1 else "judging:upload_create")


def _page(request: HttpRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    found = Upload.objects.select_related(
        "by", "bundle__match__agent", "challenge_version__challenge"
    )
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "is_moving": any(row.state in UNFINISHED for row in page),
        "limits": uploads.limits(),
        "error": error,
    }
    template = "judging/upload_create.html"
    return render_page(request, template, context, partial="uploads", status=status)


@require_GET
@operators_only
def upload_detail(request: HttpRequest, upload_id: str) -> HttpResponse:
    rows = Upload.objects.select_related(
        "by", "bundle__match__agent", "challenge_version__challenge"
    )
    row = get_object_or_404(rows, pk=upload_id)
    steps = list(row.bundle.steps.order_by("pk")) if row.bundle else []
    stages = stages_of(row, steps)
    context = {
        "upload": row,
        "stages": stages,
        "done": sum(stage.state == "done" for stage in stages),
        "is_moving": row.state in UNFINISHED
        or any(step.state in {Step.State.WAITING, Step.State.RUNNING} for step in steps),
        "artifacts": row.bundle.artifacts.exclude(notes=[], reason="") if row.bundle else [],
    }
    return render_page(request, "judging/upload_detail.html", context, partial="progress")


@require_GET
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
    return redirect(_address(row))


def _address(row: Upload) -> str:
    return row.get_absolute_url()


# The stages of an upload


@dataclass(frozen=True, slots=True)
class Stage:
    """One line of progress. ``state`` is done, now, wait or bad."""

    label: str
    state: str
    detail: str = ""
    seconds: float | None = None


def stages_of(row: Upload, steps: list[Step]) -> list[Stage]:
    """Tell how far an upload has come, the judging of a match included."""
    told = {entry["stage"]: entry for entry in row.stages}
    stages: list[Stage] = []
    previous = None
    for name, label in (("received", "Received"), ("validated", "Validated")):
        if entry := told.get(name):
            at = parse_datetime(entry["at"])
            seconds = (at - previous).total_seconds() if previous else None
            stages.append(Stage(label, "done", entry["detail"], seconds))
            previous = at
        elif row.state in UNFINISHED:
            is_now = row.state == Upload.State.WORKING
            stages.append(Stage(label, "now" if is_now else "wait"))
    stages.append(_outcome(row, previous))
    if row.bundle and row.state == Upload.State.STORED:
        stages += _judging(steps)
    return stages


def _outcome(row: Upload, previous: object) -> Stage:
    if row.state in UNFINISHED:
        return Stage("Checked" if row.is_check else "Stored", "wait")
    seconds = (row.finished_at - previous).total_seconds() if previous and row.finished_at else None
    match row.state:
        case Upload.State.REFUSED:
            return Stage("Refused", "bad", "nothing was stored")
        case Upload.State.FAILED:
            return Stage("Failed", "bad", row.reason)
        case Upload.State.VALID:
            return Stage("Valid", "done", "checked only, nothing was stored", seconds)
        case Upload.State.UNCHANGED:
            return Stage("Unchanged", "done", "the same content is here already", seconds)
    return Stage("Stored", "done", str(row.bundle or row.challenge_version), seconds)


def _judging(steps: list[Step]) -> list[Stage]:
    return [
        Stage(
            label=step.get_name_display(),
            state={"done": "done", "running": "now", "failed": "bad"}.get(step.state, "wait"),
            detail=step.reason,
            seconds=(step.finished_at - step.started_at).total_seconds()
            if step.finished_at and step.started_at and step.state == Step.State.DONE
            else None,
        )
        for step in steps
    ]
