"""The timeline of a match: a picture of the run, and its events a page at a time."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_GET

from bouts import chunks
from bouts.formats.types import Clock, Event, Kind
from bouts.models import Artifact, Bundle
from judging.charts.timeline import timeline
from judging.dossiers import dossier_of
from judging.judges.telemetry import analysed, main_source
from judging.scoring.telemetry import Recording, analyse
from judging.showing.build import build_id
from judging.showing.events import KINDS, row_of
from judging.showing.pages import page_number_of, page_of
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, open_address, readable, tab_page

LONGEST_TITLE = 90


@require_GET
@with_evidence
def timeline_detail(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show the events of a telemetry file; ``?at=37`` opens the page with event 37."""
    files = readable(sight, Kind.TELEMETRY)
    artifact = chosen(request, [file for file in files if file.state == file.State.READ])
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        target = number(request, "at", -1) if "at" in request.GET else -1
        wanted = page_number_of(artifact, target) if target >= 0 else number(request, "page")
        events = page_of(artifact, wanted)
        context |= {
            "events": events,
            "rows": [row_of(event, sight.gate) for event in events.values],
            "target": target,
            "has_clock": artifact.clock not in {"", Clock.NONE},
            "picture": _picture(sight, artifact),
        }
    return tab_page(request, sight, "timeline_detail", context)


def _picture(sight: Sight, artifact: Artifact) -> SafeString:
    """Return the picture of a whole run, drawn once for each audience."""
    pages = sight.pages
    key = f"timeline:{build_id()}:{artifact.pk}:{sight.key}:{pages.viewing_as}:{pages.revision}"
    html = cache.get(key)
    if html is None:
        html = render_to_string("judging/_timeline.html", _drawn(sight, artifact))
        cache.set(key, html)
    return mark_safe(html)  # rendered by an autoescaping template


def _drawn(sight: Sight, artifact: Artifact) -> dict[str, Any]:
    # Whole, with the long columns that the page itself leaves behind.
    bundle = Bundle.objects.select_related("challenge_version").get(pk=artifact.bundle_id)
    dossier = dossier_of(bundle)
    source = main_source(dossier)
    events = [event for event in chunks.read(artifact) if isinstance(event, Event)]
    clock = Clock(artifact.clock or Clock.NONE)
    if source is not None and source.path == artifact.path:
        told = analysed(dossier, sight.policy)
    else:
        told = analyse(Recording(events, clock), sight.policy)  # a file that no judge read
    picture = timeline(
        sorted(events, key=lambda event: event.seq),
        told.story,
        lambda event: _title(event, sight),
        has_clock=clock is not Clock.NONE,
    )
    return {
        "picture": picture,
        "here": open_address(sight, "timeline_detail", artifact),
    }


def _title(event: Event, sight: Sight) -> str:
    row = row_of(event, sight.gate)
    said = f"{row.summary}, {row.result}" if row.result else row.summary
    title = f"#{event.seq} {KINDS[event.kind]}: {said}"
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
