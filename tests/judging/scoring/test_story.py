"""The story of a run: reverts, thrash, verified states, fixes, retries, the decision path."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.types import Event, EventKind
from judging.scoring.story import StepKind, Story, tell

from .making import CANONICAL, bounded, command, edit, run, start, streams, submit


def story_of(
    *events: Event, baseline: dict[str, bool] | None = None, visible: set[str] | None = None
) -> Story:
    return tell(
        events, baseline=baseline or {}, visible_tests=visible, tree_paths=None, diff_paths=None
    )


def test_a_revert_goes_back_to_content_that_the_file_had() -> None:
    story = story_of(edit(1, "a", "0", "1"), edit(2, "a", "1", "2"), edit(3, "a", "2", "1"))
    assert [change.seq for change in story.reverts] == [3]


# Thrash ----------------------------------------------------------------------------------


def thrashes(*events: Event) -> list[tuple[int, int | None]]:
    return [
        (thrash.change.seq, thrash.next_run and thrash.next_run.seq)
        for thrash in story_of(*events).thrashes
    ]


BACK_AND_FORTH = (run(1, "TU!"), edit(2, "a", "0", "1"), edit(3, "a", "1", "0"))


def test_a_change_of_approach_without_progress_is_thrash_too() -> None:
    failing_again = (run(1, "TU"), edit(2, "a"), run(3, "TU!"))
    assert thrashes(*failing_again, edit(4, "b"), run(5, "TU!")) == [(4, 5)]
    assert thrashes(*failing_again, edit(4, "a"), run(5, "TU!")) == []  # within the attempt


def test_a_revert_that_no_run_follows_is_thrash() -> None:
    assert thrashes(*BACK_AND_FORTH) == [(3, None)]


def test_a_revert_after_which_no_more_tests_pass_than_at_best_before_is_thrash() -> None:
    assert thrashes(*BACK_AND_FORTH, run(4, "TU!")) == [(3, 4)]


def test_a_revert_after_which_more_tests_pass_is_progress() -> None:
    assert thrashes(*BACK_AND_FORTH, run(4, "TU")) == []
    assert thrashes(*BACK_AND_FORTH, run(4, "TUV!")) == []


def test_a_revert_after_which_all_tests_pass_is_progress_though_they_are_fewer() -> None:
    assert thrashes(*BACK_AND_FORTH, run(4, "U")) == []


def test_the_best_run_before_counts_and_not_the_last() -> None:
    events = [run(1, "TUV!"), run(2, "T!U!V!"), edit(3, "a", "0", "1"), edit(4, "a", "1", "0")]
    assert thrashes(*events, run(5, "TUV!")) == [(4, 5)]


def test_without_a_run_before_any_passing_test_is_progress() -> None:
    assert thrashes(*BACK_AND_FORTH[1:], run(4, "TU!")) == []
    assert thrashes(*BACK_AND_FORTH[1:], run(4, "T!U!")) == [(3, 4)]


def test_an_empty_test_command_is_not_the_next_run() -> None:
    assert thrashes(*BACK_AND_FORTH, run(4, ""), run(5, "TU")) == []


def test_a_change_that_is_revert_and_approach_change_thrashes_once() -> None:
    events = [run(1, "T"), edit(2, "a", "0", "1"), run(3, "T!"), edit(4, "a", "1", "0")]
    assert thrashes(*events) == [(4, None)]


def test_an_ordinary_change_without_progress_is_no_thrash() -> None:
    assert thrashes(run(1, "T!"), edit(2, "a", "0", "1"), run(3, "T!")) == []


# Verified states -------------------------------------------------------------------------


def verified(*events: Event) -> list[int]:
    return [state.run.seq for state in story_of(*events).verified]


def test_a_run_before_any_change_verifies_nothing() -> None:
    assert verified(run(1, "T"), run(2, "T")) == []


def test_the_first_run_of_all_verifies_if_something_was_changed() -> None:
    assert verified(edit(1, "a", "0", "1"), edit(2, "a", "1", "0"), run(3, "T")) == [3]


def test_running_again_on_the_same_tree_earns_nothing() -> None:
    assert verified(edit(1), run(2, "T"), run(3, "T")) == [2]


def test_an_undone_edit_is_no_new_state() -> None:
    undone = [edit(2, "a", "0", "1"), edit(3, "a", "1", "0")]
    assert verified(run(1, "T"), *undone, run(4, "T")) == []


def test_one_file_that_differs_makes_a_new_state_whatever_was_undone_beside_it() -> None:
    both = (edit(1, "a", "0", "1"), edit(2, "b", "0", "1"), run(3, "T"))
    then = (edit(4, "a", "1", "2"), edit(5, "b", "1", "2"), edit(6, "b", "2", "1"), run(7, "T"))
    assert verified(*both, *then) == [3, 7]


def test_content_that_nobody_knows_is_always_a_new_state() -> None:
    assert verified(run(1, "T"), edit(2), edit(3), run(4, "T")) == [4]


def test_the_tree_is_compared_with_that_of_the_run_before_and_not_with_all() -> None:
    events = [edit(1, "a", "0", "1"), run(2, "T"), edit(3, "a", "1", "0"), run(4, "T")]
    assert verified(run(0, "T"), *events) == [2, 4]


# Fixes -----------------------------------------------------------------------------------


def fix(*events: Event, **known: object) -> tuple[str, int, int] | None:
    found = story_of(*events, **known).fix  # type: ignore[arg-type]
    return None if found is None else (found.test, found.change.seq, found.run.seq)


def test_a_fix_is_the_last_change_before_the_first_lasting_pass() -> None:
    assert fix(*CANONICAL) == ("T", 6, 7)


def test_of_several_fixes_the_earliest_counts() -> None:
    events = [run(1, "T!U!"), edit(2), run(3, "T!U"), edit(4), run(5, "TU")]
    assert fix(*events) == ("U", 2, 3)


def test_a_pass_that_does_not_last_is_no_fix() -> None:
    events = [run(1, "T!"), edit(2), run(3, "T"), edit(4), run(5, "T!")]
    assert fix(*events) is None
    assert fix(*events, edit(6), run(7, "T")) == ("T", 6, 7)


def test_a_test_that_passed_when_first_seen_cannot_be_fixed() -> None:
    assert fix(run(1, "T"), edit(2), run(3, "T!"), edit(4), run(5, "T")) is None


def test_a_pass_before_any_change_is_no_fix_and_leaves_nothing_to_fix() -> None:
    story = story_of(run(1, "T!"), run(2, "T"), edit(3), run(4, "T"))
    assert story.fix is None
    assert story.broken_at_start == frozenset()


def test_where_the_visible_tests_are_listed_only_those_count() -> None:
    events = [run(1, "T!U!"), edit(2), run(3, "TU!"), edit(4), run(5, "TU")]
    assert fix(*events, visible={"U"}) == ("U", 4, 5)
    assert story_of(*events, visible={"X"}).broken_at_start == frozenset()


def test_a_late_first_look_hides_no_failure_of_the_baseline() -> None:
    events = [edit(1), run(2, "T")]
    assert fix(*events) is None
    assert fix(*events, baseline={"T": False}) == ("T", 1, 2)


def test_a_failing_test_of_the_baseline_that_is_never_looked_at_is_not_fixed() -> None:
    story = story_of(edit(1), baseline={"T": False})
    assert story.broken_at_start == {"T"}
    assert story.fix is None


# The rest --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "worth"),
    [("T!U", "TU", 1), ("TU", "TU", 1), ("T!U", "TU!", Fraction(1, 2)), ("TU", "T!U", 0)],
)
def test_a_turn_is_worth_what_became_of_the_pass_rate(
    first: str, second: str, worth: Fraction
) -> None:
    (turn,) = story_of(run(1, first), edit(2), run(3, second)).turns
    assert turn.worth == worth


def test_commits_and_stashes_are_checkpoints() -> None:
    assert story_of(start(), Event(1, EventKind.CHECKPOINT, 5), edit(2)).checkpoints == (1,)


def test_a_turn_needs_a_change_between() -> None:
    assert story_of(run(1, "T!"), run(2, "T")).turns == ()


def test_the_same_call_with_nothing_changed_in_between_is_a_retry() -> None:
    story = story_of(
        command(1, "build", False), Event(2, EventKind.MESSAGE, 20), command(3, "build", False),
        edit(4), command(5, "build", False), command(6, "build", True), command(7, "lint", True),
    )  # fmt: skip
    assert [(retry.signature, retry.seqs) for retry in story.retries] == [
        ("build", (1, 3)),
        ("build", (5, 6)),
    ]


def test_the_events_of_one_call_are_no_retries_of_each_other() -> None:
    same_call = {"signature": "write x y", "call": "c1"}
    events = [
        Event(seq, EventKind.EDIT, 0, path=p, ok=False, **same_call)
        for seq, p in [(1, "x"), (2, "y")]
    ]  # type: ignore[arg-type]
    assert story_of(*events).retries == ()


def test_the_decision_path_has_plans_contradictions_reverts_and_approach_changes_in_order() -> None:
    plan = Event(11, EventKind.PLAN, 310)
    path = story_of(*CANONICAL, plan).decision_path
    assert [(step.kind, step.seq) for step in path] == [
        (StepKind.CONTRADICTION, 4),
        (StepKind.REVERT, 5),
        (StepKind.APPROACH_CHANGE, 5),
        (StepKind.PLAN, 11),
    ]


def test_the_end_is_the_last_change_run_or_submit_and_nothing_less() -> None:
    later = [run(4, ""), Event(5, EventKind.MESSAGE, 99), command(6, "build", True)]
    for last in (edit(3), run(3, "T"), submit(3, 30)):
        story = story_of(start(0), last, *later)
        assert story.end is not None
        assert story.end.seq == 3


def test_unreadable_test_commands_are_told_from_empty_ones() -> None:
    unread = Event(1, EventKind.TEST, 10)
    assert story_of(unread).ran_or_tried_tests
    assert not story_of(run(1, "")).ran_or_tried_tests
    assert not story_of(Event(1, EventKind.TEST, 10, passed=0, failed=0)).ran_or_tried_tests


@bounded
@given(streams(), st.randoms())
def test_shuffling_and_repeating_events_changes_nothing(
    events: list[Event], random: object
) -> None:
    delivered = [*events, *events[::3]]
    random.shuffle(delivered)  # type: ignore[attr-defined]
    again = tell(delivered, baseline={}, visible_tests=None, tree_paths=None, diff_paths=None)
    first = story_of(*events)
    assert again.decision_path == first.decision_path
    assert [t.change.seq for t in again.thrashes] == [t.change.seq for t in first.thrashes]
    assert again.errors == first.errors
    assert again.retries == first.retries


@bounded
@given(streams())
def test_there_are_never_more_verified_states_than_changes(events: list[Event]) -> None:
    story = story_of(*events)
    assert len(story.verified) <= len(story.changes)
    assert len(story.thrashes) <= len(story.changes)
    assert len(story.reverts) <= len(story.changes)
