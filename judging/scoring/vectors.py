"""Test vectors: inputs with the outputs that the rule book gives for them.

A file holds `{"policy": VERSION, "vectors": [{"id", "kind", "input", "expected"}, ...]}`.
Scores are compared as the strings that are shown, metrics at four places, coefficients at
six. Of the output only the fields that a vector expects are compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from bouts.formats.types import Event, EventKind
from bouts.rules import Confidence, Judge, Severity
from judging.scoring.agreement import agreement
from judging.scoring.composite import JudgeScore, compose
from judging.scoring.exact import exact, rounded, score_text
from judging.scoring.halves import HalvesOutcome, InvalidLevels, process, recovery
from judging.scoring.integrity import (
    Finding,
    IntegrityOutcome,
    Status,
    UnknownTrigger,
    weigh_findings,
)
from judging.scoring.objective import GradedTest, ObjectiveEvidence, objective
from judging.scoring.panel import settle
from judging.scoring.policy import POLICIES, WEIGHED, Policy
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Recording, analyse
from judging.scoring.weights import WeightsRefused, checked_weights

ABSENT = object()
"""Stands for a field that an output does not have."""


LONGEST_SHOWN = 200
"""Characters of a value in a line about a failing vector."""


class Malformed(Exception):
    """A file is no file of vectors. Each of `faults` says where, and what was expected."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class Rejected(Exception):
    """The input of one vector breaks the rules for inputs: `faults` by field."""

    def __init__(self, faults: list[Mismatch]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One field that is not as expected."""

    field: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.field} expected {_shown(self.expected)} found {_shown(self.found)}"


@dataclass(frozen=True, slots=True)
class Vector:
    id: str
    kind: str
    input: Mapping[str, Any]
    expected: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VectorFile:
    policy: Policy
    vectors: tuple[Vector, ...]


def load(path: Path) -> VectorFile:
    """Read a file of vectors. Raises `Malformed` with all faults of its shape at once."""
    try:
        text = path.read_bytes().decode()
        data = json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except OSError as error:
        raise Malformed([f"cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise Malformed([f"byte {error.start}: not UTF-8"]) from error
    except json.JSONDecodeError as error:
        raise Malformed([f"line {error.lineno}: not JSON: {error.msg}"]) from error
    except (ValueError, RecursionError) as error:
        raise Malformed([f"not JSON: {error}"]) from error
    try:
        envelope = _Envelope.model_validate(data)
    except ValidationError as error:
        raise Malformed([str(fault) for fault in _faults(error)]) from error
    ids = Counter(vector.id for vector in envelope.vectors)
    if repeated := sorted(id for id, count in ids.items() if count > 1):
        raise Malformed([f"vectors: ids expected unique, found again {', '.join(repeated)}"])
    if envelope.policy not in POLICIES:
        raise Malformed([f"policy: {envelope.policy!r} expected to be {' or '.join(POLICIES)}"])
    vectors = tuple(Vector(v.id, v.kind, v.input, v.expected) for v in envelope.vectors)
    return VectorFile(POLICIES[envelope.policy], vectors)


def mismatches(vector: Vector, policy: Policy) -> list[Mismatch]:
    """Where the output for a vector is not the one that it expects; empty where it passes."""
    try:
        output = EVALUATE[vector.kind](vector.input, policy)
    except Rejected as rejected:
        return rejected.faults
    return list(_compare(vector.expected, output, ""))


def _compare(expected: Mapping[str, Any], output: object, prefix: str) -> Iterator[Mismatch]:
    for name, value in expected.items():
        found = output.get(name, ABSENT) if isinstance(output, Mapping) else ABSENT
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            yield from _compare(value, found, f"{prefix}{name}.")
        elif not _same(value, found):
            yield Mismatch(f"{prefix}{name}", value, found)


def _same(expected: object, found: object) -> bool:
    # 1 == True in Python, and neither may stand for the other here.
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    return expected == found


def _shown(value: object) -> str:
    if value is ABSENT:
        return "nothing"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _faults(error: ValidationError) -> list[Mismatch]:
    return [
        Mismatch(".".join(map(str, fault["loc"])) or "file", fault["msg"], fault["input"])
        for fault in error.errors(include_url=False)
    ]


# What the inputs look like ---------------------------------------------------------------

Score = Annotated[Decimal, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=0)]
Number = Annotated[Decimal, Field(allow_inf_nan=False)]
Kind = Literal[
    "panel",
    "objective",
    "integrity",
    "composite",
    "curve",
    "agreement",
    "telemetry",
    "process",
    "recovery",
]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _VectorShape(BaseModel):
    id: str
    kind: Kind
    input: dict[str, Any]
    expected: dict[str, Any]


class _Envelope(BaseModel):
    policy: str
    vectors: list[_VectorShape]


class _Panel(_Input):
    scores: Annotated[list[Score | None], Field(max_length=3)]


class _Test(_Input):
    severity: Severity
    runs: Annotated[list[bool | None], Field(min_length=1)]


class _Objective(_Input):
    static: list[_Test] = []
    hidden: list[_Test] = []
    build_ok: bool | None = None
    crashes: Count = 0
    critical_findings: Count = 0
    performance_bonus: Number = Decimal(0)


class _Finding(_Input):
    trigger: str
    status: Status = Status.APPLIED
    points: int | None = None
    confidence: Confidence | None = None
    act: str | None = None


class _Integrity(_Input):
    findings: list[_Finding]


class _Composite(_Input):
    weights: dict[str, Number]
    objective: Score | None = None
    process: Score | None = None
    strategy: Score | None = None
    recovery: Score | None = None
    integrity: int = 0


class _Curve(_Input):
    metric: str
    value: Annotated[Number, Field(ge=0)]


class _Agreement(_Input):
    matrix: list[list[Number | None]]


class _Event(_Input):
    seq: int
    kind: EventKind
    t: Annotated[float, Field(allow_inf_nan=False)] | None = None
    call: str | None = None
    path: str | None = None
    before: str | None = None
    after: str | None = None
    results: dict[str, bool] | None = None
    signature: str | None = None
    ok: bool | None = None
    expected: bool = False
    infra: bool = False

    def event(self) -> Event:
        return Event(**dict(self))


class _Telemetry(_Input):
    events: list[_Event]
    baseline: dict[str, bool] = {}
    visible: Annotated[
        list[str] | None, Field(validation_alias=AliasChoices("visible", "visible_tests"))
    ] = None
    budget_s: Annotated[Number, Field(gt=0)] | None = None

    def recording(self) -> Recording:
        return Recording(
            events=[event.event() for event in self.events],
            baseline=self.baseline,
            visible_tests=None if self.visible is None else frozenset(self.visible),
            budget_s=None if self.budget_s is None else exact(self.budget_s),
        )


class _Halves(_Telemetry):
    levels: dict[str, int] | None = None


# What comes out of them ------------------------------------------------------------------

Output = Mapping[str, object]


Shape = TypeVar("Shape", bound=_Input)


def _read(shape: type[Shape], given: Mapping[str, Any]) -> Shape:
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        raise Rejected(_faults(error)) from error


def _panel(given: Mapping[str, Any], policy: Policy) -> Output:
    votes = {
        f"seat {number}": None if score is None else exact(score)
        for number, score in enumerate(_read(_Panel, given).scores, start=1)
    }
    outcome = settle(votes, policy)
    return {
        "branch": outcome.branch.value,
        "score": score_text(outcome.score),
        "flagged": outcome.is_flagged,
        "votes": outcome.votes,
        "seats": outcome.seats,
    }


def _objective(given: Mapping[str, Any], policy: Policy) -> Output:
    shape = _read(_Objective, given)
    outcome = objective(
        ObjectiveEvidence(
            static=_graded(shape.static),
            hidden=_graded(shape.hidden),
            build_ok=shape.build_ok,
            has_unreadable_run=any(None in test.runs for test in (*shape.static, *shape.hidden)),
            crashes=shape.crashes,
            performance_bonus=exact(shape.performance_bonus),
            critical_findings=shape.critical_findings,
        ),
        policy,
    )
    return {
        "score": score_text(outcome.score),
        "static_rate": score_text(outcome.static_rate),
        "hidden_rate": score_text(outcome.hidden_rate),
        "base": score_text(outcome.base),
        "gate": outcome.gate.value,
    }


def _graded(tests: list[_Test]) -> list[GradedTest]:
    return [
        GradedTest(f"test {number}", test.severity, tuple(test.runs))
        for number, test in enumerate(tests, start=1)
    ]


def _integrity(given: Mapping[str, Any], policy: Policy) -> Output:
    findings = [
        Finding(f"finding {number}", **dict(finding))
        for number, finding in enumerate(_read(_Integrity, given).findings, start=1)
    ]
    try:
        outcome = weigh_findings(findings, policy)
    except UnknownTrigger as error:
        raise Rejected([Mismatch("findings", "triggers of the policy", str(error))]) from error
    return {
        "bonus_raw": outcome.bonus_raw,
        "penalty_raw": outcome.penalty_raw,
        "bonus_counted": outcome.bonus_counted,
        "penalty_counted": outcome.penalty_counted,
        "adjustment": outcome.adjustment,
        "held": outcome.held,
    }


def _composite(given: Mapping[str, Any], policy: Policy) -> Output:
    shape = _read(_Composite, given)
    try:
        weights = checked_weights(shape.weights, policy)
    except WeightsRefused as refused:
        raise Rejected(
            [Mismatch(f"weights.{f.field}", f.expected, f.found) for f in refused.faults]
        ) from refused
    raw = {judge: getattr(shape, judge.value) for judge in WEIGHED}
    total = compose(
        {
            judge: JudgeScore(None, Reason.NOT_APPLICABLE)
            if score is None
            else JudgeScore(exact(score))
            for judge, score in raw.items()
        },
        _adjusted_by(shape.integrity),
        weights,
        policy,
    )
    counted = {judge.value: score_text(line.counted) for judge, line in total.judges.items()}
    return {
        "counted": None if total.total is None else counted,
        "base": score_text(total.base),
        "total": score_text(total.total),
    }


def _adjusted_by(points: int) -> IntegrityOutcome:
    return IntegrityOutcome(
        bonus_raw=max(points, 0),
        penalty_raw=min(points, 0),
        bonus_counted=max(points, 0),
        penalty_counted=min(points, 0),
        is_voided=False,
        held=False,
        flags=(),
        warnings=(),
        lines=(),
    )


def _curve(given: Mapping[str, Any], policy: Policy) -> Output:
    shape = _read(_Curve, given)
    rules = {rule.name: rule for rule in policy.halves.metrics}
    if shape.metric not in rules:
        raise Rejected([Mismatch("metric", f"one of {', '.join(rules)}", shape.metric)])
    return {"score": score_text(rules[shape.metric].curve.score(exact(shape.value)))}


def _agreement(given: Mapping[str, Any], policy: Policy) -> Output:
    matrix = [
        [None if value is None else exact(value) for value in row]
        for row in _read(_Agreement, given).matrix
    ]
    try:
        measured = agreement(matrix, policy)
    except ValueError as error:
        raise Rejected([Mismatch("matrix", str(error), "rows of different lengths")]) from error
    return {
        "pairable": measured.pairable,
        "alpha_interval": _number(measured.alpha_interval, 6),
        "icc_a1": _number(measured.icc_a1, 6),
        "icc_ak": _number(measured.icc_ak, 6),
    }


def _telemetry(given: Mapping[str, Any], policy: Policy) -> Output:
    telemetry = analyse(_read(_Telemetry, given).recording(), policy)
    counts = telemetry.counts
    return {
        **{name: _number(metric.value, 4) for name, metric in telemetry.metrics.items()},
        "code_changes": counts.code_changes,
        "test_runs": counts.test_runs,
        "error_episodes": counts.error_episodes,
        "unresolved": counts.unresolved,
        "contradictions": counts.contradictions,
        "unanswered": counts.unanswered,
    }


def _halves(judge: Judge) -> Callable[[Mapping[str, Any], Policy], Output]:
    def evaluate(given: Mapping[str, Any], policy: Policy) -> Output:
        shape = _read(_Halves, given)
        telemetry = analyse(shape.recording(), policy)
        join = process if judge is Judge.PROCESS else recovery
        try:
            return _halves_output(join(telemetry, shape.levels, policy))
        except InvalidLevels as invalid:
            raise Rejected(
                [Mismatch("levels", "a level for each criterion", "; ".join(invalid.faults))]
            ) from invalid

    return evaluate


def _halves_output(outcome: HalvesOutcome) -> Output:
    return {
        "metric_scores": {metric.name: score_text(metric.score) for metric in outcome.metrics},
        "metrics": score_text(outcome.metrics_half),
        "rubric": score_text(outcome.rubric_half),
        "score": score_text(outcome.score),
        "reason": None if outcome.reason is None else outcome.reason.value,
    }


def _number(value: Fraction | None, places: int) -> Decimal | None:
    return None if value is None else rounded(value, places)


EVALUATE: Mapping[str, Callable[[Mapping[str, Any], Policy], Output]] = {
    "panel": _panel,
    "objective": _objective,
    "integrity": _integrity,
    "composite": _composite,
    "curve": _curve,
    "agreement": _agreement,
    "telemetry": _telemetry,
    "process": _halves(Judge.PROCESS),
    "recovery": _halves(Judge.RECOVERY),
}
