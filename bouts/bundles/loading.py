"""From an upload to a validated bundle or challenge, or to all the faults it has.

This needs no database, so that ingest, ``--check`` and ``manage.py score`` judge alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import orjson

from bouts.archives import sources
from bouts.archives.limits import Limits, size
from bouts.archives.sources import Source
from bouts.bundles import checks, documents, names
from bouts.bundles.archive import Member, Unpacked, Walk, tree_digests, unpack
from bouts.bundles.checks import NOTHING_KNOWN, Known
from bouts.bundles.errors import Fault, Refused, listed
from bouts.bundles.manifest import (
    ChallengeFile,
    ClaimsFile,
    Document,
    MatchFile,
    VerdictsFile,
)
from bouts.evidence import Anchor
from bouts.formats.types import Kind

MATCH = "match.json"
CHALLENGE = "challenge.json"

DocumentT = TypeVar("DocumentT", bound=Document)


@dataclass(frozen=True, slots=True)
class LoadedBundle:
    """A bundle without faults. Its members' files go when `load_bundle` ends.

    ``document`` is match.json as plain JSON values. ``members`` holds what ``manifest.entries``
    name, ``unlisted`` the paths that nothing names. ``verdicts`` and ``claims`` are by path.
    ``digest`` is the same for the same content, however it was packed.
    """

    manifest: MatchFile
    document: dict[str, Any]
    members: Mapping[str, Member]
    unlisted: tuple[str, ...]
    verdicts: Mapping[str, VerdictsFile]
    claims: Mapping[str, ClaimsFile]
    digest: str

    def anchors(self) -> Iterator[tuple[str, str, Anchor]]:
        """Yield each anchor of the verdicts with the file and field that it stands in."""
        for path, file in self.verdicts.items():
            for at, verdict in enumerate(file.verdicts):
                field = f"verdicts[{at}]"
                for nth, entry in enumerate(verdict.evidence):
                    yield path, f"{field}.evidence[{nth}]", entry.anchor
                for which, finding in enumerate(verdict.findings or ()):
                    for nth, entry in enumerate(finding.evidence):
                        yield path, f"{field}.findings[{which}].evidence[{nth}]", entry.anchor


@dataclass(frozen=True, slots=True)
class LoadedChallenge:
    """A challenge without faults. ``tree`` is path → SHA-256 of its starting tree, or None.

    ``tree_file`` is the archive of that tree, for whoever needs its content
    (`archive.tree_contents`); it goes when `load_challenge` ends.
    """

    challenge: ChallengeFile
    document: dict[str, Any]
    tree: Mapping[str, str] | None
    tree_file: Path | None
    digest: str


@contextmanager
def load_bundle(
    source: Source,
    *,
    name: str,
    limits: Limits,
    known: Known = NOTHING_KNOWN,
    into: Path | None = None,
) -> Iterator[LoadedBundle]:
    """Unpack and validate a match bundle. Raises `Refused` with all its faults.

    ``name`` is what the upload is called. Files are unpacked to a new folder under ``into``
    that is gone in the end, refused or not.
    """
    with unpack(source, name=name, limits=limits, into=into) as unpacked:
        yield _Bundle(unpacked, limits, known).loaded()


@contextmanager
def load_challenge(
    source: Source, *, name: str, limits: Limits, into: Path | None = None
) -> Iterator[LoadedChallenge]:
    """Read and validate a challenge: a bare challenge.json, or an archive or folder with one.

    Raises `Refused` with all its faults.
    """
    if (data := _bare_document(source, limits)) is not None:
        yield _challenge(data, name, Unpacked(name=name, root=Path()), limits)
        return
    with unpack(source, name=name, limits=limits, into=into) as unpacked:
        unpacked.enter(CHALLENGE)
        yield _packed_challenge(unpacked, limits)


@contextmanager
def load_upload(
    source: Source,
    *,
    name: str,
    limits: Limits,
    known: Known = NOTHING_KNOWN,
    into: Path | None = None,
) -> Iterator[LoadedBundle | LoadedChallenge]:
    """Load whichever of the two an upload is; what is neither is refused as a match bundle.

    Raises `Refused` with all its faults.
    """
    if (data := _bare_document(source, limits)) is not None:
        yield _challenge(data, name, Unpacked(name=name, root=Path()), limits)
        return
    with unpack(source, name=name, limits=limits, into=into) as unpacked:
        unpacked.enter(MATCH)
        if MATCH not in unpacked.members:
            unpacked.enter(CHALLENGE)
        if MATCH not in unpacked.members and CHALLENGE in unpacked.members:
            yield _packed_challenge(unpacked, limits)
        else:
            yield _Bundle(unpacked, limits, known).loaded()


def with_its_tree(path: Path) -> Source:
    """Return a challenge.json on this machine together with the starting tree beside it.

    For the command line only: an upload must not name files of the server. Any other path
    comes back as it is.
    """
    if path.name != CHALLENGE or not path.is_file():
        return path
    with path.open("rb") as file:
        raw, _ = documents.parse(file.read(Limits().document_bytes), path.name)
    tree = checks.path_of(documents.get(raw, "starting_tree"))
    if not tree or names.odd(tree) or not (path.parent / tree).is_file():
        return path
    return {CHALLENGE: path, tree: path.parent / tree}


# A match bundle


class _Bundle:
    """An unpacked bundle on its way to being loaded, and the faults found so far."""

    def __init__(self, unpacked: Unpacked, limits: Limits, known: Known) -> None:
        unpacked.enter(MATCH)
        self.unpacked = unpacked
        self.members = unpacked.members
        self.limits = limits
        self.known = known
        self.faults = unpacked.faults

    def loaded(self) -> LoadedBundle:
        raw, manifest = self._document(MATCH, MatchFile)
        self._add(checks.check_match(raw, MATCH))
        self._add(checks.check_known(raw, MATCH, self.known))
        self._add(checks.check_members(raw, MATCH, self.members, self.unpacked.means_missing))
        artifacts = checks.artifacts_of(raw)
        self._check_nested(artifacts)
        verdicts = self._verdicts(artifacts)
        claims = {
            path: claims
            for path in self._of_kind(artifacts, Kind.CLAIMS)
            for _, claims in [self._document(path, ClaimsFile)]
            if claims
        }
        if self.faults or manifest is None:
            raise Refused(checks.in_order(self.faults))
        used = {entry.path: self.members[entry.path] for entry in manifest.entries}
        document = documents.plain(raw)
        return LoadedBundle(
            manifest=manifest,
            document=document,
            members=used,
            unlisted=tuple(sorted(self.members.keys() - used.keys() - {MATCH})),
            verdicts=verdicts,
            claims=claims,
            digest=content_digest(document, {path: used[path].sha256 for path in used}),
        )

    def _add(self, faults: Iterator[Fault]) -> None:
        self.faults += islice(faults, checks.MOST_TOLD)

    def _document(self, path: str, model: type[DocumentT]) -> tuple[Any, DocumentT | None]:
        data = _document_bytes(self.unpacked, path, self.limits)
        return _parsed(data, path, model, self.faults)

    def _of_kind(self, artifacts: Mapping[str, dict[str, Any]], kind: Kind) -> list[str]:
        return [
            path
            for path, entry in artifacts.items()
            if entry.get("kind") == kind and path in self.members
        ]

    def _verdicts(self, artifacts: Mapping[str, dict[str, Any]]) -> dict[str, VerdictsFile]:
        found = {}
        spoken: dict[tuple[str, str | None], str] = {}
        for path in self._of_kind(artifacts, Kind.VERDICTS):
            raw, verdicts = self._document(path, VerdictsFile)
            self._add(checks.check_verdicts(raw, path, spoken))
            self._add(checks.check_evidence(raw, path, artifacts))
            if verdicts:
                found[path] = verdicts
        return found

    def _check_nested(self, artifacts: Mapping[str, dict[str, Any]]) -> None:
        """Refuse archives in the bundle but Inspect's logs, which keep to the same bounds."""
        inspect_logs = [
            path
            for path in self._of_kind(artifacts, Kind.TELEMETRY)
            if path.lower().endswith(".eval") and self.members[path].archive == "zip"
        ]
        words = "No archive inside a bundle but Inspect's .eval as telemetry"
        self.faults += checks.check_nested(_archives(self.members), inspect_logs, words)
        for path in inspect_logs:
            walk = Walk(self.members[path].file, name=path, limits=self.limits)
            for _ in walk:
                pass
            # Whatever else is wrong with it is for its reader to say: that is its state.
            excess = [fault for fault in walk.faults if fault.field in {"size", "members"}]
            self.faults += _inside(path, excess)


