"""The evidence that the panel saw, page by page (SCORING.md, 7: Strategy's column).

Decision path, diff, the agent's own test runs, written deliverables; nothing else. Every text
passes a `Scrubber` on its way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import orjson
from django.core.cache import cache
from django.core.paginator import Page, Paginator

from adjudication.blindness import Scrubber
from bouts import blobs, chunks
from bouts.evidence import (
    BadPlace,
    DiffPlace,
    EventPlace,
    LinePlace,
    LinesPlace,
    Place,
    parse_place,
)
from bouts.formats.types import Event, EventKind, FileChange, Kind
from bouts.models import Artifact, Blob, Bundle
from bouts.rules import Judge
from judging.dossiers import dossier_of
from judging.judges.base import Source
from judging.judges.runs import Run, main_run
from judging.judges.telemetry import analysed
from judging.models import ModelCall
from judging.scoring.policy import Policy
from judging.scoring.story import StepKind, Story
from judging.showing.diffs import keyless

STEPS_A_PAGE = 40
LINES_A_PAGE = 400
ITEMS_A_PAGE = 25
LONGEST_TEXT = 2_000  # of one event
LONGEST_LINE = 1_000
HUNK = "@"  # the sign of a hunk's header
MOST_NAMED = 12  # failing tests that a run lists by name


class Tab(StrEnum):
    PATH = "path"
    DIFF = "diff"
    RUNS = "runs"
    WRITING = "writing"
    SENT = "sent"

    @property
    def title(self) -> str:
        return TITLES[self]


TITLES = {
    Tab.PATH: "Decision path",
    Tab.DIFF: "Diff",
    Tab.RUNS: "Own test runs",
    Tab.WRITING: "Deliverables",
    Tab.SENT: "As it was sent",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A row of the decision path or of the list of test runs."""

    seq: int
    t: float | None  # seconds from the start
    kind: str
    text: str
    file: str  # path of the telemetry that it stands in
    failing: tuple[str, ...] = ()
    more_failing: int = 0

    @property
    def place(self) -> str:
        return f"event:{self.seq}"

    @property
    def time(self) -> str:
        """Minutes and seconds from the start, ``5:40``; empty without a clock."""
        if self.t is None:
            return ""
        minutes, seconds = divmod(int(self.t), 60)
        return f"{minutes}:{seconds:02}"


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a diff; its sign is ``@`` where it is the header of a hunk."""

    sign: str
    old: int | None
    new: int | None
    text: str
    is_target: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of one file of a diff; a long file comes in several parts."""

    path: str
    status: str
    added: int
    removed: int
    note: str
    is_continued: bool
    rows: tuple[Line, ...]

    def holds(self, at: DiffPlace) -> bool:
        return self.path == at.path and any(_is_at(row, at) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a piece of evidence stands among the tabs, and what it is called."""

    label: str
    tab: Tab | None = None  # None: it lies in nothing that the panel saw
    file: int | None = None  # ordinal among the deliverables
    place: str = ""

    @property
    def query(self) -> str:
        """The query of the page of evidence that shows it; empty where none does."""
        if self.tab is None:
            return ""
        file = {} if self.file is None else {"file": self.file}
        return urlencode({"tab": self.tab.value, **file, "at": self.place})


@dataclass(frozen=True, slots=True)
class Writing:
    """A page of a deliverable: numbered lines."""

    name: str  # scrubbed, as all texts here are
    page: int
    lines: tuple[tuple[int, str], ...]
    has_more: bool
    target: int | None


@dataclass(frozen=True, slots=True)
class Sent:
    """An item of the evidence as a seat's prompt held it; `section` where one begins."""

    id: str
    section: str
    note: str
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Timeline:
    path: tuple[Step, ...]
    runs: tuple[Step, ...]


class Evidence:
    """What the panel saw of one bundle, cut into pages.

    The timeline of a bundle is read once and kept in the cache; diff and deliverables are
    read for the page that shows them.
    """

    def __init__(self, bundle: Bundle, policy: Policy, scrub: Scrubber) -> None:
        self.bundle = bundle
        self.policy = policy
        self.scrub = scrub
        kinds = (Kind.TELEMETRY, Kind.DIFF, Kind.DELIVERABLE, Kind.PLAN)
        artifacts = bundle.artifacts.filter(kind__in=kinds).select_related("blob").order_by("path")
        self.artifacts: list[Artifact] = list(artifacts)
        self.timeline = self._timeline()

    # Tabs

    @property
    def counts(self) -> dict[Tab, str]:
        """Say how much each tab holds."""
        files = sum(artifact.counts.get("files", 0) for artifact in self._of(Kind.DIFF))
        return {
            Tab.PATH: str(len(self.timeline.path)),
            Tab.DIFF: f"{files} file{'s' * (files != 1)}" if files else "0",
            Tab.RUNS: str(len(self.timeline.runs)),
            Tab.WRITING: str(len(self.writings)),
            Tab.SENT: str(len(self.sent)) if self.sent_digests else "not on record",
        }

    @property
    def first_tab(self) -> Tab:
        """The first tab that holds something."""
        holds = {
            Tab.PATH: self.timeline.path,
            Tab.DIFF: self._of(Kind.DIFF),
            Tab.RUNS: self.timeline.runs,
            Tab.WRITING: self.writings,
        }
        return next((tab for tab in Tab if holds.get(tab)), Tab.PATH)

    @cached_property
    def sent_digests(self) -> list[str]:
        """The stored evidence of the calls that the panel's votes come from, by its hash.

        Seats are shown the same, so there is one. Uploaded votes say nothing of what their
        models were shown, and then there is none.
        """
        calls = ModelCall.objects.filter(
            verdicts__bundle=self.bundle,
            verdicts__judge=Judge.STRATEGY.value,
            verdicts__is_live=True,
        )
        return list(calls.order_by("evidence").values_list("evidence", flat=True).distinct())

    @cached_property
    def sent(self) -> list[Sent]:
        """What was sent, item by item, from the bytes that were stored with it."""
        items = []
        for digest in self.sent_digests:
            for section in orjson.loads(blobs.whole(Blob(digest=digest)))["sections"]:
                title = section["title"]
                for item in section["items"]:
                    at = f"{item['artifact']} {item['place']}"
                    note = " ".join(filter(None, (title and section["note"], item["gap"])))
                    items.append(Sent(item["id"], title, note, at, item["text"]))
                    title = ""
        return items

    def sent_page(self, number: object) -> Page[Sent]:
        page = Paginator(self.sent, ITEMS_A_PAGE).get_page(number)
        page.object_list = [
            replace(item, at=self.scrub(item.at), text=self.scrub(item.text))
            for item in page.object_list
        ]
        return page

    @property
    def writings(self) -> list[Artifact]:
        return self._of(Kind.DELIVERABLE, Kind.PLAN)

    def steps(self, tab: Tab, number: object, at: Place | None) -> Page[Step]:
        """Return a page of the decision path or of the test runs, the one with `at` if given."""
        steps = self.timeline.path if tab is Tab.PATH else self.timeline.runs
        pages = Paginator(steps, STEPS_A_PAGE)
        if isinstance(at, EventPlace):
            ahead = sum(step.seq < at.seq for step in steps)
            number = ahead // STEPS_A_PAGE + 1
        page = pages.get_page(number)
        page.object_list = [self._scrubbed(step) for step in page.object_list]
        return page

    def diff(self, number: object, at: Place | None) -> Page[list[Part]]:
        """Return a page of the diff: whole files as far as they fit."""
        pages = list(_in_pages(self._changes()))
        place = at if isinstance(at, DiffPlace) else None
        if place is not None:
            holding = (n for n, parts in enumerate(pages, 1) if any(p.holds(place) for p in parts))
            number = next(holding, number)
        page = Paginator(pages, 1).get_page(number)
        page.object_list = [[self._scrubbed_part(part, place) for part in parts] for parts in page]
        return page

    def writing(self, file: int, number: object, at: Place | None) -> Writing | None:
        """Return a page of a deliverable by its ordinal, or None where there is no such file."""
        if not 0 <= file < len(self.writings):
            return None
        artifact = self.writings[file]
        line = _first_line(at)
        page = (line - 1) // LINES_A_PAGE + 1 if line else _positive(number)
        first = (page - 1) * LINES_A_PAGE + 1
        lines = [
            (number, self._scrubbed_text(_readable(text), LONGEST_LINE))
            # One line more than is shown tells whether there is a next page.
            for number, text in blobs.lines(artifact.blob, first, first + LINES_A_PAGE)
        ]
        return Writing(
            name=self.scrub(artifact.path),
            page=page,
            lines=tuple(lines[:LINES_A_PAGE]),
            has_more=len(lines) > LINES_A_PAGE,
            target=line,
        )

    # Anchors

    def spot(self, anchor: dict[str, Any]) -> Spot:
        """Say where an anchor of a verdict leads."""
        path, place = anchor["artifact"], anchor["place"]
        try:
            where = parse_place(place)
        except BadPlace:
            return Spot(self.scrub(f"{path} {place}"))
        match where:
            case EventPlace():
                return Spot(f"#{where.seq}", self._tab_of_event(where.seq), None, place)
            case DiffPlace():
                label = f"{_short(where.path)}:{'−' * where.old}{where.line}"
                return Spot(self.scrub(label), Tab.DIFF, None, place)
            case LinePlace() | LinesPlace():
                label = self.scrub(f"{_short(path)}:{_first_line(where)}")
                for file, artifact in enumerate(self.writings):
                    if artifact.path == path:
                        return Spot(label, Tab.WRITING, file, place)
                return Spot(label)
        return Spot(self.scrub(f"{_short(path)} {place}"))

    def _tab_of_event(self, seq: int) -> Tab | None:
        if any(step.seq == seq for step in self.timeline.path):
            return Tab.PATH
        if any(step.seq == seq for step in self.timeline.runs):
            return Tab.RUNS
        return None

    # Reading

    @property
    def diff_name(self) -> str:
        return self.scrub(next((artifact.path for artifact in self._of(Kind.DIFF)), ""))

    def _of(self, *kinds: Kind) -> list[Artifact]:
        return [artifact for artifact in self.artifacts if artifact.kind in kinds]

    def _changes(self) -> Iterator[FileChange]:
        for artifact in self._of(Kind.DIFF):
            if artifact.state == Artifact.State.READ:
                yield from chunks.read(artifact)

    def _timeline(self) -> Timeline:
        # What a reader made of a file never changes, and neither does what one policy makes of it.
        # A rejudging may read the files anew: then they are other rows.
        read = "-".join(str(artifact.pk) for artifact in self._of(Kind.TELEMETRY))
        key = f"case-steps-{self.bundle.pk}-{read}-{self.policy.version}"
        timeline = cache.get(key)
        if timeline is None:
            timeline = _read_timeline(self.bundle, self.policy)
            cache.set(key, timeline)
        return timeline

    def _scrubbed_text(self, text: str, longest: int) -> str:
        """Scrub a text, then cut it: what a cut has taken apart is no longer told for a name."""
        return _cut(self.scrub(text[: 2 * longest]), longest)

    def _scrubbed(self, step: Step) -> Step:
        return replace(
            step,
            text=self._scrubbed_text(step.text, LONGEST_TEXT),
            file=self.scrub(step.file),
            failing=tuple(map(self.scrub, step.failing)),
        )

    def _scrubbed_part(self, part: Part, at: DiffPlace | None) -> Part:
        rows = tuple(
            replace(
                row,
                text=self._scrubbed_text(row.text, LONGEST_LINE),
                is_target=at is not None and part.path == at.path and _is_at(row, at),
            )
            for row in part.rows
        )
        return replace(part, path=self.scrub(part.path), rows=rows)


# The timeline


def _read_timeline(bundle: Bundle, policy: Policy) -> Timeline:
    dossier = dossier_of(bundle)
    run = main_run(dossier)
    if run is None or not run.is_readable:
        return Timeline((), ())
    story = analysed(dossier, policy).story
    wanted = {step.seq for step in story.decision_path} | {test.seq for test in story.runs}
    events = {event.seq: event for event in run.events(dossier) if event.seq in wanted}
    return Timeline(tuple(_path(story, events, run)), tuple(_tests(story, events, run)))


def _path(story: Story, events: dict[int, Event], recorded: Run[Source]) -> Iterator[Step]:
    runs = {run.seq: run for run in story.runs}
    changes = {change.seq: change for change in story.changes}
    for step in story.decision_path:
        match step.kind:
            case StepKind.PLAN:
                text = events[step.seq].text[: 2 * LONGEST_TEXT]  # cut once it is scrubbed
            case StepKind.CONTRADICTION:
                run = runs[step.seq]
                text = f"{run.passed} of {run.total} tests pass"
            case StepKind.APPROACH_CHANGE:
                text = ", ".join(sorted(changes[step.seq].paths)) or "no file named"
            case StepKind.REVERT:
                restored = sorted(map(str, changes[step.seq].restored))
                text = f"{', '.join(restored)}, back to earlier content"
        yield Step(step.seq, step.t, step.kind.value, text, recorded.part_of(step.seq).path)


def _tests(story: Story, events: dict[int, Event], recorded: Run[Source]) -> Iterator[Step]:
    for run in story.runs:
        failing = sorted(test for test, passed in run.results.items() if not passed)
        command = events[run.seq].command if run.seq in events else None
        yield Step(
            run.seq,
            run.t,
            EventKind.TEST.value,
            f"{run.passed} of {run.total} pass" + (f": {_cut(command, 200)}" if command else ""),
            recorded.part_of(run.seq).path,
            tuple(failing[:MOST_NAMED]),
            max(0, len(failing) - MOST_NAMED),
        )


# The diff


def _in_pages(changes: Iterable[FileChange]) -> Iterator[list[Part]]:
    """Gather files into pages of some hundred lines; a longer file is cut into parts."""
    page: list[Part] = []
    room = LINES_A_PAGE
    for change in changes:
        for part in _parts(change):
            if page and len(part.rows) > room:
                yield page
                page, room = [], LINES_A_PAGE
            page.append(part)
            room -= len(part.rows) + 1
    if page:
        yield page


def _parts(change: FileChange) -> Iterator[Part]:
    note = "binary" if change.binary else ""
    if change.line_endings_only:
        note = "only the ends of lines differ"
    rows = _lines(change)
    is_continued = False
    while (some := tuple(islice(rows, LINES_A_PAGE))) or not is_continued:
        yield Part(
            change.path, change.status, change.added, change.removed, note, is_continued, some
        )
        is_continued = True


def _lines(change: FileChange) -> Iterator[Line]:
    for hunk in map(keyless, change.hunks):
        yield Line(HUNK, None, None, hunk.header)
        for line in hunk.lines:
            yield Line(line.sign, line.old, line.new, line.text)


def _is_at(row: Line, at: DiffPlace) -> bool:
    return (row.old if at.old else row.new) == at.line


# Small things


def _first_line(place: Place | None) -> int | None:
    match place:
        case LinePlace():
            return place.line
        case LinesPlace():
            return place.first
    return None


def _short(path: str) -> str:
    return path.rpartition("/")[2]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _readable(line: bytes) -> str:
    return line.decode("utf-8", "replace").replace("\0", "␀")


def _positive(number: object) -> int:
    text = str(number or "")
    return max(1, int(text)) if text.isdecimal() and len(text) < 7 else 1
