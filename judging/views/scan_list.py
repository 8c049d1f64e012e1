"""What the security scanner found."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.disclosure import WITHHELD, Gate
from bouts.formats.types import Kind, ScanFinding
from judging.showing.inert import on_one_line, plain
from judging.showing.pages import page_of
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, readable, tab_page


@require_safe
@with_evidence
def scan_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    files = readable(sight, Kind.SCAN)
    artifact = chosen(request, [file for file in files if file.state == file.State.READ])
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        page = page_of(artifact, number=number(request, "page"))
        context |= {"values": page, "rows": [_row(finding, sight.gate) for finding in page.values]}
    return tab_page(request, sight, "scan_list", context)


def _row(finding: ScanFinding, gate: Gate) -> dict[str, Any]:
    """Return a finding as it may be shown; one that quotes a hidden test tells only its weight."""
    texts = (finding.message, finding.path or "", finding.snippet, finding.rule)
    is_withheld = not gate.shows_hidden_tests and any(map(gate.quotes_hidden, texts))
    where = f"{finding.path or 'no file'}:{finding.line}" if finding.line else finding.path
    return {
        "rule": WITHHELD if is_withheld else on_one_line(finding.rule),
        "where": WITHHELD if is_withheld else on_one_line(gate.text(where or "no file")),
        "message": "" if is_withheld else plain(gate.text(finding.message)),
        "snippet": "" if is_withheld else plain(gate.text(finding.snippet)),
        "severity": finding.severity or finding.level,
        "score": finding.security_severity,
        "is_critical": finding.critical,
    }
