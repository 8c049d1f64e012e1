"""Error episodes: what opens one, what closes it, and what opens none."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given

from bouts.formats.types import Event, EventKind
from judging.scoring.errors import ErrorKind

from .making import analysed, bounded, command, edit, run, streams


def episodes(
    *events: Event, baseline: dict[str, bool] | None = None
) -> list[tuple[str, int, int | None]]:
    """For each episode what broke, where, and where it worked again."""
    errors = analysed(events, baseline=baseline or {}).story.errors
    return [(error.signature, error.opened_seq, error.closed_seq) for error in errors]


def test_a_test_that_passed_and_fails_after_a_change_opens_an_episode() -> None:
    assert episodes(run(1, "T"), edit(2), run(3, "T!"), run(4, "T!"), run(5, "T")) == [("T", 3, 5)]


def test_each_test_has_an_episode_of_its_own() -> None:
    assert episodes(run(1, "TU"), edit(2), run(3, "T!U!"), run(4, "TU!")) == [
        ("T", 3, 4),
        ("U", 3, None),
    ]


def test_a_later_failure_opens_a_new_one() -> None:
    assert episodes(run(1, "T"), edit(2), run(3, "T!"), run(4, "T"), run(5, "T!")) == [
        ("T", 3, 4),
        ("T", 5, None),
    ]


def test_a_new_test_that_fails_when_first_seen_opens_none_until_it_has_passed() -> None:
    assert episodes(edit(1), run(2, "T!"), run(3, "T!")) == []
    assert episodes(edit(1), run(2, "T!"), run(3, "T"), run(4, "T!")) == [("T", 4, None)]


def test_what_failed_before_the_first_change_opens_none_until_it_has_passed() -> None:
    assert episodes(run(1, "T"), run(2, "T!"), edit(3), run(4, "T!")) == []
    assert episodes(run(1, "T!"), edit(2), run(3, "T"), run(4, "T!")) == [("T", 4, None)]


def test_a_baseline_pass_is_a_pass_before() -> None:
    assert episodes(edit(1), run(2, "T!"), baseline={"T": True}) == [("T", 2, None)]
    assert episodes(edit(1), run(2, "T!"), baseline={"T": False}) == []


def test_a_baseline_pass_that_fails_before_the_first_change_is_void() -> None:
    assert episodes(run(1, "T!"), edit(2), run(3, "T!"), baseline={"T": True}) == []


def test_expected_and_infrastructure_failures_open_none() -> None:
    excused = [run(3, "T!", infra=True), run(4, "T!", expected=True)]
    assert episodes(run(1, "T"), edit(2), *excused) == []


def test_a_failure_that_stays_when_the_excuse_is_gone_opens_one() -> None:
    assert episodes(run(1, "T"), edit(2), run(3, "T!", infra=True), run(4, "T!")) == [
        ("T", 4, None)
    ]


def test_commands_open_and_close_episodes_by_signature() -> None:
    assert episodes(
        edit(1), command(2, "build", False), command(3, "lint", True), command(4, "build", True)
    ) == [("build", 2, 4)]


def test_a_command_that_failed_before_the_first_change_opens_none_until_it_has_passed() -> None:
    before = [command(1, "build", False), edit(2), command(3, "build", False)]
    assert episodes(*before) == []
    assert episodes(*before, command(4, "build", True), command(5, "build", False)) == [
        ("build", 5, None)
    ]


def test_an_expected_failure_of_a_command_opens_none() -> None:
    assert episodes(edit(1), command(2, "grep", False, expected=True)) == []
    assert episodes(edit(1), command(2, "net", False, infra=True)) == []


def test_a_command_of_unknown_end_or_without_a_signature_opens_none() -> None:
    unsigned = replace(command(3, "x", False), signature=None)
    assert episodes(edit(1), command(2, "build", None), unsigned) == []


def test_a_test_and_a_command_of_one_name_are_two_things() -> None:
    errors = analysed([run(1, "T"), edit(2), run(3, "T!"), command(4, "T", True)]).story.errors
    assert [(error.kind, error.is_open) for error in errors] == [(ErrorKind.TEST, True)]


def test_a_test_command_that_fails_without_results_is_a_command_that_fails() -> None:
    def broken(seq: int) -> Event:
        return Event(seq, EventKind.TEST, 10.0 * seq, signature="pytest", ok=False)

    collected_again = run(4, "T!", signature="pytest", ok=False)
    assert episodes(edit(1), broken(2), broken(3), collected_again) == [("pytest", 2, 4)]


@bounded
@given(streams())
def test_episodes_of_one_thing_never_overlap(events: list[Event]) -> None:
    errors = analysed(events).story.errors
    for kind, signature in {(error.kind, error.signature) for error in errors}:
        alike = [error for error in errors if (error.kind, error.signature) == (kind, signature)]
        for earlier, later in pairwise(alike):
            assert earlier.closed_seq is not None
            assert earlier.opened_seq < earlier.closed_seq <= later.opened_seq


@bounded
@given(streams())
def test_nothing_opens_before_the_first_change(events: list[Event]) -> None:
    story = analysed(events).story
    for error in story.errors:
        assert story.changes[0].seq < error.opened_seq
