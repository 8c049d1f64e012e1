"""What the sandbox saw: every access a row, those of a finding marked."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from bouts.evidence import LinePlace, LinesPlace, parse_place
from bouts.formats.types import Kind
from judging.showing.pages import page_of
from judging.showing.places import access_row
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, readable, tab_page


@require_GET
@with_evidence
def access_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    files = readable(sight, Kind.SANDBOX)
    artifact = chosen(request, [file for file in files if file.state == file.State.READ])
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        page = page_of(artifact, number(request, "page"))
        cited = _cited(sight, artifact.path)
        context |= {
            "values": page,
            "rows": [
                {
                    **access_row(access, sight.gate),
                    "address": sight.addresses.place(artifact.blob_id, LinePlace(access.line)),
                    "finding": cited.get(access.line, ""),
                }
                for access in page.values
            ],
        }
    return tab_page(request, sight, "access_list", context)


def _cited(sight: Sight, path: str) -> dict[int, str]:
    """Return the lines of a log that findings cite, with what was found there."""
    cited = {}
    for finding in sight.breakdown["integrity"]["findings"]:
        for anchor in finding["evidence"]:
            if anchor["artifact"] != path:
                continue
            match parse_place(anchor["place"]):
                case LinePlace(line):
                    cited[line] = finding["trigger"]
                case LinesPlace(first, last):
                    cited |= dict.fromkeys(
                        range(first, min(last, first + 999) + 1), finding["trigger"]
                    )
    return cited
