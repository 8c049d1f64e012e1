"""The diff of a match, a few files to a page; every line of it has an address."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.evidence import BadPlace, DiffPlace, parse_place
from bouts.formats.types import Kind
from bouts.models import Artifact
from judging.showing.build import build_id
from judging.showing.citations import citations_of
from judging.showing.diffs import MOST_LINES, file_view, line_number_of
from judging.showing.pages import page_of
from judging.showing.scope import FileEntry, files_of
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, readable, tab_page

FILES = 10  # to a page
MOST_LISTED = 200  # files in the list above them


@require_safe
@with_evidence
def diff_detail(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show files of a diff; ``?only=3&from=601`` goes on in the third where it was cut, and
    ``?line=diff:PATH:LINE`` opens the page with that line, which is marked."""
    files = readable(sight, Kind.DIFF)
    artifact = chosen(request, [file for file in files if file.state == file.State.READ])
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        context |= _page(request, sight, artifact)
    return tab_page(request, sight, "diff_detail", context)


def _page(request: HttpRequest, sight: Sight, artifact: Artifact) -> dict[str, Any]:
    entries = _entries(sight, artifact)
    target = _target(request)
    found = target and next((one.ordinal for one in entries if target.path in one.paths), None)
    only = number(request, "only", 0) if "only" in request.GET else 0
    wanted = (found - 1) // FILES + 1 if found else number(request, "page")
    page = page_of(artifact, number=only or wanted, per_page=1 if only else FILES)
    cites = citations_of(sight.breakdown, artifact.path)
    marks = {entry.ordinal: entry.marks for entry in entries}
    changes = []
    for at, change in enumerate(page.values):
        ordinal = page.first + at
        start = number(request, "from") if only else 1
        if target and ordinal == found:
            line = line_number_of(change, target) or 1
            start = (line - 1) // MOST_LINES * MOST_LINES + 1
        view = file_view(change, ordinal, sight.gate, start, cites=cites, target=target)
        changes.append((view, marks.get(ordinal, ())))
    return {
        "values": page,
        "only": only,
        "changes": changes,
        "entries": [(entry, (entry.ordinal - 1) // FILES + 1) for entry in entries[:MOST_LISTED]],
        "entries_left_out": max(0, len(entries) - MOST_LISTED),
        "added": sum(entry.added for entry in entries),
        "removed": sum(entry.removed for entry in entries),
        "card_address": sight.addresses.card(),
    }


def _entries(sight: Sight, artifact: Artifact) -> list[FileEntry]:
    """Return the list of all files, made once for each audience of a card."""
    key = f"diff:{build_id()}:{artifact.pk}:{sight.head.card_id}:{sight.key}"
    entries: list[FileEntry] | None = cache.get(key)
    if entries is None:
        entries = files_of(sight, artifact)
        cache.set(key, entries)
    return entries


def _target(request: HttpRequest) -> DiffPlace | None:
    try:
        place = parse_place(request.GET.get("line", ""))
    except BadPlace:
        return None
    return place if isinstance(place, DiffPlace) else None
