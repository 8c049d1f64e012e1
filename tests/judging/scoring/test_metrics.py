"""Each metric on small runs: its value, its reason, and the clock it refuses to repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from bouts.formats.types import Clock, Event, EventKind
from judging.scoring.metrics import MEASURES
from judging.scoring.reasons import Reason
from judging.scoring.telemetry import Metric

from .making import CANONICAL, analysed, bounded, command, edit, run, start, streams, submit


def metric(name: str, events: Sequence[Event], **known: object) -> Metric:
    return analysed(events, **known).metrics[name]


def untimed(events: Sequence[Event], *seqs: int) -> list[Event]:
    """The events, without a time at these places, or at none of all."""
    return [replace(e, t=None) if not seqs or e.seq in seqs else e for e in events]


def retimed(events: Sequence[Event], **times: float) -> list[Event]:
    """The events, those named e4, e7, ... at another time."""
    return [replace(e, t=times.get(f"e{e.seq}", e.t)) for e in events]


TIMED = {"pivot_latency_s", "dwell_ratio", "first_fix_ratio", "recovery_speed_s", "thrash_per_min"}
FAILING_AGAIN = [run(1, "T"), edit(2, "a"), run(3, "T!")]


# Pivot latency ---------------------------------------------------------------------------


def test_pivot_latency_is_the_median_wait_for_a_change_of_approach() -> None:
    found = metric("pivot_latency_s", CANONICAL)
    assert (found.value, found.score, found.reason) == (40, 100, None)
    assert found.how == "1 of 1 contradiction answered"
    (episode,) = found.episodes
    assert (episode.seqs, episode.seconds) == ((4, 5), 40)
    assert episode.text == "pivoted 40 s after the failure at #4"


def test_its_score_is_taken_times_the_share_that_was_answered() -> None:
    events = [*FAILING_AGAIN, edit(4, "b"), run(5, "T!")]
    found = metric("pivot_latency_s", events)
    assert (found.value, found.score) == (10, 50)
    assert found.how == "1 of 2 contradictions answered"
    assert [episode.seqs for episode in found.episodes] == [(3, 4), (5,)]


def test_an_interval_of_nothing_is_zero_and_no_fault_of_the_clock() -> None:
    found = metric("pivot_latency_s", [*FAILING_AGAIN, edit(4, "b", t=30)])
    assert (found.value, found.score, found.reason) == (0, 100, None)


def test_where_nothing_was_answered_the_value_is_null_and_the_score_zero() -> None:
    found = metric("pivot_latency_s", FAILING_AGAIN)
    assert (found.value, found.score, found.reason) == (None, 0, Reason.UNANSWERED)
    assert found.is_defined


def test_contradictions_that_closed_by_themselves_leave_nothing_to_measure() -> None:
    found = metric("pivot_latency_s", [*FAILING_AGAIN, run(4, "T")])
    assert (found.value, found.score, found.reason) == (None, None, Reason.NO_CONTRADICTIONS)
    assert not found.is_defined
    assert found.how == "n/a: there was no contradiction to answer"


# Dwell -----------------------------------------------------------------------------------


def test_dwell_is_the_share_of_time_before_the_first_change() -> None:
    found = metric("dwell_ratio", CANONICAL)
    assert found.value == Fraction(1, 5)
    assert found.how == "first code change after 60 of 300 s, the total"


def test_a_time_budget_as_base_cannot_be_flattered_by_stalling() -> None:
    stalled = retimed(CANONICAL, e10=3000)
    assert metric("dwell_ratio", stalled).value == Fraction(60, 3000)
    assert metric("dwell_ratio", stalled, budget_s=Fraction(600)).value == Fraction(60, 600)
    assert metric("thrash_per_min", stalled, budget_s=Fraction(600)).how == "0 thrashes in 50 min"


def test_with_a_budget_the_end_of_the_run_need_not_be_known() -> None:
    endless = untimed(CANONICAL, 10)
    assert metric("dwell_ratio", endless, budget_s=Fraction(600)).value == Fraction(1, 10)
    assert metric("dwell_ratio", endless).reason is Reason.DEGRADED


def test_what_comes_after_the_end_is_no_working_time() -> None:
    later = [*CANONICAL, Event(11, EventKind.MESSAGE, 900), run(12, "", t=950)]
    assert metric("dwell_ratio", later).value == Fraction(1, 5)


def test_a_run_of_no_length_has_no_ratios() -> None:
    instant = [replace(event, t=5.0) for event in CANONICAL]
    assert metric("dwell_ratio", instant).reason is Reason.DEGRADED
    assert metric("verification_density", instant).is_defined


# First fix -------------------------------------------------------------------------------


def test_first_fix_is_when_the_change_before_the_first_lasting_pass_came() -> None:
    found = metric("first_fix_ratio", CANONICAL)
    assert found.value == Fraction(1, 2)
    assert found.episodes[0].seqs == (6, 7)


def test_first_fix_scores_zero_where_nothing_passes_for_good() -> None:
    found = metric("first_fix_ratio", [run(1, "T!"), edit(2), run(3, "T!")])
    assert (found.value, found.score, found.reason) == (None, 0, Reason.UNFIXED)


def test_first_fix_scores_zero_where_a_known_failure_was_never_looked_at() -> None:
    found = metric("first_fix_ratio", [start(0), edit(1)], baseline={"T": False})
    assert (found.score, found.reason) == (0, Reason.UNFIXED)


def test_first_fix_is_undefined_where_no_test_failed_when_first_seen() -> None:
    found = metric("first_fix_ratio", [run(1, "T"), edit(2), run(3, "T!")])
    assert (found.score, found.reason) == (None, Reason.NO_FAILING_TESTS)


# Verification density --------------------------------------------------------------------


def test_verification_density_counts_states_and_not_runs() -> None:
    found = metric("verification_density", [edit(1), run(2, "T"), run(3, "T"), edit(4)])
    assert found.value == Fraction(1, 2)
    assert found.how == "1 verified state, 2 changes, 2 test runs"


def test_never_testing_is_a_density_of_zero() -> None:
    assert metric("verification_density", [edit(1)]).score == 0


# Recovery speed --------------------------------------------------------------------------


def test_recovery_speed_is_the_median_recovery_window() -> None:
    found = metric("recovery_speed_s", CANONICAL)
    assert (found.value, found.score) == (90, 100)
    assert found.how == "1 of 1 error resolved"
    assert found.episodes[0].text == "the test that broke at #4 worked 90 s later"


def test_recovery_speed_is_taken_times_the_share_that_was_closed() -> None:
    events = [run(1, "TU"), edit(2), run(3, "T!U!"), run(4, "TU!")]
    found = metric("recovery_speed_s", events)
    assert (found.value, found.score) == (10, 50)


def test_errors_that_all_stay_open_are_a_zero_and_not_a_gap() -> None:
    found = metric("recovery_speed_s", FAILING_AGAIN)
    assert (found.value, found.score, found.reason) == (None, 0, Reason.UNRESOLVED)


# Thrash, reversion, scope, trajectory ----------------------------------------------------


def test_the_thrash_rate_is_by_the_minute() -> None:
    events = [start(), edit(1, "a", "0", "1", t=60), edit(2, "a", "1", "0", t=180)]
    assert metric("thrash_per_min", events).value == Fraction(1, 3)


def test_one_command_whose_results_cannot_be_read_spoils_no_run_that_can() -> None:
    """Both runs verify; the change at #3 went back and brought no test forward within a minute."""
    unread = Event(2, EventKind.TEST, 20, signature="pytest", ok=True)
    events = [
        edit(1, "a", "0", "1"),
        unread,
        edit(3, "a", "1", "0"),
        run(4, "T!"),
        edit(5, "b"),
        run(6, "T!"),
        submit(7, 60),
    ]
    assert metric("verification_density", events).value == Fraction(2, 3)
    assert metric("thrash_per_min", events).value == 1
    assert metric("score_trajectory", events).value == Fraction(1, 2)


