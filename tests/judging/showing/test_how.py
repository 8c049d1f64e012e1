"""Every formula ends in the number that the page shows, and holds when it is worked out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.scoring.exact import exact, rounded
from judging.scoring.policy import CURRENT
from judging.showing import how

RULES = {rule.name: rule for rule in CURRENT.halves.metrics}


def judge(weight: int, counted: str | None, points: str, **more: Any) -> dict[str, Any]:
    card = {"weight": weight, "counted": counted, "raw": counted, "points": points}
    return {**card, "anchored": False, **more}


JUDGES = {
    "objective": judge(45, "59.95", "26.98"),
    "process": judge(20, "84.50", "16.90"),
    "strategy": judge(20, "65.00", "13.00"),
    "recovery": judge(15, "84.95", "12.74", raw="88.72", anchored=True),
}


def worked_out(line: str) -> tuple[Decimal, Decimal]:
    """Return what a line's formula comes to, and what it says that it comes to."""
    formula, _, said = line.replace(", at least 0", "").rpartition(" = ")
    code = formula.replace("×", "*").replace("÷", "/").replace("−", "-")
    assert re.fullmatch(r"(?:[-+*/(). \d]|log2)+", code), code  # figures and signs alone
    found = eval(code, {"log2": math.log2})
    return Decimal(found), Decimal(said.replace("−", "-"))


def test_the_points_of_a_judge_are_its_weight_times_what_counts() -> None:
    assert how.points_of_judge("process", JUDGES, CURRENT) == ("20 × 84.50 ÷ 100 = 16.90",)


def test_an_anchored_judge_says_what_bound_it() -> None:
    first, *_ = how.points_of_judge("recovery", JUDGES, CURRENT)
    assert first == "Counted: at most Objective 59.95 + 25 = 84.95; raw is 88.72"


def test_weights_of_judges_without_a_score_are_left_out_of_the_divisor() -> None:
    judges = {**JUDGES, "recovery": judge(15, None, "0.00"), "process": judge(20, "84.50", "19.88")}
    lines = how.points_of_judge("process", judges, CURRENT)
    assert lines == (
        "20 × 84.50 ÷ 85 = 19.88",
        "Divided by the weights of the judges that have a score",
    )
    assert how.points_of_judge("recovery", judges, CURRENT) == ()


def test_points_that_were_rounded_for_the_sum_say_so() -> None:
    judges = {**JUDGES, "objective": judge(45, "69.70", "31.36")}
    assert how.points_of_judge("objective", judges, CURRENT)[-1] == (
        "Rounded so that the rows add up to the base"
    )


def test_the_total_names_its_band_and_what_its_range_is_made_of() -> None:
    seats = [{"score": score} for score in ("57.14", "75.00", "92.86")]
    card = {
        "total": "67.62",
        "band": "competent",
        "range": {"low": "66.05", "high": "71.61"},
        "judges": {"strategy": {"seats": seats}},
        "integrity": {"findings": [{"status": "proposed"}]},
        "cases": [{"status": "open", "blocking": True, "finding_key": ""}],
    }
    further = [Decimal("-5"), Decimal(0), Decimal(3)]
    assert how.total("69.62", further, card, CURRENT) == (
        "69.62 − 5 + 3 = 67.62",
        "Band: competent from 55 to below 75",
        "Range 66.05 to 71.61: Strategy from 57.14 to 92.86, with and without 1 proposed finding",
    )


def test_the_range_of_a_split_pair_begins_at_the_number_that_may_be_upheld() -> None:
    card = {
        "total": "72.60",
        "band": "competent",
        "range": {"low": "47.60", "high": "76.20"},
        "judges": {
            "strategy": {
                "panel_score": "68.00",
                "seats": [{"score": "86.00"}, {"score": "70.00"}, {"score": None}],
            }
        },
        "integrity": {
            "findings": [
                {"status": "applied", "severity": "quarantine", "decided": False},
                {"status": "applied", "severity": "quarantine", "decided": True},
                {"status": "applied", "severity": "flag", "decided": False},
            ]
        },
        "cases": [{"status": "open", "blocking": True, "finding_key": ""}],
    }
    assert how.total("72.60", (), card, CURRENT)[-1] == (
        "Range 47.60 to 76.20: Strategy from 68.00, the rule’s number, to 86.00, "
        "with and without 1 unconfirmed penalty"
    )


def test_the_adjustment_shows_caps_and_what_was_voided() -> None:
    sums = {
        "bonus_raw": 13, "bonus_counted": 0, "bonus_cap": 10, "penalty_raw": -30,
        "penalty_counted": -25, "penalty_cap": -25, "voided": True, "adjustment": -25,
    }  # fmt: skip
    assert how.adjustment(sums) == (
        "Bonuses: 13, at most 10, voided by a penalty of quarantine severity = 0",
        "Penalties: 30, at most 25 = 25",
        "0 − 25 = −25",
    )
    assert how.adjustment({"adjustment": 3}) == ()  # another team's is a sum and no more


def found(value: float | None, score: str | None, said: str = "so") -> Mapping[str, Any]:
    return {"value": value, "score": score, "reason": None, "how": said}


@pytest.mark.parametrize("name", sorted(RULES))
@given(value=st.decimals(0, 500, places=4))
def test_the_formula_of_a_metric_gives_the_score_of_its_curve(name: str, value: Decimal) -> None:
    curve = RULES[name].curve
    score = curve.score(exact(value))
    *_, last = how.metric(curve, found(float(value), str(rounded(score))))
    if " → " in last:
        assert last.endswith(f" → {rounded(score)}")
        return
    comes_to, said = worked_out(last)
    if said and said < 100:
        assert abs(comes_to - said) <= Decimal("0.01")


def test_what_was_left_open_takes_its_share_of_the_score() -> None:
    curve = RULES["pivot_latency_s"].curve
    lines = how.metric(curve, found(40, "66.67", "2 of 3 contradictions answered"))
    assert lines[-1] == "100.00 × 2 ÷ 3 = 66.67"
    assert worked_out(lines[-1])[0].quantize(Decimal("0.01")) == Decimal("66.67")
    whole = how.metric(curve, found(40, "100.00", "3 of 3 contradictions answered"))
    assert whole[-1] == "u = log2(40 ÷ 120) = −1.58 → 100.00"


def test_what_was_never_done_and_what_is_not_defined() -> None:
    curve = RULES["pivot_latency_s"].curve
    assert how.metric(curve, found(None, "0.00")) == ("Never done, which counts as 0.00",)
    assert how.metric(curve, found(None, None)) == ()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=7))
def test_levels_are_points_and_their_mean_is_the_half(given_levels: list[int]) -> None:
    points = [Fraction(25 * (level - 1)) for level in given_levels]
    half = str(rounded(sum(points) / len(points)))
    *_, line = how.levels([str(rounded(one)) for one in points], half, CURRENT.halves)
    comes_to, said = worked_out(line)
    assert abs(comes_to - said) <= Decimal("0.005")


def test_the_rate_of_a_suite_weighs_by_severity() -> None:
    tallies = {
        "critical": {"passed": 6, "total": 11},
        "high": {"passed": 11, "total": 17},
        "medium": {"passed": 8, "total": 21},
    }
    assert how.rate(tallies, "54.55", CURRENT) == (
        "At most 3 × 11 critical + 2 × 17 high + 1 × 21 medium = 88",
        "Earned 48, each test by the share of runs that it passed",
        "100 × 48 ÷ 88 = 54.55",
    )
