"""A stored file as one viewer may open it: the door of every page and download of a file."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest

from bouts.disclosure import Audience, Gate, audience_of, effective_disclosure
from bouts.formats.types import Kind
from bouts.models import Artifact, Match
from judging.showing.addresses import Addresses
from judging.sight import LOOKS


@dataclass(frozen=True)
class OpenFile:
    """A file of a match by its digest, with the gate of the bundle that it is part of.

    The same content may be several files. It may be shown only where each of them may:
    what a hidden run left behind is not opened because a visible one left the same.
    """

    artifact: Artifact  # of the live bundle, else of the latest that had it
    gate: Gate
    addresses: Addresses
    shows_values: bool
    shows_file: bool  # as it is: its lines, and the download

    @property
    def match(self) -> Match:
        return self.artifact.bundle.match

    @property
    def is_superseded(self) -> bool:
        return not self.artifact.bundle.is_live

    @property
    def shows_lines(self) -> bool:
        """Whether single lines may be shown. A line of a sandbox log is one access, which is
        withheld by itself; of any other file the lines belong together."""
        return self.shows_file or (self.shows_values and self.artifact.kind == Kind.SANDBOX)


def open_file(request: HttpRequest, slug: str, digest: str) -> OpenFile:
    """Find a file by match and digest. 404 where there is none, and for whoever may see no
    evidence of this match; what the disclosure withholds is found, and says so."""
    files = list(
        Artifact.objects.filter(
            blob=digest, bundle__match__slug=slug,
            bundle__match__in=Match.objects.visible_to(request.user),
        )
        .select_related(
            "blob", "bundle__match__agent__team", "bundle__match__challenge",
            "bundle__challenge_version",
        )
        .defer("bundle__manifest", "bundle__challenge_version__starting_tree")
        .order_by("-bundle__is_live", "-bundle__number", "path")
    )  # fmt: skip
    if not files:
        raise Http404
    match = files[0].bundle.match
    audience = audience_of(request.user, match)
    look = request.GET.get("as", "")
    look = look if audience is Audience.STAFF and look in LOOKS else ""
    audience = LOOKS.get(look, audience)
    gates = [_gate(audience, file) for file in files]
    if not gates[0].shows_evidence:
        raise Http404
    pairs = list(zip(gates, files, strict=True))
    return OpenFile(
        artifact=files[0],
        gate=gates[0],
        addresses=Addresses(match.slug, viewing_as=look),
        shows_values=all(gate.shows_values_of(file) for gate, file in pairs),
        shows_file=all(gate.shows_artifact(file) for gate, file in pairs),
    )


def _gate(audience: Audience, file: Artifact) -> Gate:
    bundle = file.bundle
    stated = bundle.challenge_version.document.get("disclosure", "closed")
    disclosure = effective_disclosure(bundle.match.challenge.state, stated)
    return Gate(audience, disclosure, tuple(bundle.hidden_words))
