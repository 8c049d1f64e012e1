"""One small piece of work as agents themselves record it: whatever the format, the same story.

Two files are written, a test fails, a sign is changed, all tests pass. What a format cannot tell
is missing, and never made up. `fixtures/agents/make.py` ran the tools.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bouts.evidence import JsonPlace
from bouts.formats.pointers import values_at
from bouts.formats.sniff import HEAD_BYTES, find_reader
from bouts.formats.telemetry.contents import content_digest
from bouts.formats.types import Clock, Event, EventKind, Kind, Report
from tests.bouts.formats.reading import FIXTURES, read
from tests.bouts.formats.test_trajectories import MEASURE

WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = WRONG.replace("-", "+")


@dataclass(frozen=True)
class Story:
    file: str
    format: str
    version: str | None
    clock: Clock
    tokens: tuple[int, int]  # in and out, all together
    codes: tuple[int | None, int | None]  # exit codes of the two runs of the tests
    told: bool = True  # both contents of the mended file are known
    has_start: bool = True
    folder: str = ""  # before paths, where the format does not tell it

    def read(self) -> tuple[list[Event], Report]:
        data = (FIXTURES / self.file).read_bytes()
        reader = find_reader(Kind.TELEMETRY, data[:HEAD_BYTES])
        assert reader is not None
        assert reader.format == self.format
        return read(reader, data)


CLAUDE = "2.1.197"
NONE, ZONED = Clock.NONE, Clock.ZONED
STORIES = [
    # 100, 110 … 160 tokens of seven messages, each with 1,007 of the cache; 20, 21 … 26 out.
    Story("claude-code.jsonl", "claude-code", CLAUDE, ZONED, (7959, 161), (1, None)),
    Story("claude-stream.jsonl", "claude-stream", CLAUDE, NONE, (7959, 161), (1, None), has_start=False),
    # 1,000, 1,100 … 1,600 of seven responses and 1,600 of the resumed turn; 30 … 36, and 36.
    Story("codex-rollout.jsonl", "codex-rollout", "0.171.0", ZONED, (10700, 267), (1, 0)),
    Story(
        *("codex-exec.jsonl", "codex-exec", None, NONE, (9100, 231), (1, 0)),
        **{"told": False, "has_start": False, "folder": "/tmp/room/work/"},
    ),
    # Seven answers of 100 and 1,000 from the cache, and 20 out.
    Story("inspect.eval", "inspect-eval", "2", ZONED, (7700, 140), (1, 0), told=False),
    Story("inspect.json", "inspect-json", "2", ZONED, (7700, 140), (1, 0), told=False),
    # Six calls of 100 and 10; the agent around them carries the sum.
    Story("genai.otlp.json", "otel-genai", None, ZONED, (600, 60), (1, 0)),
    Story("genai.jsonl", "otel-genai", None, ZONED, (600, 60), (1, 0)),
    Story("genai-before.otlp.jsonl", "otel-genai", None, ZONED, (600, 60), (1, 0)),
    Story("openinference.otlp.json", "openinference", None, ZONED, (600, 60), (1, 0)),
    Story("openinference.jsonl", "openinference", None, ZONED, (600, 60), (1, 0)),
]  # fmt: skip
each_story = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.file)


def of_kind(events: list[Event], kind: EventKind) -> list[Event]:
    return [event for event in events if event.kind is kind]


@each_story
def test_it_begins_with_the_task_where_the_format_has_it(story: Story) -> None:
    events, report = story.read()
    assert report.format_version == story.version
    starts = of_kind(events, EventKind.START)
    assert [start.text for start in starts] == ["Write calc.add and its tests"] * story.has_start


@each_story
def test_both_runs_of_the_tests_have_their_results(story: Story) -> None:
    first, second = of_kind(story.read()[0], EventKind.TEST)
    assert first.results == {"test_calc::test_zero": True, "test_calc::test_sum": False}
    assert second.results == {"test_calc::test_zero": True, "test_calc::test_sum": True}
    assert (first.ok, second.ok) == (False, True)
    assert (first.exit_code, second.exit_code) == story.codes
    assert first.inferred
    assert first.signature == second.signature


@each_story
def test_edits_have_the_contents_that_the_record_has(story: Story) -> None:
    edits = of_kind(story.read()[0], EventKind.EDIT)
    assert edits[-1].path == f"{story.folder}calc.py"
    assert {edit.path for edit in edits} <= {
        f"{story.folder}{name}" for name in ("calc.py", "test_calc.py")
    }
    contents = (content_digest(WRONG), content_digest(RIGHT)) if story.told else (None, None)
    if story.format.startswith("inspect"):  # sed: what was there is known, what it made is not
        contents = (content_digest(WRONG), None)
    assert (edits[-1].before, edits[-1].after) == contents
    if story.told:
        assert (edits[-1].lines_added, edits[-1].lines_removed) == (1, 1)


@each_story
def test_tokens_are_counted_once(story: Story) -> None:
    events, _ = story.read()
    assert sum(event.tokens_in or 0 for event in events) == story.tokens[0]
    assert sum(event.tokens_out or 0 for event in events) == story.tokens[1]


@each_story
def test_times_are_there_where_the_format_has_them(story: Story) -> None:
    events, report = story.read()
    assert report.clock is story.clock
    times = [event.t for event in events]
    if story.clock is NONE:
        assert set(times) == {None}
        assert report.origin is None
        assert any(note.text.startswith("clock: none") for note in report.notes)
    else:
        assert None not in times
        assert times == sorted(times)  # type: ignore[type-var]
        assert times[-1] > 1  # type: ignore[operator]


@each_story
def test_every_event_points_at_its_record(story: Story) -> None:
    events, report = story.read()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert report.counts["events"] == len(events)
    pointers = {JsonPlace(event.raw or "").tokens for event in events}
    found = values_at(io.BytesIO((FIXTURES / story.file).read_bytes()), pointers)
    assert found.keys() == pointers
    for event in of_kind(events, EventKind.EDIT):
        assert "calc.py" in json.dumps(found[JsonPlace(event.raw or "").tokens]) or (
            "attachment://" in json.dumps(found[JsonPlace(event.raw or "").tokens])
        )


def test_a_resumed_stream_has_the_total_of_its_thread() -> None:
    reader = find_reader(Kind.TELEMETRY, (FIXTURES / "codex-exec-resumed.jsonl").read_bytes())
    assert reader is not None
    both = (FIXTURES / "codex-exec.jsonl").read_bytes()
    both += (FIXTURES / "codex-exec-resumed.jsonl").read_bytes()
    events, _ = read(reader, both)
    assert sum(event.tokens_in or 0 for event in events) == 10700


# A large file costs no more memory than its largest record

MORE_MEMORY = 24_000_000
_ID = re.compile(
    rb'"((?:[0-9a-f]{8}-[0-9a-f-]{27}|(?:tool|msg|call|item|resp)_[0-9_]+|[0-9a-f]{16}))"'
)


def grown(name: str, size: int) -> bytes:
    """Return a fixture whose records stand in it again and again, each time with other ids."""
    data = (FIXTURES / name).read_bytes()
    if name.endswith(".jsonl"):
        first, _, rest = data.partition(b"\n")
        body = b"".join(line[:-1] + _PADDING + b"}\n" for line in rest.splitlines() if line)
        return first + b"\n" + b"".join(again(body, size))
    if name.endswith(".eval"):
        with zipfile.ZipFile(io.BytesIO(data)) as whole:
            parts = {i.filename: i for i in whole.infolist() if i.compress_type != 93}
            assert not parts  # zstd, which this library cannot read
        document = json.loads((FIXTURES / "inspect.json").read_bytes())
        (sample,) = document.pop("samples")
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("_journal/start.json", json.dumps(document))
            archive.writestr("samples/calc_epoch_1.json", with_items(sample, "events", size))
            archive.writestr("header.json", json.dumps(document))
        return written.getvalue()
    document = json.loads(data)
    if name == "inspect.json":
        (sample,) = document["samples"]
        whole = json.dumps(document | {"samples": ["SAMPLE"]}).encode()
        return whole.replace(b'"SAMPLE"', with_items(sample, "events", size))
    scope = document["resourceSpans"][0]["scopeSpans"][0]
    head = b'{"resourceSpans": [{"scopeSpans": ['
    return head + with_items(scope, "spans", size) + b"]}]}"


# As much as a compressed file may be: what cannot be packed is no bomb.
_PADDING = b', "padding": "' + b"".join(b"%x" % (n * 2654435761) for n in range(600)) + b'"'


def with_items(holder: dict[str, list[object]], name: str, size: int) -> bytes:
    rest = json.dumps({key: value for key, value in holder.items() if key != name}).encode()
    items = [json.dumps(item).encode()[:-1] + _PADDING + b"}" for item in holder[name]]
    body = b", ".join(items)
    return rest[:-1] + f', "{name}": ['.encode() + b", ".join(again(body, size)) + b"]}"


def again(body: bytes, size: int) -> Iterator[bytes]:
    for number in range(size // len(body) + 1):
        yield _ID.sub(rb'"\g<1>-%d"' % number, body)


@pytest.mark.parametrize(
    "file",
    [
        *("claude-code.jsonl", "codex-rollout.jsonl", "inspect.json", "inspect.eval"),
        "genai.otlp.json",
    ],
)
def test_a_file_of_20_mb_is_read_in_bounded_memory(file: str, tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(grown(file, 5_000_000))
    large.write_bytes(grown(file, 20_000_000))
    command = [sys.executable, "-c", MEASURE, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (few, before), (many, after) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert 0 < few < many
    assert after - before < MORE_MEMORY
