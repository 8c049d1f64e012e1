"""How alike the added code of two matches is, side by side: for staff who may see them both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from bouts.disclosure import Audience, Gate, audience_of
from bouts.htmx import render_page
from bouts.models import Bundle
from judging import fingerprints
from judging.dossiers import dossier_of
from judging.judges.base import Peer
from judging.judges.detectors import record_of
from judging.judges.detectors.plagiarism import added_by_file, marks_of
from judging.scoring.policy import CURRENT
from judging.showing.inert import on_one_line
from judging.sight import Sight, privately, with_evidence

MOST_LINES = 1_000  # of one side


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str
    is_shared: bool


@dataclass(frozen=True, slots=True)
class File:
    path: str
    lines: tuple[Line, ...]


@require_safe
@with_evidence
def likeness_detail(request: HttpRequest, sight: Sight) -> HttpResponse:
    """List the matches that share added code; ``?with=MATCH`` puts one of them beside this one."""
    if not sight.gate.is_full:
        raise Http404
    bundle = sight.bundle
    peers = _open_to(sight, fingerprints.peers(bundle))
    context: dict[str, Any] = {"sight": sight, "match": sight.match, "peers": peers}
    if wanted := request.GET.get("with"):
        peer = next((peer for peer in peers if peer.match == wanted), None)
        if peer is None:
            raise Http404
        other = _bundles().get(pk=peer.bundle)
        context |= {
            "peer": peer,
            "sides": [
                (sight.match.slug, list(_files(bundle, peer.shared, sight.gate))),
                (peer.match, list(_files(other, peer.shared, sight.gate))),
            ],
        }
    return privately(render_page(request, "judging/likeness_detail.html", context))


def _open_to(sight: Sight, peers: Sequence[Peer]) -> list[Peer]:
    """Return those whose match this viewer may see in full as well."""
    bundles = _bundles().in_bulk([peer.bundle for peer in peers])
    return [
        peer
        for peer in peers
        if peer.bundle in bundles
        and audience_of(sight.user, bundles[peer.bundle].match) is Audience.STAFF
    ]


def _bundles() -> Any:
    related = ("match__agent__team", "match__challenge", "challenge_version__tree_archive")
    return Bundle.objects.select_related(*related)


def _files(bundle: Bundle, shared: frozenset[int], gate: Gate) -> Iterator[File]:
    """Yield what a bundle adds, file by file, and which of its lines both have."""
    record = record_of(dossier_of(bundle), (), CURRENT)
    marks: Mapping[str, Any] = marks_of(record)
    left = MOST_LINES
    for path, lines in added_by_file(record).items():
        both = {
            at
            for mark in marks.get(path, ())
            if mark.hash in shared
            for at in range(mark.first, mark.last + 1)
        }
        shown = [
            Line(line.number, on_one_line(gate.text(line.text)), at in both)
            for at, line in enumerate(lines[:left])
        ]
        left -= len(shown)
        if shown:
            yield File(on_one_line(path), tuple(shown))
