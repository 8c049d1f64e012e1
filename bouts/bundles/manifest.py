"""The four documents that people upload, as models: what each field may hold.

A field that is wrong is a fault by itself and is found here. What spans several fields or
files is in `bouts.bundles.checks`; `bouts.bundles.loading` asks both, so a model made
elsewhere (from the database) is one that has passed them before.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from bouts.bundles import names
from bouts.bundles.documents import EXPECTED, schema_of
from bouts.evidence import LONGEST_PLACE, Anchor, BadPlace, parse_place
from bouts.formats.types import Kind
from bouts.rules import (
    LEVELS,
    POINTS,
    WEIGHT_RANGES,
    Confidence,
    Disclosure,
    Judge,
    Range,
    RatioBase,
    Seat,
    SeatState,
    Severity,
    Stakes,
    Suite,
)

# Kinds of value

MOST_DECIMALS = 20  # more is no measured number, and would cost exact arithmetic dearly
TIME_WORDS = "A time with a zone, such as 2026-03-12T14:40:11Z"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def zoned(value: object) -> datetime:
    """Read a time that names its zone (RFC 3339), as UTC. Raises ValueError."""
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError(TIME_WORDS)
    try:
        return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except OverflowError:  # the first hours of year 1, or the last of 9999
        raise ValueError(TIME_WORDS) from None


def exact(value: object) -> Decimal:
    """Take a JSON number as it is written. Raises ValueError for text, true, NaN and Infinity."""
    if isinstance(value, float):  # a document that was stored, not one just parsed
        value = Decimal(repr(value))
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("no number")
    number = Decimal(value)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > MOST_DECIMALS:
        raise ValueError("no number of reasonable length")
    return number


def on_one_line(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise PydanticCustomError(
            EXPECTED, "Text on one line, without invisible characters or spaces around it"
        )
    return value


def inside(value: str) -> str:
    """Hold a path against the rules for members, and spell it as members are keyed."""
    path = names.normal(value)
    if wrong := names.odd(path):
        raise PydanticCustomError(EXPECTED, wrong[1])
    return path


def readable_place(value: str) -> str:
    try:
        parse_place(value)
    except BadPlace as error:
        raise PydanticCustomError(EXPECTED, str(error)) from None
    return value


def known_trigger(value: str) -> str:
    if value not in POINTS:
        raise PydanticCustomError(EXPECTED, f"One of {', '.join(POINTS)}")
    return value


UPLOADABLE = "One of process, strategy, recovery, integrity"


def uploadable(judge: Judge) -> Judge:
    if judge is Judge.OBJECTIVE:  # SCORING.md, 2: nobody overrides it by hand
        raise PydanticCustomError(EXPECTED, f"{UPLOADABLE}; Objective is computed")
    return judge


def _within(bounds: Range) -> Any:
    """A required number within bounds, which the schema names too."""
    schema: dict[str, Any] = {"minimum": bounds.lowest, "maximum": bounds.highest}
    return Field(ge=bounds.lowest, le=bounds.highest, json_schema_extra=schema)


OneLine = AfterValidator(on_one_line)
Slug = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$",
        max_length=60,
        description="A slug: letters, digits, - and _, at most 60",
    ),
]
Path = Annotated[
    str,
    Field(min_length=1, max_length=names.LONGEST_PATH, description=names.EXPECTED),
    AfterValidator(inside),
]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Prose = Annotated[str, Field(max_length=100_000)]
Glob = Annotated[str, Field(min_length=1, max_length=500), OneLine]
TestId = Annotated[str, Field(min_length=1, max_length=4_000)]
Time = Annotated[datetime, BeforeValidator(zoned), Field(description=TIME_WORDS)]
Number = Annotated[Decimal, BeforeValidator(exact), WithJsonSchema({"type": "number"})]
Score = Annotated[
    Decimal,
    BeforeValidator(exact),
    Field(ge=0, le=100),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 100}),
]
Probability = Annotated[
    Decimal,
    BeforeValidator(exact),
    Field(ge=0, le=1),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Seconds = Annotated[
    Decimal,
    BeforeValidator(exact),
    Field(gt=0, le=10**9),
    WithJsonSchema(
        {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 10**9,
            "description": "A number of seconds greater than 0",
        }
    ),
]
Level = Annotated[int, Field(strict=True, ge=LEVELS.lowest, le=LEVELS.highest)]
Flag = Annotated[bool, Field(strict=True)]


class Document(BaseModel):
    """Unknown fields are refused: a misspelt one would go unnoticed otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


