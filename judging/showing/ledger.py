"""The head of the card: the total with what can still change, and the rows that add up to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from judging.charts.waterfall import Step, Waterfall, waterfall
from judging.scoring.composite import band_of
from judging.scoring.exact import rounded
from judging.scoring.policy import Policy
from judging.showing import how, words
from judging.showing.words import decimal

ZERO = Decimal(0)
UNSETTLED = ("pending", "provisional")


@dataclass(frozen=True, slots=True)
class LedgerRow:
    label: str
    href: str
    why: str
    points: Decimal
    is_judge: bool = False
    raw: str | None = None
    counted: str | None = None
    weight: float | None = None
    reason: str | None = None  # why a judge has no score
    is_anchored: bool = False
    is_open: bool = False  # what it adds can still change
    is_zero: bool = False
    has_answer: bool = True
    how: how.Lines = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The total and the ledger. ``can_change`` are sentences; empty where nothing can."""

    rows: tuple[LedgerRow, ...]  # of judges
    further: tuple[LedgerRow, ...]  # findings, caps, the limit
    base: str | None
    base_is_open: bool
    how_base: how.Lines
    total: str | None
    total_is_open: bool
    how_total: how.Lines
    low: str
    high: str
    can_change: tuple[str, ...]
    effective_weights: bool  # whether judges without a score gave theirs away
    picture: Waterfall | None


def head_of(card: Mapping[str, Any], policy: Policy) -> Head:
    """Make the head of a disclosed breakdown."""
    judges = [_judge_row(name, card, policy) for name in words.JUDGES if name in card["judges"]]
    further = [
        _further_row(row, at)
        for at, row in enumerate(card["ledger"])
        if row["row"] not in words.JUDGES and not _is_idle(row)
    ]
    reach = card.get("range")
    return Head(
        rows=tuple(judges),
        further=tuple(further),
        base=card["base"],
        base_is_open=any(row.is_open for row in judges),
        how_base=how.base((row.points for row in judges if row.has_answer), card["base"]),
        total=card["total"],
        total_is_open=card["status"] in UNSETTLED,
        how_total=how.total(card["base"], (row.points for row in further), card, policy),
        low=reach["low"] if reach else "",
        high=reach["high"] if reach else "",
        can_change=tuple(_can_change(card, policy)),
        effective_weights=any(
            judge["effective_weight"] != judge["weight"]
            for judge in card["judges"].values()
            if judge["counted"] is not None
        ),
        picture=_picture(judges, further, card, policy),
    )


def _is_idle(row: Mapping[str, Any]) -> bool:
    """Whether a row of the rules took and gave nothing. Findings stay, whatever they cost."""
    return row["row"] in words.RULES and not Decimal(row["points"])


def _judge_row(name: str, card: Mapping[str, Any], policy: Policy) -> LedgerRow:
    judge = card["judges"][name]
    entry: Mapping[str, Any] = next((row for row in card["ledger"] if row["row"] == name), {})
    points = Decimal(judge["points"])
    return LedgerRow(
        label=words.JUDGES[name],
        href=f"#{name}",
        why=words.sentence(entry.get("why", "")) if judge["counted"] is not None else "",
        points=points,
        is_judge=True,
        raw=judge["raw"],
        counted=judge["counted"],
        weight=judge["effective_weight"],
        reason=judge["reason"],
        is_anchored=judge["anchored"],
        is_open=bool(entry.get("provisional")) or judge["reason"] in {"waiting", "held"},
        is_zero=judge["counted"] is None,
        has_answer=judge["counted"] is not None,
        how=how.points_of_judge(name, card["judges"], policy),
    )


def _further_row(row: Mapping[str, Any], at: int) -> LedgerRow:
    points = Decimal(row["points"])
    is_finding = row["row"] not in words.RULES
    why = row.get("why", "applied" if is_finding else "")
    return LedgerRow(
        label=words.row_label(row["row"]),
        href=f"#finding-{row['finding'][:8]}" if row.get("finding") else "#integrity",
        why=f"Integrity, {words.sentence(why)[:1].lower()}{words.sentence(why)[1:]}"
        if is_finding
        else words.sentence(why),
        points=points,
        is_open=why.startswith("proposed"),
        is_zero=not points,
    )


def _can_change(card: Mapping[str, Any], policy: Policy) -> list[str]:
    """Say what is open, a sentence each, and whether the band depends on it."""
    said = []
    waiting = [
        words.JUDGES[name]
        for name, judge in card["judges"].items()
        if judge["counted"] is None and judge["reason"] in {"waiting", "held"}
    ]
    if waiting:
        said.append(f"{' and '.join(waiting)} has not been judged: no panel has voted yet.")
    open_cases = [case for case in card.get("cases", []) if case["status"] == "open"]
    on_panel = [case["reason"] for case in open_cases if not case["finding_key"]]
    if "panel_disagreement" in on_panel:
        said.append("The strategy panel disagrees; a reviewer rules.")
    elif "panel_incomplete" in on_panel:
        said.append("The strategy panel is incomplete; a reviewer rules.")
    findings = card.get("integrity", {}).get("findings", [])
    proposed = sum(finding["status"] == "proposed" for finding in findings)
    if proposed:
        verb = "waits" if proposed == 1 else "wait"
        said.append(f"{words.count(proposed, 'finding')} {verb} for a reviewer.")
    if card["integrity"].get("held"):
        if not proposed:
            said.append("A finding of quarantine severity waits for a reviewer’s word.")
        said.append("Until then the match is off the leaderboard.")
    if reach := card.get("range"):
        said.append(_band_sentence(reach, policy))
    return said


def _band_sentence(reach: Mapping[str, str], policy: Policy) -> str:
    low, high = (band_of(Fraction(reach[end]), policy) for end in ("low", "high"))
    if low == high:
        return f"Whichever way, it stays {low}."
    return f"It can end anywhere from {low} to {high}."


def _picture(
    judges: Sequence[LedgerRow],
    further: Sequence[LedgerRow],
    card: Mapping[str, Any],
    policy: Policy,
) -> Waterfall | None:
    total = decimal(card["total"])
    if total is None:
        return None
    steps = [
        Step(
            label=row.label,
            points=row.points,
            is_open=row.is_open,
            is_judge=row.is_judge,
            absorbed=_absorbed(row),
        )
        for row in (*judges, *further)
        if row.points or (row.is_judge and row.has_answer)
    ]
    reach = card.get("range")
    ends = (Decimal(reach["low"]), Decimal(reach["high"])) if reach else None
    return waterfall(steps, total, policy.bands, card["band"], ends)


def _absorbed(row: LedgerRow) -> Decimal:
    """The points that the anchor took, in the weight of the judge."""
    if not row.is_anchored or row.raw is None or row.counted is None or row.weight is None:
        return ZERO
    lost = Fraction(row.raw) - Fraction(row.counted)
    return rounded(lost * Fraction(str(row.weight)) / 100)
