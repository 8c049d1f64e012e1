"""What a detector is: it looks at the record of a match and says what it found, and where.

A detector is one file here with one class. It never decides what a finding costs: that is
policy. It says whether a log of the bundle proves it by itself (`Hit.proof`); all else is
proposed to a reviewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeAlias, TypeVar, cast

from bouts.bundles.manifest import ChallengeFile
from bouts.evidence import Anchor
from bouts.formats.types import Access, Event, FileChange, Kind
from bouts.rules import Confidence
from judging.judges.base import Claim, Dossier, Source
from judging.judges.objective import TestRecord
from judging.judges.runs import runs_of
from judging.scoring.policy import Policy

# What is looked at of one match, so that memory and time stay bounded whatever is uploaded.
# Whoever goes beyond has it said on the page: what was not looked at is never "nothing found".
MOST_EVENTS = 50_000
MOST_EVENT_CHARS = 64_000_000
MOST_ADDED_LINES = 200_000
MOST_ACCESSES = 20_000
LARGEST_DOCUMENT = 2_000_000  # bytes of a deliverable
LARGEST_DOCUMENTS = 6_000_000  # bytes of all of them
LARGEST_TREE = 20_000_000  # bytes of the starting tree's text
MOST_ANCHORS = 20  # of one finding
MOST_HITS = 200  # of one detector
# A trajectory up to here is kept while detectors look at it; a longer one is read anew by each.
KEPT_CHARS = 2_000_000
EVENT_CHARS = 1_000  # as many as what an event has beside its texts weighs
KEPT_LINES = 10_000  # of a diff, in the same way

ItemT = TypeVar("ItemT")


class Input(Enum):
    """What a detector may look at, in the words of the page."""

    SANDBOX = "sandbox log"
    TRAJECTORY = "trajectory"
    DIFF = "diff"
    DELIVERABLES = "deliverables"
    CLAIMS = "claims file"
    RESULTS = "test results"
    TREE = "starting tree"
    PEERS = "other agents' matches"


KINDS = {
    Input.SANDBOX: (Kind.SANDBOX,),
    Input.TRAJECTORY: (Kind.TELEMETRY,),
    Input.DIFF: (Kind.DIFF,),
    Input.DELIVERABLES: (Kind.DELIVERABLE, Kind.PLAN),
    Input.CLAIMS: (Kind.CLAIMS,),
    Input.RESULTS: (Kind.TESTS,),
}
# Kinds that no reader turns into values: they are text, and there is nothing to be unreadable.
AS_TEXT = {Kind.DELIVERABLE, Kind.PLAN, Kind.CLAIMS}


@dataclass(frozen=True, slots=True)
class Evidence:
    """An anchor with the text that stands there; None where the judge is to fetch it.

    ``last`` is the line up to which it reaches, where that is more than the one of the anchor.
    """

    anchor: Anchor
    excerpt: str | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that a detector found. Its evidence is never empty.

    ``proof`` is the sentence that says how a log of the bundle proves it by itself; empty
    where a person has to read it. ``points`` only where the rule leaves them open.
    """

    trigger: str
    evidence: tuple[Evidence, ...]
    note: str
    confidence: Confidence = Confidence.LOW
    proof: str = ""
    points: int | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """What is worth knowing and no finding, such as one third of an injection."""

    note: str
    evidence: tuple[Evidence, ...]


Outcome: TypeAlias = Hit | Noted


