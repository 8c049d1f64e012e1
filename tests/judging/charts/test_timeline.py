from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bouts.formats.types import Clock, Event, EventKind
from judging.charts.timeline import BINS, MOST_EVENTS, Timeline, timeline
from judging.scoring.policy import CURRENT
from judging.scoring.telemetry import Recording, analyse


def drawn(events: list[Event], *, has_clock: bool = True) -> Timeline:
    clock = Clock.ZONED if has_clock else Clock.NONE
    story = analyse(Recording(events, clock), CURRENT).story
    return timeline(events, story, lambda event: f"#{event.seq}: {event.text}", has_clock=has_clock)


def place(text: str) -> float:
    return float(text.removesuffix("%"))


kinds = st.sampled_from(EventKind)
times = st.lists(st.floats(0, 10_000, allow_nan=False), min_size=1, max_size=60).map(sorted)


@given(times, st.data())
@settings(max_examples=50)
def test_every_event_has_its_mark_within_the_picture_in_its_order(
    at: list[float], data: st.DataObject
) -> None:
    events = [Event(seq, data.draw(kinds), t=t) for seq, t in enumerate(at, start=1)]
    picture = drawn(events)
    assert [mark.seq for mark in picture.marks] == [event.seq for event in events]
    places = [place(mark.x) for mark in picture.marks]
    assert places == sorted(places)
    assert all(8 <= x <= 98.51 for x in places)


def test_tests_that_broke_are_shown_until_they_pass_again() -> None:
    events = [
        Event(1, EventKind.EDIT, t=0.0, path="a", before="1", after="2"),
        Event(2, EventKind.TEST, t=10.0, signature="t", results={"x": True, "y": True}, passed=2, failed=0),
        Event(3, EventKind.EDIT, t=20.0, path="a", before="2", after="3"),
        Event(4, EventKind.TEST, t=30.0, signature="t", results={"x": False, "y": False}, passed=0, failed=2),
        Event(5, EventKind.EDIT, t=40.0, path="a", before="3", after="2"),
        Event(6, EventKind.TEST, t=50.0, signature="t", results={"x": True, "y": True}, passed=2, failed=0),
    ]  # fmt: skip
    picture = drawn(events)
    assert [(bar.title, bar.label, bar.is_open) for bar in picture.errors] == [
        ("2 things broke at #4, mended at #6", "20 s", False)
    ]
    assert [revert.seq for revert in picture.reverts] == [5]
    assert picture.curve is not None
    assert [point.title for point in picture.curve.points] == [
        "#2: 2 of 2 passed", "#4: 0 of 2 passed", "#6: 2 of 2 passed",
    ]  # fmt: skip


def test_a_long_run_is_no_larger_a_picture_than_a_short_one() -> None:
    events = [Event(seq, EventKind.READ, t=float(seq), text="x") for seq in range(1, 20_001)]
    picture = drawn(events)
    assert picture.is_binned
    assert len(picture.marks) <= BINS
    assert not drawn(events[:MOST_EVENTS]).is_binned


def test_without_a_clock_events_stand_at_equal_distances() -> None:
    events = [Event(seq, EventKind.READ, t=t) for seq, t in ((1, 0.0), (2, 1.0), (3, 900.0))]
    places = [place(mark.x) for mark in drawn(events, has_clock=False).marks]
    assert places == [8, 53.25, 98.5]
    assert place(drawn(events).marks[1].x) < 9


def test_one_event_and_none_are_drawn_too() -> None:
    assert len(drawn([Event(1, EventKind.SUBMIT, t=0.0)]).marks) == 1
    assert drawn([]).marks == ()
