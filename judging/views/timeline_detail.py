"""The timeline of a match: a picture of the run, and its events a page at a time."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from bouts import chunks
from bouts.formats.types import Event, EventKind, Kind
from bouts.models import Artifact, Bundle
from judging.charts.timeline import timeline
from judging.dossiers import dossier_of
from judging.judges.runs import Run, main_run, runs_of
from judging.judges.telemetry import analysed
from judging.scoring.story import Story
from judging.scoring.telemetry import Recording, analyse
from judging.showing.build import build_id
from judging.showing.citations import Cite, citations_of
from judging.showing.events import KINDS, row_of
from judging.showing.outline import (
    Outline,
    Stretch,
    called_together,
    episode_rows,
    outline_of,
)
from judging.showing.pages import page_number_of, page_of, selected_page
from judging.sight import Sight, with_evidence
from judging.views.evidence_tab import chosen, number, open_address, readable, tab_page

LONGEST_TITLE = 90


@require_safe
@with_evidence
def timeline_detail(request: HttpRequest, sight: Sight) -> HttpResponse:
    """Show the events of a telemetry file; ``?at=37`` opens the page with event 37.

    ``?kind=test`` keeps to a kind, ``?phase=2`` to what followed a plan, and ``?window=3`` to
    as many events as the picture shows one by one.
    """
    files = readable(sight, Kind.TELEMETRY)
    read = [file for file in files if file.is_readable]
    artifact = chosen(request, read)
    context: dict[str, Any] = {"files": files, "artifact": artifact}
    if artifact is not None:
        recorded = next(run for run in runs_of(read) if artifact in run.parts)
        context |= _page(request, sight, recorded, artifact)
    return tab_page(request, sight, "timeline_detail", context)


def _page(
    request: HttpRequest, sight: Sight, recorded: Run[Artifact], artifact: Artifact
) -> dict[str, Any]:
    """Return what the page of a run shows, opened where ``artifact`` begins that is a part of it."""
    run, parts = _Drawn(sight, recorded), recorded.parts
    outline = run.outline
    target = number(request, "at", -1) if "at" in request.GET else -1
    kind = _kind(request, outline)
    window = number(request, "window", 0) if "window" in request.GET else 0
    phase = number(request, "phase", 0) if "phase" in request.GET else 0
    phase = phase if phase <= len(outline.phases) else 0
    window = min(window, outline.windows) if not phase and outline.windows > 1 else 0
    stretch = outline.phases[phase - 1] if phase else outline.window(window) if window else None
    page = number(request, "page")
    if kind or stretch:
        seqs = outline.selected(kind, stretch)
        events = selected_page(*parts, seqs=seqs, number=page, target=target)
    else:
        opened = target
        if artifact.continues and target < 0 and "page" not in request.GET:
            opened = artifact.events_before + 1
        events = page_of(*parts, number=page_number_of(*parts, seq=opened) if opened >= 0 else page)
    together, cites = called_together(events.values), _cites(sight, recorded)
    here = open_address(sight, "timeline_detail", parts[0])
    kept_kind = f"kind={kind}&" if kind else ""
    kept_stretch = f"phase={phase}&" if phase else f"window={window}&" if window else ""
    has_clock = recorded.has_clock
    return {
        "parts": parts,
        "origin": next((part.origin for part in parts if part.origin), ""),
        "events": events,
        "rows": [
            (
                row_of(event, sight.gate),
                recorded.part_of(event.seq).blob_id,
                together.get(event.seq, ()),
                cites.get(event.seq, ()),
            )
            for event in events.values
        ],
        "target": target,
        "has_clock": has_clock,
        "picture": run.picture(stretch),
        "episodes": episode_rows(outline.story, has_clock=has_clock),
        "kinds": [(one, KINDS[one], len(seqs)) for one, seqs in outline.kinds.items()],
        "kind": kind,
        "phases": list(enumerate(outline.phases, start=1)),
        "phase": phase,
        "stretch": stretch,
        "window": window,
        "windows": outline.windows if outline.windows > 1 else 0,
        "window_here": window or outline.window_of(max(target, events.values[0].seq))
        if events.values
        else 1,
        # The tab's address with what is chosen kept, and with all but one of the choices.
        "whole": here,
        "here": f"{here}{kept_kind}{kept_stretch}",
        "any_kind": f"{here}{kept_stretch}",
        "any_stretch": f"{here}{kept_kind}",
    }


def _kind(request: HttpRequest, outline: Outline) -> EventKind | None:
    asked = request.GET.get("kind", "")
    return next((kind for kind in outline.kinds if kind == asked), None)


def _cites(sight: Sight, recorded: Run[Artifact]) -> dict[int, tuple[Cite, ...]]:
    """Return who rests on which event."""
    return {
        int(place.removeprefix("event:")): cites
        for path in recorded.paths
        for place, cites in citations_of(sight.breakdown, path).items()
        if place.startswith("event:")
    }


class _Drawn:
    """A whole run as one audience sees it: outline and pictures, each made once and kept."""

    def __init__(self, sight: Sight, recorded: Run[Artifact]) -> None:
        self._sight, self._recorded = sight, recorded
        pages = sight.pages
        files = f"{recorded.parts[0].pk}-{recorded.parts[-1].pk}"
        self._key = f"timeline:{build_id()}:{files}:{sight.key}:{pages.viewing_as}:{pages.revision}"

    @cached_property
    def _events(self) -> list[Event]:
        values = chunks.read(*self._recorded.parts)
        events = (event for event in values if isinstance(event, Event))
        return sorted(events, key=lambda event: event.seq)

    @cached_property
    def outline(self) -> Outline:
        key = f"{self._key}:outline"
        outline: Outline | None = cache.get(key)
        if outline is None:
            outline = outline_of(self._events, self._story(), self._title)
            cache.set(key, outline)
        return outline

    def picture(self, stretch: Stretch | None) -> SafeString:
        key = f"{self._key}:{f'{stretch.first}-{stretch.last}' if stretch else 'whole'}"
        html = cache.get(key)
        if html is None:
            html = render_to_string("judging/_timeline.html", self._drawn(stretch))
            cache.set(key, html)
        return mark_safe(html)  # rendered by an autoescaping template

    def _drawn(self, stretch: Stretch | None) -> dict[str, Any]:
        events, story = self._events, self.outline.story
        if stretch:
            events = [event for event in events if stretch.holds(event.seq)]
            story = self.outline.story_of(stretch)
        has_clock = self._recorded.has_clock
        return {
            "picture": timeline(events, story, self._title, has_clock=has_clock),
            "here": open_address(self._sight, "timeline_detail", self._recorded.parts[0]),
        }

    def _story(self) -> Story:
        # Whole, with the long columns that the page itself leaves behind.
        bundles = Bundle.objects.select_related("challenge_version")
        dossier = dossier_of(bundles.get(pk=self._sight.card.bundle_id))
        judged = main_run(dossier)
        if judged is not None and judged.paths == self._recorded.paths:
            return analysed(dossier, self._sight.policy).story
        # Files that no judge read, or not all of the run that was judged.
        recording = Recording(self._events, self._recorded.clock)
        return analyse(recording, self._sight.policy).story

    def _title(self, event: Event) -> str:
        row = row_of(event, self._sight.gate)
        said = f"{row.summary}, {row.result}" if row.result else row.summary
        title = f"#{event.seq} {KINDS[event.kind]}: {said}"
        return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
