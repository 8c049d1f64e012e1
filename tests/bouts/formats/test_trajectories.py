"""One small piece of work as each harness records it: whatever the format, the same story.

The tests fail in `add`, a careless replacement mends it and breaks `sub`, the file is written
anew, all pass. What a format cannot tell is missing, and never made up.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bouts.evidence import JsonPlace
from bouts.formats.pointers import values_at
from bouts.formats.sniff import HEAD_BYTES, find_reader
from bouts.formats.telemetry.contents import content_digest
from bouts.formats.types import Clock, Event, EventKind, Kind, Reader, Report
from tests.bouts.formats.reading import FIXTURES, notes, read

RIGHT = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
BOTH = RIGHT.replace("-", "+")


@dataclass(frozen=True)
class Story:
    file: str
    format: str
    version: str | None
    clock: Clock
    tokens: int | None  # that went in, all together
    exit_codes: bool
    told: int  # edits of which both contents are known

    def read(self) -> tuple[list[Event], Report]:
        return read(self.reader(), FIXTURES / self.file)

    def reader(self) -> Reader:
        reader = find_reader(Kind.TELEMETRY, (FIXTURES / self.file).read_bytes()[:HEAD_BYTES])
        assert reader is not None
        return reader


STORIES = [
    Story("swe-agent.traj", "swe-agent", None, Clock.NONE, None, exit_codes=False, told=0),
    Story("mini-bare.traj.json", "mini-swe-agent", None, Clock.NONE, None, exit_codes=True, told=0),
    Story("mini-1.15.traj.json", "mini-swe-agent", "1", Clock.ZONED, 800, exit_codes=True, told=0),
    Story("mini-1.traj.json", "mini-swe-agent", "1", Clock.ZONED, 800, exit_codes=True, told=0),
    Story("mini-2.traj.json", "mini-swe-agent", "1.1", Clock.ZONED, 700, exit_codes=True, told=0),
    Story(
        "mini-2-responses.traj.json",
        "mini-swe-agent",
        "1.1",
        Clock.ZONED,
        700,
        exit_codes=True,
        told=0,
    ),
    Story("openhands.json", "openhands", None, Clock.NAIVE, 600, exit_codes=True, told=1),
    Story("openhands-sdk.jsonl", "openhands-sdk", None, Clock.NAIVE, 2000, exit_codes=True, told=1),
    Story("gemini-cli.jsonl", "gemini-cli", None, Clock.ZONED, 500, exit_codes=False, told=2),
    Story("gemini-cli.json", "gemini-cli", None, Clock.ZONED, 500, exit_codes=False, told=2),
]
each_story = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.file)


def of_kind(events: list[Event], kind: EventKind) -> list[Event]:
    return [event for event in events if event.kind is kind]


@each_story
def test_the_format_is_found_with_its_version(story: Story) -> None:
    assert story.reader().format == story.format
    assert story.read()[1].format_version == story.version


@each_story
def test_it_begins_with_the_task_unless_only_the_agent_has_a_clock(story: Story) -> None:
    events, report = story.read()
    starts = of_kind(events, EventKind.START)
    if story.file in {"mini-1.15.traj.json", "mini-2.traj.json", "mini-2-responses.traj.json"}:
        assert starts == []
        assert events[0].t == 0
        assert "the task has no time" in notes(report)
    else:
        assert [start.text for start in starts] == [
            "add() of calc.py is wrong. Make the tests pass."
        ]


@each_story
def test_three_runs_of_the_tests_have_their_results(story: Story) -> None:
    runs = of_kind(story.read()[0], EventKind.TEST)
    assert [run.results for run in runs] == [
        {"test_calc::test_add": False, "test_calc::test_sub": True},
        {"test_calc::test_add": True, "test_calc::test_sub": False},
        {"test_calc::test_add": True, "test_calc::test_sub": True},
    ]
    assert [(run.passed, run.failed, run.ok) for run in runs] == [
        (1, 1, False),
        (1, 1, False),
        (2, 0, True),
    ]
    assert all(run.inferred and run.command for run in runs)


@each_story
def test_exit_codes_are_there_where_the_format_has_them(story: Story) -> None:
    codes = [run.exit_code for run in of_kind(story.read()[0], EventKind.TEST)]
    if story.format == "gemini-cli":
        assert codes == [1, 1, None]  # it tells of failures alone
    else:
        assert codes == ([1, 1, 0] if story.exit_codes else [None, None, None])


@each_story
def test_two_edits_changed_the_file(story: Story) -> None:
    edits = of_kind(story.read()[0], EventKind.EDIT)
    assert len(edits) == 2
    assert all(edit.ok and (edit.path or "").endswith("calc.py") for edit in edits)
    assert edits[-1].after == content_digest(RIGHT)
    told = [edit for edit in edits if edit.before and edit.after]
    assert len(told) == story.told
    if told:
        assert told[-1].before == content_digest(BOTH)
        assert (told[-1].lines_added, told[-1].lines_removed) == (1, 1)


@each_story
def test_paths_begin_where_the_project_does_as_far_as_that_is_told(story: Story) -> None:
    folder = (
        "" if story.format in {"swe-agent", "mini-swe-agent"} else "/tmp/bouts-fixture/project/"
    )
    edits = of_kind(story.read()[0], EventKind.EDIT)
    assert {edit.path for edit in edits} == {f"{folder}calc.py"}


@each_story
def test_the_clock_is_as_good_as_the_format_has_it(story: Story) -> None:
    events, report = story.read()
    assert report.clock is story.clock
    times = [event.t for event in events if event.t is not None]
    if story.clock is Clock.NONE:
        assert times == []
        assert report.origin is None
    else:
        assert times == sorted(times)
        assert times[0] < 1
        assert 3 < times[-1] < 15
        assert (report.origin or "").endswith("+00:00") is (story.clock is Clock.ZONED)


@each_story
def test_tokens_are_counted_once(story: Story) -> None:
    told = [event.tokens_in for event in story.read()[0] if event.tokens_in is not None]
    assert (sum(told) or None) == story.tokens


@each_story
def test_every_event_points_at_its_record(story: Story) -> None:
    events, _ = story.read()
    data = (FIXTURES / story.file).read_bytes()
    pointers = {JsonPlace(event.raw or "").tokens for event in events}
    found = values_at(io.BytesIO(data), pointers)
    assert found.keys() == pointers
    for event in of_kind(events, EventKind.TEST):
        record = found[JsonPlace(event.raw or "").tokens]
        assert json.dumps(event.command)[1:-1] in json.dumps(record).replace("\\\\", "\\")


@each_story
def test_events_are_numbered_from_one(story: Story) -> None:
    events, report = story.read()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert report.counts["events"] == len(events)


# A large file costs no more memory than its largest record

LARGE = 20_000_000  # bytes
MORE_MEMORY = 24_000_000

MEASURE = """
import json, resource, sys
from bouts.formats.sniff import HEAD_BYTES, find_reader
from bouts.formats.types import Kind, Report
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
small, large = sys.argv[1:]
for path in (small, large):
    with open(path, "rb") as source:
        reader = find_reader(Kind.TELEMETRY, source.read(HEAD_BYTES))
        count = sum(1 for _ in reader.read(source, Report()))
    print(count, peak())
