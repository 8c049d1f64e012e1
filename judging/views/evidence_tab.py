"""What the tabs of a match's evidence have in common: one frame, whole or as a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from bouts.formats.types import Kind
from bouts.htmx import render_page, wants_part
from bouts.models import Artifact
from judging.showing.tabs import tabs_of
from judging.sight import Sight, privately


def tab_page(
    request: HttpRequest, sight: Sight, page: str, context: Mapping[str, Any]
) -> HttpResponse:
    """Show a tab: a page of its own, or for htmx what goes into the page of the match."""
    tabs = tabs_of(sight.breakdown, sight.addresses)
    artifact = context.get("artifact")
    whole = {
        "sight": sight,
        "match": sight.match,
        "card": sight.breakdown,
        "addresses": sight.addresses,
        "tabs": tabs,
        "page": page,
        "title": next((tab.name for tab in tabs if tab.page == page), "Evidence"),
        "body": f"judging/_{page}.html",
        "here": open_address(sight, page, artifact),
        "in_place": wants_part(request),
        "is_sample": sight.match.is_sample,
        **context,
    }
    response = render_page(request, "judging/evidence_tab.html", whole, partial="tab")
    patch_vary_headers(response, ["Cookie"])
    return privately(response)


def open_address(sight: Sight, page: str, artifact: Artifact | None = None) -> str:
    """Return a tab's address up to where a further parameter is written."""
    address = sight.addresses.tab(page, file=artifact.blob_id if artifact else None)
    return f"{address}{'&' if '?' in address else '?'}"


def readable(sight: Sight, *kinds: Kind) -> list[Artifact]:
    """Return the files of some kinds whose values this viewer may see, in order of path."""
    files = (
        Artifact.objects.filter(bundle=sight.card.bundle_id, kind__in=kinds)
        .select_related("blob")
        .order_by("path")
    )
    return [file for file in files if sight.gate.shows_values_of(file)]


def number(request: HttpRequest, name: str, default: int = 1) -> int:
    """Return a whole number from the address, at least 1; the default where it is none."""
    text = request.GET.get(name, "")
    return max(1, int(text)) if text.isdecimal() and len(text) < 10 else default


def chosen(request: HttpRequest, files: list[Artifact]) -> Artifact | None:
    """Return the file that ``?file=DIGEST`` asks for, else the first."""
    wanted = request.GET.get("file", "")
    return next((file for file in files if file.blob_id == wanted), files[0] if files else None)
