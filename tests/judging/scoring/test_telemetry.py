"""The way in: a recording becomes metrics, counts and a story, in any order of delivery."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bouts.formats.types import Event, EventKind
from judging.scoring.policy import CURRENT
from judging.scoring.telemetry import Recording, analyse
from tests import work

from .making import CANONICAL, analysed, bounded, edit, run, start, streams, submit


def test_the_counts_of_the_canonical_stream() -> None:
    counts = analysed(CANONICAL).counts
    assert (counts.code_changes, counts.test_runs, counts.verified_states) == (4, 4, 3)
    assert (counts.error_episodes, counts.unresolved) == (1, 0)
    assert (counts.contradictions, counts.unanswered, counts.approach_changes) == (1, 0, 1)
    assert (counts.reverts, counts.thrashes, counts.retries, counts.checkpoints) == (1, 0, 0, 0)


def test_metrics_come_in_the_order_of_the_policy() -> None:
    names = [rule.name for rule in CURRENT.halves.metrics]
    assert list(analysed(CANONICAL).metrics) == names


def test_a_run_without_any_test_is_unverified() -> None:
    assert analysed([start(0), edit(1), submit(2, 30)]).is_unverified
    assert not analysed(CANONICAL).is_unverified


def test_a_test_command_whose_results_cannot_be_read_is_no_proof_of_not_testing() -> None:
    assert not analysed([start(0), edit(1), Event(2, EventKind.TEST, 20)]).is_unverified


def test_a_test_command_that_collected_nothing_verifies_nothing() -> None:
    assert analysed([start(0), edit(1), run(2, "")]).is_unverified


def test_no_telemetry_is_not_the_same_as_no_tests() -> None:
    telemetry = analysed([])
    assert telemetry.absent is not None
    assert not telemetry.is_unverified


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_of_no_time_is_refused(budget: int) -> None:
    with pytest.raises(ValueError, match="more than 0 seconds"):
        Recording([], budget_s=Fraction(budget))


def test_scratch_files_change_no_count() -> None:
    scratch = [edit(seq, f"/tmp/try{seq}.py", t=200) for seq in range(11, 16)]
    known = {"tree_paths": {"a.py", "b.py"}, "diff_paths": {"c.py"}}
    assert analysed([*CANONICAL, *scratch], **known).counts == analysed(CANONICAL).counts
    assert analysed([*CANONICAL, *scratch]).counts.code_changes == 9


@bounded
@given(
    streams(),
    st.randoms(),
    st.dictionaries(st.sampled_from("tuv"), st.booleans()),
    st.sets(st.sampled_from("abcd")),
)
def test_shuffling_or_repeating_events_changes_nothing(
    events: list[Event], order: random.Random, baseline: dict[str, bool], tree: set[str]
) -> None:
    delivered = [*events, *events[::2], *events[::3]]
    order.shuffle(delivered)
    known = {"baseline": baseline, "tree_paths": tree, "diff_paths": {"d"}}
    first, again = analysed(events, **known), analysed(delivered, **known)
    assert again.metrics == first.metrics
    assert again.counts == first.counts


@bounded
@given(streams(), st.integers(1, 1000))
def test_when_the_clock_was_started_changes_nothing(events: list[Event], shift: int) -> None:
    shifted = [
        Event(**{**{f: getattr(e, f) for f in Event.__slots__}, "t": e.t and e.t + shift})
        for e in events
        if e.t != 0
    ]
    kept = [event for event in events if event.t != 0]
    assert analysed(shifted).metrics == analysed(kept).metrics


def test_work_grows_with_the_length_of_a_run() -> None:
    short, long = (
        work.lines(lambda length=length: analyse(busy_run(length), CURRENT))
        for length in (1_000, 4_000)
    )
    assert long < 4.5 * short


def test_the_counts_of_twenty_thousand_events() -> None:
    counts = analyse(busy_run(20_000), CURRENT).counts
    assert counts.test_runs == 5_000
    assert counts.error_episodes > 5_000


def busy_run(length: int) -> Recording:
    """A run that reads, edits, tests and runs by turns, and fails often."""
    draw = random.Random(7)
    events: list[Event] = [start(0)]
    for seq in range(1, length, 4):
        path = f"src/module{draw.randrange(40)}.py"
        results = {f"t{number}": draw.random() < 0.8 for number in range(12)}
        events += [
            Event(seq, EventKind.READ, seq * 1.5, path=path, signature=f"read {path}"),
            edit(seq + 1, path, str(draw.randrange(9)), str(draw.randrange(9)), t=seq * 1.5 + 1),
            Event(seq + 2, EventKind.TEST, seq * 1.5 + 2, results=results, signature="pytest"),
            Event(seq + 3, EventKind.RUN, seq * 1.5 + 3, signature="make", ok=draw.random() < 0.7),
        ]
    return Recording(events)