# A challenge


def _bare_document(source: Source, limits: Limits) -> bytes | None:
    """Return the content of a file that begins like a JSON object, else None."""
    if isinstance(source, Mapping):
        return None
    if isinstance(source, Path):
        if source.is_dir():
            return None
        with source.open("rb") as file:
            return _bare_document(file, limits)
    source.seek(0)
    head = source.read(sources.HEAD)
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return None
    source.seek(0)
    return source.read(limits.document_bytes + 1)


def _packed_challenge(unpacked: Unpacked, limits: Limits) -> LoadedChallenge:
    data = _document_bytes(unpacked, CHALLENGE, limits)
    return _challenge(data, CHALLENGE, unpacked, limits)


def _challenge(data: bytes | None, file: str, beside: Unpacked, limits: Limits) -> LoadedChallenge:
    """Validate a challenge by the content of its document and the files beside it."""
    faults = beside.faults
    if data is not None and len(data) > limits.document_bytes:
        raise Refused(
            [Fault(file, "size", f"more than {size(limits.document_bytes)}", limits.document)]
        )
    raw, challenge = _parsed(data, file, ChallengeFile, faults)
    faults += islice(checks.check_challenge(raw, file), checks.MOST_TOLD)
    tree_path = checks.path_of(documents.get(raw, "starting_tree"))
    words = "No archive beside challenge.json but its starting_tree"
    faults += checks.check_nested(_archives(beside.members), {tree_path}, words)
    tree_member = beside.members.get(tree_path)
    tree = None
    if tree_member:
        try:
            tree = tree_digests(tree_member.file, name=tree_path, limits=limits)
        except Refused as refused:
            faults += _inside(tree_path, refused.faults)
    elif tree_path and beside.means_missing(tree_path):
        expected = f"An archive beside challenge.json: {listed(beside.members)}"
        faults.append(Fault(file, "starting_tree", tree_path, expected))
    if faults or challenge is None:
        raise Refused(checks.in_order(faults))
    document = documents.plain(raw)
    return LoadedChallenge(
        challenge=challenge,
        document=document,
        tree=tree,
        tree_file=tree_member.file if tree_member else None,
        digest=content_digest(document, tree or {}),
    )


