"""How a number came about: the rule of SCORING.md with this match's figures in it.

A line is a formula and ends in the number that the page shows. That number is the stored one:
what stands before it is rounded as it is shown, and can differ from it in the last digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bouts.rules import Severity
from judging.scoring.curves import Band, Curve, HigherIsBetter, LowerIsBetter
from judging.scoring.exact import exact, plain, rounded
from judging.scoring.policy import HalvesRules, Policy
from judging.showing import words

_PART_OF = re.compile(r"(\d+) of (\d+) ")  # how the judges say what was answered or resolved

Lines = tuple[str, ...]


# The ledger


def points_of_judge(name: str, judges: Mapping[str, Any], policy: Policy) -> Lines:
    """Return what made a judge's row of the ledger; empty where it has no score."""
    judge = judges[name]
    counted = judge["counted"]
    if counted is None:
        return ()
    lines = []
    if judge["anchored"]:
        lines.append(
            f"Counted: at most Objective {judges['objective']['counted']} + "
            f"{policy.anchor_margin} = {counted}; raw is {judge['raw']}"
        )
    used = sum(exact(one["weight"]) for one in judges.values() if one["counted"])
    weight = exact(judge["weight"])
    lines.append(f"{plain(weight)} × {counted} ÷ {plain(used)} = {judge['points']}")
    if used != 100:
        lines.append("Divided by the weights of the judges that have a score")
    if rounded(weight * Fraction(counted) / used) != Decimal(judge["points"]):
        lines.append("Rounded so that the rows add up to the base")
    return tuple(lines)


def base(rows: Iterable[Decimal], shown: str | None) -> Lines:
    if shown is None:
        return ()
    return (f"{' + '.join(map(str, rows))} = {shown}",)


def total(
    base: str | None, further: Iterable[Decimal], card: Mapping[str, Any], policy: Policy
) -> Lines:
    """Return what made the total, which band it lies in, and what its range is made of."""
    if base is None or card["total"] is None:
        return ()
    signed = [f"{'−' if points < 0 else '+'} {abs(points)}" for points in further if points]
    made = [base, *signed, "=", card["total"]] if signed else ["Nothing is added to the base"]
    return (
        " ".join(made),
        *_band(card["band"], policy),
        *_range(card),
    )


def _band(name: str, policy: Policy) -> Iterator[str]:
    above = None
    for lowest, band in policy.bands:
        if band == name:
            yield f"Band: {band} from {lowest}" + (f" to below {above}" if above else " up")
        above = lowest


def _range(card: Mapping[str, Any]) -> Iterator[str]:
    """Say between what and what the open questions leave the total."""
    reach = card.get("range")
    if not reach:
        return
    moved = []
    is_on_panel = any(
        case["status"] == "open" and case["blocking"] and not case["finding_key"]
        for case in card.get("cases", ())
    )
    if is_on_panel:
        votes = [
            Decimal(seat["score"])
            for seat in card["judges"]["strategy"].get("seats", ())
            if seat["score"] is not None
        ]
        low, high = (min(votes), max(votes)) if votes else (0, 100)
        ruled = words.decimal(card["judges"]["strategy"].get("panel_score"))
        upheld = f"{ruled}, the rule’s number," if ruled is not None and ruled < low else low
        moved.append(f"Strategy from {upheld} to {high}")
    findings = card["integrity"]["findings"]
    proposed = sum(one["status"] == "proposed" for one in findings)
    held = sum(
        one["status"] == "applied" and one["severity"] == "quarantine" and not one["decided"]
        for one in findings
    )
    for number, what, nouns in (
        (proposed, "proposed finding", "proposed findings"),
        (held, "unconfirmed penalty", "unconfirmed penalties"),
    ):
        if number:
            moved.append(f"with and without {words.count(number, what, nouns)}")
    if moved:
        yield f"Range {reach['low']} to {reach['high']}: {', '.join(moved)}"


