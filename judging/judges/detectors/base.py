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
from typing import ClassVar, Protocol, TypeAlias, TypeVar, cast

from bouts.bundles.manifest import ChallengeFile
from bouts.evidence import Anchor
from bouts.formats.types import Access, Event, FileChange, Kind
from bouts.rules import Confidence
from judging.judges.base import Claim, Dossier, Source
from judging.judges.objective import TestRecord
from judging.scoring.policy import Policy

# What is looked at of one match, so that memory and time stay bounded whatever is uploaded.
# Whoever goes beyond has it said on the page: what was not looked at is never "nothing found".
MOST_EVENTS = 50_000
MOST_EVENT_CHARS = 64_000_000
MOST_ADDED_LINES = 200_000
MOST_ACCESSES = 20_000
LARGEST_DOCUMENT = 2_000_000  # bytes of a deliverable
LARGEST_TREE = 20_000_000  # bytes of the starting tree's text
MOST_ANCHORS = 20  # of one finding

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
    """An event of the trajectory with the artifact that it stands in."""

    artifact: str
    event: Event

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


class Record:
    """A match as the detectors see it: loaded once, for all of them, within bounds.

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
    def changes(self) -> tuple[tuple[Source, FileChange], ...]:
        values = self.dossier.values(Kind.DIFF)
        return tuple((s, change) for s, change in values if isinstance(change, FileChange))

    @cached_property
    def added(self) -> tuple[AddedLine, ...]:
        """Every line that the diff adds, in order."""
        return tuple(self._bounded(self._added(), MOST_ADDED_LINES, Input.DIFF, "lines"))

    def _added(self) -> Iterator[AddedLine]:
        for source, change in self.changes:
            for hunk in change.hunks:
                for line in hunk.lines:
                    if line.sign == "+" and line.new is not None:
                        yield AddedLine(source.path, change.path, line.new, line.text)

    @cached_property
    def events(self) -> tuple[Recorded, ...]:
        """The trajectory; what the agent was told to begin with is part of it."""
        values = self.dossier.values(Kind.TELEMETRY)
        found = (Recorded(s.path, event) for s, event in values if isinstance(event, Event))
        return tuple(self._within_budget(found))

    def _within_budget(self, events: Iterable[Recorded]) -> Iterator[Recorded]:
        budget = MOST_EVENT_CHARS
        for recorded in self._bounded(events, MOST_EVENTS, Input.TRAJECTORY, "events"):
            event = recorded.event
            budget -= len(event.text) + len(event.output) + len(event.command or "")
            if budget < 0:
                self.cut[Input.TRAJECTORY] = f"up to event {event.seq}"
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
        return tuple(self._bounded(found, MOST_ACCESSES, Input.SANDBOX, "accesses"))

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The deliverables and plans that are text."""
        found = []
        for kind in KINDS[Input.DELIVERABLES]:
            for source in self.dossier.of_kind(kind):
                with self.dossier.opened(source.path) as stream:
                    data = stream.read(LARGEST_DOCUMENT + 1)
                if len(data) > LARGEST_DOCUMENT:
                    self.cut[Input.DELIVERABLES] = f"the first 2 MB of {source.path}"
                if b"\0" not in data[:8_000]:
                    text = data[:LARGEST_DOCUMENT].decode("utf-8", "replace")
                    found.append(Document(source.path, tuple(text.split("\n")), kind is Kind.PLAN))
        return tuple(found)

    @cached_property
    def tree(self) -> dict[str, str]:
        """The starting tree's text files; empty where its content is not kept."""
        files: dict[str, str] = {}
        left = LARGEST_TREE
        for path, data in self.dossier.tree() if self.dossier.tree else ():
            left -= len(data)
            if left < 0:
                self.cut[Input.TREE] = "the first 20 MB"
                break
            if b"\0" not in data[:8_000]:
                files[path] = data.decode("utf-8", "replace")
        return files

    def once(self, what: object, compute: Callable[[], ItemT]) -> ItemT:
        """Return what several detectors compute of a record, computed once."""
        if what not in self._computed:
            self._computed[what] = compute()
        return cast(ItemT, self._computed[what])

    def _bounded(
        self, items: Iterable[ItemT], most: int, where: Input, what: str
    ) -> Iterator[ItemT]:
        for count, item in enumerate(items):
            if count == most:
                self.cut[where] = f"the first {most:,} {what}"
                return
            yield item

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
