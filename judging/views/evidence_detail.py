"""A place in a file of a match, at its permanent address: ``…/evidence/DIGEST/?at=PLACE``."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from bouts.disclosure import WITHHELD
from bouts.evidence import (
    BadPlace,
    DiffPlace,
    EventPlace,
    LinesPlace,
    Place,
    parse_place,
)
from bouts.formats.types import Kind
from bouts.htmx import render_page
from judging.opening import OpenFile, open_file
from judging.showing.addresses import label_of
from judging.showing.lines import WINDOW, search
from judging.showing.places import Nothing, Panel, Withheld, panel_at
from judging.sight import privately
from judging.views.evidence_tab import number

LONGEST_WANTED = 200  # characters of what is looked for in a file
WHOLE = LinesPlace(1, WINDOW)  # where a file is opened that no place is named of


@require_safe
def evidence_detail(request: HttpRequest, slug: str, digest: str) -> HttpResponse:
    """Show what stands at a place: a page of its own, or for htmx the panel alone."""
    file = open_file(request, slug, digest)
    stated = request.GET.get("at", "")
    go = request.GET.get("go", "")
    if go.isdecimal() and int(go[:9]) > 0:
        stated = f"line:{int(go[:9])}"
    try:
        place: Place = parse_place(stated) if stated else WHOLE
    except BadPlace:
        raise Http404 from None
    wanted = request.GET.get("find", "")[:LONGEST_WANTED].strip()
    if wanted:
        context = _found(file, wanted, number(request, "from"))
    else:
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
    return _framed(file, path, stated, place, panel, reason)


def _found(file: OpenFile, wanted: str, first: int) -> dict[str, Any]:
    """Show the lines of a file that hold a text, each with its address."""
    path = file.gate.text(file.artifact.path) if file.shows_values else WITHHELD
    if not file.shows_lines:
        return _framed(file, path, "", None, None, "withheld")
    hits = search(file.artifact.blob, wanted, file.gate, first)
    panel = Panel("judging/_place_found.html", {"hits": hits, "wanted": wanted, "first": first})
    return _framed(file, path, "", None, panel, "")


def _framed(
    file: OpenFile, path: str, stated: str, place: Place | None, panel: Panel | None, reason: str
) -> dict[str, Any]:
    """Return what stands around a panel, or around the reason why there is none."""
    artifact = file.artifact
    # What was asked for is not said again where there is nothing or nothing to be shown: an
    # answer that names some guesses and withholds others would tell which are right.
    is_named = bool(stated) and panel is not None
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
        "shows_lines": file.shows_lines,
        "addresses": file.addresses,
        "address": file.addresses.artifact(artifact.blob_id, at=stated or None) if panel else "",
        "raw": file.addresses.raw(artifact.blob_id) if file.shows_file else "",
        "tab": _tab_address(file, place if panel else None),
        "is_sample": file.match.is_sample,
    }


def _tab_address(file: OpenFile, place: Place | None) -> str:
    """Return the address of what the reader made of the whole file, opened at a place that
    was shown; empty where the live card has no such file."""
    page = _TABS.get(Kind(file.artifact.kind), "")
    chosen = file.artifact.blob_id
    match place:
        case _ if not page or file.is_superseded:
            return ""
        case DiffPlace():
            return file.addresses.tab(page, file=chosen, line=str(place)) + "#at"
        case EventPlace(seq):
            return file.addresses.tab(page, file=chosen, at=seq) + f"#e-{seq}"
    return file.addresses.tab(page)


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