def test_whoever_never_tests_has_verified_nothing() -> None:
    found = metric("verification_density", [edit(1), edit(2), submit(3, 60)])
    assert (found.value, found.score) == (0, 0)


def test_the_thrash_rate_of_a_short_run_is_by_the_minute_it_never_filled() -> None:
    events = [start(0), edit(1, "a", "0", "1"), edit(2, "a", "1", "0"), submit(3, 30)]
    assert metric("thrash_per_min", events).value == 1


def test_reversion_needs_five_changes() -> None:
    assert metric("reversion_ratio", CANONICAL).reason is Reason.TOO_FEW


def six_changes(*, content: bool) -> list[Event]:
    return [
        edit(seq, "a", str(seq) if content else None, str(seq + 1) if content else None)
        for seq in range(4, 9)
    ]


def test_reversion_needs_something_that_went_wrong() -> None:
    assert metric("reversion_ratio", six_changes(content=True)).reason is Reason.NO_ERRORS


def test_reversion_needs_content_to_go_back_to() -> None:
    blind = [*FAILING_AGAIN, *six_changes(content=False)]
    assert metric("reversion_ratio", blind).reason is Reason.NO_CONTENT
    assert metric("reversion_ratio", [*FAILING_AGAIN, *six_changes(content=True)]).value == 0