def adjustment(sums: Mapping[str, Any]) -> Lines:
    """Return how bonuses and penalties, each within its cap, make the adjustment."""
    if "bonus_raw" not in sums:
        return ()
    bonus, penalty = sums["bonus_counted"], -sums["penalty_counted"]
    voided = ", voided by a penalty of quarantine severity" if sums["voided"] else ""
    return (
        f"Bonuses: {sums['bonus_raw']}, at most {sums['bonus_cap']}{voided} = {bonus}",
        f"Penalties: {-sums['penalty_raw']}, at most {-sums['penalty_cap']} = {penalty}",
        f"{bonus} − {penalty} = {_minus(sums['adjustment'])}",
    )


# Objective


def rate(tallies: Mapping[str, Mapping[str, int]], shown: str | None, policy: Policy) -> Lines:
    """Return how the rate of a suite is weighed by severity."""
    if shown is None or not tallies:
        return ()
    weights = policy.objective.severity_weights
    totals = {severity: tallies.get(severity.value, {}).get("total", 0) for severity in Severity}
    parts = [f"{weights[one]} × {count} {one.value}" for one, count in totals.items() if count]
    whole = sum(weights[severity] * count for severity, count in totals.items())
    earned = plain(Fraction(shown) * whole / 100, 1)
    return (
        f"At most {' + '.join(parts)} = {whole}",
        f"Earned {earned}, each test by the share of runs that it passed",
        f"100 × {earned} ÷ {whole} = {shown}",
    )


# Metrics and criteria


def metric(curve: Curve, found: Mapping[str, Any]) -> Lines:
    """Return how a metric's value became its score; empty where it has none."""
    score, value = found["score"], found["value"]
    if score is None:
        return ()
    if value is None:
        return (f"Never done, which counts as {score}",)
    on_curve = curve.score(exact(value))
    *lines, last = _on(curve, exact(value))
    # What is no formula leads to the number, and does not equal it.
    leads = " → " if isinstance(curve, LowerIsBetter) or last.startswith("Within") else " = "
    part = _PART_OF.match(found["how"])
    if isinstance(curve, LowerIsBetter) and part and part[1] != part[2]:
        told = f"{rounded(on_curve)} × {part[1]} ÷ {part[2]} = {score}"
        return (*lines, f"{last}{leads}{rounded(on_curve)}", told)
    return (*lines, f"{last}{leads}{score}")


def _on(curve: Curve, value: Fraction) -> Iterator[str]:
    """Yield a curve's formula with a value in it, up to the last sign of equality."""
    shown = plain(value, 4)
    match curve:
        case LowerIsBetter(target, knots):
            yield "Points by u, linear between: " + ", ".join(
                f"{_minus(u)} → {points}" for u, points in knots
            )
            u = f"log2({shown} ÷ {plain(target)})"
            yield f"u = {u} = {_minus(_log2(value / target))}" if value else "At 0 nothing is lost"
        case HigherIsBetter(target, at_target) if value <= target:
            yield f"{at_target} × {shown} ÷ {plain(target)}"
        case HigherIsBetter(target, at_target, full):
            above = f"({shown} − {plain(target)}) ÷ {plain(full - target)}"
            yield f"{at_target} + {100 - at_target} × {above}"
        case Band(low, _, floor) if value < low:
            yield f"{floor} + {100 - floor} × {shown} ÷ {plain(low)}"
        case Band(low, high) if value <= high:
            yield f"Within {plain(low)} to {plain(high)}"
        case Band(_, high, _, per_doubling):
            yield f"100 − {per_doubling} × log2({shown} ÷ {plain(high)}), at least 0"
        case _:
            yield f"100 × {shown}"


def _log2(ratio: Fraction) -> Decimal:
    return rounded(exact(math.log2(ratio)))


def mean(scores: Sequence[str | None], shown: str | None) -> Lines:
    """Return the mean of those scores that there are."""
    known = [score for score in scores if score is not None]
    if shown is None or not known:
        return ()
    return (f"({' + '.join(known)}) ÷ {len(known)} = {shown}",)


def levels(scores: Sequence[str | None], shown: str | None, rules: HalvesRules) -> Lines:
    """Return the mean of the points that the levels of a rubric stand for."""
    found = mean([score and plain(Fraction(score)) for score in scores], shown)
    if not found:
        return ()
    return (f"A level counts {rules.points_a_level} × (level − {rules.lowest_level})", *found)


def _minus(number: object) -> str:
    return str(number).replace("-", "−")
