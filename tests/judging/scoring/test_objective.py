"""The Objective score: suites, gates, runs, deductions and what is marked."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.rules import Severity
from judging.scoring.objective import (
    Gate,
    GradedTest,
    Mark,
    ObjectiveEvidence,
    ObjectiveOutcome,
    Tally,
    objective,
    performance_bonus,
)
from judging.scoring.policy import CURRENT
from judging.scoring.reasons import Reason

from .making import bounded

CRITICAL, HIGH, MEDIUM = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM


def suite(*tests: tuple[Severity, str]) -> list[GradedTest]:
    """Tests with their runs as a word: p passed, f failed, ? a run that cannot be read."""
    outcome = {"p": True, "f": False, "?": None}
    return [
        GradedTest(f"t{number}", severity, tuple(outcome[letter] for letter in runs))
        for number, (severity, runs) in enumerate(tests)
    ]


def outcome_of(**evidence: object) -> ObjectiveOutcome:
    return objective(ObjectiveEvidence(**evidence), CURRENT)  # type: ignore[arg-type]


STATIC = suite((CRITICAL, "p"), (HIGH, "f"), (MEDIUM, "p"))  # 4 of 6
HIDDEN = suite((CRITICAL, "p"), (MEDIUM, "f"))  # 3 of 4


def test_hidden_tests_weigh_twice_and_severity_weighs_within_a_suite() -> None:
    outcome = outcome_of(static=STATIC, hidden=HIDDEN, build_ok=True)
    assert outcome.static_rate == Fraction(200, 3)
    assert outcome.hidden_rate == 75
    assert outcome.score == outcome.base == (Fraction(200, 3) + 150) / 3
    assert outcome.gate is Gate.OPEN
    assert outcome.marks == ()
    assert outcome.reason is None


def test_one_suite_alone_counts_and_is_marked() -> None:
    outcome = outcome_of(static=STATIC, build_ok=True)
    assert outcome.score == Fraction(200, 3)
    assert outcome.gate is Gate.REDUCED_EVIDENCE
    assert outcome.marks == (Mark.REDUCED_EVIDENCE,)


def test_a_failed_build_scores_zero_whatever_else_is_there() -> None:
    outcome = outcome_of(
        static=STATIC, hidden=HIDDEN, build_ok=False, performance_bonus=Fraction(5)
    )
    assert outcome.score == 0
    assert outcome.base is outcome.static_rate is outcome.hidden_rate is None
    assert outcome.reason is Reason.BUILD_FAILED


def test_a_failed_build_scores_zero_even_where_a_suite_cannot_be_read() -> None:
    assert outcome_of(build_ok=False, unreadable=("hidden",)).score == 0


def test_a_build_that_nobody_reported_is_open_and_marked() -> None:
    outcome = outcome_of(static=STATIC, hidden=HIDDEN)
    assert outcome.gate is Gate.OPEN
    assert outcome.marks == (Mark.BUILD_UNREPORTED,)


def test_an_unreadable_suite_is_no_answer_and_not_zero() -> None:
    outcome = outcome_of(static=STATIC, build_ok=True, unreadable=("hidden",))
    assert outcome.score is None
    assert outcome.reason is Reason.UNREADABLE
    assert "hidden" in outcome.why


def test_a_test_without_any_readable_run_makes_its_suite_unreadable() -> None:
    outcome = outcome_of(static=suite((MEDIUM, "??"), (MEDIUM, "pp")))
    assert outcome.score is None
    assert outcome.gate is Gate.UNREADABLE


def test_no_test_in_either_suite_is_no_answer() -> None:
    outcome = outcome_of(build_ok=True)
    assert outcome.score is None
    assert outcome.reason is Reason.NO_TESTS


def test_a_flaky_test_earns_its_fraction_and_is_marked() -> None:
    outcome = outcome_of(hidden=suite((CRITICAL, "ppf"), (MEDIUM, "ppp")), build_ok=True)
    assert outcome.score == 75
    assert Mark.NONDETERMINISTIC in outcome.marks


def test_one_unreadable_run_among_several_is_left_out_and_marked() -> None:
    hidden = suite((MEDIUM, "p?f"), (MEDIUM, "p?p"))
    outcome = outcome_of(hidden=hidden, build_ok=True, has_unreadable_run=True)
    assert outcome.score == 75
    assert Mark.UNREADABLE_RUN in outcome.marks
    assert outcome.run_scores == (100, None, 50)


def test_runs_within_two_points_are_reproducible() -> None:
    near = suite((MEDIUM, "pf"), *[(CRITICAL, "pp")] * 17)  # 52 of 52, then 51
    assert outcome_of(hidden=near).is_reproducible is True
    assert outcome_of(hidden=suite((MEDIUM, "pf"), (MEDIUM, "pp"))).is_reproducible is False


def test_hidden_tests_alone_count_and_are_marked_too() -> None:
    outcome = outcome_of(hidden=HIDDEN, build_ok=True)
    assert (outcome.score, outcome.gate) == (75, Gate.REDUCED_EVIDENCE)
    assert outcome.marks == (Mark.REDUCED_EVIDENCE,)


def test_the_score_of_a_single_run_has_bonus_and_deductions_like_the_whole() -> None:
    """Runs of 100 and 50, 4 for speed, 10 for a crash: 94 and 44; the whole 75 + 4 − 10."""
    outcome = outcome_of(
        static=suite((MEDIUM, "pp"), (MEDIUM, "pf")), performance_bonus=Fraction(4), crashes=1
    )
    assert outcome.run_scores == (94, 44)
    assert outcome.score == 69


def test_a_run_that_one_suite_lacks_has_no_score_of_its_own() -> None:
    outcome = outcome_of(static=suite((MEDIUM, "pp")), hidden=suite((MEDIUM, "p?")))
    assert outcome.run_scores == (100, None)


def test_exactly_two_points_apart_is_reproducible_and_a_hair_more_is_not() -> None:
    """Of 50 tests one that fails in the second run costs 100 ÷ 50 = 2 points; of 49 more."""
    for number, expected in ((50, True), (49, False)):
        tests = suite((MEDIUM, "pf"), *[(MEDIUM, "pp")] * (number - 1))
        assert outcome_of(static=tests).is_reproducible is expected


def test_a_single_run_says_nothing_of_reproducibility() -> None:
    assert outcome_of(static=STATIC).is_reproducible is None
    assert outcome_of(static=suite((MEDIUM, "p?"))).is_reproducible is None


def test_a_suite_with_fewer_runs_stands_with_its_whole_rate_in_the_others() -> None:
    outcome = outcome_of(static=suite((MEDIUM, "p")), hidden=suite((MEDIUM, "pf")))
    assert outcome.run_scores == (100, Fraction(100, 3))


def test_crashes_findings_and_bonus_are_added_before_the_limits() -> None:
    outcome = outcome_of(
        static=STATIC,
        hidden=HIDDEN,
        crashes=1,
        performance_bonus=Fraction(4),
        critical_findings=2,
    )
    assert outcome.base is not None
    assert outcome.score == outcome.base + 4 - 20
    assert outcome.deductions == 20
    assert (
        outcome.why == "Visible tests 66.67, hidden tests 75, 1 × crash −10, speed +4, "
        "2 × critical finding −10"
    )


def test_the_bonus_measured_is_clamped_to_five() -> None:
    assert outcome_of(static=STATIC, performance_bonus=Fraction(50)).bonus == 5
    assert outcome_of(static=STATIC, performance_bonus=Fraction(-3)).bonus == 0


def test_tests_are_counted_by_suite_and_severity() -> None:
    outcome = outcome_of(hidden=suite((MEDIUM, "pp"), (MEDIUM, "pf"), (HIGH, "ff")))
    assert outcome.counts == {
        "static": {},
        "hidden": {HIGH: Tally(1, 0, 1, 0), MEDIUM: Tally(2, 1, 0, 1)},
    }


tests_of_a_suite = st.lists(
    st.builds(
        GradedTest,
        id=st.just("t"),
        severity=st.sampled_from(Severity),
        runs=st.lists(st.booleans() | st.none(), min_size=3, max_size=3).map(tuple),
    ),
    max_size=5,
)
evidences = st.builds(
    ObjectiveEvidence,
    static=tests_of_a_suite,
    hidden=tests_of_a_suite,
    build_ok=st.booleans() | st.none(),
    crashes=st.integers(0, 12),
    performance_bonus=st.fractions(-10, 10, max_denominator=100),
    critical_findings=st.integers(0, 25),
)


@bounded
@given(evidences)
def test_a_score_lies_in_range_or_there_is_none_for_a_reason(evidence: ObjectiveEvidence) -> None:
    outcome = objective(evidence, CURRENT)
    if outcome.score is None:
        assert outcome.reason is not None
    else:
        assert 0 <= outcome.score <= 100
        assert all(run is None or 0 <= run <= 100 for run in outcome.run_scores)


@bounded
@given(evidences, st.randoms())
def test_the_order_of_the_tests_never_matters(evidence: ObjectiveEvidence, random: object) -> None:
    shuffled = list(evidence.static)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = ObjectiveEvidence(shuffled, evidence.hidden, evidence.build_ok)
    before = ObjectiveEvidence(evidence.static, evidence.hidden, evidence.build_ok)
    assert objective(again, CURRENT) == objective(before, CURRENT)


@bounded
@given(evidences)
def test_one_more_crash_never_raises_the_score(evidence: ObjectiveEvidence) -> None:
    crashed = ObjectiveEvidence(
        evidence.static,
        evidence.hidden,
        evidence.build_ok,
        crashes=evidence.crashes + 1,
        performance_bonus=evidence.performance_bonus,
        critical_findings=evidence.critical_findings,
    )
    before, after = objective(evidence, CURRENT).score, objective(crashed, CURRENT).score
    assert (before is None) is (after is None)
    assert before is None or after is None or after <= before


def test_the_performance_bonus_is_linear_in_how_many_times_as_fast_it_is() -> None:
    def bonus(*samples: float) -> Fraction:
        return performance_bonus(Fraction(2), [Fraction(str(s)) for s in samples], CURRENT)

    assert bonus(2) == bonus(3) == 0
    assert bonus(1) == bonus(0.1) == 5
    assert bonus(1.6) == Fraction(5, 4)  # a quarter faster
    assert bonus(0.1, 2, 9) == 0  # the median counts
    assert performance_bonus(Fraction(1, 2), [Fraction(1, 4)], CURRENT) == 5


@pytest.mark.parametrize(("baseline", "samples"), [(0, [1]), (1, []), (1, [0]), (1, [0, 1])])
def test_a_bonus_without_a_baseline_or_a_time_is_refused(baseline: int, samples: list[int]) -> None:
    with pytest.raises(ValueError, match="more than 0 seconds"):
        performance_bonus(Fraction(baseline), [Fraction(sample) for sample in samples], CURRENT)


def test_adding_a_suite_that_passes_can_lower_the_score() -> None:
    """What one might expect, and what the rule does not give: a suite alone counts whole."""
    alone = outcome_of(static=suite((MEDIUM, "p")))
    both = outcome_of(static=suite((MEDIUM, "p")), hidden=suite((MEDIUM, "p"), (MEDIUM, "f")))
    assert alone.score is not None and both.score is not None
    assert both.score < alone.score
