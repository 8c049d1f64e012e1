"""The files of a bundle: how each was read, and those that may be saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.formats.sniff import VERSIONS
from bouts.models import Artifact
from judging.showing.addresses import Addresses
from judging.showing.inert import on_one_line
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import number, tab_page

PER_PAGE = 100


@require_safe
@with_evidence
def artifact_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    page = Paginator(sight.breakdown["artifacts"], PER_PAGE).get_page(number(request, "page"))
    shown = [row["path"] for row in page if row["digest"]]
    stored = {
        path: {"size": size, "reader_version": reader_version}
        for path, size, reader_version in Artifact.objects.filter(
            bundle=sight.card.bundle_id, path__in=shown
        ).values_list("path", "blob__size", "reader_version")
    }
    rows = [_row(row, stored.get(row["path"], {}), sight.addresses) for row in page]
    return tab_page(request, sight, "artifact_list", {"rows": rows, "file_page": page})


def _row(row: Mapping[str, Any], stored: Mapping[str, Any], addresses: Addresses) -> dict[str, Any]:
    digest = row["digest"]
    return {
        **row,
        **stored,
        "newest_reader": VERSIONS.get(row["format"]),
        "name": on_one_line(row["path"]),
        "address": addresses.artifact(digest) if digest else None,
        "raw_address": addresses.raw(digest) if row["raw"] else None,
    }
