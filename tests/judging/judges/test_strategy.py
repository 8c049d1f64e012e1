"""Strategy: seats made of uploaded verdicts, a panel settled, a ruling beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from bouts.formats.types import Kind
from bouts.rules import CRITERIA, Judge
from judging.judges.base import Source
from judging.judges.strategy import (
    SeatAnswer,
    StrategyJudge,
    StrategyRuling,
    strategy_digest,
)
from judging.scoring.policy import CURRENT
from judging.scoring.reasons import Reason

from .test_telemetry import dossier

SEATS = CURRENT.panel.seats


def seats(*verdicts: Mapping[str, Any]) -> tuple[SeatAnswer, ...]:
    full = [{"judge": "strategy", "model": "m", **verdict} for verdict in verdicts]
    return StrategyJudge().seats(dossier({}, verdicts=full), CURRENT)


def votes(*scores: int | None) -> tuple[SeatAnswer, ...]:
    return tuple(
        SeatAnswer(seat, "scored" if score is not None else "refused", score and Fraction(score))
        for seat, score in zip(SEATS, scores, strict=True)
    )


def test_a_seat_of_which_nothing_was_uploaded_is_unavailable_and_shown() -> None:
    panel = seats({"seat": "google", "score": 82}, {"seat": "anthropic", "score": 70})
    assert [(seat.seat, seat.state) for seat in panel] == [
        ("anthropic", "scored"),
        ("openai", "unavailable"),
        ("google", "scored"),
    ]
    opinion = StrategyJudge().judge(panel, None, CURRENT)
    assert (opinion.score, opinion.detail["branch"]) == (76, "pair_agree")
    assert (opinion.detail["votes"], opinion.detail["configured"]) == (2, 3)


def test_levels_are_worth_25_points_a_step_and_a_seats_score_is_their_mean() -> None:
    """Four criteria at level 4 (75), three at level 2 (25): 375 ÷ 7."""
    names = CRITERIA[Judge.STRATEGY]
    levels = {name: 4 if at < 4 else 2 for at, name in enumerate(names)}
    (answer, *_) = seats({"seat": "anthropic", "levels": levels})
    assert answer.score == Fraction(375, 7)


def test_without_any_verdict_the_judge_waits() -> None:
    assert seats() == ()
    opinion = StrategyJudge().judge((), None, CURRENT)
    assert (opinion.score, opinion.reason) == (None, Reason.WAITING)


def test_nothing_is_settled_while_a_seat_is_still_to_be_asked() -> None:
    panel = (*votes(60, 92, 0)[:2], SeatAnswer("google", "held", reason="The budget is spent."))
    opinion = StrategyJudge().judge(panel, None, CURRENT)
    assert (opinion.score, opinion.reason) == (None, Reason.HELD)
    assert opinion.detail["flagged"] is False
    assert opinion.rationale == "One seat waits to be asked. The budget is spent."
    assert opinion.detail["rule"] == opinion.rationale == f"{opinion.why}."


@pytest.mark.parametrize(
    ("ruled", "score", "why"),
    [
        (None, 66, "A reviewer upheld the number of the rule"),
        (Fraction(80), 80, "A reviewer ruled"),
        (Fraction(0), 0, "A reviewer ruled"),
    ],
)
def test_a_ruling_replaces_the_score_and_the_panel_stays_beside_it(
    ruled: Fraction | None, score: int, why: str
) -> None:
    opinion = StrategyJudge().judge(votes(60, 76, 92), StrategyRuling(ruled, "Read."), CURRENT)
    assert (opinion.score, opinion.source, opinion.why) == (score, "ruling", why)
    assert (opinion.detail["panel_score"], opinion.detail["branch"]) == ("66.00", "disagree")
    assert opinion.detail["flagged"] is False
    assert opinion.detail["ruling"] == {"score": f"{score}.00", "reason": "Read."}


def test_a_panel_nobody_of_which_answered_has_no_score_until_a_ruling() -> None:
    opinion = StrategyJudge().judge(votes(None, None, None), None, CURRENT)
    assert (opinion.score, opinion.reason) == (None, Reason.NO_PANEL)
    ruled = StrategyJudge().judge(
        votes(None, None, None), StrategyRuling(Fraction(40), ""), CURRENT
    )
    assert (ruled.score, ruled.reason) == (40, None)


def test_a_ruling_holds_for_what_the_panel_saw_and_said_and_for_nothing_else() -> None:
    diff = Source("final.diff", Kind.DIFF, digest="d1")
    log = Source("sandbox.log", Kind.SANDBOX, digest="s1")
    panel = votes(60, 76, 92)
    digest = strategy_digest(dossier({}, diff, log), panel)
    assert strategy_digest(dossier({}, log, diff), panel) == digest
    assert strategy_digest(dossier({}, diff, replace(log, digest="s2")), panel) == digest
    assert strategy_digest(dossier({}, replace(diff, digest="d2"), log), panel) != digest
    assert strategy_digest(dossier({}, diff, log), votes(60, 76, 91)) != digest