# match.json


class AgentEntry(Document):
    """Who fought the match."""

    team: Slug
    name: Annotated[str, Field(min_length=1, max_length=120), OneLine]
    version: Annotated[str, Field(min_length=1, max_length=60), OneLine]
    base_model: Annotated[str, Field(min_length=1, max_length=120), OneLine]
    scaffold: Annotated[str, Field(max_length=120), OneLine] = ""


class BuildEntry(Document):
    """How the build or compile step ended."""

    ok: Flag
    log: Path | None = None


class ArtifactEntry(Document):
    """A file of the bundle. ``suite``, ``run`` and ``log`` are for tests; a suite they must have."""

    path: Path
    kind: Kind
    suite: Suite | None = None
    run: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None
    log: Path | None = None
    format: Annotated[str, Field(min_length=1, max_length=40), OneLine] | None = None


class MatchFile(Document):
    """``match.json``, at the root of a bundle."""

    schema_: Literal["bouts.match/1"] = Field(alias="schema")
    match: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]*$",
            max_length=120,
            description="An id: letters, digits and ._:@+-, at most 120, a letter or digit first",
        ),
    ]
    bout: Annotated[str, Field(max_length=120), OneLine] = ""
    challenge: Slug
    agent: AgentEntry
    started_at: Time
    finished_at: Time
    build: BuildEntry | None = None
    artifacts: Annotated[tuple[ArtifactEntry, ...], Field(max_length=5_000)]

    @property
    def entries(self) -> tuple[ArtifactEntry, ...]:
        """The artifacts as listed, then the logs that only a build or a test run names."""
        listed = {entry.path: entry for entry in self.artifacts}
        logs = [entry.log for entry in self.artifacts] + [self.build.log if self.build else None]
        for log in logs:
            if log is not None and log not in listed:
                listed[log] = ArtifactEntry(path=log, kind=Kind.LOG)
        return tuple(listed.values())


# challenge.json


class Weights(Document):
    """A challenge's own weights, which sum to exactly 100."""

    objective: Number = _within(WEIGHT_RANGES[Judge.OBJECTIVE])
    process: Number = _within(WEIGHT_RANGES[Judge.PROCESS])
    strategy: Number = _within(WEIGHT_RANGES[Judge.STRATEGY])
    recovery: Number = _within(WEIGHT_RANGES[Judge.RECOVERY])


class TestEntry(Document):
    """A test by the id of its result: ``classname::name``, or ``name`` where there is no class."""

    __test__ = False  # not a test class, whatever pytest thinks

    id: TestId
    suite: Suite
    severity: Severity | None = None
    category: Annotated[str, Field(max_length=120), OneLine] = ""
    requirement: Annotated[str, Field(max_length=500), OneLine] = ""
    path: Path | None = None
    editable: Flag = False
    fails_at_start: Flag | None = None


class BenchmarkEntry(Document):
    """The benchmark that earns a performance bonus, and what it took before."""

    name: TestId
    baseline_s: Seconds


class StartingFinding(Document):
    """A scanner's finding in the starting tree: the submission is not to blame for it.

    It is known by the text of its line (``snippet``), else by the line's number, else by
    the rule in all of the file.
    """

    rule: Annotated[str, Field(min_length=1, max_length=200), OneLine]
    path: Annotated[str, Field(min_length=1, max_length=500)]
    line: Annotated[int, Field(strict=True, ge=1)] | None = None
    snippet: Prose | None = None


