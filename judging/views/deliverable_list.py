"""What the agent wrote for people: rendered, with the source beside."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts import blobs
from bouts.disclosure import Gate
from bouts.formats.types import Kind
from bouts.models import Artifact
from judging.showing.lines import WINDOW, window
from judging.showing.markdown import LONGEST, rendered
from judging.showing.tabs import DOCUMENTS
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, readable, tab_page

MARKDOWN = (".md", ".markdown", ".mdown")


@require_safe
@with_evidence
def deliverable_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    files = readable(sight, *DOCUMENTS)
    artifact = chosen(request, files)
    withheld = [
        row["path"]
        for row in sight.breakdown["artifacts"]
        if row["kind"] in DOCUMENTS and not row["digest"]
    ]
    context: dict[str, Any] = {"files": files, "artifact": artifact, "withheld_files": withheld}
    if artifact is not None:
        context |= _document(artifact, sight.gate)
    return tab_page(request, sight, "deliverable_list", context)


def _document(artifact: Artifact, gate: Gate) -> dict[str, Any]:
    """Return a document as text, and rendered where it is Markdown and not too long."""
    with blobs.opened(artifact.blob) as stream:
        data = stream.read(4 * LONGEST + 1)
    text = gate.text(data.decode("utf-8", "replace"))
    is_long = len(data) > 4 * LONGEST or len(text) > LONGEST
    is_markdown = artifact.path.lower().endswith(MARKDOWN) or artifact.kind == Kind.PLAN
    return {
        "document": rendered(text) if is_markdown and not is_long else "",
        "source": window(artifact.blob, 1, WINDOW, gate),
        "is_long": is_long,
    }
