"""Dossiers: what the judges read, made of a bundle's files or of stored rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from django.db.models.functions import Left

from bouts import blobs, chunks, excerpts
from bouts.archives.limits import Limits
from bouts.bundles.archive import tree_contents
from bouts.bundles.documents import parse
from bouts.bundles.hidden import HiddenTests, is_hidden
from bouts.bundles.loading import LoadedBundle
from bouts.bundles.manifest import ChallengeFile, ClaimsFile, MatchFile, VerdictEntry, VerdictsFile
from bouts.bundles.reading import Reading, State, readings, refuse_dangling
from bouts.formats.types import Clock, Kind, Outcome
from bouts.formats.types import TestResult as Result
from bouts.models import Artifact, Blob, Bundle, TestResult
from bouts.prepared import Prepared
from judging import fingerprints
from judging.judges.base import Claim, Dossier, Source

# What the judges look at of a test result: of its texts, which can be long, what they may quote.
RESULT_FIELDS = ("artifact", "test_id", "outcome", "severity", "attempts", "flaky", "crash")
QUOTABLE = Left("message", excerpts.LONGEST + 1)

ARTIFACTS = Prepared(
    lambda bundle: Artifact.objects.filter(bundle=bundle).select_related("blob").order_by("pk"),
    bundle=int,
)
RESULTS = Prepared(
    lambda bundle: (
        TestResult.objects.filter(artifact__bundle=bundle)
        .order_by("artifact_id", "ordinal")
        .values_list(*RESULT_FIELDS, QUOTABLE)
    ),
    bundle=int,
)


def dossier_of(bundle: Bundle) -> Dossier:
    """Make a dossier of stored rows. Values are read when a judge asks for them."""
    artifacts = {artifact.path: artifact for artifact in ARTIFACTS.rows(bundle=bundle.pk)}
    manifest = MatchFile.model_validate(bundle.manifest)
    tree = bundle.challenge_version.starting_tree

    @cache
    def results() -> Mapping[int, Sequence[Result]]:
        return _results(bundle, artifacts.values())

    @cache
    def values() -> Mapping[int, Sequence[Any]] | None:
        return chunks.whole(artifacts.values())

    def load(path: str) -> Iterable[Any]:
        # Several judges ask for the same values; those of a long match are read each time.
        artifact = artifacts[path]
        kept = results() if artifact.kind == Kind.TESTS else values()
        return chunks.read(artifact) if kept is None else kept[artifact.pk]

    return Dossier(
        spec=bundle.challenge_version.spec,
        build=manifest.build,
        sources=tuple(map(_stored_source, artifacts.values())),
        load=load,
        opened=lambda path: blobs.opened(artifacts[path].blob),
        names=lambda: (bundle.match.agent.team.name, *_names(manifest)),
        hidden_words=lambda: tuple(bundle.hidden_words),
        verdicts=tuple(_stored_verdicts(artifacts.values())),
        claims=tuple(_stored_claims(artifacts.values())),
        starting_paths=None if tree is None else frozenset(tree),
        tree=partial(_tree, blob) if (blob := bundle.challenge_version.tree_archive) else None,
        peers=cache(partial(fingerprints.peers, bundle)),
    )


def _tree(archive: Blob) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a starting tree. An archive is read from a file that can be sought in."""
    with tempfile.TemporaryFile() as file:
        with blobs.opened(archive) as stream:
            shutil.copyfileobj(stream, file)
        yield from tree_contents(file, name="tree", limits=Limits())


def _names(manifest: MatchFile) -> tuple[str, ...]:
    """All by which an agent may be known, as its bundle says; scaffold may be empty."""
    agent = manifest.agent
    return (agent.team, agent.name, agent.base_model, agent.scaffold)


