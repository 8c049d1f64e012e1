"""What ``codex exec --json`` prints: JSON lines of threads, turns and items (FORMATS.md, 2).

The stream has no clock, and the user's words are not in it. Calls stand in the order in which
they were begun. What files were changed is told by their paths alone, without content. The end of
a turn is the end of the work; its usage is the total of the thread so far (seen with Codex 0.171:
a resumed thread goes on from the total that it had). ``raw`` is the JSON pointer of the record
that completes the item.
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
from bouts.formats.telemetry.codex import TotalTokens, answer_of, file_edits
from bouts.formats.telemetry.parts import arguments_of, joined, mapping, word
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.waiting import Step, WaitingRoom
from bouts.formats.types import Clock, Event, Kind, Report, Unreadable

Fields = Mapping[str, Any]

_RECORDS = frozenset(
    {
        *("thread.started", "turn.started", "turn.completed", "turn.failed"),
        *("item.started", "item.updated", "item.completed"),
    }
)
# Items that are calls, with the tool's name.
_CALLS = {
    "command_execution": "command_execution",
    "file_change": "apply_patch",
    "mcp_tool_call": "",
    "collab_tool_call": "",
    "web_search": "web_search",
    "todo_list": "update_plan",
}


class CodexExecReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "codex-exec"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        return any(
            word(record.get("type")) in _RECORDS for record in (top_keys(head), *head_records(head))
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        report.clock = Clock.NONE
        report.note("clock: none; the stream has no time stamps")
        reading = _Reading(report)
        for record in JsonLines(source, report).records():
            yield from reading.record(record)
        yield from reading.finish()


class _Reading:
    """One pass over one file. It takes no survey, since nothing in it depends on what follows."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._counts: Counter[str] = Counter(records=0)
        self._recorder = Recorder()
        self._room = WaitingRoom(self._recorder)
        self._tokens = TotalTokens()
        self._calls: dict[str, Call] = {}  # begun and not completed
        self._thread = 0  # ids of items begin anew in each
        self._thoughts: list[str] = []

    def record(self, record: Record) -> Iterator[Event]:
        self._counts["records"] += 1
        value, pointer = record.value, record.pointer
        match value.get("type"):
            case "thread.started":
                self._thread += 1
            case "item.started":
                yield from self._started(mapping(value, "item"), f"{pointer}/item")
            case "item.completed":
                self._counts["items"] += 1
                yield from self._completed(mapping(value, "item"), f"{pointer}/item")
            case "turn.completed":
                tokens = self._tokens.grown(mapping(value, "usage"))
                yield from self._end(tokens, {"is_error": False}, pointer)
            case "turn.failed":
                self._remarks.add("a turn failed", pointer)
                error = mapping(value, "error").get("message")
                yield from self._end((0, 0), {"is_error": True}, pointer, error)
            case "error":
                self._remarks.add("an error is reported", pointer)

    def finish(self) -> Iterator[Event]:
        if thought := self._thought():
            yield from self._room.add(Step(Moment(None, thought), "/0"))
        yield from self._room.rest()
        if self._room.unanswered:
            self._report.note(f"calls without a result: {self._room.unanswered:,}")
        self._recorder.finish(self._report)
        if not self._counts["items"]:
            raise Unreadable("no item in it, only the frame of a thread")
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _started(self, item: Fields, pointer: str) -> Iterator[Event]:
        if word(item.get("type")) in _CALLS and (call_id := self._id(item)):
            call = self._calls[call_id] = self._call(item, pointer, call_id)
            yield from self._room.add(Step(Moment(None, self._thought()), pointer, [call]))

    def _completed(self, item: Fields, pointer: str) -> Iterator[Event]:
        kind, said = word(item.get("type")), word(item.get("text"))
        if kind in _CALLS:
            yield from self._ended(item, pointer)
        elif kind == "reasoning":
            self._thoughts.append(said)
        elif kind == "error":
            self._remarks.add("an error is reported", pointer)
        else:
            moment = Moment(None, joined(said, self._thought()))
            yield from self._room.add(Step(moment, pointer))

    def _ended(self, item: Fields, pointer: str) -> Iterator[Event]:
        call_id = self._id(item)
        call = self._calls.pop(call_id, None)
        if call is None:
            call = self._call(item, pointer, call_id or pointer)
            yield from self._room.add(Step(Moment(None, self._thought()), pointer, [call]))
        else:
            whole = self._call(item, pointer, call_id)  # a list of things to do grows on the way
            call.arguments, call.edits, call.pointer = whole.arguments, whole.edits, pointer
        output, extras = answer_of(item.get("aggregated_output", item.get("result")), item)
        error = mapping(item, "error").get("message")
        if isinstance(error, str):
            output = joined(output, error)
        self._room.answer(call.id, output, *extras)
        yield from self._room.ready()

    def _call(self, item: Fields, pointer: str, call_id: str) -> Call:
        kind = word(item.get("type"))
        tool = _CALLS[kind] or item.get("tool")
        arguments: Any = {
            name: item[name] for name in ("command", "query", "items") if name in item
        }
        if kind == "mcp_tool_call":
            arguments = arguments_of(item.get("arguments"))
        return Call(
            tool=tool if isinstance(tool, str) and tool.strip() else "unknown",
            arguments=arguments,
            pointer=pointer,
            id=call_id,
            edits=file_edits(item.get("changes")),
        )

    def _end(
        self, tokens: tuple[int, int], extra: Fields, pointer: str, error: Any = None
    ) -> Iterator[Event]:
        call = Call("task_complete", {}, pointer, extras=[extra])
        call.output = error if isinstance(error, str) else ""
        spent = (tokens[0] or None, tokens[1] or None)
        yield from self._room.add(Step(Moment(None, self._thought(), *spent), pointer, [call]))

    def _thought(self) -> str:
        thoughts, self._thoughts = self._thoughts, []
        return joined(*thoughts)

    def _id(self, item: Fields) -> str:
        item_id = item.get("id")
        return f"{item_id}.{self._thread}" if isinstance(item_id, str) else ""
