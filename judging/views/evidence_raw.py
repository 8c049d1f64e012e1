"""A file of a match as it was uploaded, to be saved and never to be run in a browser."""

from __future__ import annotations

import re

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_safe

from bouts import blobs
from bouts.formats.types import Kind
from bouts.masking import masked_pieces
from judging.opening import open_file
from judging.sight import privately

# Everything that people read in an editor. The rest, a scan or a benchmark, is data.
TEXT = {Kind.LOG, Kind.DIFF, Kind.DELIVERABLE, Kind.PLAN, Kind.SANDBOX}
POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"


@require_safe
def evidence_raw(request: HttpRequest, slug: str, digest: str) -> StreamingHttpResponse:
    """Send a file, its secrets masked, where the disclosure allows the file as a whole."""
    file = open_file(request, slug, digest)
    if not file.shows_file:
        raise Http404
    artifact = file.artifact

    def pieces() -> object:
        with blobs.opened(artifact.blob) as stream:
            yield from masked_pieces(stream)

    kind = "text/plain; charset=utf-8" if artifact.kind in TEXT else "application/octet-stream"
    response = StreamingHttpResponse(pieces(), content_type=kind)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", artifact.path.rpartition("/")[2]).strip(".-") or "file"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = POLICY
    privately(response)
    return response
