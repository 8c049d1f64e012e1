"""The session files of Claude Code: JSON lines, or an array of them in ``loglines`` (FORMATS.md, 2).

How messages become events stands in `bouts.formats.telemetry.claude`. Beside messages a file has
records of the program's own, such as summaries and snapshots of files: they are counted, and are
nothing that the agent did. ``raw`` is the JSON pointer of the record or of the block in it.

Records name the one before them by ``parentUuid``. They keep their order in the file but where
one stands before its parent: it waits for it. A record that stands twice counts once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, NamedTuple

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.jsonl import JsonLines, head_records
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.claude import Line, Talk, Usage, message_in
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.parts import word
from bouts.formats.telemetry.recorder import Recorder
from bouts.formats.text import single_line
from bouts.formats.types import Event, Kind, Report, Unreadable

MAX_EARLY = 10_000  # records that wait for their parents at one time

_MESSAGES = frozenset({"user", "assistant"})
_CALLS = frozenset({"tool_use", "tool_result"})  # records of their own in some versions


class _Record(NamedTuple):
    pointer: str
    value: Mapping[str, Any]


class ClaudeCodeReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "claude-code"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        if "loglines" in keys:
            return keys["loglines"] is None
        return any(
            "type" in record and "sessionId" in record for record in (keys, *head_records(head))
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(source, report).events()


class _Reading:
    """One pass over one file, after a survey of what has to be known before."""

    def __init__(self, source: BinaryIO, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._usage = Usage()
        self._counts: Counter[str] = Counter(records=0)
        self._folder: str | None = None
        self._late: set[str] = set()  # records that stand after one that names them as parent
        source.seek(0)
        head = source.read(64 * 1024)
        self._lines: JsonLines | None = None
        self._document: Document | None = None
        if "loglines" in top_keys(head):
            self._document = Document(source, report)
        else:
            self._lines = JsonLines(source, report)

    def _records(self) -> Iterator[_Record]:
        if self._lines is not None:
            for record in self._lines.records():
                yield _Record(record.pointer, record.value)
        elif self._document is not None:
            for part in self._document.parts("/loglines/*"):
                if isinstance(part.value, dict):
                    yield _Record(part.pointer, part.value)
                else:
                    self._remarks.add("a record is no object", part.pointer)

    def events(self) -> Iterator[Event]:
        self._survey()
        self._clock.settle(self._report)
        recorder = Recorder(self._folder)
        talk = Talk(recorder, self._usage, self._remarks)
        for record in self._in_order(self._once(self._records())):
            yield from self._record(record, talk)
        yield from talk.finish()
        if not self._counts["messages"]:
            raise Unreadable("no message in it, only records of other kinds")
        recorder.finish(self._report)
        self._report.counts.update({name: n for name, n in self._counts.items() if n})
        self._remarks.write(self._report)

    def _survey(self) -> None:
        seen: set[str] = set()
        awaited: set[str] = set()
        for pointer, record in self._records():
            uuid, parent = word(record.get("uuid")), word(record.get("parentUuid"))
            if uuid in seen:
                continue
            if parent and parent not in seen:
                awaited.add(parent)
            if uuid:
                seen.add(uuid)
            if word(record.get("type")) in _MESSAGES | _CALLS:
                if (stamp := record.get("timestamp")) is not None:
                    self._clock.survey(stamp)
                self._usage.survey(message_in(record), pointer)
            if self._folder is None:
                self._folder = word(record.get("cwd")) or None
            if version := word(record.get("version")):
                self._report.format_version = single_line(version)[:50]
        self._late = awaited & seen

    def _once(self, records: Iterable[_Record]) -> Iterator[_Record]:
        """Leave out what stands twice, as a resumed session repeats the one before it."""
        seen: set[str] = set()
        for record in records:
            uuid = word(record.value.get("uuid"))
            if uuid and uuid in seen:
                self._counts["repeated"] += 1
                continue
            seen.add(uuid)
            yield record

    def _in_order(self, records: Iterable[_Record]) -> Iterator[_Record]:
        """Let a record that stands before its parent wait for it."""
        early: dict[str, list[_Record]] = defaultdict(list)
        count = 0
        for record in records:
            parent = word(record.value.get("parentUuid"))
            if parent in self._late and count < MAX_EARLY:
                early[parent].append(record)
                count += 1
                self._remarks.add(
                    "a record stands before its parent, and was put after it", record.pointer
                )
                continue
            follow = [record]
            while follow:
                here = follow.pop(0)
                yield here
                uuid = word(here.value.get("uuid"))
                self._late.discard(uuid)
                freed = early.pop(uuid, [])
                count -= len(freed)
                follow[:0] = freed
        for waiting in early.values():
            yield from waiting  # parents that are each other's children

    def _record(self, record: _Record, talk: Talk) -> Iterator[Event]:
        pointer, value = record
        self._counts["records"] += 1
        kind = word(value.get("type"))
        if kind not in _MESSAGES | _CALLS:
            if kind == "file-history-snapshot":
                self._counts["snapshots"] += 1
            return
        self._counts["messages"] += 1
        is_side = value.get("isSidechain") is True
        if is_side:
            self._counts["of_subagents"] += 1
        line = Line(
            pointer,
            spare_id=pointer,
            t=self._clock.seconds(value.get("timestamp"), self._remarks, pointer),
            folder=word(value.get("cwd")) or None,
            is_agents=is_side or any(value.get(name) is True for name in _NOT_THE_USERS),
            told=value.get("toolUseResult"),
        )
        match kind:
            case "assistant":
                yield from talk.assistant(message_in(value), line)
            case "user":
                yield from talk.user(message_in(value), line)
            case "tool_use":
                yield from talk.called(value, line)
            case "tool_result":
                yield from talk.returned(value, line)


# Marks of what stands in a user's message and is not the user's.
_NOT_THE_USERS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
