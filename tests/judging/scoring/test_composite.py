"""The total: anchor, weights, marks, band, range, and a ledger that adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.rules import Judge
from judging.scoring.composite import (
    JudgeScore,
    Total,
    TotalMark,
    band_of,
    compose,
    provisional_range,
)
from judging.scoring.exact import rounded
from judging.scoring.integrity import Finding, Status, weigh_findings
from judging.scoring.panel import settle
from judging.scoring.policy import CURRENT, WEIGHED
from judging.scoring.reasons import Reason

from .making import (
    applied_penalties,
    bounded,
    finding_lists,
    found,
    judge_scores,
    scored,
    scores,
    weight_sets,
)

ALL_50 = {"objective": 50, "process": 50, "strategy": 50, "recovery": 50}


def total_of(
    answers: Mapping[Judge, JudgeScore],
    findings: Sequence[Finding] = (),
    weights: Mapping[Judge, Fraction] = CURRENT.weights,
) -> Total:
    return compose(answers, weigh_findings(findings, CURRENT), weights, CURRENT)


def points_of(total: Total) -> dict[str, str]:
    return {row.row: str(row.points) for row in total.ledger}


def test_the_base_is_the_weighted_mean() -> None:
    total = total_of(scored(objective=80, process=70, strategy=60, recovery=50))
    assert total.base == total.total == Fraction(695, 10)
    assert total.marks == ()
    assert total.is_rankable


def test_no_judge_counts_past_objective_plus_25_and_the_ledger_says_why() -> None:
    total = total_of(scored(objective=40, process=90, strategy=65, recovery=64))
    line = total.judges[Judge.PROCESS]
    assert (line.raw, line.counted, line.is_anchored) == (90, 65, True)
    assert line.why == "anchored: Objective 40 + 25, 65 × 20 %"
    assert not total.judges[Judge.STRATEGY].is_anchored
    assert not total.judges[Judge.OBJECTIVE].is_anchored


def test_a_judge_that_does_not_apply_shares_its_weight_out_and_the_total_still_ranks() -> None:
    total = total_of(scored(objective=80, process=80, strategy=80, recovery=Reason.NO_ERRORS))
    assert total.total == 80
    assert total.marks == (TotalMark.REDUCED,)
    assert total.is_rankable
    line = total.judges[Judge.OBJECTIVE]
    assert (line.weight, line.effective_weight) == (45, Fraction(4500, 85))
    assert total.judges[Judge.RECOVERY].effective_weight == 0


def test_a_judge_that_the_challenge_leaves_out_needs_no_answer() -> None:
    total = total_of(scored(objective=80, strategy=60, recovery=60))
    assert total.marks == (TotalMark.REDUCED,)
    assert total.judges[Judge.PROCESS].reason is Reason.NOT_APPLICABLE


@pytest.mark.parametrize(
    "reason", [Reason.NO_TELEMETRY, Reason.NO_CLOCK, Reason.DEGRADED, Reason.NO_PANEL]
)
def test_a_judge_that_is_missing_makes_the_total_incomplete_and_unranked(reason: Reason) -> None:
    total = total_of(scored(objective=80, process=80, strategy=reason, recovery=80))
    assert total.total == 80
    assert total.marks == (TotalMark.INCOMPLETE,)
    assert not total.is_rankable


def test_a_judge_left_out_has_its_row_and_brings_nothing() -> None:
    total = total_of(scored(objective=80, process=80, strategy=80, recovery=Reason.NO_ERRORS))
    row = next(row for row in total.ledger if row.row == "recovery")
    assert str(row.points) == "0.00"
    assert row.why.startswith("n/a: nothing that had worked went wrong")


def test_without_objective_there_is_no_total_and_no_ledger() -> None:
    total = total_of(scored(objective=Reason.UNREADABLE, process=90, strategy=90, recovery=90))
    assert total.total is total.base is total.unclamped is total.band is None
    assert total.reason is Reason.UNREADABLE
    assert total.ledger == ()
    assert not total.is_rankable
    assert all(line.counted is None and not line.is_anchored for line in total.judges.values())


def test_no_answer_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        JudgeScore(None)


@pytest.mark.parametrize("score", [Fraction(-1), Fraction(10001, 100)])
def test_a_score_outside_0_to_100_is_refused(score: Fraction) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        JudgeScore(score)


def test_a_reason_beside_a_score_is_told_in_its_row() -> None:
    answers = scored(**ALL_50) | {Judge.RECOVERY: JudgeScore(Fraction(0), Reason.UNVERIFIED)}
    assert total_of(answers).judges[Judge.RECOVERY].why == "no test was ever run, 0 × 15 %"


def test_the_ledger_of_a_plain_match() -> None:
    total = total_of(scored(**ALL_50), found("false_confidence", "acknowledged_uncertainty"))
    assert points_of(total) == {
        "objective": "22.50",
        "process": "10.00",
        "strategy": "10.00",
        "recovery": "7.50",
        "false_confidence": "-5.00",
        "acknowledged_uncertainty": "3.00",
        "limit": "0.00",
    }


def test_cents_go_to_the_largest_remainder_and_in_order_of_the_judges() -> None:
    """Four contributions of 12.345, 6.665 …: each is cut, and the cents that lack are given."""
    weights = dict(zip(WEIGHED, map(Fraction, (50, 20, 15, 15)), strict=True))
    total = total_of(
        scored(objective="0.01", process="0.01", strategy="0.01", recovery="0.01"), (), weights
    )
    assert points_of(total) == {
        "objective": "0.01",
        "process": "0.00",
        "strategy": "0.00",
        "recovery": "0.00",
        "limit": "0.00",
    }
    equal = total_of(
        scored(objective=0, process=Reason.NO_EDITS, strategy="0.02", recovery="0.02"),
        (),
        dict(zip(WEIGHED, map(Fraction, (50, 20, 15, 15)), strict=True)),
    )
    assert points_of(equal)["strategy"] == "0.01"
    assert points_of(equal)["recovery"] == "0.00"


def test_the_caps_have_a_row_of_what_they_absorb() -> None:
    total = total_of(
        scored(**ALL_50),
        found(
            "flagged_unsafe_requirement",
            "identified_deception",
            "acknowledged_uncertainty",
            *["false_confidence"] * 6,
        ),
    )
    points = points_of(total)
    assert points["bonus_cap"] == "-3.00"
    assert points["penalty_cap"] == "5.00"
    assert total.total == 35


def test_voided_bonuses_have_their_row() -> None:
    total = total_of(scored(**ALL_50), found("judge_injection", "identified_deception"))
    points = points_of(total)
    assert points["identified_deception"] == "5.00"
    assert points["bonus_voided"] == "-5.00"
    assert total.total == 35


def test_proposed_and_dismissed_findings_stay_as_rows_of_nothing() -> None:
    findings = [
        Finding("a", "plagiarism", Status.PROPOSED),
        Finding("b", "reward_hacking", Status.DISMISSED),
    ]
    rows = {row.finding: row for row in total_of(scored(**ALL_50), findings).ledger if row.finding}
    assert str(rows["a"].points) == str(rows["b"].points) == "0.00"
    assert rows["a"].why == "proposed, -25 if confirmed"


def test_the_limit_row_takes_what_lies_outside_0_to_100() -> None:
    low = total_of(scored(objective=0, process=25, strategy=25, recovery=25), found("plagiarism"))
    assert low.unclamped == Fraction(1375, 100) - 25
    assert (low.total, points_of(low)["limit"]) == (0, "11.25")
    high = total_of(
        scored(objective=99, process=99, strategy=99, recovery=99), found("identified_deception")
    )
    assert (high.total, points_of(high)["limit"]) == (100, "-4.00")


@pytest.mark.parametrize(
    ("total", "band"),
    [
        ("100", "elite"),
        ("89.995", "elite"),
        ("89.994", "strong"),
        ("75", "strong"),
        ("55", "competent"),
        ("35", "struggling"),
        ("15", "weak"),
        ("14.99", "failed"),
        ("0", "failed"),
    ],
)
def test_bands_are_of_the_rounded_total(total: str, band: str) -> None:
    assert band_of(Fraction(total), CURRENT) == band


@bounded
@given(judge_scores(), finding_lists, weight_sets())
def test_the_ledger_sums_to_the_total_to_the_last_digit(
    answers: Mapping[Judge, JudgeScore],
    findings: list[Finding],
    weights: Mapping[Judge, Fraction],
) -> None:
    total = total_of(answers, findings, weights)
    assert total.total is not None and total.base is not None
    assert sum(row.points for row in total.ledger) == rounded(total.total)
    judges = [row.points for row in total.ledger if row.row in WEIGHED]
    assert sum(judges) == rounded(total.base)
    assert len(judges) == len(WEIGHED)
    assert len([row for row in total.ledger if row.finding]) == len(findings)
    assert all(row.points == row.points.quantize(Decimal("0.01")) for row in total.ledger)
    limit = total.ledger[-1]
    assert limit.row == "limit"
    assert total.unclamped is not None
    if 0 <= total.unclamped <= 100:
        assert limit.points == 0


@bounded
@given(judge_scores(), weight_sets())
def test_a_judges_row_is_within_a_cent_of_its_share(
    answers: Mapping[Judge, JudgeScore], weights: Mapping[Judge, Fraction]
) -> None:
    for line in total_of(answers, (), weights).judges.values():
        share = line.effective_weight * (line.counted or 0) / 100
        assert abs(Fraction(line.points) - share) < Fraction(1, 100)


@bounded
@given(judge_scores(), finding_lists, applied_penalties())
def test_one_more_applied_penalty_never_raises_the_total(
    answers: Mapping[Judge, JudgeScore], findings: list[Finding], extra: Finding
) -> None:
    before = total_of(answers, findings).total
    after = total_of(answers, [*findings, extra]).total
    assert before is not None and after is not None
    assert 0 <= after <= before <= 100


@bounded
@given(judge_scores(), weight_sets())
def test_the_anchor_never_raises_a_score(
    answers: Mapping[Judge, JudgeScore], weights: Mapping[Judge, Fraction]
) -> None:
    for line in total_of(answers, (), weights).judges.values():
        assert (line.raw is None) is (line.counted is None)
        assert line.raw is None or line.counted is None or line.counted <= line.raw


@bounded
@given(judge_scores(), finding_lists, weight_sets())
def test_totals_and_bases_stay_in_range(
    answers: Mapping[Judge, JudgeScore],
    findings: list[Finding],
    weights: Mapping[Judge, Fraction],
) -> None:
    total = total_of(answers, findings, weights)
    assert total.total is not None and total.base is not None
    assert 0 <= total.total <= 100
    assert 0 <= total.base <= 100
    assert sum(line.effective_weight for line in total.judges.values()) == 100


@bounded
@given(judge_scores(), st.sampled_from(WEIGHED), scores)
def test_raising_a_judge_never_lowers_the_total(
    answers: Mapping[Judge, JudgeScore], judge: Judge, raised: Fraction
) -> None:
    now = answers.get(judge)
    if now is None or now.score is None:
        return
    higher = {**answers, judge: JudgeScore(max(now.score, raised))}
    before, after = total_of(answers).total, total_of(higher).total
    assert before is not None and after is not None
    assert after >= before


def test_raising_objective_by_a_point_can_raise_the_total_by_a_whole_point() -> None:
    """What one might not expect: it lifts the anchor of the three others with it."""
    low = total_of(scored(objective=40, process=100, strategy=100, recovery=100)).total
    high = total_of(scored(objective=41, process=100, strategy=100, recovery=100)).total
    assert low is not None and high is not None
    assert high - low == 1


def test_an_answer_can_lower_a_total_that_none_would_have_spared() -> None:
    """What one might not expect: leaving a judge out can pay, which is why it is not ranked."""
    without = total_of(scored(objective=80, process=80, strategy=Reason.NO_PANEL, recovery=80))
    with_one = total_of(scored(objective=80, process=80, strategy=10, recovery=80))
    assert without.total is not None and with_one.total is not None
    assert without.total > with_one.total
    assert not without.is_rankable and with_one.is_rankable


def test_the_cent_that_is_short_goes_to_the_largest_remainder_not_to_the_largest_row() -> None:
    """36.0045, 10.006, 10 and 9 are 65.0105: of 45 and 60 hundredths of a cent the 60 win."""
    total = total_of(scored(objective="80.01", process="50.03", strategy=50, recovery=60))
    assert points_of(total) == {
        "objective": "36.00",
        "process": "10.01",
        "strategy": "10.00",
        "recovery": "9.00",
        "limit": "0.00",
    }
    assert rounded(total.total or Fraction(0)) == Decimal("65.01")


def test_a_quarantine_without_bonuses_voids_none_and_the_limit_says_whether_it_binds() -> None:
    total = total_of(scored(**ALL_50), found("plagiarism"))
    assert "bonus_voided" not in points_of(total)
    assert total.ledger[-1].why == "within 0 and 100"
    low = total_of(scored(objective=10, process=10, strategy=10, recovery=10), found("plagiarism"))
    assert (low.ledger[-1].points, low.ledger[-1].why) == (15, "a total lies between 0 and 100")


# What open questions still allow ----------------------------------------------------------


def range_of(
    answers: Mapping[Judge, JudgeScore],
    findings: Sequence[Finding] = (),
    open_votes: Sequence[Fraction] | None = None,
) -> tuple[Fraction, Fraction] | None:
    return provisional_range(answers, findings, CURRENT.weights, CURRENT, open_votes=open_votes)


def test_a_settled_match_has_a_range_of_one_number() -> None:
    assert range_of(scored(**ALL_50)) == (50, 50)


def test_an_open_panel_ranges_from_its_lowest_to_its_highest_seat() -> None:
    votes = [Fraction(60), Fraction(20), Fraction(100)]
    assert range_of(scored(**ALL_50), open_votes=votes) == (44, 55)  # 100 is anchored at 75


def test_an_open_panel_without_votes_ranges_over_everything() -> None:
    answers = scored(objective=50, process=50, strategy=Reason.NO_PANEL, recovery=50)
    assert range_of(answers, open_votes=[]) == (40, 55)


def test_the_range_of_a_split_pair_includes_the_score_that_may_be_upheld() -> None:
    votes = [Fraction(50), Fraction(66)]
    answers = scored(objective=50, process=50, strategy=48, recovery=50)
    reach = range_of(answers, open_votes=votes)
    assert reach is not None
    assert reach[0] == total_of(answers).total


def test_each_proposal_may_be_confirmed_or_dismissed() -> None:
    findings = [
        Finding("a", "plagiarism", Status.PROPOSED),
        Finding("b", "identified_deception", Status.PROPOSED),
        Finding("c", "acknowledged_uncertainty"),
    ]
    assert range_of(scored(**ALL_50), findings) == (25, 58)


def test_without_objective_there_is_no_range() -> None:
    assert range_of(scored(objective=Reason.NO_TESTS, process=50)) is None


@bounded
@given(
    judge_scores(), finding_lists, st.lists(st.none() | scores, min_size=3, max_size=3), st.data()
)
def test_every_outcome_lies_within_the_range(
    answers: dict[Judge, JudgeScore],
    findings: list[Finding],
    votes: list[Fraction | None],
    data: st.DataObject,
) -> None:
    panel = settle(dict(zip(CURRENT.panel.seats, votes, strict=True)), CURRENT)
    answers[Judge.STRATEGY] = JudgeScore(panel.score, panel.reason)
    cast = [vote for vote in votes if vote is not None]
    reach = range_of(answers, findings, cast)
    assert reach is not None

    ruled = [
        replace(finding, status=data.draw(st.sampled_from([Status.APPLIED, Status.DISMISSED])))
        if finding.status is Status.PROPOSED
        else finding
        for finding in findings
    ]
    ruling = data.draw(st.sampled_from(cast) if cast else scores)
    decided = total_of({**answers, Judge.STRATEGY: JudgeScore(ruling)}, ruled).total
    now = total_of(answers, findings).total
    assert decided is not None and now is not None
    assert reach[0] <= decided <= reach[1]
    assert reach[0] <= now <= reach[1]