def _results(bundle: Bundle, artifacts: Iterable[Artifact]) -> Mapping[int, Sequence[Result]]:
    """Return the results of all test runs, in order, by artifact."""
    found: dict[int, list[Result]] = {
        artifact.pk: [] for artifact in artifacts if artifact.kind == Kind.TESTS
    }
    for artifact, test_id, outcome, severity, attempts, flaky, crash, message in RESULTS.rows(
        bundle=bundle.pk
    ):
        found[artifact].append(
            Result(
                id=test_id,
                outcome=Outcome(outcome),
                severity=severity or None,
                attempts=attempts,
                flaky=flaky,
                crash=crash or None,
                message=message,
            )
        )
    return found


def _stored_source(artifact: Artifact) -> Source:
    return Source(
        path=artifact.path,
        kind=Kind(artifact.kind),
        digest=artifact.blob_id,
        suite=artifact.suite,
        run=artifact.run,
        log=artifact.log,
        is_readable=artifact.is_readable,
        reason=artifact.reason,
        format=artifact.format,
        clock=Clock(artifact.clock) if artifact.clock else None,
        continues=artifact.continues,
        events_before=artifact.events_before,
    )


def _stored_verdicts(artifacts: Iterable[Artifact]) -> Iterator[VerdictEntry]:
    for artifact in artifacts:
        if artifact.kind == Kind.VERDICTS:
            yield from VerdictsFile.model_validate(_document(artifact)).verdicts


def _stored_claims(artifacts: Iterable[Artifact]) -> Iterator[Claim]:
    for artifact in artifacts:
        if artifact.kind == Kind.CLAIMS:
            claims = ClaimsFile.model_validate(_document(artifact)).claims
            yield from (Claim(artifact.path, index, entry) for index, entry in enumerate(claims))


def _document(artifact: Artifact) -> Any:
    """Parse a document that was validated when it was stored."""
    with blobs.opened(artifact.blob) as stream:
        value, _ = parse(stream.read(), artifact.path)
    return value


class FileDossier:
    """A bundle's files, read and kept in memory: for `manage.py score`, which stores nothing.

    Raises `Refused` where evidence points nowhere, as ingest would. Values of a file that
    turned out unreadable are there but not asked for: its source says that it is.
    """

    def __init__(
        self,
        loaded: LoadedBundle,
        spec: ChallengeFile,
        tree: Iterable[str] | None,
        tree_file: Path | None = None,
    ) -> None:
        self._loaded = loaded
        self._values: dict[str, list[Any]] = {}
        self.readings = tuple(
            readings(loaded, lambda entry: self._values.setdefault(entry.path, []).append)
        )
        refuse_dangling(loaded, self.readings)
        self.dossier = Dossier(
            spec=spec,
            build=loaded.manifest.build,
            sources=tuple(map(self._source, self.readings)),
            load=self._values.__getitem__,
            opened=self._opened,
            names=lambda: _names(loaded.manifest),
            hidden_words=lambda: HiddenTests.of(loaded, spec, self.hidden_results()).words,
            verdicts=tuple(v for file in loaded.verdicts.values() for v in file.verdicts),
            claims=tuple(
                Claim(path, index, entry)
                for path, file in loaded.claims.items()
                for index, entry in enumerate(file.claims)
            ),
            starting_paths=None if tree is None else frozenset(tree),
            tree=tree_file and partial(tree_contents, tree_file, name="tree", limits=Limits()),
        )

    def hidden_results(self) -> Iterator[Result]:
        """Yield the readable results of hidden suites."""
        for reading in self.readings:
            if is_hidden(reading.entry) and reading.state is State.READ:
                yield from self._values[reading.entry.path]

    def _opened(self, path: str) -> AbstractContextManager[BinaryIO]:
        return self._loaded.members[path].file.open("rb")

    def _source(self, reading: Reading) -> Source:
        entry = reading.entry
        return Source(
            path=entry.path,
            kind=entry.kind,
            digest=self._loaded.members[entry.path].sha256,
            suite=entry.suite.value if entry.suite else "",
            run=entry.run,
            log=entry.log or "",
            is_readable=reading.state is State.READ,
            reason=reading.reason,
            format=reading.reader.format if reading.reader else "",
            clock=reading.report.clock,
            continues=reading.report.facts.get("continues", ""),
            events_before=reading.report.facts.get("events_before", 0),
        )
