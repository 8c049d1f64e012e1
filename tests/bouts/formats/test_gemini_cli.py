"""Gemini CLI: messages that are written again and again, and count once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.gemini_cli import GeminiCliReader
from bouts.formats.telemetry.contents import content_digest
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import notes, read

HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z"}


def message(number: int, kind: str = "gemini", content: Any = "", **more: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T00:00:{number:02}.000Z"
    return {"id": f"m{number}", "timestamp": stamp, "type": kind, "content": content, **more}


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in (HEAD, *records))


def call(name: str, status: str = "success", output: str = "", **more: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"id": "c", "name": name, "response": {"output": output}}}
    return {"id": "c", "name": name, "args": {}, "status": status, "result": [answer], **more}


def events(*records: dict[str, Any]) -> list[Event]:
    return read(GeminiCliReader(), lines(*records))[0]


def report_of(*records: dict[str, Any]) -> Report:
    return read(GeminiCliReader(), lines(*records))[1]


def only(**fields: Any) -> Event:
    (event,) = events(message(1, toolCalls=[call(**fields)]))
    return event


def test_the_last_record_of_a_message_counts_once() -> None:
    tokens = {"input": 5, "output": 2, "thoughts": 1}
    (event,) = events(
        message(1, content="So.", tokens=tokens),
        {"$set": {"lastUpdated": "x"}},
        message(1, content="So.", tokens=tokens, toolCalls=[call("read_file", output="x")]),
    )
    assert (event.text, event.tokens_in, event.tokens_out) == ("So.", 5, 3)
    assert (event.kind, event.output, event.raw) == (EventKind.READ, "x", "/3/toolCalls/0")


def test_a_document_of_the_same_messages_is_the_same() -> None:
    records = [message(1, "user", [{"text": "go"}]), message(2, toolCalls=[call("glob")])]
    document = json.dumps(HEAD | {"messages": records}).encode()
    assert GeminiCliReader().recognises(document)
    found = read(GeminiCliReader(), document)[0]
    assert [event.raw for event in found] == ["/messages/0", "/messages/1/toolCalls/0"]
    assert [event.kind for event in found] == [event.kind for event in events(*records)]


def test_answers_of_tools_are_no_words_of_the_user() -> None:
    answer = [{"functionResponse": {"name": "glob", "response": {"output": "x"}}}]
    found = events(message(1, "user", "go"), message(2, "user", answer), message(3, "user", "and?"))
    assert [(event.kind, event.text) for event in found] == [
        (EventKind.START, "go"),
        (EventKind.MESSAGE, "and?"),
    ]


@pytest.mark.parametrize(
    ("output", "ok", "code"), [("Output: x", True, None), ("Output: x\nExit Code: 3", False, 3)]
)
def test_a_shell_writes_the_exit_code_of_a_failure(output: str, ok: bool, code: int | None) -> None:
    event = only(name="run_shell_command", args={"command": "make"}, output=output)
    assert (event.command, event.ok, event.exit_code) == ("make", ok, code)


@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_a_call_that_failed_or_was_cancelled_changed_nothing(status: str) -> None:
    event = only(name="write_file", status=status, args={"file_path": "/a", "content": "x"})
    assert (event.kind, event.ok, event.before) == (EventKind.EDIT, False, event.after)


def test_an_edit_tells_the_file_before_and_after() -> None:
    shown = {"filePath": "/a", "originalContent": "x\n", "newContent": "y\n"}
    event = only(name="replace", args={"file_path": "/a"}, resultDisplay=shown)
    assert (event.before, event.after) == (content_digest("x\n"), content_digest("y\n"))
    assert (event.lines_added, event.lines_removed) == (1, 1)


def test_a_new_file_was_nothing_before() -> None:
    shown = {"filePath": "/a", "originalContent": "", "newContent": "y\n", "isNewFile": True}
    event = only(name="write_file", args={"file_path": "/a"}, resultDisplay=shown)
    assert (event.before, event.after) == (None, content_digest("y\n"))


def test_thoughts_are_said() -> None:
    thoughts = [{"subject": "Look", "description": "at it"}, {"subject": "Then"}, None]
    (event,) = events(message(1, content="So.", thoughts=thoughts))
    assert event.text == "So.\n\nLook: at it\nThen"


def test_what_was_done_before_a_rewind_stays() -> None:
    records = (message(1, content="a"), message(2, content="b"), {"$rewindTo": "m1"})
    found, report = read(GeminiCliReader(), lines(*records))
    assert [event.text for event in found] == ["a", "b"]
    assert "was rewound" in notes(report)


def test_times_have_a_zone_and_count_once_a_message() -> None:
    found, report = read(GeminiCliReader(), lines(message(1, content="a"), message(3, content="b")))
    assert (report.clock, [event.t for event in found]) == (Clock.ZONED, [0, 2])


def test_a_session_without_a_message_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no messages in it"):
        read(GeminiCliReader(), lines({"$set": {}}))


def test_lines_of_another_tool_with_sessions_are_not_ours() -> None:
    other = {"sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "user"}}
    assert not GeminiCliReader().recognises(json.dumps(other).encode())