# Both


def _document_bytes(unpacked: Unpacked, path: str, limits: Limits) -> bytes | None:
    """Read a document among the members; None, and its fault, where it cannot be had."""
    member = unpacked.members.get(path)
    if member is None:
        if unpacked.means_missing(path):
            found = listed(unpacked.members, most=5)
            expected = f"{path} at the root of the archive, or in its one folder"
            unpacked.faults.append(Fault(unpacked.name, path, found, expected))
        return None
    if member.size > limits.document_bytes:
        unpacked.faults.append(Fault(path, "size", size(member.size), limits.document))
        return None
    return member.file.read_bytes()


def _parsed(
    data: bytes | None, file: str, model: type[DocumentT], faults: list[Fault]
) -> tuple[Any, DocumentT | None]:
    """Parse a document and hold it against its model; add what is wrong to the faults."""
    if data is None:
        return None, None
    raw, odd = documents.parse(data, file)
    faults += odd
    if raw is None and odd:
        return None, None
    value, wrong = documents.validate(model, raw, file)
    faults += wrong
    return raw, value


def _archives(members: Mapping[str, Member]) -> dict[str, str]:
    return {path: member.archive for path, member in members.items() if member.archive}


def _inside(archive: str, faults: Iterable[Fault]) -> list[Fault]:
    """Say of the faults of an archive inside an upload which archive they are in."""
    return [
        fault if fault.file == archive else replace(fault, file=f"{fault.file} in {archive}")
        for fault in faults
    ]


def content_digest(document: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Return one SHA-256 over a document and the files it uses, given as path → SHA-256.

    Neither the packing nor the layout of the JSON matters: the same content gives the same.
    """
    digest = hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS))
    for path in sorted(files):
        digest.update(b"\0" + path.encode() + b"\0" + files[path].encode())
    return digest.hexdigest()
