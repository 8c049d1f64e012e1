"""The logs of a match; each is read by range at its own address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.formats.types import Kind
from bouts.rules import Suite
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import tab_page


@require_safe
@with_evidence
def log_list(request: HttpRequest, sight: Sight) -> HttpResponse:
    evidence = sight.breakdown["judges"]["objective"]["evidence"] or {}
    runs = {log["artifact"]: log for log in evidence.get("logs", []) if log["artifact"]}
    build = (evidence.get("build") or {}).get("log")
    rows = [
        {
            **row,
            "of": "the build" if row["path"] == build else _of(runs.get(row["path"])),
            "address": row["digest"] and sight.addresses.artifact(row["digest"]),
            "raw_address": sight.addresses.raw(row["digest"]) if row["raw"] else None,
        }
        for row in sight.breakdown["artifacts"]
        if row["kind"] == Kind.LOG
    ]
    return tab_page(request, sight, "log_list", {"rows": rows})


def _of(run: dict[str, object] | None) -> str:
    if not run:
        return ""
    suite = "visible" if run["suite"] == Suite.STATIC else run["suite"]
    return f"run {run['run'] or 1} of the {suite} tests"
