"""Contradictions against a plain reading of the rule, and in work that does not explode."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.types import Event
from judging.scoring.steps import Change, TestRun, in_order, read_steps
from judging.scoring.story import Story, tell
from tests import work

from .making import CANONICAL, bounded, edit, run, start, streams, submit


def story_of(*events: Event, baseline: dict[str, bool] | None = None) -> Story:
    return tell(
        events, baseline=baseline or {}, visible_tests=None, tree_paths=None, diff_paths=None
    )


def fates(story: Story) -> list[tuple[int, int | None, int | None]]:
    """For each contradiction where it arose, was answered, was closed."""
    return [
        (c.run.seq, c.answer and c.answer.seq, c.closed_by and c.closed_by.seq)
        for c in story.contradictions
    ]


def test_a_failure_of_a_seen_test_after_a_change_contradicts_the_change() -> None:
    (contradiction,) = story_of(*CANONICAL).contradictions
    assert contradiction.run.seq == 4
    assert contradiction.tests == {"T", "U"}
    assert [change.seq for change in contradiction.attempt] == [3]


def test_without_a_change_there_is_nothing_to_contradict() -> None:
    assert fates(story_of(run(1, "T!"), run(2, "T!"), edit(3))) == []


def test_a_new_test_that_fails_when_first_seen_contradicts_nothing() -> None:
    assert fates(story_of(edit(1), run(2, "T!"))) == []


def test_a_baseline_has_already_been_seen() -> None:
    assert fates(story_of(edit(1), run(2, "T!"), baseline={"T": False})) == [(2, None, None)]
    assert fates(story_of(edit(1), run(2, "T!"), baseline={"T": True})) == [(2, None, None)]


def test_there_is_one_contradiction_a_run_however_many_tests_fail() -> None:
    assert len(fates(story_of(run(1, "TUV"), edit(2), run(3, "T!U!V!")))) == 1


def test_a_change_within_the_attempts_paths_answers_nothing() -> None:
    story = story_of(run(1, "T"), edit(2, "a"), run(3, "T!"), edit(4, "a"))
    assert fates(story) == [(3, None, None)]
    assert story.approach_changes == ()


def test_a_change_outside_the_attempts_paths_answers() -> None:
    story = story_of(run(1, "T"), edit(2, "a"), run(3, "T!"), edit(4, "a"), edit(5, "b"))
    assert fates(story) == [(3, 5, None)]
    assert [change.seq for change in story.approach_changes] == [5]


def test_going_back_to_earlier_content_answers() -> None:
    story = story_of(run(1, "T"), edit(2, "a", "0", "1"), run(3, "T!"), edit(4, "a", "1", "0"))
    assert fates(story) == [(3, 4, None)]


def test_the_attempt_reaches_back_to_the_test_run_before_and_no_further() -> None:
    story = story_of(
        run(1, "T"), edit(2, "a"), run(3, "T"), edit(4, "b"), run(5, "T!"), edit(6, "a")
    )
    assert fates(story) == [(5, 6, None)]


def test_one_change_can_answer_several_contradictions() -> None:
    story = story_of(
        run(1, "T"), edit(2, "a"), run(3, "T!"), edit(4, "a"), run(5, "T!"), edit(6, "b")
    )
    assert fates(story) == [(3, 6, None), (5, 6, None)]
    assert len(story.approach_changes) == 1


def test_a_narrow_attempt_can_be_answered_while_a_wider_one_before_it_stays_open() -> None:
    story = story_of(
        run(1, "T"),
        edit(2, "a"),
        edit(3, "b"),
        run(4, "T!"),  # of a and b
        edit(5, "a"),
        run(6, "T!"),  # of a alone
        edit(7, "b"),
    )
    assert fates(story) == [(4, None, None), (6, 7, None)]


def test_a_contradiction_closes_when_the_latest_result_of_each_of_its_tests_is_a_pass() -> None:
    story = story_of(
        run(1, "TU"), edit(2, "a"), run(3, "T!U!"), edit(4, "a"), run(5, "T"), run(6, "U"),
        edit(7, "b"),
    )  # fmt: skip
    assert fates(story) == [(3, None, 6)]
    assert story.approach_changes == ()


def test_the_same_tests_can_contradict_and_close_again() -> None:
    once = [run(1, "T"), edit(2, "a"), run(3, "T!"), run(4, "T")]
    again = [edit(5, "a"), run(6, "T!"), run(7, "T")]
    assert fates(story_of(*once, *again)) == [(3, None, 4), (6, None, 7)]


def test_a_test_that_passes_and_fails_again_keeps_its_contradiction_open() -> None:
    story = story_of(
        run(1, "TU"), edit(2, "a"), run(3, "T!U!"), run(4, "T"), run(5, "T!"), run(6, "U")
    )
    assert fates(story) == [(3, None, None)]


def test_tests_that_had_not_been_seen_before_do_not_hold_it_open() -> None:
    story = story_of(run(1, "T"), edit(2, "a"), run(3, "T!N!"), run(4, "TN!"))
    assert fates(story) == [(3, None, 4)]


def plain_fates(events: list[Event]) -> list[tuple[int, int | None, int | None]]:
    """The rule as it is written: every step looks at every contradiction."""
    seen: dict[str, bool] = {}
    attempt: list[Change] = []
    found: list[dict[str, object]] = []
    for step in read_steps(in_order(events), None, None):
        if isinstance(step, Change):
            attempt.append(step)
            for each in found:
                is_new_approach = bool(step.restored) or not step.paths <= each["paths"]  # type: ignore[operator]
                if each["answer"] is None and each["closed"] is None and is_new_approach:
                    each["answer"] = step.seq
        elif isinstance(step, TestRun):
            failing = {t for t, passed in step.results.items() if not passed and t in seen}
            seen.update(step.results)
            for each in found:
                all_pass = all(seen[test] for test in each["tests"])  # type: ignore[attr-defined]
                if each["answer"] is None and each["closed"] is None and all_pass:
                    each["closed"] = step.seq
            if attempt and failing:
                paths = {path for change in attempt for path in change.paths}
                found.append(
                    {
                        "seq": step.seq,
                        "tests": failing,
                        "paths": paths,
                        "answer": None,
                        "closed": None,
                    }
                )
            attempt = []
    return [(each["seq"], each["answer"], each["closed"]) for each in found]  # type: ignore[misc]


@bounded
@given(streams(max_size=60))
def test_every_fate_is_the_one_of_the_plain_reading(events: list[Event]) -> None:
    assert fates(story_of(*events)) == plain_fates(events)


moves = st.lists(
    st.sampled_from(["a", "a", "b", "ab", "back", "TU", "T!U", "TU!", "T!U!", "T", "U", "U!V!"]),
    max_size=60,
)


@bounded
@given(moves)
def test_every_fate_of_a_close_fight_is_the_one_of_the_plain_reading(moves: list[str]) -> None:
    """Two files, three tests: contradictions pile up, nest, close and come again."""
    events: list[Event] = []
    for move in ["TUV", *moves]:
        seq = len(events)
        if move == "back":
            events.append(edit(seq, "a", f"{seq}", "first"))
        elif move.islower():
            events += [edit(seq + place, path, call=f"c{seq}") for place, path in enumerate(move)]
        else:
            events.append(run(seq, move))
    assert fates(story_of(*events)) == plain_fates(events)


def test_contradictions_that_all_stay_open_take_no_square_of_the_work() -> None:
    short, long = (
        work.lines(lambda length=length: story_of(*unsettled(length))) for length in (1_000, 4_000)
    )
    assert long < 4.5 * short


def test_twenty_thousand_events_can_leave_all_contradictions_open() -> None:
    assert len(story_of(*unsettled(20_000)).contradictions) == 9_999


def unsettled(length: int) -> list[Event]:
    """Never reverted, one file, two tests that take turns in failing: nothing is ever settled."""
    events = [start(0), run(1, "TU")]
    for seq in range(2, length, 2):
        failing = "T!U" if seq % 4 else "TU!"
        events += [edit(seq, "a", str(seq), str(seq + 2)), run(seq + 1, failing)]
    events.append(submit(length + 1, 300_000))
    return events
