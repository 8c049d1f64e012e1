"""Which files of a bundle tell of hidden tests, so that competitors cannot have them as they are."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from bouts.bundles.loading import LoadedBundle
from bouts.bundles.manifest import ArtifactEntry, ChallengeFile
from bouts.formats.types import TestResult, Unreadable
from bouts.formats.zipped import MAGIC, ZipFile
from bouts.hidden_words import hidden_words, tells
from bouts.rules import Suite

BLOCK = 1 << 20  # bytes looked at a time
SPREAD = 8  # times its length that a word may take with what is put between its letters


@dataclass(frozen=True)
class HiddenTests:
    """What names or quotes a hidden test in a bundle, in lower case, and where it stands."""

    loaded: LoadedBundle
    words: tuple[str, ...]

    @classmethod
    def of(
        cls, loaded: LoadedBundle, spec: ChallengeFile, results: Iterable[TestResult]
    ) -> HiddenTests:
        """Gather the words from the challenge and from the results of its hidden suites."""
        return cls(loaded, tuple(words_of(spec, results)))

    def are_quoted_in(self, entry: ArtifactEntry) -> bool:
        """Whether a file is of a hidden run, or holds one of the words."""
        if entry.path in self._paths:
            return True
        return bool(self.words) and _holds(self.loaded.members[entry.path].file, self.words)

    @cached_property
    def _paths(self) -> frozenset[str | None]:
        """The result files of hidden suites, and their logs."""
        runs = [entry for entry in self.loaded.manifest.artifacts if is_hidden(entry)]
        return frozenset(path for run in runs for path in (run.path, run.log))


def words_of(spec: ChallengeFile, results: Iterable[TestResult] = ()) -> list[str]:
    """Return what names or quotes a hidden test of a challenge; see `hidden_words`."""
    hidden = [test for test in spec.tests if test.suite is not Suite.STATIC]
    visible = [test for test in spec.tests if test.suite is Suite.STATIC]
    return hidden_words(hidden, visible, results)


def is_hidden(entry: ArtifactEntry) -> bool:
    """Whether an artifact has the results of hidden tests."""
    return entry.suite not in {None, Suite.STATIC}


def _holds(file: Path, words: tuple[str, ...]) -> bool:
    """Look for words in a file, or in the members where it is a ZIP file such as Inspect's log.

    One that cannot be opened may hold anything.
    """
    with file.open("rb") as source:
        if source.read(len(MAGIC)) != MAGIC:
            source.seek(0)
            return _are_in(iter(partial(source.read, BLOCK), b""), words)
        try:
            archive = ZipFile(source)
            if tells("\n".join(archive.names), words):
                return True
            for name in archive.names:
                with archive.opened(name) as member:
                    if _are_in(iter(partial(member.read, BLOCK), b""), words):
                        return True
        except Unreadable:
            return True
    return False


def _are_in(blocks: Iterator[bytes], words: tuple[str, ...]) -> bool:
    """Look for words block by block, with an overlap as long as the longest may be written."""
    tail, longest = "", SPREAD * max(map(len, words))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for block in blocks:
        text = tail + decoder.decode(block)
        if tells(text, words):
            return True
        tail = text[-longest:]
    return False