"""


def repeated(data: bytes, size: int) -> bytes:
    """Return a trajectory whose records are padded, and repeated until it is as large as that."""
    if not data.startswith((b"[", b"{\n")):
        first, *others = (json.loads(line) for line in data.splitlines())
        body = b"".join(_padded(record) + b"\n" for record in others)
        return json.dumps(first).encode() + b"\n" + body * (size // len(body))
    document = json.loads(data)
    if isinstance(document, list):
        return b"[" + _padded_items(document, size) + b"]"
    name = next(name for name in ("steps", "trajectory", "messages") if name in document)
    rest = {key: value for key, value in document.items() if key != name}
    head = json.dumps(rest).encode()[:-1]
    return head + f', "{name}": ['.encode() + _padded_items(document[name], size) + b"]}"


def _padded_items(items: list[dict[str, object]], size: int) -> bytes:
    body = b", ".join(_padded(item) for item in items)
    return b", ".join([body] * (size // len(body)))


def _padded(record: dict[str, object]) -> bytes:
    return json.dumps(record | {"padding": "x" * 5_000}).encode()


@pytest.mark.parametrize(
    "file",
    [
        *("swe-agent.traj", "mini-2.traj.json", "openhands.json", "openhands-sdk.jsonl"),
        *("gemini-cli.jsonl", "gemini-cli.json"),
    ],
)
def test_a_trajectory_of_20_mb_is_read_in_bounded_memory(file: str, tmp_path: Path) -> None:
    data = (FIXTURES / file).read_bytes()
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(repeated(data, 5_000_000))
    large.write_bytes(repeated(data, LARGE))
    command = [sys.executable, "-c", MEASURE, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (few, before), (many, after) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert 0 < few <= many
    assert after - before < MORE_MEMORY
