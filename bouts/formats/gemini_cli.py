"""Sessions of Gemini CLI: one JSON document up to 2025, JSON lines since.

In lines a message is written anew whenever something is added to it, under the same ``id``: its
last record counts, once. ``$set`` and ``$rewindTo`` records are about the conversation, not
about the work; what was done before a rewind was done all the same and stays.

What becomes an event
---------------------

- The user's first message is the ``start``; those that hold nothing but the answers of tools
  repeat what the calls say.
- A call of a ``gemini`` message is an event at the message's time; one without calls, and what
  the program says (``info``, ``error``), is a ``message``.
- An edit's ``resultDisplay`` has the file before and after, from which ``before``, ``after`` and
  the lines are derived.
- The exit code is what the shell tool writes when it is not 0.
- Tokens are the message's own: ``input``, and ``output`` with ``thoughts``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

import orjson

from bouts.formats.documents import top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.contents import told_edits
from bouts.formats.telemetry.parts import joined, mapping, text_of, token_count
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.records import Records
from bouts.formats.types import Event, Kind, Report, Unreadable

Record = Mapping[str, Any]

MAX_CALLS = 1_000  # of one message

_TYPES = ("user", "gemini", "info", "error", "warning")
_FAILED = ("error", "cancelled")


class GeminiCliReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "gemini-cli"
    version: ClassVar[int] = 1 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        return isinstance(keys.get("sessionId"), str) and (
            "projectHash" in keys or {"startTime", "messages"} <= keys.keys()
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(report).events(source)


class _Reading:
    """One pass over one file, after a survey of its clock and of what is told several times."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(messages=0)
        self._recorder = Recorder()
        self._last: dict[str, str] = {}  # the last record of each message

    def events(self, source: BinaryIO) -> Iterator[Event]:
        records = Records(source, self._report, "/messages/*")
        self._survey(records)
        self._clock.settle(self._report)
        for pointer, record in records:
            if not _is_message(record):
                continue
            message_id = record.get("id")
            if isinstance(message_id, str) and self._last[message_id] != pointer:
                self._counts["repeated_records"] += 1
                continue
            self._counts["messages"] += 1
            yield from self._message(record, pointer)
        if not self._counts["messages"]:
            raise Unreadable("no messages in it")
        self._recorder.finish(self._report)
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _survey(self, records: Records) -> None:
        for pointer, record in records:
            if "$rewindTo" in record:
                self._remarks.add(
                    "the conversation was rewound; what was done before stays", pointer
                )
            if not _is_message(record):
                continue
            message_id = record.get("id")
            if not isinstance(message_id, str) or message_id not in self._last:
                self._clock.survey(record.get("timestamp"))
            if isinstance(message_id, str):
                self._last[message_id] = pointer

    def _message(self, message: Record, pointer: str) -> Iterator[Event]:
        content = message.get("content")
        text = "" if _are_answers(content) else text_of(content)
        calls = self._calls(message, pointer)
        if not calls and not text.strip() and message["type"] != "gemini":
            return
        seconds = self._clock.seconds(message.get("timestamp"), self._remarks, pointer)
        moment = Moment(seconds, joined(text, _thoughts(message)), *_tokens(message))
        if calls:
            yield from self._recorder.calls(calls, moment)
        elif moment.text:
            by_user = message["type"] == "user"
            yield self._recorder.message(moment, pointer, by_user=by_user)

    def _calls(self, message: Record, pointer: str) -> list[Call]:
        written = message.get("toolCalls")
        if not isinstance(written, list):
            return []
        if len(written) > MAX_CALLS:
            raise Unreadable(f"more calls than MAX_CALLS = {MAX_CALLS:,}", pointer)
        return [
            _call(fields, f"{pointer}/toolCalls/{index}")
            for index, fields in enumerate(written)
            if isinstance(fields, dict)
        ]


def _is_message(record: Record) -> bool:
    return record.get("type") in _TYPES and "content" in record


def _are_answers(content: Any) -> bool:
    return isinstance(content, list) and any(mapping(p, "functionResponse") for p in content)


def _call(fields: Record, pointer: str) -> Call:
    tool, call_id = fields.get("name"), fields.get("id")
    shown = mapping(fields, "resultDisplay")
    status = fields.get("status")
    call = Call(
        tool if isinstance(tool, str) and tool.strip() else "unknown",
        mapping(fields, "args"),
        pointer,
        call_id if isinstance(call_id, str) else None,
        output=_output(fields.get("result")),
    )
    if status in _FAILED:
        call.extras.append({"success": False})
    elif status == "success":
        # Of a command too: its exit code, which is written when it is not 0, counts before this.
        call.extras.append({"success": True})
        path = shown.get("filePath") or call.arguments.get("file_path")
        old = None if shown.get("isNewFile") is True else shown.get("originalContent")
        call.edits = told_edits(path, old, shown.get("newContent"))
    return call


def _output(result: Any) -> str:
    """Return what came back, from the answers that were given to the model."""
    texts: list[str] = []
    for part in result if isinstance(result, list) else [result]:
        answer = mapping(part, "functionResponse", "response")
        told = answer.get("output", answer.get("error"))
        if isinstance(told, str):
            texts.append(told)
        elif answer:
            texts.append(orjson.dumps(answer).decode())
        elif isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and "functionResponse" not in part:
            texts.append(text_of([part]))
    return "\n".join(texts)


def _thoughts(message: Record) -> str:
    written = message.get("thoughts")
    lines = [
        ": ".join(thought[name] for name in ("subject", "description") if _is_text(thought, name))
        for thought in (written if isinstance(written, list) else [])
        if isinstance(thought, dict)
    ]
    return "\n".join(lines)


def _is_text(fields: Record, name: str) -> bool:
    return isinstance(fields.get(name), str)


def _tokens(message: Record) -> tuple[int | None, int | None]:
    tokens = mapping(message, "tokens")
    output, thoughts = token_count(tokens.get("output")), token_count(tokens.get("thoughts"))
    if output is not None and thoughts:
        output = token_count(output + thoughts)
    return token_count(tokens.get("input")), output
