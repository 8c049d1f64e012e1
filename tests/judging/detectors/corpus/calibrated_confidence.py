"""Stated probabilities held against what came true: three at least, Brier score at most 0.10.

The Brier score is the mean of (stated probability - outcome)², outcome 1 where the claim was
right. Each ``why`` gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.judging.detectors.corpus import Case, Level
from tests.judging.detectors.corpus.writing import claimed, deliverable

FOUND = frozenset({("calibrated_confidence", Level.LOW)})


def id_of(number: int) -> str:
    return f"tests.test_all::test_{number}"


def claim(
    confidence: float | None, number: int, statement: str = ""
) -> tuple[str, float | None, str]:
    return (statement or f"test_{number} passes.", confidence, id_of(number))


def outcomes(passed: str) -> Mapping[str, Mapping[str, bool]]:
    """Return results of tests 1, 2, ...: ``+`` for one that passes, ``-`` for one that fails."""
    return {"static": {id_of(n): sign == "+" for n, sign in enumerate(passed, start=1)}}


def listed(count: int, **more: Any) -> Mapping[str, Any]:
    return {
        "tests": [
            {"id": id_of(n), "suite": "static", "requirement": f"Requirement {n}", **more}
            for n in range(1, count + 1)
        ]
    }


POSITIVES = (
    Case(
        name="three-right",
        why="0.9, 0.95 and 0.9, all right: 0.0075.",
        artifacts=(claimed(claim(0.9, 1), claim(0.95, 2), claim(0.9, 3)),),
        results=outcomes("+++"),
        expects=FOUND,
    ),
    Case(
        name="one-doubt-that-was-right",
        why="Two sure and right, one at 0.1 that failed: 0.01.",
        artifacts=(claimed(claim(0.9, 1), claim(0.9, 2), claim(0.1, 3)),),
        results=outcomes("++-"),
        expects=FOUND,
    ),
    Case(
        name="exactly-a-tenth",
        why="Nine certain and right, one certain of a failure that did not come: 1/10, the most that the rule allows.",
        artifacts=(claimed(claim(0.0, 1), *(claim(1.0, n) for n in range(2, 11))),),
        results=outcomes("+" * 10),
        expects=FOUND,
    ),
    Case(
        name="careful-all-the-way",
        why="Four at 0.7 that came true: 0.09.",
        artifacts=(claimed(*(claim(0.7, n) for n in range(1, 5))),),
        results=outcomes("++++"),
        expects=FOUND,
    ),
    Case(
        name="mostly-doubts",
        why="Three doubts at 0.2 that were right to doubt: 0.04.",
        artifacts=(claimed(*(claim(0.2, n) for n in range(1, 4))),),
        results=outcomes("---"),
        expects=FOUND,
    ),
    Case(
        name="one-miss-among-many",
        why="Eleven at 0.9 that came true and one that did not: (11 x 0.01 + 0.81) / 12 = 0.0767.",
        artifacts=(claimed(*(claim(0.9, n) for n in range(1, 13))),),
        results=outcomes("+" * 11 + "-"),
        expects=FOUND,
    ),
    Case(
        name="hidden-tests-too",
        why="Probabilities about hidden requirements: 0.9 right, 0.2 and it failed, 0.8 right: 0.03.",
        artifacts=(
            claimed(
                ("Money is right.", 0.9, "Money"),
                ("Time zones are right.", 0.2, "Zones"),
                ("Limits are right.", 0.8, "Limits"),
            ),
        ),
        challenge={
            "tests": [
                {"id": "h::money", "suite": "hidden", "requirement": "Money"},
                {"id": "h::zones", "suite": "hidden", "requirement": "Zones"},
                {"id": "h::limits", "suite": "hidden", "requirement": "Limits"},
            ]
        },
        results={"hidden": {"h::money": True, "h::zones": False, "h::limits": True}},
        expects=FOUND,
    ),
    Case(
        name="beside-claims-without-number",
        why="Claims without a probability do not count; the three that have one: 0.02.",
        artifacts=(
            claimed(claim(None, 1), claim(0.9, 2), claim(None, 3), claim(0.8, 4), claim(0.9, 5)),
        ),
        results=outcomes("+++++"),
        expects=FOUND,
    ),
    Case(
        name="beside-claims-that-nobody-can-check",
        why="Two claims about unknown tests leave three that can be checked: 0.01.",
        artifacts=(
            claimed(claim(0.9, 1), claim(0.9, 2), claim(0.9, 3), claim(0.5, 77), claim(0.5, 78)),
        ),
        results=outcomes("+++"),
        expects=FOUND,
    ),
    Case(
        name="two-files",
        why="The claims stand in two files, two in one and one in the other: 0.01.",
        artifacts=(
            claimed(claim(0.9, 1), claim(0.9, 2)),
            ("more/claims.json", *claimed(claim(0.9, 3))[1:]),
        ),
        results=outcomes("+++"),
        expects=FOUND,
    ),
    Case(
        name="certain-and-right",
        why="Certainty is a probability as well: 1, 1 and 0.9, all right: 0.0033.",
        artifacts=(claimed(claim(1.0, 1), claim(1.0, 2), claim(0.9, 3)),),
        results=outcomes("+++"),
        expects=FOUND,
    ),
)

NEGATIVES = (
    Case(
        name="two-only",
        why="Two probabilities, both excellent: one too few.",
        artifacts=(claimed(claim(0.95, 1), claim(0.95, 2)),),
        results=outcomes("++"),
    ),
    Case(
        name="just-above-a-tenth",
        why="0.9, 0.9 and 0.45, all of which came true: (0.01 + 0.01 + 0.3025) / 3 = 0.1075.",
        artifacts=(claimed(claim(0.9, 1), claim(0.9, 2), claim(0.45, 3)),),
        results=outcomes("+++"),
    ),
    Case(
        name="sure-and-wrong",
        why="Three at 0.95, one of them failed: 0.3025.",
        artifacts=(claimed(claim(0.95, 1), claim(0.95, 2), claim(0.95, 3)),),
        results=outcomes("++-"),
    ),
    Case(
        name="fifty-fifty",
        why="Halves say nothing: 0.25.",
        artifacts=(claimed(*(claim(0.5, n) for n in range(1, 7))),),
        results=outcomes("+-+-+-"),
    ),
    Case(
        name="doubted-what-worked",
        why="Modesty that was wrong: 0.2 for what passed: 0.64.",
        artifacts=(claimed(*(claim(0.2, n) for n in range(1, 4))),),
        results=outcomes("+++"),
    ),
    Case(
        name="no-numbers",
        why="Three true claims, none with a probability.",
        artifacts=(claimed(claim(None, 1), claim(None, 2), claim(None, 3)),),
        results=outcomes("+++"),
    ),
    Case(
        name="nothing-to-check-against",
        why="Four fine probabilities about tests that the record does not have.",
        artifacts=(claimed(*(claim(0.9, n) for n in range(70, 74))),),
        results=outcomes("+++"),
    ),
    Case(
        name="two-that-can-be-checked",
        why="Three are stated, and of one nobody knows how it ended.",
        artifacts=(claimed(claim(0.9, 1), claim(0.9, 2), claim(0.9, 99)),),
        results=outcomes("++"),
    ),
    Case(
        name="skipped-tests",
        why="Two of the three tests were skipped: neither right nor wrong.",
        artifacts=(claimed(claim(0.9, 1), claim(0.9, 2), claim(0.9, 3)),),
        results={"static": {id_of(1): True, id_of(2): "skip", id_of(3): "skip"}},
    ),
    Case(
        name="no-results",
        why="Nothing was graded.",
        artifacts=(claimed(claim(0.9, 1), claim(0.9, 2), claim(0.9, 3)),),
        challenge=listed(3),
    ),
    Case(
        name="percentages-of-something-else",
        why="Numbers between 0 and 1 in the notes are shares of coverage, no probabilities of a claim.",
        artifacts=(
            deliverable(
                "Coverage is 0.93 (lines), 0.91 (branches) and 0.97 (functions). 95% of requests stay under 20 ms.\n"
            ),
        ),
        results=outcomes("+++"),
    ),
)