def test_reversion_is_the_share_of_changes_that_went_back() -> None:
    back = [*FAILING_AGAIN, *six_changes(content=True), edit(9, "a", "9", "4")]
    found = metric("reversion_ratio", back)
    assert found.value == Fraction(1, 7)
    assert found.episodes[0].seqs == (9,)


def test_scope_counts_new_paths_after_the_first_error() -> None:
    found = metric("scope_expansion", CANONICAL)
    assert found.value == 2
    assert found.how == "2 new paths after the first error, 1 before"


def test_scope_is_undefined_where_no_edit_before_the_error_names_its_file() -> None:
    events = [run(1, "T"), edit(2, None), run(3, "T!"), edit(4, "b")]
    assert metric("scope_expansion", events).reason is Reason.DEGRADED


def test_the_trajectory_is_the_mean_worth_of_its_turns() -> None:
    found = metric("score_trajectory", CANONICAL)
    assert (found.value, found.score) == (Fraction(2, 3), Fraction(200, 3))
    assert found.how == "3 pairs of test runs with a change between"
    assert found.good == ""


def test_a_single_test_run_has_no_trajectory() -> None:
    assert metric("score_trajectory", [edit(1), run(2, "T")]).reason is Reason.TOO_FEW


# Nothing changed, nothing recorded -------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_without_a_code_change_no_metric_is_defined(name: str) -> None:
    quiet = [event for event in CANONICAL if event.kind is not EventKind.EDIT]
    errors = {"recovery_speed_s", "scope_expansion"}
    expected = Reason.NO_ERRORS if name in errors else Reason.NO_EDITS
    assert metric(name, quiet).reason is expected
    assert metric(name, quiet).score is None


@pytest.mark.parametrize("name", MEASURES)
def test_without_events_every_metric_says_that_there_is_no_telemetry(name: str) -> None:
    assert metric(name, []).reason is Reason.NO_TELEMETRY
    assert metric(name, [], absent=Reason.UNREADABLE).reason is Reason.UNREADABLE


# The clock -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_without_a_clock_only_what_needs_time_is_undefined(name: str) -> None:
    with_clock = metric(name, CANONICAL)
    for known in (metric(name, untimed(CANONICAL)), metric(name, CANONICAL, clock=Clock.NONE)):
        if name in TIMED:
            assert (known.score, known.reason) == (None, Reason.NO_CLOCK)
        else:
            assert (known.score, known.reason) == (with_clock.score, with_clock.reason)


def test_no_clock_is_no_excuse_for_what_was_never_done() -> None:
    unanswered = untimed(FAILING_AGAIN)
    assert metric("pivot_latency_s", unanswered).score == 0
    assert metric("recovery_speed_s", unanswered).score == 0


@pytest.mark.parametrize("clock", [Clock.ZONED, Clock.NAIVE, Clock.RELATIVE])
def test_any_real_clock_will_do_for_intervals(clock: Clock) -> None:
    assert metric("pivot_latency_s", CANONICAL, clock=clock).value == 40


@pytest.mark.parametrize(
    ("seq", "degraded"),
    [
        (0, {"dwell_ratio", "first_fix_ratio", "thrash_per_min"}),
        (1, set()),
        (3, {"dwell_ratio"}),
        (4, {"pivot_latency_s", "recovery_speed_s"}),
        (5, {"pivot_latency_s"}),
        (6, {"first_fix_ratio"}),
        (7, {"recovery_speed_s"}),
        (10, {"dwell_ratio", "first_fix_ratio", "thrash_per_min"}),
    ],
)
def test_a_missing_time_degrades_the_metrics_that_use_it_and_no_others(
    seq: int, degraded: set[str]
) -> None:
    metrics = analysed(untimed(CANONICAL, seq)).metrics
    assert {n for n, m in metrics.items() if m.reason is Reason.DEGRADED} == degraded


