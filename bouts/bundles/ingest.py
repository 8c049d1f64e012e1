"""From a loaded bundle to rows: artifacts by content, values by COPY, one transaction.

Reading streams into spools, so that memory does not grow with the bundle; what turns out
unreadable is rewound and stored as that. Nothing of a refused bundle stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from bouts import blobs, chunks
from bouts.bundles.errors import Fault, Refused
from bouts.bundles.hidden import HiddenTests, is_hidden
from bouts.bundles.loading import MATCH, LoadedBundle, LoadedChallenge
from bouts.bundles.manifest import AgentEntry, ArtifactEntry, MatchFile
from bouts.bundles.reading import (
    READABLE,
    Reading,
    State,
    readings,
    refuse_dangling,
)
from bouts.copying import Spool, insert, next_keys
from bouts.formats.sniff import reader_of
from bouts.formats.types import Kind, Outcome
from bouts.formats.types import TestResult as Result
from bouts.models import (
    Agent,
    Artifact,
    Blob,
    Bundle,
    Challenge,
    ChallengeVersion,
    Chunk,
    Match,
    Team,
    TestResult,
    User,
)
from bouts.prepared import Prepared, run, save_new
from bouts.signals import bundle_stored, challenge_changed

RESULT_FIELDS = (
    "artifact", "ordinal", "test_id", "outcome", "severity",
    "duration_s", "message", "log", "attempts", "flaky", "crash",
)  # fmt: skip
CHUNK_FIELDS = ("artifact", "first", "last", "count", "payload")

LIVE_VERSION = Prepared(
    lambda slug: ChallengeVersion.objects.filter(challenge__slug=slug, is_live=True).select_related(
        "challenge"
    ),
    slug=str,
)
AGENT = Prepared(
    lambda team, name, version: Agent.objects.filter(
        team__slug=team, name=name, version=version
    ).select_related("team"),
    team=str,
    name=str,
    version=str,
)
KNOWN_MATCH = Prepared(
    lambda slug: (
        Match.objects.filter(slug=slug)
        .select_related("challenge", "agent__team")
        .select_for_update(of=("self",))
    ),
    slug=str,
)
EARLIER = Prepared(
    lambda match: (
        Bundle.objects.filter(match=match).order_by().defer("manifest").select_related("match")
    ),
    match=int,
)
STORE_BLOBS = """
INSERT INTO bouts_blob (digest, size, stored_at)
SELECT digest, size, now() FROM unnest(%(digests)s::text[], %(sizes)s::bigint[]) new (digest, size)
    ON CONFLICT DO NOTHING
"""


class Stored(NamedTuple):
    bundle: Bundle
    is_new: bool  # False: the same content is there already


class StoredChallenge(NamedTuple):
    version: ChallengeVersion
    is_new: bool


# Challenges


@transaction.atomic
def store_challenge(loaded: LoadedChallenge, *, by: User | None) -> StoredChallenge:
    """Store a challenge, or a new version of it where anything differs."""
    spec = loaded.challenge
    challenge, _ = Challenge.objects.get_or_create(slug=spec.slug)
    challenge = Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
    live = challenge.versions.filter(is_live=True).first()
    if live and live.digest == loaded.digest:
        if live.tree_archive is None and loaded.tree_file:
            live.tree_archive = _kept(loaded.tree_file)
            live.save(update_fields=["tree_archive"])
        return StoredChallenge(live, is_new=False)
    _refuse_frozen(challenge, "challenge.json", "slug")
    challenge.versions.filter(is_live=True).update(is_live=False)
    version = challenge.versions.create(
        number=live.number + 1 if live else 1,
        title=spec.title,
        family=spec.family,
        document=loaded.document,
        digest=loaded.digest,
        starting_tree=None if loaded.tree is None else dict(loaded.tree),
        tree_archive=_kept(loaded.tree_file) if loaded.tree_file else None,
        created_by=by,
    )
    if live:
        challenge_changed.send(ChallengeVersion, version=version)
    return StoredChallenge(version, is_new=True)


def _kept(archive: Path) -> Blob:
    """Store the archive of a starting tree: what was there before is nobody's doing."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    blobs.save(archive, digest)
    return Blob.objects.get_or_create(digest=digest, defaults={"size": archive.stat().st_size})[0]


def _refuse_frozen(challenge: Challenge, file: str, field: str) -> None:
    if challenge.state == Challenge.State.FROZEN:
        expected = "A challenge that is not frozen: ops have closed this one"
        raise Refused([Fault(file, field, challenge.slug, expected)])


# Matches


