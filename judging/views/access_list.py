"""What the sandbox saw, what it refused apart from what it allowed; what is cited is marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts import chunks
from bouts.evidence import LinePlace, LinesPlace, parse_place
from bouts.formats.types import Access, Kind
from bouts.models import Artifact
from judging.showing.build import build_id
from judging.showing.pages import ValuePage, chosen_page
from judging.showing.places import access_row
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, open_address, readable, tab_page

ENDS = {
    "refused": "Refused",
    "allowed": "Allowed",
    "unknown": "Came to nothing, or to an unknown end",
}


@require_safe
@with_evidence
def access_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show the first of each end; ``?show=refused&page=2`` goes on in one of them."""
    files = readable(sight, Kind.SANDBOX)
    artifact = chosen(request, [file for file in files if file.state == file.State.READ])
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        ordinals = _by_end(artifact)
        show = request.GET.get("show", "")
        show = show if show in ordinals else ""
        page = number(request, "page") if show else 1
        cited = _cited(sight, artifact.path)
        context |= {
            "total": sum(map(len, ordinals.values())),
            "refused": len(ordinals["refused"]),
            "show": show,
            "show_here": f"{open_address(sight, 'access_list', artifact)}show={show}&",
            "ends": [(end, ENDS[end], len(found)) for end, found in ordinals.items()],
            "sections": [
                _section(sight, artifact, end, chosen_page(artifact, ordinals[end], page), cited)
                for end in ([show] if show else ordinals)
                if ordinals[end]
            ],
        }
    return tab_page(request, sight, "access_list", context)


def _by_end(artifact: Artifact) -> Mapping[str, Sequence[int]]:
    """Return the ordinals of a log's accesses by what became of them, kept for the next look."""
    key = f"accesses:{build_id()}:{artifact.pk}"
    ordinals: dict[str, list[int]] | None = cache.get(key)
    if ordinals is None:
        ordinals = {end: [] for end in ENDS}
        for at, access in enumerate(chunks.read(artifact), start=1):
            ordinals[_end(access)].append(at)
        cache.set(key, ordinals)
    return ordinals


def _end(access: Access) -> str:
    if access.allowed is None:
        return "unknown"
    return "allowed" if access.allowed else "refused"


def _section(
    sight: Sight, artifact: Artifact, end: str, page: ValuePage, cited: Mapping[int, str]
) -> dict[str, Any]:
    return {
        "end": end,
        "title": ENDS[end],
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
