"""What Claude Code prints with ``--output-format stream-json`` (FORMATS.md, 2).

How messages become events stands in `bouts.formats.telemetry.claude`. The stream has no clock:
newer versions stamp what came back from tools, and nothing that the agent did. The user's words
are not in it, so that it begins with its first record. ``result`` is the end of the work, and
has the tokens of all of it: what messages were printed too early to know is added there.
``raw`` is the JSON pointer of the record or of the block in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import top_keys
from bouts.formats.guard import guarded
from bouts.formats.jsonl import JsonLines, Record, head_records
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.claude import Line, Talk, Usage, message_in, tokens_of
from bouts.formats.telemetry.parts import mapping, word
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.waiting import Step
from bouts.formats.text import single_line
from bouts.formats.types import Clock, Event, Kind, Report, Unreadable

# Those of a stream have `session_id`, where those of a session file have `sessionId`.
_TYPES = frozenset({"assistant", "user", "system", "result", "stream_event"})


class ClaudeStreamReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "claude-stream"
    version: ClassVar[int] = 3 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        return any(
            word(record.get("type")) in _TYPES and "session_id" in record
            for record in (top_keys(head), *head_records(head))
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(source, report).events()


class _Reading:
    """One pass over one file, after a survey of what has to be known before."""

    def __init__(self, source: BinaryIO, report: Report) -> None:
        self._report = report
        self._lines = JsonLines(source, report)
        self._remarks = Remarks()
        self._usage = Usage()
        self._counts: Counter[str] = Counter(records=0)
        self._folder: str | None = None

    def events(self) -> Iterator[Event]:
        self._survey()
        recorder = Recorder(self._folder)
        talk = Talk(recorder, self._usage, self._remarks)
        for record in self._lines.records():
            self._counts["records"] += 1
            yield from self._record(record, talk)
        yield from talk.finish()
        recorder.finish(self._report)
        if not self._counts["messages"]:
            raise Unreadable("no message in it, only records of other kinds")
        if not self._counts["results"]:
            self._report.note("no result at its end: the stream was cut, or the run broke off")
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _survey(self) -> None:
        self._report.clock = Clock.NONE
        self._report.note("clock: none; what the agent did has no time stamps")
        for pointer, record in ((record.pointer, record.value) for record in self._lines.records()):
            match record.get("type"):
                case "assistant":
                    self._usage.survey(message_in(record), pointer)
                case "system" if record.get("subtype") == "init":
                    self._read_init(record)

    def _read_init(self, record: Mapping[str, Any]) -> None:
        folder, version = record.get("cwd"), record.get("claude_code_version")
        if self._folder is None and isinstance(folder, str):
            self._folder = folder
        if isinstance(version, str):
            self._report.format_version = single_line(version)[:50]

    def _record(self, record: Record, talk: Talk) -> Iterator[Event]:
        value = record.value
        line = Line(
            record.pointer,
            spare_id=record.pointer,
            folder=self._folder,
            is_agents=value.get("parent_tool_use_id") is not None,
            told=value.get("tool_use_result"),
        )
        match value.get("type"):
            case "assistant":
                self._counts["messages"] += 1
                yield from talk.assistant(message_in(value), line)
            case "user":
                self._counts["messages"] += 1
                yield from talk.user(message_in(value), line)
            case "result":
                self._counts["results"] += 1
                yield from talk.add(self._end(value, talk, record.pointer))

    def _end(self, result: Mapping[str, Any], talk: Talk, pointer: str) -> Step:
        """Return the end of the work, with the tokens that the messages did not know of."""
        totals = tokens_of(mapping(result, "usage"))
        late = [max(total - spent, 0) for total, spent in zip(totals, talk.spent, strict=True)]
        talk.spent = [spent + more for spent, more in zip(talk.spent, late, strict=True)]
        said = result.get("result")
        duration = result.get("duration_ms")
        if type(duration) is int:
            self._report.facts["duration_ms"] = duration
        failed = result.get("is_error") is True
        call = Call("submit", {}, pointer, output=said if isinstance(said, str) else "")
        call.extras.append({"is_error": failed})
        if failed:
            self._remarks.add("the run ended in an error", pointer)
        return Step(Moment(None, "", late[0] or None, late[1] or None), pointer, [call])