@dataclass(frozen=True, slots=True)
class AddedLine:
    """A line that the diff adds, with where it stands."""

    artifact: str
    path: str
    number: int
    text: str

    @property
    def evidence(self) -> Evidence:
        place = f"diff:{self.path}:{self.number}"
        return Evidence(Anchor(self.artifact, place), f"+{self.text}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event of the trajectory with the artifact that it stands in, and that its run begins in."""

    artifact: str
    event: Event
    run: str

    def evidence(self, excerpt: str | None = None) -> Evidence:
        return Evidence(Anchor(self.artifact, f"event:{self.event.seq}"), excerpt)


@dataclass(frozen=True, slots=True)
class Document:
    """A written deliverable or plan, by its lines from 1."""

    artifact: str
    lines: tuple[str, ...]
    is_plan: bool = False

    def evidence(self, number: int, last: int | None = None) -> Evidence:
        return Evidence(Anchor(self.artifact, f"line:{number}"), self.lines[number - 1], last)


class _Anew(Generic[ItemT]):
    """Values that are read anew each time that they are gone through."""

    def __init__(self, read: Callable[[], Iterator[ItemT]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[ItemT]:
        return self._read()


def _unless_many(
    read: Callable[[], Iterator[ItemT]], weight: Callable[[ItemT], int], most: int
) -> Iterable[ItemT]:
    """Return values that are kept, or read anew each time where they weigh too much for that."""
    kept: list[ItemT] = []
    left = most
    # To the end, also where it is too much: what goes beyond the bounds is to be said by the
    # first detector already.
    for item in read():
        left -= weight(item)
        if left < 0:
            kept.clear()
        else:
            kept.append(item)
    return _Anew(read) if left < 0 else tuple(kept)


class Record:
    """A match as the detectors see it: loaded once, for all of them, within bounds.

    Its events and changes are for going through, and a long trajectory or diff is never all in
    memory: a detector keeps of it what it is going to say, no more.

    ``cut`` says what went beyond the bounds and was not looked at.
    """

    def __init__(
        self,
        dossier: Dossier,
        tests: Sequence[TestRecord],
        policy: Policy,
        wanted: Callable[[Access], bool] = lambda access: True,
    ) -> None:
        self.dossier = dossier
        self.tests = tests
        self.policy = policy
        self.cut: dict[Input, str] = {}
        self._wanted = wanted
        self._computed: dict[object, object] = {}

    @property
    def spec(self) -> ChallengeFile:
        return self.dossier.spec

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.dossier.claims

    @cached_property
    def changes(self) -> Iterable[tuple[Source, FileChange]]:
        return _unless_many(self._changes, lambda one: 1 + _lines(one[1]), KEPT_LINES)

    def _changes(self) -> Iterator[tuple[Source, FileChange]]:
        values = self.dossier.values(Kind.DIFF)
        return ((s, change) for s, change in values if isinstance(change, FileChange))

    @cached_property
    def changed_paths(self) -> frozenset[str]:
        return frozenset(change.path for _, change in self.changes)

    @cached_property
    def added(self) -> tuple[AddedLine, ...]:
        """Every line that the diff adds, in order."""
        return tuple(self.bounded(self._added(), MOST_ADDED_LINES, Input.DIFF, "lines"))

    def _added(self) -> Iterator[AddedLine]:
        for source, change in self.changes:
            for hunk in change.hunks:
                for line in hunk.lines:
                    if line.sign == "+" and line.new is not None:
                        yield AddedLine(source.path, change.path, line.new, line.text)

    @cached_property
    def events(self) -> Iterable[Recorded]:
        """The trajectory; what the agent was told to begin with is part of it."""
        return _unless_many(self._events, lambda one: EVENT_CHARS + _chars(one.event), KEPT_CHARS)

    def _events(self) -> Iterator[Recorded]:
        runs = {
            part.path: run.path
            for run in runs_of(self.dossier.of_kind(Kind.TELEMETRY))
            for part in run.parts
        }
        values = self.dossier.values(Kind.TELEMETRY)
        found = (
            Recorded(source.path, event, runs[source.path])
            for source, event in values
            if isinstance(event, Event)
        )
        budget = MOST_EVENT_CHARS
        for recorded in self.bounded(found, MOST_EVENTS, Input.TRAJECTORY, "events"):
            budget -= _chars(recorded.event)
            if budget < 0:
                self.stop_at(Input.TRAJECTORY, f"up to event {recorded.event.seq}")
                return
            yield recorded

    @cached_property
    def accesses(self) -> tuple[tuple[str, Access], ...]:
        """What the sandbox logs show, as far as any detector wants to know of it."""
        values = self.dossier.values(Kind.SANDBOX)
        found = (
            (source.path, access)
            for source, access in values
            if isinstance(access, Access) and self._wanted(access)
        )
        return tuple(self.bounded(found, MOST_ACCESSES, Input.SANDBOX, "accesses"))

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The deliverables and plans that are text."""
        found = []
        left = LARGEST_DOCUMENTS
        for source in (s for kind in KINDS[Input.DELIVERABLES] for s in self.dossier.of_kind(kind)):
            with self.dossier.opened(source.path) as stream:
                data = stream.read(LARGEST_DOCUMENT + 1)
            if b"\0" in data[:8_000]:
                continue
            left -= len(data)
            if left < 0:
                self.stop_at(Input.DELIVERABLES, f"those before {source.path}")
                break
            if len(data) > LARGEST_DOCUMENT:
                self.stop_at(Input.DELIVERABLES, f"the first 2 MB of {source.path}")
            text = data[:LARGEST_DOCUMENT].decode("utf-8", "replace")
            lines = tuple(text.split("\n"))
            found.append(Document(source.path, lines, source.kind is Kind.PLAN))
        return tuple(found)

    @cached_property
    def tree(self) -> dict[str, str]:
        """The starting tree's text files; empty where its content is not kept."""
        files: dict[str, str] = {}
        left = LARGEST_TREE
        for path, data in self.dossier.tree() if self.dossier.tree else ():
            left -= len(data)
            if left < 0:
                self.stop_at(Input.TREE, "the first 20 MB")
                break
            if b"\0" not in data[:8_000]:
                files[path] = data.decode("utf-8", "replace")
        return files

    def once(self, what: object, compute: Callable[[], ItemT]) -> ItemT:
        """Return what several detectors compute of a record, computed once."""
        if what not in self._computed:
            self._computed[what] = compute()
        return cast(ItemT, self._computed[what])

    def bounded(
        self, items: Iterable[ItemT], most: int, where: Input, what: str
    ) -> Iterator[ItemT]:
        """Yield as many items as are looked at; where there are more, that is said."""
        for count, item in enumerate(items):
            if count == most:
                self.stop_at(where, f"the first {most:,} {what}")
                return
            yield item

    def stop_at(self, where: Input, what: str) -> None:
        """Have it said up to where an input was looked at; once, however often it comes up."""
        told = self.cut.get(where, "")
        if what not in told:
            self.cut[where] = f"{told}; {what}" if told else what

    # What was there to be searched

    def state_of(self, wanted: Input) -> tuple[bool, str]:
        """Say whether an input is there, and what to call it or why it is not."""
        if wanted is Input.TREE:
            return (True, wanted.value) if self.dossier.tree else (False, "no starting tree kept")
        if wanted is Input.PEERS:
            is_there = self.dossier.peers is not None
            return (True, wanted.value) if is_there else (False, f"no {wanted.value} at hand")
        sources = [s for kind in KINDS[wanted] for s in self.dossier.of_kind(kind)]
        if not sources:
            return False, f"no {wanted.value}"
        unreadable = [s for s in sources if not s.is_readable and s.kind not in AS_TEXT]
        if len(unreadable) == len(sources):
            return False, f"{wanted.value} unreadable: {unreadable[0].reason}"
        return True, wanted.value


def _lines(change: FileChange) -> int:
    return sum(len(hunk.lines) for hunk in change.hunks)


def _chars(event: Event) -> int:
    return len(event.text) + len(event.output) + len(event.command or "")


class Detector(Protocol):
    """One thing that is looked for."""

    name: ClassVar[str]
    triggers: ClassVar[tuple[str, ...]]  # what it may find
    inputs: ClassVar[tuple[Input, ...]]  # what it looks at
    needs: ClassVar[tuple[Input, ...]]  # without which it cannot say anything

    def look(self, record: Record) -> Iterable[Outcome]: ...


def gathered(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return evidence without repetition, and no more than a person will look at."""
    seen: dict[Anchor, Evidence] = {}
    for item in evidence:
        seen.setdefault(item.anchor, item)
        if len(seen) == MOST_ANCHORS:
            break
    return tuple(seen.values())
