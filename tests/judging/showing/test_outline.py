"""A run in windows, phases and kinds: nothing is lost between them, and nothing told twice."""

from __future__ import annotations

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from bouts.formats.types import Clock, Event, EventKind
from judging.charts.timeline import MOST_EVENTS
from judging.scoring.policy import CURRENT
from judging.scoring.telemetry import Recording, analyse
from judging.showing.outline import Outline, called_together, episode_rows, outline_of


def outlined(events: list[Event]) -> Outline:
    story = analyse(Recording(events, Clock.ZONED), CURRENT).story
    return outline_of(events, story, lambda event: f"#{event.seq} Plan: plan {event.seq}")


@given(st.lists(st.sampled_from(EventKind), min_size=1, max_size=60))
@settings(max_examples=40)
def test_kinds_and_phases_part_a_run_without_rest(kinds: list[EventKind]) -> None:
    events = [Event(seq, kind, t=float(seq)) for seq, kind in enumerate(kinds, start=1)]
    outline = outlined(events)
    by_kind = sorted(seq for kind in outline.kinds for seq in outline.selected(kind, None))
    assert by_kind == list(outline.seqs) == list(range(1, len(kinds) + 1))
    if 1 <= kinds.count(EventKind.PLAN) <= 40:
        by_phase = [seq for phase in outline.phases for seq in outline.selected(None, phase)]
        assert by_phase == list(outline.seqs)
    else:
        assert outline.phases == ()


def test_windows_part_a_long_run_and_each_event_has_its_own() -> None:
    count = 2 * MOST_EVENTS + 7
    outline = outlined([Event(2 * at, EventKind.READ, t=float(at)) for at in range(1, count + 1)])
    assert outline.windows == 3
    parts = [outline.selected(None, outline.window(number)) for number in (1, 2, 3)]
    assert [len(part) for part in parts] == [MOST_EVENTS, MOST_EVENTS, 7]
    assert [seq for part in parts for seq in part] == list(outline.seqs)
    assert [outline.window_of(part[0]) for part in parts] == [1, 2, 3]
    assert outline.window_of(10**6) == 1
    assert outline.window(99) == outline.window(3)


def test_an_outline_is_kept_without_what_the_run_said() -> None:
    long = "x" * 100_000
    outline = outlined([Event(at, EventKind.READ, t=0.0, text=long) for at in range(1, 50)])
    kept = pickle.dumps(outline)
    assert pickle.loads(kept) == outline
    assert len(kept) < 10_000


def test_an_error_belongs_to_every_window_that_it_reaches_into() -> None:
    events = [
        Event(1, EventKind.EDIT, t=0.0, path="a", before="1", after="2"),
        Event(2, EventKind.TEST, t=1.0, signature="t", results={"x": True}, passed=1, failed=0),
        Event(3, EventKind.EDIT, t=2.0, path="a", before="2", after="3"),
        Event(4, EventKind.TEST, t=3.0, signature="t", results={"x": False}, passed=0, failed=1),
        *(Event(at, EventKind.READ, t=float(at)) for at in range(5, 1_000)),
        Event(1_000, EventKind.TEST, t=1e3, signature="t", results={"x": True}, passed=1, failed=0),
    ]
    outline = outlined(events)
    assert [(row.opened, row.closed) for row in episode_rows(outline.story, has_clock=True)] == [
        (4, 1_000)
    ]
    reached = [len(outline.story_of(outline.window(number)).errors) for number in (1, 2, 3)]
    assert reached == [1, 1, 1]
    runs = [len(outline.story_of(outline.window(number)).runs) for number in (1, 2, 3)]
    assert runs == [2, 0, 1]


def test_calls_of_one_turn_are_told_together_and_files_of_one_call_are_not() -> None:
    def event(seq: int, call: str | None, raw: str) -> Event:
        return Event(seq, EventKind.EDIT, call=call, raw=raw)

    events = [
        event(1, "a", "/steps/0/tool_calls/0"),
        event(2, "b", "/steps/0/tool_calls/1"),
        event(3, "c", "/steps/1/tool_calls/0"),
        event(4, "c", "/steps/1/tool_calls/0"),
        event(5, "d", "/history/7"),
        event(6, "e", "/history/8"),
        event(7, None, "/steps/0/tool_calls/2"),
    ]
    assert called_together(events) == {1: (2,), 2: (1,)}
