"""What readers give back: plain values, the same for every format of a kind.

Units are seconds, lines and bytes. ``None`` means that the file does not say; a
reader never puts a zero where nothing was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, ClassVar, Protocol, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass, which type checkers alone hold frozen.

    Held at run time it would take three to five times as long to make one, and a file may
    have half a million of them.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


class Kind(StrEnum):
    """The kinds of artifact that a bundle may hold (DESIGN.md, "A bundle")."""

    TESTS = "tests"
    TELEMETRY = "telemetry"
    DIFF = "diff"
    SCAN = "scan"
    BENCHMARK = "benchmark"
    SANDBOX = "sandbox"
    PLAN = "plan"
    DELIVERABLE = "deliverable"
    CLAIMS = "claims"
    VERDICTS = "verdicts"
    LOG = "log"


class Clock(StrEnum):
    """How far the times in a file can be trusted (FORMATS.md, rule 5)."""

    ZONED = "zoned"
    NAIVE = "naive"
    RELATIVE = "relative"
    NONE = "none"


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SKIPPED = "skipped"


class EventKind(StrEnum):
    """SCORING.md, 3. Whatever is none of these is a ``message``."""

    START = "start"
    MESSAGE = "message"
    PLAN = "plan"
    READ = "read"
    SEARCH = "search"
    EDIT = "edit"
    TEST = "test"
    RUN = "run"
    CHECKPOINT = "checkpoint"
    SUBMIT = "submit"


@value
class TestResult:
    """One test in one run, counted from its leaf element.

    ``id`` is ``classname::name``, or ``name`` alone where there is no class: the
    name by which a challenge lists its tests and an anchor points at one.
    """

    __test__: ClassVar[bool] = False  # not a test class, whatever pytest thinks

    id: str
    outcome: Outcome
    duration_s: float | None = None
    message: str = ""
    log: str = ""
    severity: str | None = None  # a severity/criticality property of the file itself
    file: str | None = None
    line: int | None = None
    attempts: int = 1
    flaky: bool = False  # passed only on a later attempt; the outcome is the first attempt's
    crash: str | None = None  # signature of a crash of the process, kind + top project frame


@value
class Event:
    """One thing an agent did, in the order in which it did it.

    ``t`` is in seconds since the first event that has a time. A tool call that edits
    several files gives one event a file, all with the same ``call``. ``before`` and
    ``after`` are SHA-256 hex digests of the file's content, where they can be derived.
    """

    seq: int
    kind: EventKind
    t: float | None = None
    inferred: bool = False  # the kind was guessed from a command or a tool's name
    tool: str | None = None
    call: str | None = None
    path: str | None = None
    before: str | None = None
    after: str | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    signature: str | None = None  # of a command or call: same signature, same arguments
    ok: bool | None = None
    exit_code: int | None = None
    expected: bool = False  # a failure that the agent provoked on purpose
    infra: bool = False  # a failure of the infrastructure, not of the work
    results: Mapping[str, bool] | None = None  # test id -> passed
    passed: int | None = None
    failed: int | None = None
    text: str = ""  # what the agent said with it: message, then reasoning
    command: str | None = None  # the command line, where the call was one
    output: str = ""  # what came back, cut in the middle where it is long
    tokens_in: int | None = None
    tokens_out: int | None = None
    raw: str | None = None  # JSON pointer of the record in the artifact


@value
class DiffLine:
    sign: str  # " ", "+", "-", or "\\" for the missing newline mark
    old: int | None
    new: int | None
    text: str


@value
class Hunk:
    header: str
    lines: tuple[DiffLine, ...]


@value
class FileChange:
    """One file of a unified diff. Paths are for display only: nothing opens them."""

    path: str
    old_path: str | None
    status: str  # added, modified, deleted, renamed, copied, mode
    added: int
    removed: int
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    line_endings_only: bool = False  # nothing differs but CR at the ends of lines


@value
class ScanFinding:
    """One live result of a security scanner."""

    rule: str
    level: str  # error, warning, note, none
    message: str
    path: str | None = None
    line: int | None = None
    snippet: str = ""
    security_severity: float | None = None
    severity: str | None = None  # the scanner's own word, e.g. CRITICAL or HIGH
    confidence: str | None = None
    critical: bool = False  # as SCORING.md, 2 defines a critical finding


@value
class Sample:
    """One benchmark: its timings in seconds."""

    name: str
    median_s: float
    samples_s: tuple[float, ...] = ()
    rounds: int | None = None
    fullname: str | None = None  # with its file, where `name` alone may occur twice


@value
class Access:
    """One access that a sandbox log shows."""

    action: str  # open, read, write, exec, connect, ...
    target: str  # a path, or host:port
    allowed: bool | None  # None: it came to nothing or to an unknown end, see `detail`
    line: int  # in the log, from 1
    t: float | None = None
    process: str | None = None
    detail: str = ""

    @property
    def host(self) -> str:
        """The host of a target that is one, without the port and the brackets of IPv6."""
        host, _, port = self.target.rpartition(":")
        return (host if port.isdecimal() else self.target).strip("[]")


@dataclass(frozen=True, slots=True)
class Crash:
    """The end of a graded run's process by anything but its own will."""

    signature: str  # kind + top project frame: the same crash twice counts once
    line: int  # in the log, from 1


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know about how a file was read."""

    text: str
    place: str | None = None  # "line 12", "byte 4096", "testcase 7", "/steps/3/timestamp"


class Unreadable(Exception):
    """A file cannot be read: its reason and place, never zero tests and never clean."""

    def __init__(self, reason: str, place: str | None = None) -> None:
        super().__init__(f"{reason} ({place})" if place else reason)
        self.reason = reason
        self.place = place


@dataclass(slots=True)
class Report:
    """What a reader says beside the values it yields. Complete once it is exhausted."""

    format_version: str | None = None
    clock: Clock | None = None  # telemetry, sandbox: see Clock; None where time plays no part
    origin: str | None = None  # ISO time of t = 0, where the clock has one
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)  # small extras, JSON values only

    def note(self, text: str, place: str | None = None) -> None:
        self.notes.append(Note(text, place))


class Reader(Protocol):
    """One format: recognised by content, read as a stream of values.

    ``read`` yields values lazily and raises `Unreadable`, never anything else. What it
    yielded before that does not count: the caller drops it.
    """

    kind: ClassVar[Kind]
    format: ClassVar[str]  # e.g. "junit"
    version: ClassVar[int]  # of the reader: raised when it reads the same file differently

    def recognises(self, head: bytes) -> bool: ...

    def read(self, source: BinaryIO, report: Report) -> Iterator[Any]: ...
