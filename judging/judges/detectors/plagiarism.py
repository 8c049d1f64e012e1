"""Added code that an earlier match of another agent has too.

Fingerprints are compared within a challenge, the starting tree left out. The match that was
fought earlier is the source. Who it was is for staff: a finding's note tells its reader, who
may be the other team, no more than how much and where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from bouts.rules import Confidence
from judging.judges.base import Peer
from judging.judges.detectors.base import (
    AddedLine,
    Evidence,
    Hit,
    Input,
    Noted,
    Outcome,
    Record,
    gathered,
)
from judging.judges.detectors.literals import is_test_file
from judging.judges.detectors.winnowing import FEWEST, GAP, Mark, fingerprints, hashes
from judging.scoring.policy import Policy

MOST_STRETCHES = 6  # of shared code that are shown


class Plagiarism:
    name: ClassVar[str] = "plagiarism"
    triggers: ClassVar[tuple[str, ...]] = ("plagiarism",)
    inputs: ClassVar[tuple[Input, ...]] = (Input.DIFF, Input.PEERS, Input.TREE)
    needs: ClassVar[tuple[Input, ...]] = (Input.DIFF, Input.PEERS)

    def look(self, record: Record) -> Iterator[Outcome]:
        marks = marks_of(record)
        if record.dossier.peers is None:
            return
        if len(hashes(marks)) < FEWEST:
            yield Noted("The diff adds too little code to tell whose it is.", ())
            return
        sources = sources_among(record.dossier.peers(), record.policy)
        if not sources:
            return
        closest = sources[0]
        percent = int(closest.similarity * 100)
        yield Hit(
            "plagiarism",
            gathered(_stretches(marks, added_by_file(record), closest.shared)),
            f"{percent} % of the fingerprints of the added code stand in an earlier match of "
            "another agent too, the starting tree left out.",
            Confidence.HIGH,
        )


def sources_among(peers: Sequence[Peer], policy: Policy) -> Sequence[Peer]:
    """Return the earlier match that is most alike, where it is alike enough; else nothing."""
    least = policy.integrity.plagiarism_similarity
    earlier = [peer for peer in peers if peer.is_earlier and peer.similarity >= least]
    return sorted(earlier, key=lambda peer: -peer.similarity)[:1]


def added_by_file(record: Record) -> Mapping[str, Sequence[AddedLine]]:
    files: dict[str, list[AddedLine]] = {}
    for line in record.added:
        if not is_test_file(line.path):
            files.setdefault(line.path, []).append(line)
    return files


def marks_of(record: Record) -> Mapping[str, tuple[Mark, ...]]:
    """Return the fingerprints of what the diff adds, by file; their lines count added lines."""
    texts = {path: _joined(lines) for path, lines in added_by_file(record).items()}
    return fingerprints(texts, record.tree.items())


def _joined(lines: Sequence[AddedLine]) -> str:
    parts = []
    for index, line in enumerate(lines):
        goes_on = index and lines[index - 1].number + 1 == line.number
        parts.append(line.text.replace(GAP, " ") if goes_on else GAP + line.text)
    return "\n".join(parts)


def _stretches(
    marks: Mapping[str, Sequence[Mark]],
    files: Mapping[str, Sequence[AddedLine]],
    shared: frozenset[int],
) -> Iterator[Evidence]:
    """Yield where the longest stretches begin that both have, each with the line that it ends on."""
    found: list[tuple[int, Evidence]] = []
    for path, kept in marks.items():
        lines = files[path]
        for first, last in _merged(mark for mark in kept if mark.hash in shared):
            evidence = replace(lines[first].evidence, last=lines[last].number)
            found.append((first - last, evidence))
    found.sort(key=lambda item: item[0])
    yield from (evidence for _, evidence in found[:MOST_STRETCHES])


def _merged(marks: Iterable[Mark]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of lines that marks cover, those put together that touch."""
    stretch: tuple[int, int] | None = None
    for mark in sorted(marks, key=lambda mark: mark.first):
        if stretch and mark.first <= stretch[1] + 1:
            stretch = (stretch[0], max(stretch[1], mark.last))
            continue
        if stretch:
            yield stretch
        stretch = (mark.first, mark.last)
    if stretch:
        yield stretch
