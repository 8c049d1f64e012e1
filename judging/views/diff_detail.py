"""The diff of a match, a few files to a page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from bouts.formats.types import Kind
from judging.showing.diffs import file_view
from judging.showing.pages import page_of
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, readable, tab_page

FILES = 10  # to a page


@require_GET
@with_evidence
def diff_detail(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show files of a diff; ``?only=3&from=601`` goes on in the third where it was cut."""
    files = readable(sight, Kind.DIFF)
    artifact = chosen(request, [file for file in files if file.state == file.State.READ])
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        only = number(request, "only", 0) if "only" in request.GET else 0
        page = page_of(artifact, only or number(request, "page"), 1 if only else FILES)
        start = number(request, "from") if only else 1
        context |= {
            "values": page,
            "only": only,
            "changes": [
                file_view(change, page.first + at, sight.gate, start)
                for at, change in enumerate(page.values)
            ],
        }
    return tab_page(request, sight, "diff_detail", context)
