"""A run of any length is judged in the same memory: events are read, looked at and let go."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from io import BytesIO

import pytest

from bouts.bundles.manifest import ChallengeFile
from bouts.formats.types import Clock, DiffLine, Event, EventKind, FileChange, Hunk, Kind
from judging.judges import objective, telemetry
from judging.judges.base import Dossier, Source
from judging.judges.detectors import base, record_of, search
from judging.judges.detectors.base import Hit, Input, Record
from judging.judges.integrity import IntegrityJudge
from judging.judges.telemetry import analysed
from judging.scoring.policy import CURRENT
from tests.judging.detectors.evaluate import EXAMPLES, sample

OUTPUT = "A line of what came back.\n" * 150  # 4 kB
EVENTS = 1_500  # 6 MB of outputs
SAMPLES = sorted(path.stem for path in (EXAMPLES / "bundles").glob("*.zip"))


def dossier(
    events: Callable[[], Iterator[Event]], path: str = "run.json", **challenge: object
) -> Dossier:
    """A match whose telemetry is made while it is read."""
    fields = {"schema": "bouts.challenge/1", "slug": "a", "title": "A", "briefing": ""}
    return Dossier(
        spec=ChallengeFile.model_validate({**fields, **challenge}),
        build=None,
        sources=(Source(path, Kind.TELEMETRY, clock=Clock.RELATIVE),),
        load=lambda path: events(),
        opened=lambda path: nullcontext(BytesIO()),
        names=tuple,
        hidden_words=tuple,
    )


def reading() -> Iterator[Event]:
    """An agent that reads file after file, and breaks no rule."""
    for seq in range(1, EVENTS + 1):
        yield Event(
            seq=seq,
            kind=EventKind.READ,
            t=float(seq),
            call=f"call-{seq}",
            path=f"src/m{seq % 9}.py",
            signature=f"sed -n {seq}p",
            command=f"sed -n {seq}p src/m{seq % 9}.py",
            output=f"{seq} {OUTPUT}",
        )


def polling() -> Iterator[Event]:
    """An agent that does one and the same thing all the time."""
    for event in reading():
        yield Event(
            seq=event.seq,
            kind=EventKind.RUN,
            call=event.call,
            signature="cat src/m1.py",
            command="cat src/m1.py",
            output=event.output,
        )


def peak_of(judge: Callable[[], object]) -> float:
    """Return the megabytes that judging has in use at most."""
    tracemalloc.start()
    try:
        judge()
        return tracemalloc.get_traced_memory()[1] / 1024 / 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("events", [reading, polling])
def test_the_detectors_hold_no_trajectory(events: Callable[[], Iterator[Event]]) -> None:
    match = dossier(events, forbidden_paths=["/hidden/**"], allowed_hosts=["mirror.example"])
    peak = peak_of(lambda: IntegrityJudge().judge(match, (), CURRENT))
    assert peak < 3


def test_the_metrics_hold_no_text_of_a_run() -> None:
    peak = peak_of(lambda: analysed(dossier(reading), CURRENT))
    assert peak < 3


def test_the_changes_of_a_long_diff_are_not_held() -> None:
    def changes() -> Iterator[FileChange]:
        for number in range(60):
            lines = tuple(DiffLine("+", None, at, f"x = {number} * {at}") for at in range(500))
            yield FileChange(f"m{number}.py", None, "added", 500, 0, hunks=(Hunk("", lines),))

    match = replace(
        dossier(reading), sources=(Source("final.diff", Kind.DIFF),), load=lambda path: changes()
    )
    record = record_of(match, (), CURRENT)
    assert peak_of(lambda: [change.path for _, change in record.changes]) < 3
    assert len(record.changed_paths) == 60
    assert len(record.added) == 30_000


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_anew_is_judged_as_what_is_kept(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sample(EXAMPLES / "bundles" / f"{name}.zip") as match:
        tests = objective.tests_of(match)
        kept = IntegrityJudge().judge(match, tests, CURRENT), analysed(match, CURRENT)
        monkeypatch.setattr(base, "KEPT_CHARS", 0)
        monkeypatch.setattr(base, "KEPT_LINES", 0)
        monkeypatch.setattr(telemetry, "MOST_KEPT", 0)
        anew = IntegrityJudge().judge(match, tests, CURRENT), analysed(match, CURRENT)
    assert anew == kept


def test_what_goes_beyond_the_bounds_is_said_by_every_detector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base, "MOST_EVENTS", 1_000)
    searched = IntegrityJudge().judge(dossier(reading), (), CURRENT).searched
    told = {tuple(one["searched"]) for one in searched if one["done"]}
    assert told == {("trajectory (the first 1,000 events)",)}


class _Finder:
    name = "finder"
    triggers = ("output_spoofing",)
    inputs = (Input.TRAJECTORY,)
    needs = ()

    def look(self, record: Record) -> Iterator[Hit]:
        for recorded in record.events:
            yield Hit("output_spoofing", (recorded.evidence("here"),), "Found.")


def test_a_detector_that_finds_without_end_is_stopped_and_that_is_said() -> None:
    (one,) = search(record_of(dossier(reading), (), CURRENT), (_Finder(),))
    assert (len(one.hits), one.is_done) == (base.MOST_HITS, True)
    assert one.missing == (f"what comes after {base.MOST_HITS} findings",)


def test_tests_that_are_read_are_kept_up_to_a_bound_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def tests_read() -> Iterator[Event]:
        for event in reading():
            path = f"tests/test_{event.seq}.py"
            yield Event(seq=event.seq, kind=EventKind.READ, path=path, output=event.output)

    listed = [{"id": "a::b", "suite": "static", "path": "tests/test_1.py"}]
    record = record_of(dossier(tests_read, tests=listed), (), CURRENT)
    searches = {one.name: one for one in search(record)}
    assert searches["output_spoofing"].error == ""
    assert "of the tests that it read, up to event" in record.cut[Input.TRAJECTORY]