def store_bundle(
    loaded: LoadedBundle,
    *,
    by: User | None,
    is_sample: bool = False,
    sent_at: datetime | None = None,
) -> Stored:
    """Store a match bundle whole, or raise `Refused` and store nothing.

    The same content as the live bundle's changes nothing, unless readers have changed since:
    then it is read anew. Other content under the same match id becomes the live bundle; the one
    before stays, superseded. Of uploads that
    overlap the one sent last is live in the end, whichever worker is done first; ``sent_at``
    is now unless told otherwise.
    """
    sent_at = sent_at or timezone.now()
    with transaction.atomic():
        match, version = _match(loaded, is_sample=is_sample, sent_at=sent_at)
        is_overtaken = match.last_sent_at is not None and sent_at < match.last_sent_at
        if not is_overtaken and match.last_sent_at != sent_at:
            Match.objects.filter(pk=match.pk).update(last_sent_at=sent_at)
        earlier = EARLIER.rows(match=match.pk)
        live = next((bundle for bundle in earlier if bundle.is_live), None)
        if live and live.digest == loaded.digest and _reads_alike(live, loaded):
            return Stored(live, is_new=False)
        if live and not is_overtaken:
            match.bundles.filter(is_live=True).update(is_live=False)
        manifest = loaded.manifest
        bundle = Bundle(
            match=match,
            number=len(earlier) + 1,
            is_live=not is_overtaken,
            digest=loaded.digest,
            manifest=loaded.document,
            challenge_version=version,
            started_at=manifest.started_at,
            finished_at=manifest.finished_at,
            build_ok=manifest.build.ok if manifest.build else None,
            uploaded_by=by,
        )
        with (
            Spool(TestResult, RESULT_FIELDS) as results,
            Spool(Chunk, CHUNK_FIELDS) as packed,
        ):
            ingest = _Ingest(loaded, version, results, packed)
            ingest.read()
            bundle.hidden_words = list(ingest.hidden.words)
            save_new(bundle)
            ingest.write(bundle)
        bundle_stored.send(Bundle, bundle=bundle)
    return Stored(bundle, is_new=True)


def _reads_alike(stored: Bundle, loaded: LoadedBundle) -> bool:
    """Whether all that is stored was read by the readers that would read it today."""
    fields = stored.artifacts.values_list("path", "format", "reader_version")
    known = {path: (format, version) for path, format, version in fields}
    for entry in loaded.manifest.entries:
        kind = Kind(entry.kind)
        if kind not in READABLE:
            continue
        reader = reader_of(loaded.members[entry.path].file, kind, entry.format)
        if known.get(entry.path) != ((reader.format, reader.version) if reader else ("", None)):
            return False
    return True


def _match(
    loaded: LoadedBundle, *, is_sample: bool, sent_at: datetime
) -> tuple[Match, ChallengeVersion]:
    """Find or make the match and lock it; every fault of identity is told at once."""
    manifest = loaded.manifest
    version = LIVE_VERSION.first(slug=manifest.challenge)
    agent = _agent(manifest.agent)
    if version is None or agent is None:
        # The caller has held the manifest against what is known; this is a race lost.
        raise Refused([Fault(MATCH, "challenge", manifest.challenge, "A known challenge and team")])
    _refuse_frozen(version.challenge, MATCH, "challenge")
    new = Match(
        slug=manifest.match,
        challenge=version.challenge,
        agent=agent,
        bout=manifest.bout,
        is_sample=is_sample,
        last_sent_at=sent_at,
    )
    # One that is new nobody else knows of: it needs no lock.
    is_new = save_new(new, unless_there=True)
    match = new if is_new else KNOWN_MATCH.first(slug=manifest.match)
    _refuse_other_identity(match, version, agent, manifest)
    return match, version


def _agent(entry: AgentEntry) -> Agent | None:
    """Find or make an agent; None where there is no such team."""
    key = {"name": entry.name, "version": entry.version}
    if agent := AGENT.first(team=entry.team, **key):
        return agent
    team = Team.objects.filter(slug=entry.team).first()
    if team is None:
        return None
    rest = {"base_model": entry.base_model, "scaffold": entry.scaffold}
    return Agent.objects.get_or_create(team=team, **key, defaults=rest)[0]


def _refuse_other_identity(
    match: Match, version: ChallengeVersion, agent: Agent, manifest: MatchFile
) -> None:
    entry = manifest.agent
    faults = []
    if agent.base_model != entry.base_model:
        expected = f"{agent.base_model}, as this version of the agent was first uploaded"
        faults.append(Fault(MATCH, "agent.base_model", entry.base_model, expected))
    if match.challenge_id != version.challenge_id:
        expected = f"{match.challenge.slug}: a match cannot change its challenge"
        faults.append(Fault(MATCH, "challenge", manifest.challenge, expected))
    if match.agent_id != agent.pk:
        known = f"{match.agent.team.slug}, {match.agent}"
        found = f"{entry.team}, {entry.name} {entry.version}"
        faults.append(Fault(MATCH, "agent", found, f"{known}: a match cannot change its agent"))
    if faults:
        raise Refused(faults)


