"""Process and Recovery: half metrics, half the levels that a model gave (SCORING.md, 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from bouts.rules import Judge
from judging.scoring.exact import ZERO, mean
from judging.scoring.policy import HalvesRules, Policy
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Metric, Telemetry


class HalfMark(StrEnum):
    """Which half a score has to do without."""

    METRICS_ALONE = "metrics_alone"
    RUBRIC_ALONE = "rubric_alone"


class InvalidLevels(ValueError):
    """A model's answer breaks the rubric; `faults` has every way in which it does."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class HalvesOutcome:
    """The score of Process or Recovery with its two halves, each 0 to 100 or None.

    `reason` says why there is no score, why a rule set it (`unverified`), or why the
    metric half is absent. `rationale` is what the metric half writes for itself.
    """

    score: Fraction | None
    reason: Reason | None
    metrics_half: Fraction | None
    rubric_half: Fraction | None
    marks: tuple[HalfMark, ...]
    metrics: tuple[Metric, ...]
    rationale: str


def process(
    telemetry: Telemetry,
    levels: Mapping[str, int] | None,
    policy: Policy,
    stated: Fraction | None = None,
) -> HalvesOutcome:
    """Score Process. `levels` are a model's, by criterion, or None for no answer.

    `stated` is a model half that came as one score, and stands where there are no levels.
    """
    return _join(Judge.PROCESS, telemetry, levels, policy, stated)


def recovery(
    telemetry: Telemetry,
    levels: Mapping[str, int] | None,
    policy: Policy,
    stated: Fraction | None = None,
) -> HalvesOutcome:
    """Score Recovery, as Process. Where no test was ever run it is 0, whatever a model says."""
    return _join(Judge.RECOVERY, telemetry, levels, policy, stated)


def rubric_score(judge: Judge, levels: Mapping[str, int], policy: Policy) -> Fraction:
    """The mean of a judge's criteria, each level worth 25 · (level − 1) points.

    Raises `InvalidLevels` where a criterion is missing, unknown or out of range: such an
    answer is a state of the judge, never a score.
    """
    rules = policy.halves
    criteria = rules.rubrics[judge]
    lowest, highest = rules.lowest_level, rules.highest_level
    faults = [f"{name}: not a criterion of {judge}" for name in levels if name not in criteria]
    for name in criteria:
        level = levels.get(name)
        if level is None:
            faults.append(f"{name}: missing")
        elif isinstance(level, bool) or level not in range(lowest, highest + 1):
            faults.append(f"{name}: found {level!r}, expected {lowest} to {highest}")
    if faults:
        raise InvalidLevels(tuple(faults))
    return mean([Fraction(rules.points_a_level * (levels[name] - lowest)) for name in criteria])


def _join(
    judge: Judge,
    telemetry: Telemetry,
    levels: Mapping[str, int] | None,
    policy: Policy,
    stated: Fraction | None,
) -> HalvesOutcome:
    rules = policy.halves
    metrics = tuple(telemetry.metrics[rule.name] for rule in rules.metrics_of(judge))
    scores = [metric.score for metric in metrics if metric.score is not None]
    metrics_half = mean(scores) if len(scores) >= rules.metrics_needed else None
    rubric_half = stated if levels is None else rubric_score(judge, levels, policy)
    reason = None if metrics_half is not None else _why_no_half(metrics, rules)
    halves = [half for half in (metrics_half, rubric_half) if half is not None]
    score = mean(halves) if halves else None
    marks = _marks(metrics_half, rubric_half)
    if judge is Judge.RECOVERY and telemetry.is_unverified:
        score, reason, marks = ZERO, Reason.UNVERIFIED, ()
    return HalvesOutcome(
        score=score,
        reason=reason,
        metrics_half=metrics_half,
        rubric_half=rubric_half,
        marks=marks,
        metrics=metrics,
        rationale=_rationale(metrics),
    )


def _marks(metrics_half: Fraction | None, rubric_half: Fraction | None) -> tuple[HalfMark, ...]:
    if metrics_half is not None and rubric_half is None:
        return (HalfMark.METRICS_ALONE,)
    if rubric_half is not None and metrics_half is None:
        return (HalfMark.RUBRIC_ALONE,)
    return ()


def _why_no_half(metrics: Sequence[Metric], rules: HalvesRules) -> Reason:
    """Why too few metrics are defined.

    What is missing is to blame only where its metrics would have been enough; else there
    was too little in the run itself to measure, and that costs no rank.
    """
    reasons = [metric.reason for metric in metrics if not metric.is_defined and metric.reason]
    missing = [reason for reason in reasons if reason.is_missing]
    defined = len(metrics) - len(reasons)
    if defined + len(missing) >= rules.metrics_needed:
        return missing[0]
    return next(reason for reason in reasons if not reason.is_missing)


def _rationale(metrics: Iterable[Metric]) -> str:
    """What the defined metrics rest on, a sentence each."""
    sentences = []
    for metric in metrics:
        if metric.is_defined:
            shown = "; ".join(episode.text for episode in metric.episodes[:3])
            sentences.append(
                f"{metric.how[0].upper()}{metric.how[1:]}{f': {shown}' if shown else ''}."
            )
    return " ".join(sentences)
