"""From events to code changes and test runs: what counts, and what is one and the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.types import Event, EventKind
from judging.scoring.steps import Change, TestRun, Unknown, in_order, read_steps

from .making import bounded, edit, run, start, streams


def changes(
    *events: Event, tree: set[str] | None = None, diff: set[str] | None = None
) -> list[Change]:
    steps = read_steps(in_order(events), tree, diff)
    return [step for step in steps if isinstance(step, Change)]


def runs(*events: Event) -> list[TestRun]:
    return [step for step in read_steps(in_order(events), None, None) if isinstance(step, TestRun)]


# Order -----------------------------------------------------------------------------------


def test_seq_orders_and_time_plays_no_part() -> None:
    events = [edit(2, t=10), edit(1, t=20), start(0, t=999)]
    assert [event.seq for event in in_order(events)] == [0, 1, 2]


def test_an_event_delivered_twice_is_one() -> None:
    assert in_order([edit(1), edit(1)]) == [edit(1)]


def test_of_two_events_in_one_place_the_same_is_kept_in_any_order() -> None:
    one, other = edit(1, "a"), edit(1, "b")
    assert in_order([one, other]) == in_order([other, one]) == in_order([other, one, other])


@bounded
@given(streams(), st.randoms())
def test_shuffling_and_repeating_gives_the_same_order(events: list[Event], random: object) -> None:
    delivered = [*events, *events[::2]]
    random.shuffle(delivered)  # type: ignore[attr-defined]
    assert in_order(delivered) == events


# Code changes ----------------------------------------------------------------------------


def test_writing_the_same_content_changes_nothing() -> None:
    assert changes(edit(1, before="x", after="x")) == []
    assert len(changes(edit(1, before="x", after="y"), edit(2, after="y"))) == 1


def test_an_empty_file_is_content_too() -> None:
    assert changes(edit(1, before="", after="")) == []
    assert changes(edit(1, before="x", after=""), edit(2, before="", after="x"))[1].restored


def test_a_write_that_succeeded_counts_where_no_content_is_known() -> None:
    found = changes(edit(1), edit(2), edit(3, ok=True))
    assert len(found) == 3
    assert not any(change.has_content or change.restored for change in found)


def test_a_write_that_failed_counts_for_nothing() -> None:
    assert changes(edit(1, ok=False), edit(2, before="x", after="y", ok=False)) == []


def test_what_was_known_before_stands_in_for_a_missing_before() -> None:
    first, second = changes(edit(1, after="x"), edit(2, after="y"))
    assert isinstance(first.before["a.py"], Unknown)
    assert second.before["a.py"] == "x"


def test_several_files_of_one_call_are_one_change() -> None:
    (change,) = changes(edit(1, "a", "0", "1", call="c"), edit(2, "b", "0", "1", call="c"))
    assert change.seqs == (1, 2)
    assert change.paths == {"a", "b"}


def test_a_call_that_leaves_all_files_as_they_were_is_no_change() -> None:
    assert changes(edit(1, "a", "0", "1", call="c"), edit(2, "a", "1", "0", call="c")) == []


def test_of_a_call_only_the_files_that_changed_are_touched() -> None:
    (change,) = changes(edit(1, "a", "0", "0", call="c"), edit(2, "b", "0", "1", call="c"))
    assert (change.seq, change.paths) == (2, {"b"})


def test_calls_that_overlap_are_kept_apart() -> None:
    found = changes(
        edit(1, "a", "0", "1", call="c"),
        edit(2, "b", "0", "1", call="d"),
        edit(3, "c", "0", "1", call="c"),
    )
    assert [change.paths for change in found] == [{"a", "c"}, {"b"}]


def test_a_call_cannot_span_a_test_run() -> None:
    found = changes(edit(1, "a", "0", "1", call="c"), run(2, "T"), edit(3, "b", "0", "1", call="c"))
    assert len(found) == 2


def test_edits_without_a_call_are_a_change_each() -> None:
    assert len(changes(edit(1, "a", "0", "1"), edit(2, "a", "1", "2"))) == 2


def test_a_change_has_the_time_of_its_first_edit_that_has_one() -> None:
    timeless = replace(edit(1, "a", "0", "1", call="c"), t=None)
    (change,) = changes(timeless, edit(2, "b", "0", "1", call="c", t=7))
    assert change.t == 7


def test_content_that_a_file_had_before_is_restored() -> None:
    found = changes(
        edit(1, before="0", after="1"), edit(2, before="1", after="2"), edit(3, after="0")
    )
    assert [bool(change.restored) for change in found] == [False, False, True]


def test_the_content_of_another_file_restores_nothing() -> None:
    assert not changes(edit(1, "a", "0", "1"), edit(2, "b", "9", "0"))[1].restored


def test_a_call_that_passes_through_an_old_content_restores_nothing() -> None:
    found = changes(
        edit(1, "a", "0", "1"),
        edit(2, "a", "1", "0", call="c"),
        edit(3, "a", "0", "2", call="c"),
    )
    assert not found[1].restored


def test_a_call_does_not_restore_what_it_wrote_itself() -> None:
    (change,) = changes(
        edit(1, "a", "0", "1", call="c"),
        edit(2, "a", "1", "2", call="c"),
        edit(3, "a", "2", "1", call="c"),
    )
    assert not change.restored


def test_an_edit_of_an_unnamed_file_is_a_change_without_a_path() -> None:
    first, second = changes(edit(1, None), edit(2, None))
    assert first.paths == second.paths == frozenset()


# Scratch files ---------------------------------------------------------------------------


def test_a_file_of_neither_the_tree_nor_the_diff_is_scratch() -> None:
    found = changes(
        edit(1, "src/a.py"), edit(2, "try.py"), edit(3, "src/new.py"),
        tree={"src/a.py"}, diff={"src/new.py"},
    )  # fmt: skip
    assert [change.paths for change in found] == [{"src/a.py"}, {"src/new.py"}]


@pytest.mark.parametrize(("tree", "diff"), [(None, {"a.py"}), ({"a.py"}, None), (None, None)])
def test_without_both_lists_no_file_can_be_called_scratch(
    tree: set[str] | None, diff: set[str] | None
) -> None:
    assert len(changes(edit(1, "a.py"), edit(2, "try.py"), tree=tree, diff=diff)) == 2


def test_paths_from_the_root_of_the_machine_find_their_place_in_the_tree() -> None:
    tree = {"src/a.py", "src/b.py", "README.md"}
    found = changes(
        edit(1, "/app/src/a.py"), edit(2, "./src/b.py"), edit(3, "/tmp/README.md"),
        edit(4, "/app/README.md"), tree=tree, diff=set(),
    )  # fmt: skip
    assert [change.paths for change in found] == [{"src/a.py"}, {"src/b.py"}, {"README.md"}]


def test_one_file_under_two_names_is_one_file() -> None:
    found = changes(
        edit(1, "/app/a.py", "0", "1"), edit(2, "a.py", "1", "0"), tree={"a.py"}, diff={"a.py"}
    )
    assert found[1].restored == {"a.py"}


def test_where_no_path_fits_the_lists_a_file_counts_by_its_bare_name() -> None:
    packed = {"release-1/src/a.py"}
    assert len(changes(edit(1, "/w/a.py"), tree=packed, diff=set())) == 1
    assert len(changes(edit(1, "/w/NOTES.md"), tree=packed, diff=set())) == 0


def test_a_hostile_path_of_a_hundred_thousand_parts_is_no_trouble() -> None:
    assert changes(edit(1, "a/" * 100_000), edit(2, "a.py"), tree={"a.py"}, diff=set())


# Test runs -------------------------------------------------------------------------------


def test_a_run_that_collected_nothing_is_no_test_run() -> None:
    nothing = replace(run(1, ""), passed=0, failed=0)
    assert runs(run(1, ""), nothing) == []


def test_a_run_whose_results_nobody_can_read_is_no_test_run() -> None:
    assert runs(Event(1, EventKind.TEST, 10)) == []


def test_counts_make_a_run_where_no_test_is_named() -> None:
    (counted,) = runs(Event(1, EventKind.TEST, 10, passed=3, failed=1))
    assert (counted.passed, counted.total, dict(counted.results)) == (3, 4, {})
    assert counted.has_unnamed_passes


def test_counts_complete_a_run_that_names_only_its_failures() -> None:
    (partial,) = runs(replace(run(1, "A!"), passed=11, failed=1))
    assert (partial.passed, partial.total) == (11, 12)


def quiet(seq: int, failures: str, passed: int, *, command: str = "pytest -q") -> Event:
    """A run that names only what failed."""
    named = run(seq, "".join(f"{name}!" for name in failures))
    return replace(named, passed=passed, failed=len(failures), signature=command)


def test_what_a_command_named_before_and_no_longer_fails_has_passed() -> None:
    _, second, third = runs(quiet(1, "AB", 10), quiet(2, "B", 11), quiet(3, "", 12))
    assert second.results == {"A": True, "B": False}
    assert third.results == {"A": True, "B": True}


def test_another_command_says_nothing_of_the_tests_it_does_not_name() -> None:
    assert runs(quiet(1, "A", 11), quiet(2, "", 12, command="pytest -q tests/b"))[1].results == {}


def test_a_command_that_shrank_says_nothing_of_the_tests_it_does_not_name() -> None:
    assert runs(quiet(1, "A", 11), quiet(2, "", 11))[1].results == {}


def test_a_command_with_failures_it_does_not_name_says_nothing_of_the_others() -> None:
    unnamed_failure = replace(quiet(2, "", 11), failed=1)
    assert runs(quiet(1, "A", 11), unnamed_failure)[1].results == {}