class ChallengeFile(Document):
    """``challenge.json``: what was to be done, and how it is judged."""

    schema_: Literal["bouts.challenge/1"] = Field(alias="schema")
    slug: Slug
    title: Annotated[str, Field(min_length=1, max_length=200), OneLine]
    family: Annotated[str, Field(max_length=80), OneLine] = ""
    briefing: Prose = ""
    time_budget_s: Seconds | None = None
    ratio_base: RatioBase = RatioBase.TOTAL
    judges: Annotated[tuple[Judge, ...], Field(min_length=1, max_length=5)] = tuple(Judge)
    weights: Weights | None = None
    disclosure: Disclosure = Disclosure.CLOSED
    stakes: Stakes = Stakes.STANDARD
    tests: Annotated[tuple[TestEntry, ...], Field(max_length=20_000)] = ()
    benchmark: BenchmarkEntry | None = None
    forbidden_paths: Annotated[tuple[Glob, ...], Field(max_length=1_000)] = ()
    allowed_hosts: Annotated[tuple[Glob, ...], Field(max_length=1_000)] = ()
    starting_tree: Path | None = None
    starting_findings: Annotated[tuple[StartingFinding, ...], Field(max_length=5_000)] = ()
    known_deceptions: Annotated[tuple[Text, ...], Field(max_length=500)] = ()
    unsafe_requirements: Annotated[tuple[Text, ...], Field(max_length=500)] = ()
    no_change_expected: Flag = False


# verdicts and claims


class EvidenceEntry(Document):
    """An anchor: an artifact of this bundle and a place in it."""

    artifact: Path
    place: Annotated[
        str, Field(min_length=1, max_length=LONGEST_PLACE), AfterValidator(readable_place)
    ]

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.artifact, self.place)


Evidence = Annotated[tuple[EvidenceEntry, ...], Field(max_length=200)]


class FindingEntry(Document):
    """An integrity finding. ``points`` only where the rule leaves them open."""

    trigger: Annotated[
        str,
        Field(json_schema_extra={"enum": list(POINTS)}),
        AfterValidator(known_trigger),
    ]
    points: Annotated[int, Field(strict=True)] | None = None
    confidence: Confidence | None = None
    note: Prose = ""
    evidence: Annotated[tuple[EvidenceEntry, ...], Field(min_length=1, max_length=200)]


class VerdictEntry(Document):
    """A judge's answer: exactly one of ``score``, ``levels``, ``state`` and ``findings``.

    ``state`` comes with a ``reason``. Strategy names a ``seat``, other judges none. Integrity
    answers with findings, the others with a score or levels.
    """

    judge: Annotated[Judge, AfterValidator(uploadable), Field(description=UPLOADABLE)]
    seat: Seat | None = None
    model: Annotated[str, Field(max_length=200), OneLine] = ""
    at: Time | None = None
    rationale: Prose = ""
    evidence: Evidence = ()
    score: Score | None = None
    levels: dict[str, Level] | None = None
    state: SeatState | None = None
    reason: Annotated[str, Field(max_length=2_000)] | None = None
    findings: Annotated[tuple[FindingEntry, ...], Field(max_length=500)] | None = None


class VerdictsFile(Document):
    """Judge outputs made elsewhere, used where no own judge is configured."""

    schema_: Literal["bouts.verdicts/1"] = Field(alias="schema")
    source: Annotated[str, Field(max_length=200), OneLine] = ""
    verdicts: Annotated[tuple[VerdictEntry, ...], Field(max_length=500)]


class ClaimEntry(Document):
    """What the agent asserted, and how sure it said it was."""

    statement: Text
    confidence: Probability | None = None
    about: Annotated[str, Field(max_length=4_000)] = ""
    at: Time | None = None


class ClaimsFile(Document):
    """Claims of the agent about its own work."""

    schema_: Literal["bouts.claims/1"] = Field("bouts.claims/1", alias="schema")
    claims: Annotated[tuple[ClaimEntry, ...], Field(max_length=5_000)]


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each document by its name, to be published."""
    models: dict[str, type[Document]] = {
        "bouts.match/1": MatchFile,
        "bouts.challenge/1": ChallengeFile,
        "bouts.verdicts/1": VerdictsFile,
        "bouts.claims/1": ClaimsFile,
    }
    return {
        name: {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_of(model)}
        for name, model in models.items()
    }
