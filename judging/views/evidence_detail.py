"""A place in a file of a match, at its permanent address: ``…/evidence/DIGEST/?at=PLACE``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from bouts.disclosure import WITHHELD
from bouts.evidence import BadPlace, LinesPlace, Place, parse_place
from bouts.formats.types import Kind
from bouts.htmx import render_page
from judging.opening import OpenFile, open_file
from judging.showing.addresses import label_of
from judging.showing.lines import WINDOW
from judging.showing.places import Nothing, Panel, Withheld, panel_at
from judging.sight import privately

WHOLE = LinesPlace(1, WINDOW)  # where a file is opened that no place is named of


@require_GET
def evidence_detail(request: HttpRequest, slug: str, digest: str) -> HttpResponse:
    """Show what stands at a place: a page of its own, or for htmx the panel alone."""
    file = open_file(request, slug, digest)
    stated = request.GET.get("at", "")
    try:
        place: Place = parse_place(stated) if stated else WHOLE
    except BadPlace:
        raise Http404 from None
    context = _context(file, place, stated)
    response = render_page(request, "judging/evidence_detail.html", context, partial="panel")
    patch_vary_headers(response, ["Cookie"])
    return privately(response)


def _context(file: OpenFile, place: Place, stated: str) -> dict[str, Any]:
    artifact, gate = file.artifact, file.gate
    path = gate.text(artifact.path) if file.shows_values else WITHHELD
    panel: Panel | None = None
    reason = ""
    try:
        panel = panel_at(
            artifact,
            place,
            gate,
            shows_values=file.shows_values,
            shows_lines=file.shows_lines,
            shows_file=file.shows_file,
        )
    except Withheld:
        reason = "withheld"
    except Nothing:
        reason = "empty" if place == WHOLE else "nothing"
        if artifact.state == artifact.State.UNREADABLE:
            reason = "unresolved"
    # What was asked for is not said again where there is nothing or nothing to be shown: an
    # answer that names some guesses and withholds others would tell which are right.
    is_named = stated and panel is not None
    label = label_of(path, stated) if is_named else reason or path.rpartition("/")[2]
    return {
        "file": file,
        "match": file.match,
        "artifact": artifact,
        "path": path,
        "label": label,
        "panel": panel,
        **(panel.context if panel else {}),
        "reason": reason,
        "addresses": file.addresses,
        "address": file.addresses.artifact(artifact.blob_id, at=stated or None) if panel else "",
        "raw": file.addresses.raw(artifact.blob_id) if file.shows_file else "",
        "tab": _TABS.get(Kind(artifact.kind), ""),
        "is_sample": file.match.is_sample,
        "as_staff": f"?{urlencode({'at': stated})}" if stated else "?",
    }


# The tab that shows what a reader made of the whole file.
_TABS = {
    Kind.TESTS: "test_list",
    Kind.TELEMETRY: "timeline_detail",
    Kind.DIFF: "diff_detail",
    Kind.LOG: "log_list",
    Kind.DELIVERABLE: "deliverable_list",
    Kind.PLAN: "deliverable_list",
    Kind.SANDBOX: "access_list",
    Kind.SCAN: "scan_list",
}
