"""What costs an agent most: the points that its matches lost, by what they were lost on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bouts.rules import Judge
from judging.rubrics import title_of
from judging.scoring.policy import WEIGHED, Policy
from judging.showing import words
from judging.showing.words import decimal

HUNDRED = Decimal(100)
MOST = 3  # things, and matches named with each
LEAST = Decimal("0.05")  # points a match; less is not worth a word


@dataclass(frozen=True, slots=True)
class Loss:
    """Points of one match's total that were lost on one thing."""

    label: str
    points: Decimal
    place: str  # the section of the match's page that shows it
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A match that lost much on it; ``slug`` and ``place`` make its address."""

    slug: str
    points: Decimal
    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class Mend:
    """One thing worth mending: what it costs a match on average, and where it cost most."""

    label: str
    points: Decimal
    matches: int  # that lost anything on it
    examples: tuple[Example, ...]


def worth_mending(cards: Sequence[Mapping[str, Any]], policy: Policy) -> list[Mend]:
    """Return the things on which some matches lost most, the dearest first.

    ``cards`` are disclosed breakdowns: of another team's only the judges' scores are known,
    and a loss is then named by its judge alone.
    """
    found: dict[str, list[tuple[str, Loss]]] = defaultdict(list)
    for card in cards:
        for loss in losses(card, policy):
            if loss.points > 0:
                found[loss.label].append((card["match"], loss))
    mends = [
        Mend(
            label=label,
            points=sum((loss.points for _, loss in lost), Decimal(0)) / len(cards),
            matches=len({slug for slug, _ in lost}),
            examples=tuple(
                Example(slug, loss.points, loss.place, loss.detail)
                for slug, loss in sorted(lost, key=lambda one: -one[1].points)[:MOST]
            ),
        )
        for label, lost in found.items()
    ]
    mends = [mend for mend in mends if mend.points >= LEAST]
    return sorted(mends, key=lambda mend: (-mend.points, mend.label))[:MOST]


def losses(card: Mapping[str, Any], policy: Policy) -> Iterator[Loss]:
    """Yield what parts a match from 100 points, as finely as the card tells it.

    The losses of one judge add up to its weight times what its counted score is short of 100.
    """
    for judge in WEIGHED:
        shown = card["judges"].get(judge.value)
        if shown is None or shown["counted"] is None:
            continue
        yield from _of_judge(judge, shown, policy)
    for finding in card["integrity"]["findings"]:
        if finding["status"] == "applied" and finding["points"] < 0:
            yield Loss(
                f"Integrity: {words.title(finding['trigger']).lower()}",
                Decimal(-finding["points"]),
                "integrity",
            )


def _of_judge(judge: Judge, shown: Mapping[str, Any], policy: Policy) -> Iterator[Loss]:
    weight = Decimal(str(shown["effective_weight"]))
    raw, counted = decimal(shown["raw"]), decimal(shown["counted"])
    name, place = words.JUDGES[judge.value], judge.value
    if shown["anchored"]:
        yield Loss(
            f"{name}: anchored to Objective", weight * (raw - counted) / HUNDRED, place,
            f"{raw} raw, {counted} counted",
        )  # fmt: skip
    left = weight * (HUNDRED - raw) / HUNDRED
    parts = list(_parts(judge, shown, policy))
    whole = sum((share for _, share, _ in parts), Decimal(0))
    # What the parts say is short of 100 is shared out so that they add up to what is.
    if whole <= 0:
        yield Loss(name, left, place, f"{raw}")
        return
    for label, share, detail in parts:
        yield Loss(f"{name}: {label}", left * share / whole, place, detail)


def _parts(
    judge: Judge, shown: Mapping[str, Any], policy: Policy
) -> Iterator[tuple[str, Decimal, str]]:
    """Yield (label, how much it falls short, what the page says) of a judge's own parts."""
    if judge is Judge.OBJECTIVE:
        yield from _objective(shown, policy)
    elif judge is Judge.STRATEGY:
        yield from _strategy(shown, policy)
    else:
        yield from _halves(judge, shown, policy)


def _objective(shown: Mapping[str, Any], policy: Policy) -> Iterator[tuple[str, Decimal, str]]:
    if shown.get("gate") == "failed":
        yield "the build", HUNDRED, "it failed"
        return
    rules = policy.objective
    static, hidden = decimal(shown.get("static_rate")), decimal(shown.get("hidden_rate"))
    suites = [
        (label, rate, share)
        for label, rate, share in (
            ("visible tests", static, rules.static_share),
            ("hidden tests", hidden, rules.hidden_share),
        )
        if rate is not None
    ]
    shares = sum(share for _, _, share in suites)
    for label, rate, share in suites:
        yield label, (HUNDRED - rate) * share / shares, f"{rate} of 100 by severity"
    deductions = decimal(shown.get("deductions"))
    if deductions:
        yield "crashes and critical findings", abs(deductions), f"{abs(deductions)} points"


def _strategy(shown: Mapping[str, Any], policy: Policy) -> Iterator[tuple[str, Decimal, str]]:
    seats = [seat["levels"] for seat in shown.get("seats") or () if seat.get("levels")]
    for name in policy.halves.rubrics[Judge.STRATEGY]:
        levels = [levels[name] for levels in seats if name in levels]
        if levels:
            mean = Decimal(sum(levels)) / len(levels)
            short = (policy.halves.highest_level - mean) * policy.halves.points_a_level
            title = title_of(Judge.STRATEGY, policy.version, name).lower()
            yield title, short, f"level {mean:.1f} of 5"


def _halves(
    judge: Judge, shown: Mapping[str, Any], policy: Policy
) -> Iterator[tuple[str, Decimal, str]]:
    metrics = [
        (words.METRICS.get(name, name).lower(), decimal(metric["score"]), metric)
        for name, metric in (shown.get("metrics") or {}).items()
        if metric["score"] is not None
    ]
    levels = [
        (title_of(judge, policy.version, name).lower(), criterion["level"])
        for name, criterion in (shown.get("criteria") or {}).items()
        if criterion.get("level") is not None
    ]
    if shown.get("metrics_half") is not None and metrics:
        for label, score, metric in metrics:
            value = "n/a" if metric["value"] is None else f"{metric['value']:g}"
            good = f", good is {metric['good']}" if metric.get("good") else ""
            yield label, (HUNDRED - score) / len(metrics), f"{value}{good}"
    if shown.get("model_half") is not None and levels:
        for label, level in levels:
            short = Decimal(policy.halves.highest_level - level) * policy.halves.points_a_level
            yield label, short / len(levels), f"level {level} of 5"