@transaction.atomic
def read_again(bundle: Bundle, loaded: LoadedBundle, version: ChallengeVersion) -> None:
    """Read a stored bundle's files by today's readers, under a version of its challenge.

    What was made of the same files before is replaced: anchors name files and places, and stay.
    Raises `Refused` where evidence then points nowhere. What was hidden stays hidden, whatever
    the version says.
    """
    quoted = set(
        bundle.artifacts.exclude(facts__quotes_hidden=False).values_list("path", flat=True)
    )
    with Spool(TestResult, RESULT_FIELDS) as results, Spool(Chunk, CHUNK_FIELDS) as packed:
        ingest = _Ingest(loaded, version, results, packed)
        ingest.read()
        bundle.artifacts.all().delete()
        ingest.write(bundle)
    for artifact in bundle.artifacts.filter(path__in=quoted):
        artifact.facts["quotes_hidden"] = True
        artifact.save(update_fields=["facts"])
    bundle.challenge_version = version
    bundle.hidden_words = sorted({*bundle.hidden_words, *ingest.hidden.words})
    bundle.save(update_fields=["challenge_version", "hidden_words"])


@dataclass
class _Ingest:
    """A bundle's artifacts on their way into the database."""

    loaded: LoadedBundle
    version: ChallengeVersion
    results: Spool
    packed: Spool
    readings: list[tuple[int, Reading]] = field(default_factory=list)
    hidden_results: list[Result] = field(default_factory=list)
    hidden: HiddenTests = field(init=False)

    def read(self) -> None:
        """Read every artifact into the spools; refuse evidence that points nowhere."""
        # In the order in which they are read, which dossiers keep to.
        unused = iter(next_keys(Artifact, len(self.loaded.manifest.entries)))
        keys: dict[ArtifactEntry, int] = {}
        marks = hidden_before = None
        packer: _ChunkSink | None = None

        def sink_of(entry: ArtifactEntry) -> Callable[[Any], None]:
            nonlocal marks, hidden_before, packer
            keys[entry] = next(unused)
            marks, hidden_before = (
                (self.results.mark(), self.packed.mark()),
                len(self.hidden_results),
            )
            if entry.kind is Kind.TESTS:
                packer = None
                kept = self.hidden_results if is_hidden(entry) else None
                return _ResultSink(keys[entry], self.results, kept).add
            packer = _ChunkSink(keys[entry], self.packed)
            return packer.add

        for reading in readings(self.loaded, sink_of):
            if packer:
                packer.close()
            if reading.state is State.UNREADABLE:
                self.results.rewind(marks[0])
                self.packed.rewind(marks[1])
                del self.hidden_results[hidden_before:]
            self.readings.append((keys[reading.entry], reading))
        refuse_dangling(self.loaded, [reading for _, reading in self.readings])
        self.hidden = HiddenTests.of(self.loaded, self.version.spec, self.hidden_results)

    def write(self, bundle: Bundle) -> None:
        """Write contents, artifacts and values."""
        members = self.loaded.members
        for _, reading in self.readings:
            member = members[reading.entry.path]
            blobs.save(member.file, member.sha256)
        sizes = {member.sha256: member.size for member in members.values()}
        # In order, so that two uploads with the same files wait for each other in one direction.
        digests = sorted(sizes)
        run(STORE_BLOBS, {"digests": digests, "sizes": [sizes[one] for one in digests]})
        insert([self._artifact(bundle, key, reading) for key, reading in self.readings])
        self.results.write()
        self.packed.write()

    def _artifact(self, bundle: Bundle, key: int, reading: Reading) -> Artifact:
        entry, report, reader = reading.entry, reading.report, reading.reader
        member = self.loaded.members[entry.path]
        return Artifact(
            pk=key,
            bundle=bundle,
            path=entry.path,
            kind=entry.kind,
            suite=entry.suite or "",
            run=entry.run,
            log=entry.log or "",
            blob_id=member.sha256,
            state=reading.state,
            format=reader.format if reader else "",
            format_version=report.format_version or "",
            reader_version=reader.version if reader else None,
            reason=reading.reason,
            place=reading.place,
            clock=report.clock or "",
            origin=report.origin or "",
            counts=report.counts,
            notes=[asdict(note) for note in report.notes],
            facts={**report.facts, "quotes_hidden": self.hidden.are_quoted_in(entry)},
        )


class _ResultSink:
    """Test results on their way to their table."""

    def __init__(self, key: int, spool: Spool, kept: list[Result] | None) -> None:
        self._key, self._spool, self._kept = key, spool, kept
        self._ordinal = 0

    def add(self, result: Result) -> None:
        self._ordinal += 1
        self._spool.add(
            self._key, self._ordinal, result.id, result.outcome.value, result.severity or "",
            result.duration_s, result.message, result.log, result.attempts, result.flaky,
            result.crash or "",
        )  # fmt: skip
        if self._kept is not None:
            self._kept.append(
                Result(
                    result.id,
                    result.outcome,
                    message=result.message,
                    log="" if result.outcome is Outcome.PASSED else result.log,
                    file=result.file,
                )
            )


class _ChunkSink:
    """Values on their way into chunks."""

    def __init__(self, key: int, spool: Spool) -> None:
        self._key, self._spool = key, spool
        self._packer = chunks.Packer()

    def add(self, value: Any) -> None:
        self._write(self._packer.add(value))

    def close(self) -> None:
        self._write(self._packer.close())

    def _write(self, chunk: chunks.Packed | None) -> None:
        if chunk:
            self._spool.add(self._key, chunk.first, chunk.last, chunk.count, chunk.payload)