def test_an_interval_that_runs_backwards_is_never_scored() -> None:
    backwards = retimed(CANONICAL, e5=80)
    assert metric("pivot_latency_s", backwards).reason is Reason.DEGRADED
    assert metric("recovery_speed_s", backwards).value == 90


def test_a_change_that_lies_after_the_end_is_never_scored() -> None:
    assert metric("dwell_ratio", retimed(CANONICAL, e3=400)).reason is Reason.DEGRADED


@pytest.mark.parametrize("t", [float("nan"), float("inf")])
def test_a_time_that_is_no_time_degrades(t: float) -> None:
    assert metric("dwell_ratio", retimed(CANONICAL, e3=t)).reason is Reason.DEGRADED


def test_times_are_taken_as_the_decimals_they_are_written_as() -> None:
    events = retimed(CANONICAL, e4=90.1, e5=90.4)
    assert metric("pivot_latency_s", events).value == Fraction(3, 10)


# Tests that cannot be read ---------------------------------------------------------------


def unread(seq: int) -> Event:
    return Event(seq, EventKind.TEST, 10.0 * seq)


def counted(seq: int, passed: int, failed: int) -> Event:
    return Event(seq, EventKind.TEST, 10.0 * seq, passed=passed, failed=failed)


def test_passes_that_the_failing_run_itself_does_not_name_answer_nothing() -> None:
    failing = run(3, "T!", passed=4, failed=1)
    found = metric("pivot_latency_s", [run(1, "T"), edit(2), failing])
    assert (found.score, found.reason) == (0, Reason.UNANSWERED)
    later = run(4, "", passed=5, failed=0)
    found = metric("pivot_latency_s", [run(1, "T"), edit(2), failing, later])
    assert (found.score, found.reason) == (None, Reason.TESTS_UNREADABLE)


def test_unreadable_tests_are_no_proof_that_nothing_went_wrong() -> None:
    events = [start(0), edit(1, "a", "0", "1"), edit(2, "a", "1", "0"), unread(3), submit(4, 60)]
    metrics = analysed(events).metrics
    reasons = {name for name, m in metrics.items() if m.reason is Reason.TESTS_UNREADABLE}
    assert reasons == MEASURES.keys() - {"dwell_ratio", "reversion_ratio"}


def test_counts_without_names_tell_progress_but_not_which_test_broke() -> None:
    events = [start(0), counted(1, 2, 1), edit(2), counted(3, 1, 2), edit(4), counted(5, 3, 0)]
    metrics = analysed(events).metrics
    assert metrics["score_trajectory"].value == Fraction(1, 2)
    assert metrics["verification_density"].value == 1
    for name in ("pivot_latency_s", "first_fix_ratio", "recovery_speed_s", "scope_expansion"):
        assert metrics[name].reason is Reason.TESTS_UNREADABLE


def test_what_may_have_passed_unnamed_is_unknown_and_not_left_undone() -> None:
    metrics = analysed([run(0, "S!"), *FAILING_AGAIN, counted(4, 9, 0)]).metrics
    for name in ("pivot_latency_s", "first_fix_ratio", "recovery_speed_s"):
        assert metrics[name].reason is Reason.TESTS_UNREADABLE


def test_an_unnamed_pass_before_the_failure_is_no_excuse() -> None:
    found = metric("pivot_latency_s", [counted(0, 9, 0), *FAILING_AGAIN])
    assert found.score == 0


def test_a_command_that_stays_broken_is_not_excused_by_unreadable_tests() -> None:
    events = [edit(1), command(2, "build", False), unread(3)]
    assert metric("recovery_speed_s", events).reason is Reason.UNRESOLVED


# Any stream ------------------------------------------------------------------------------


@bounded
@given(streams())
def test_a_metric_has_a_score_in_range_or_a_reason(events: list[Event]) -> None:
    for found in analysed(events).metrics.values():
        if found.score is None:
            assert found.value is None
            assert found.reason is not None
            assert found.how == f"n/a: {found.reason.sentence}"
        else:
            assert 0 <= found.score <= 100
            assert (found.value is None) is (found.reason is not None)
            assert found.value is None or found.value >= 0


@bounded
@given(streams())
def test_every_episode_rests_on_events_that_are_there(events: list[Event]) -> None:
    seqs = {event.seq for event in events}
    for found in analysed(events).metrics.values():
        for episode in found.episodes:
            assert episode.seqs
            assert set(episode.seqs) <= seqs
            assert episode.seconds is None or episode.seconds >= 0
