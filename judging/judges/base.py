"""What a judge reads and what it answers. Plain values, no Django.

A `Dossier` is made of a bundle's files (`manage.py score`) or of stored rows; a judge does
not know which. It answers with an `Opinion`; `judging.scoring` has set the price.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, BinaryIO

import orjson

from bouts.bundles.manifest import BuildEntry, ChallengeFile, ClaimEntry, VerdictEntry
from bouts.evidence import Anchor
from bouts.excerpts import Values, excerpt
from bouts.formats.types import Clock, Kind
from bouts.rules import Judge
from judging.scoring.reasons import Reason

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One artifact as the judges know it: what it is and whether it could be read."""

    path: str
    kind: Kind
    digest: str = ""  # SHA-256 of the content
    suite: str = ""
    run: int | None = None
    log: str = ""
    is_readable: bool = True
    reason: str = ""  # why it is not
    format: str = ""
    clock: Clock | None = None
    continues: str = ""  # path of the telemetry that it goes on with, listed right before it
    events_before: int = 0  # in the files of its run that come before it


@dataclass(frozen=True, slots=True)
class Claim:
    """What the agent asserted, and where it stands."""

    path: str
    index: int
    entry: ClaimEntry

    @property
    def anchor(self) -> JsonDict:
        return anchor(self.path, f"json:/claims/{self.index}")


@dataclass(frozen=True, slots=True)
class Peer:
    """Another agent's match on the same challenge, as far as its added code is this one's.

    ``similarity`` is the part of the smaller fingerprint that both have, 0 to 1; ``shared``
    holds what both have; ``is_earlier`` says that it was fought before.
    """

    match: str
    similarity: float
    shared: frozenset[int]
    is_earlier: bool
    bundle: int | None = None  # its row, where there is one


@dataclass(frozen=True)
class Dossier:
    """All that the judges may read of one match.

    ``load`` yields the values that a readable source's reader gave, ``opened`` opens a
    source's bytes, both by its path. ``names`` gives all by which the agent and its team are
    known, ``hidden_words`` whatever names or quotes a hidden test (`bouts.hidden_words`):
    what is shown to a model is held against both. ``tree`` yields the starting tree's files,
    where they are kept; ``peers`` gives other agents' matches on the challenge whose added
    code overlaps.
    """

    spec: ChallengeFile
    build: BuildEntry | None
    sources: tuple[Source, ...]
    load: Callable[[str], Iterable[Any]]
    opened: Callable[[str], AbstractContextManager[BinaryIO]]
    names: Callable[[], tuple[str, ...]]
    hidden_words: Callable[[], tuple[str, ...]]
    verdicts: tuple[VerdictEntry, ...] = ()
    claims: tuple[Claim, ...] = ()
    starting_paths: frozenset[str] | None = None
    tree: Callable[[], Iterator[tuple[str, bytes]]] | None = None
    peers: Callable[[], Sequence[Peer]] | None = None

    def source(self, path: str) -> Source | None:
        return next((source for source in self.sources if source.path == path), None)

    def excerpt(self, evidence: Anchor) -> str | None:
        """Return the text at an anchor; None where it cannot be read or is not there."""
        source = self.source(evidence.artifact)
        if source is None:
            return None
        path, place = source.path, evidence.where
        values: Values = (lambda: self.load(path)) if source.is_readable else (lambda: ())
        return excerpt(place, values, lambda: self.opened(path))

    def of_kind(self, kind: Kind) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if source.kind is kind)

    def values(self, kind: Kind) -> Iterator[tuple[Source, Any]]:
        """Yield every value of every readable source of a kind, with its source."""
        for source in self.of_kind(kind):
            if source.is_readable:
                for value in self.load(source.path):
                    yield source, value

    def answers(self, judge: Judge) -> tuple[VerdictEntry, ...]:
        """Return what was uploaded as this judge's verdicts."""
        return tuple(verdict for verdict in self.verdicts if verdict.judge is judge)

    def applies(self, judge: Judge) -> bool:
        """Whether the challenge asks this judge at all."""
        return judge in self.spec.judges


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's answer before it is stored.

    ``score`` is exact, 0 to 100; where it is None, ``reason`` says why. ``why`` is one line
    for the ledger, ``rationale`` what a person reads; ``detail`` is JSON for the judge's
    card, with every figure as text.
    """

    judge: Judge
    score: Fraction | None
    reason: Reason | None = None
    why: str = ""
    rationale: str = ""
    evidence: tuple[JsonDict, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    source: str = "own"


def anchor(path: str, place: str) -> JsonDict:
    """Return an anchor as JSON: an artifact's path and a place in it."""
    return {"artifact": path, "place": place}


def matches_any(path: str, globs: Iterable[str]) -> bool:
    """Whether a path, or any folder above it, matches one of the globs.

    A relative glob is looked for at any depth: ``hidden/*`` forbids ``/srv/x/hidden/a.py``.
    """
    pattern = _pattern(tuple(globs))
    return pattern is not None and pattern.fullmatch(_tidy(path)) is not None


@lru_cache(maxsize=256)
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return one pattern for several globs: a sandbox log asks for each of its lines."""
    parts = [
        f"{'' if glob.startswith('/') else '(?:.*/)?'}{fnmatch.translate(_tidy(glob))[:-2]}(?:/.*)?"
        if _tidy(glob)
        else ".*"  # the root
        for glob in globs
    ]
    return re.compile("|".join(parts), re.DOTALL) if parts else None


def _tidy(path: str) -> str:
    return "/".join(part for part in path.split("/") if part)


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value, however its keys are ordered."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
