"""The files of a diff at a glance, each marked where it goes beyond what was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from bouts import chunks
from bouts.disclosure import Gate
from bouts.evidence import BadPlace, DiffPlace, parse_place
from bouts.formats.types import Event, FileChange, Kind
from bouts.models import Artifact, ChallengeVersion
from bouts.rules import Suite
from judging.showing.citations import Cites, citations_of
from judging.showing.diffs import names_of, quotes_hidden
from judging.sight import Sight

VISIBLE_TEST = "visible test: its tests count as failed"
EDITABLE_TEST = "visible test, open to edits"
LATE = "first touched after an error"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a diff in the list of all; of what is withheld neither marks nor citations."""

    ordinal: int
    path: str
    paths: tuple[str, ...]  # as the diff has them, old and new; none where withheld
    status: str
    added: int
    removed: int
    is_withheld: bool
    marks: tuple[str, ...] = ()
    cited: int = 0  # lines that the card rests on


def files_of(sight: Sight, artifact: Artifact) -> list[FileEntry]:
    """Return all files of a diff. It reads every line of it: whoever asks keeps the answer."""
    scope = _Scope(
        tests=_visible_tests(sight),
        late=frozenset(_late_paths(sight)),
        cites=citations_of(sight.breakdown, artifact.path),
    )
    changes = (value for value in chunks.read(artifact) if isinstance(value, FileChange))
    return [
        scope.entry(change, ordinal, sight.gate) for ordinal, change in enumerate(changes, start=1)
    ]


@dataclass(frozen=True, slots=True)
class _Scope:
    tests: Mapping[str, bool]  # files of visible tests, and whether they may be edited
    late: Set[str]
    cites: Cites

    def entry(self, change: FileChange, ordinal: int, gate: Gate) -> FileEntry:
        is_withheld = quotes_hidden(change, gate)
        paths = () if is_withheld else tuple(filter(None, {change.path, change.old_path}))
        return FileEntry(
            ordinal=ordinal,
            path=names_of(change, gate)[0],
            paths=paths,
            status=change.status,
            added=change.added,
            removed=change.removed,
            is_withheld=is_withheld,
            marks=tuple(dict.fromkeys(self._marks(paths))),
            cited=sum(_is_in(place, paths) for place in self.cites),
        )

    def _marks(self, paths: tuple[str, ...]) -> Iterator[str]:
        for path in paths:
            if path in self.tests:
                yield EDITABLE_TEST if self.tests[path] else VISIBLE_TEST
            # A recording may name a file from the root of its machine.
            if any(late == path or late.endswith(f"/{path}") for late in self.late):
                yield LATE


def _is_in(place: str, paths: tuple[str, ...]) -> bool:
    try:
        where = parse_place(place)
    except BadPlace:
        return False
    return isinstance(where, DiffPlace) and where.path in paths


def _visible_tests(sight: Sight) -> dict[str, bool]:
    assert sight.card is not None
    version = sight.card.challenge_version_id
    document = ChallengeVersion.objects.values_list("document", flat=True).get(pk=version)
    return {
        test["path"]: bool(test.get("editable"))
        for test in document.get("tests", ())
        if test.get("path") and test["suite"] == Suite.STATIC
    }


def _late_paths(sight: Sight) -> Iterator[str]:
    """Yield the files that Recovery counts as new after the first error."""
    assert sight.card is not None
    judge = sight.breakdown["judges"]["recovery"]
    metric = judge.get("metrics", {}).get("scope_expansion")
    anchors = [
        episode["evidence"][-1]
        for episode in (metric or {}).get("episodes", ())
        if episode["evidence"]
    ]
    places = [anchor["place"] or "" for anchor in anchors]
    seqs = {int(place.removeprefix("event:")) for place in places if place.startswith("event:")}
    # All of them files of the run that was judged.
    files = Artifact.objects.filter(
        bundle=sight.card.bundle_id,
        kind=Kind.TELEMETRY,
        path__in={anchor["artifact"] for anchor in anchors},
    )
    if not seqs or not files:
        return
    # One call may touch several files, an event each.
    near = [
        event
        for event in chunks.read(*files, first=min(seqs), last=max(seqs) + 50)
        if isinstance(event, Event) and event.path
    ]
    calls = {event.call for event in near if event.seq in seqs and event.call}
    yield from (event.path for event in near if event.seq in seqs or event.call in calls)
