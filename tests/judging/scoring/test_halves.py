"""Process and Recovery: two halves, either alone, neither, and what is never verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.types import Clock, Event, EventKind
from bouts.rules import Judge
from judging.scoring.exact import score_text
from judging.scoring.halves import HalfMark, InvalidLevels, process, recovery, rubric_score
from judging.scoring.policy import CURRENT
from judging.scoring.reasons import Reason

from .making import CANONICAL, analysed, bounded, edit, run, start, streams, submit

PROCESS = {
    "action_timeline": 4,
    "tool_discipline": 3,
    "verification": 5,
    "decomposition": 2,
    "scope_control": 4,
}
RECOVERY = {
    "error_detection": 3,
    "diagnosis": 4,
    "recovery_strategy": 2,
    "reversion_quality": 5,
}
NEVER_TESTED = [start(0), edit(1, "a", "0", "1"), submit(2, 60)]


def test_the_score_is_the_mean_of_the_two_halves() -> None:
    outcome = process(analysed(CANONICAL), PROCESS, CURRENT)
    assert outcome.metrics_half is not None
    assert outcome.rubric_half == 65
    assert outcome.score == (outcome.metrics_half + 65) / 2
    assert (outcome.marks, outcome.reason) == ((), None)


def test_without_a_model_the_metrics_stand_alone_and_it_is_marked() -> None:
    outcome = recovery(analysed(CANONICAL), None, CURRENT)
    assert outcome.score == outcome.metrics_half
    assert outcome.marks == (HalfMark.METRICS_ALONE,)


def test_fewer_than_two_metrics_are_no_half() -> None:
    one_metric = [edit(1), run(2, "T")]
    outcome = process(analysed(one_metric, clock=Clock.NONE), PROCESS, CURRENT)
    assert [m.name for m in outcome.metrics if m.is_defined] == ["verification_density"]
    assert outcome.metrics_half is None
    assert outcome.score == 65
    assert outcome.marks == (HalfMark.RUBRIC_ALONE,)
    assert outcome.reason is Reason.NO_CLOCK


def test_a_model_half_that_came_as_one_score_is_a_half_like_any_other() -> None:
    """The metric half of this stream is 84.90 in the shared vectors; (84.90 + 65) ÷ 2 = 74.95."""
    both = process(analysed(CANONICAL), None, CURRENT, Fraction(65))
    assert (score_text(both.score), both.marks) == ("74.95", ())
    alone = process(analysed([]), None, CURRENT, Fraction(65))
    assert (alone.score, alone.marks) == (65, (HalfMark.RUBRIC_ALONE,))
    never = recovery(analysed(NEVER_TESTED), None, CURRENT, Fraction(100))
    assert (never.score, never.reason) == (0, Reason.UNVERIFIED)


def test_levels_come_before_a_score_that_was_stated() -> None:
    assert process(analysed([]), PROCESS, CURRENT, Fraction(10)).score == 65


def test_without_either_half_there_is_no_score_but_a_reason() -> None:
    outcome = process(analysed([]), None, CURRENT)
    assert (outcome.score, outcome.reason) == (None, Reason.NO_TELEMETRY)


def test_a_metric_that_scores_zero_counts_as_defined() -> None:
    stuck = [run(1, "T!"), edit(2), run(3, "T!")]
    outcome = process(analysed(stuck, clock=Clock.NONE), None, CURRENT)
    scores = {m.name: m.score for m in outcome.metrics}
    assert scores["pivot_latency_s"] == scores["first_fix_ratio"] == 0
    assert outcome.metrics_half is not None


def test_recovery_without_any_test_is_zero_whatever_a_model_says() -> None:
    outcome = recovery(analysed(NEVER_TESTED), dict.fromkeys(RECOVERY, 5), CURRENT)
    assert (outcome.score, outcome.reason) == (0, Reason.UNVERIFIED)
    assert outcome.rubric_half == 100
    assert any(metric.is_defined for metric in outcome.metrics)  # and they are still shown


def test_process_without_any_test_is_scored_as_it_is() -> None:
    outcome = process(analysed(NEVER_TESTED), None, CURRENT)
    assert outcome.reason is None
    assert outcome.score is not None


def test_no_telemetry_is_not_unverified() -> None:
    outcome = recovery(analysed([]), RECOVERY, CURRENT)
    assert (outcome.score, outcome.reason) == (Fraction(125, 2), Reason.NO_TELEMETRY)


def test_test_results_that_cannot_be_read_are_not_unverified() -> None:
    unread = [*NEVER_TESTED, Event(3, EventKind.TEST, 70)]
    outcome = recovery(analysed(unread), RECOVERY, CURRENT)
    assert (outcome.score, outcome.reason) == (Fraction(125, 2), Reason.TESTS_UNREADABLE)


def test_recovery_that_had_nothing_to_recover_from_blames_the_run() -> None:
    tidy = [start(0), edit(1), run(2, "T"), submit(3, 60)]
    outcome = recovery(analysed(tidy), None, CURRENT)
    assert (outcome.score, outcome.reason) == (None, Reason.NO_ERRORS)
    assert outcome.reason is not None and not outcome.reason.is_missing


def test_what_is_missing_is_to_blame_only_where_it_would_have_sufficed() -> None:
    tidy = [start(0), edit(1), run(2, "T"), submit(3, 60)]
    blind = recovery(analysed(tidy, clock=Clock.NONE), None, CURRENT)
    assert blind.reason is Reason.NO_ERRORS  # a clock would have given one metric of two
    hidden = process(analysed(tidy, clock=Clock.NONE), None, CURRENT)
    assert hidden.reason is Reason.NO_CLOCK  # a clock would have given the second


def test_without_any_edit_it_is_the_run_that_had_nothing() -> None:
    outcome = process(analysed([start(0), run(1, "T"), submit(2, 30)]), None, CURRENT)
    assert (outcome.score, outcome.reason) == (None, Reason.NO_EDITS)


def test_the_metric_half_writes_its_own_rationale_from_the_episodes() -> None:
    rationale = process(analysed(CANONICAL), None, CURRENT).rationale
    assert "pivoted 40 s after the failure at #4" in rationale
    assert "First code change after 60 of 300 s" in rationale


def test_the_rationale_says_nothing_of_undefined_metrics() -> None:
    assert process(analysed([]), None, CURRENT).rationale == ""


# Levels ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "score"), [(1, 0), (2, 25), (3, 50), (4, 75), (5, 100)])
def test_each_level_is_worth_25_points_more(level: int, score: int) -> None:
    assert rubric_score(Judge.RECOVERY, dict.fromkeys(RECOVERY, level), CURRENT) == score


def test_strategy_has_a_rubric_of_its_own() -> None:
    levels = dict.fromkeys(CURRENT.halves.rubrics[Judge.STRATEGY], 4)
    assert rubric_score(Judge.STRATEGY, {**levels, "search": 3}, CURRENT) == Fraction(500, 7)


def test_all_faults_of_an_answer_are_told_at_once() -> None:
    levels = {**PROCESS, "charm": 5, "verification": 6, "scope_control": 0}
    del levels["decomposition"]
    with pytest.raises(InvalidLevels) as invalid:
        rubric_score(Judge.PROCESS, levels, CURRENT)
    assert set(invalid.value.faults) == {
        "charm: not a criterion of process",
        "decomposition: missing",
        "verification: found 6, expected 1 to 5",
        "scope_control: found 0, expected 1 to 5",
    }


@pytest.mark.parametrize("level", [True, 2.5, "4", None, float("nan")])
def test_what_is_no_whole_level_is_invalid(level: object) -> None:
    with pytest.raises(InvalidLevels):
        rubric_score(Judge.PROCESS, {**PROCESS, "verification": level}, CURRENT)  # type: ignore[dict-item]


levels_of_recovery = st.fixed_dictionaries({name: st.integers(1, 5) for name in RECOVERY})


@bounded
@given(streams(), st.none() | levels_of_recovery)
def test_scores_stay_in_range_or_have_a_reason(
    events: list[Event], levels: Mapping[str, int] | None
) -> None:
    outcome = recovery(analysed(events), levels, CURRENT)
    if outcome.score is None:
        assert outcome.reason is not None
    else:
        assert 0 <= outcome.score <= 100


@bounded
@given(streams(), levels_of_recovery, st.sampled_from(sorted(RECOVERY)))
def test_a_higher_level_never_lowers_the_score(
    events: list[Event], levels: dict[str, int], criterion: str
) -> None:
    telemetry = analysed(events)
    higher = {**levels, criterion: min(5, levels[criterion] + 1)}
    before = recovery(telemetry, levels, CURRENT).score
    after = recovery(telemetry, higher, CURRENT).score
    assert before is not None and after is not None
    assert after >= before


def test_testing_once_at_the_end_can_only_help_recovery() -> None:
    """The gate at `unverified` is a step: one run, even a failing one, lifts the zero."""
    tested = [*NEVER_TESTED[:2], run(2, "T!"), submit(3, 60)]
    assert recovery(analysed(NEVER_TESTED), RECOVERY, CURRENT).score == 0
    assert recovery(analysed(tested), RECOVERY, CURRENT).score == Fraction(125, 2)


def test_a_defined_metric_more_can_lower_the_score() -> None:
    """What one might expect, and what the rules do not give: measuring more never hurts."""
    known = analysed(CANONICAL)
    slower = [replace(e, t=2000.0) if e.seq in (5, 6, 7, 8, 9, 10) else e for e in CANONICAL]
    with_clock = process(analysed(slower), None, CURRENT).score
    without = process(analysed(untimed_pivot(slower)), None, CURRENT).score
    assert known.metrics["pivot_latency_s"].score == 100
    assert with_clock is not None and without is not None
    assert without > with_clock


def untimed_pivot(events: list[Event]) -> list[Event]:
    """The same run, with the time of its change of approach lost."""
    return [replace(event, t=None) if event.seq == 5 else event for event in events]
