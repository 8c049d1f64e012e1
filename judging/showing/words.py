"""The words of the breakdown for what its JSON holds as codes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from bouts import words
from bouts.formats.text import count as count

JUDGES = {
    "objective": "Objective",
    "process": "Process",
    "strategy": "Strategy",
    "recovery": "Recovery",
    "integrity": "Integrity",
}

METRICS = {
    "pivot_latency_s": "Pivot latency",
    "dwell_ratio": "Dwell ratio",
    "first_fix_ratio": "First fix ratio",
    "verification_density": "Verification density",
    "recovery_speed_s": "Recovery speed",
    "thrash_per_min": "Thrash rate",
    "reversion_ratio": "Reversion ratio",
    "scope_expansion": "Scope after error",
    "score_trajectory": "Score trajectory",
}

# Rows of the ledger that are neither a judge nor a finding.
RULES = {
    "bonus_voided": "Bonuses voided",
    "bonus_cap": "Cap on bonuses",
    "penalty_cap": "Cap on penalties",
    "limit": "Limit 0–100",
}

BRANCHES = {
    "consensus": "Consensus",
    "chained": "Chained",
    "outlier_high": "One outlier above",
    "outlier_low": "One outlier below",
    "disagree": "Panel disagrees",
    "pair_agree": "Two of three agree",
    "pair_split": "Two of three, split",
    "single": "One vote only",
    "no_panel": "No seat answered",
    "waiting": "Waiting for the panel",
}

CASES = {
    "panel_disagreement": "Strategy: the panel disagrees",
    "panel_incomplete": "Strategy: the panel is incomplete",
    "panel_chained": "Strategy: the ends of the panel lie far apart",
    "integrity_quarantine": "Integrity: a finding holds the match off the leaderboard",
    "integrity_review": "Integrity: a finding waits for a reviewer",
    "objective_narrative_conflict": "Strategy and Objective tell different stories",
    "review_requested": "A review was asked for",
    "random_audit": "Drawn at random for an audit",
}

# What a mark on a total means, in a sentence.
MARKS = {
    "reduced": "A judge does not apply; its weight went to the others.",
    "incomplete": "A judge is missing, so this total is shown and not ranked.",
    "reduced_evidence": "Only one of the two suites counts.",
    "nondeterministic": "Some tests pass in one run and fail in another.",
    "flagged": "A finding marks this match and its row on the leaderboard.",
    "warned": "A finding cost points and is shown here alone.",
    "held": "Off the leaderboard until a reviewer has ruled.",
}

# Why Objective has no score, where the words of the code alone say too little.
NO_OBJECTIVE = {
    "unreadable": "a file that it needs is absent or cannot be read",
    "no_tests": "there is no test in either suite",
}

CLAIM_VERDICTS = {
    "holds": "✓ Holds",
    "refuted": "✕ Refuted",
    "mixed": "~ Mixed",
    "not_checked": "– Not checked",
    "withheld": "Withheld",
}

OUTCOMES = {
    "passed": "✓",
    "failed": "✕",
    "errored": "✕",
    "skipped": "–",
    "missing": "○",
    "unreadable": "?",
    "uncounted": "–",
}

_HYPHEN_AS_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def title(code: str) -> str:
    """Return a code as a heading: ``reward_hacking`` is "Reward hacking"."""
    said = words.of(code)
    return said[:1].upper() + said[1:]


def row_label(row: str) -> str:
    """Return how a row of the ledger is called."""
    return JUDGES.get(row) or RULES.get(row) or title(row)


def marks_of(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the marks of a breakdown, each with what it means for the total.

    Where there is no total, that one is incomplete goes without saying.
    """
    unsaid = "incomplete" if card["total"] is None else ""
    return [(mark, "" if mark == unsaid else MARKS.get(mark, "")) for mark in card["marks"]]


def why_no_total(reason: str | None) -> str:
    """Return why a breakdown has no total; ``reason`` is Objective's, None where work failed."""
    if not reason:
        return "The work broke off before there was a score."
    return (
        f"Objective has no score: {NO_OBJECTIVE.get(reason) or words.of(reason)}. "
        "Without it there is no total."
    )


def sentence(text: str) -> str:
    """Return a line that scoring wrote as it stands on a page: a capital, real minus signs."""
    text = _HYPHEN_AS_MINUS.sub("−", text)
    return text[:1].upper() + text[1:]


def counted_out(number: int) -> str:
    """Return a small number as a word."""
    return ("no", "one", "two", "three", "four", "five")[number] if number < 6 else str(number)


def event_numbers(numbers: Sequence[int], most: int = 4) -> str:
    """Return rising event numbers in short: (3, 5, 6, 7) is "#3, #5–7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = [f"#{run[0]}" if len(run) == 1 else f"#{run[0]}–{run[-1]}" for run in runs]
    return ", ".join(said[:most]) + (" and others" if len(said) > most else "")


def decimal(text: str | None) -> Decimal | None:
    """Return a score of the breakdown, which is text, as a number."""
    return None if text is None else Decimal(text)
