"""Session files and streams of Claude Code: what is peculiar to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats import claude_code
from bouts.formats.claude_code import ClaudeCodeReader
from bouts.formats.claude_stream import ClaudeStreamReader
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import notes, read


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def said(*blocks: dict[str, Any], id: str = "m1", out: int = 5, **fields: Any) -> dict[str, Any]:
    """An answer of the model, one line of it."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": out}
    message = {"id": id, "role": "assistant", "content": list(blocks), "usage": usage}
    return {"type": "assistant", "sessionId": "s", "message": message, **fields}


def asked(content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "sessionId": "s", "message": message, **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(name: str, id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


def session(*records: dict[str, Any]) -> tuple[list[Event], Report]:
    return read(ClaudeCodeReader(), lines(*records))


def kinds(events: list[Event]) -> list[str]:
    return [str(event.kind) for event in events]


def test_a_message_on_several_lines_counts_its_tokens_once_and_by_the_largest() -> None:
    events, _ = session(
        asked("go"),
        said(text("look"), out=1),
        said(use("Bash", "t1", command="ls"), out=40),
        asked([result("t1", "a.py")]),
        said(text("done"), id="m2", out=3),
    )
    assert kinds(events) == ["start", "search", "message"]
    assert [(event.tokens_in, event.tokens_out) for event in events] == [
        (None, None),
        (100, 40),
        (100, 3),
    ]
    assert events[1].text == "look"


def test_a_message_may_be_nothing_but_a_text() -> None:
    events, _ = session(
        {"type": "user", "sessionId": "s", "message": "Mend it."},
        {"type": "assistant", "sessionId": "s", "message": "Mended."},
    )
    assert [(str(event.kind), event.text) for event in events] == [
        ("start", "Mend it."),
        ("message", "Mended."),
    ]


def test_messages_without_an_id_count_each() -> None:
    first, second = said(text("a")), said(text("b"))
    del first["message"]["id"], second["message"]["id"]
    events, _ = session(first, second)
    assert [event.tokens_in for event in events] == [100, 100]


def test_parallel_calls_keep_their_order_whatever_comes_back_first() -> None:
    events, _ = session(
        said(use("Read", "t1", file_path="a"), use("Read", "t2", file_path="b")),
        asked([result("t2", "of b")]),
        asked([result("t1", "of a")]),
    )
    assert [(event.path, event.output) for event in events] == [("a", "of a"), ("b", "of b")]


def test_only_a_failed_command_has_an_exit_code() -> None:
    events, _ = session(
        said(use("Bash", "t1", command="make"), use("Bash", "t2", command="make")),
        asked([result("t1", "Exit code 2\nno rule", is_error=True), result("t2", "made")]),
    )
    assert [(event.ok, event.exit_code) for event in events] == [(False, 2), (True, None)]


def test_the_content_before_and_after_an_edit_is_what_the_tool_tells() -> None:
    told = {"filePath": "/w/a", "oldString": "1", "newString": "2", "originalFile": "1\n1\n"}
    edit = use("Edit", "t1", file_path="/w/a", old_string="1", new_string="2")
    events, _ = session(said(edit, cwd="/w"), asked([result("t1")], toolUseResult=told, cwd="/w"))
    every = {**told, "replaceAll": True}
    others, _ = session(said(edit, cwd="/w"), asked([result("t1")], toolUseResult=every))
    changed = {**told, "userModified": True}
    unknown, _ = session(said(edit, cwd="/w"), asked([result("t1")], toolUseResult=changed))
    assert events[0].path == "a"
    assert (events[0].lines_added, others[0].lines_added) == (1, 2)
    assert events[0].before == others[0].before is not None
    assert events[0].after != others[0].after
    assert (unknown[0].before, unknown[0].after) == (None, None)


def test_what_the_user_did_not_write_does_not_start_the_work() -> None:
    events, report = session(
        asked("<caveat>", isMeta=True),
        asked("do this", isSidechain=True),
        asked("go"),
        asked("go on", isCompactSummary=True),
    )
    assert kinds(events) == ["message", "message", "start", "message"]
    assert report.counts["of_subagents"] == 1


def test_a_record_that_stands_before_its_parent_waits_for_it() -> None:
    events, report = session(
        asked("go", uuid="1", parentUuid=None),
        asked([result("t1", "a.py")], uuid="3", parentUuid="2"),
        said(use("Bash", "t1", command="ls"), uuid="2", parentUuid="1"),
    )
    assert events[1].output == "a.py"
    assert "before its parent" in notes(report)


@pytest.mark.parametrize("limit", [0, 10])
def test_parents_of_each_other_are_read_all_the_same(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_code, "MAX_EARLY", limit)
    records = [asked("a", uuid="1", parentUuid="2"), asked("b", uuid="2", parentUuid="1")]
    assert len(session(*records)[0]) == 2


def test_a_record_that_a_resumed_session_repeats_counts_once() -> None:
    events, report = session(asked("go", uuid="1"), asked("go", uuid="1"))
    assert len(events) == 1
    assert report.counts["repeated"] == 1


def test_snapshots_of_the_program_are_no_checkpoints() -> None:
    events, report = session(asked("go"), {"type": "file-history-snapshot", "sessionId": "s"})
    assert kinds(events) == ["start"]
    assert report.counts["snapshots"] == 1


def test_a_session_without_a_message_is_refused() -> None:
    with pytest.raises(Unreadable, match="no message in it"):
        session({"type": "summary", "sessionId": "s", "summary": "x"})


def test_a_call_without_a_result_is_kept_and_noted() -> None:
    events, report = session(said(use("Bash", "t1", command="make")))
    assert (events[0].kind, events[0].ok) == (EventKind.RUN, None)
    assert "calls without a result: 1" in notes(report)


def stream(*records: dict[str, Any]) -> tuple[list[Event], Report]:
    own = [{**record, "session_id": "s"} for record in records]
    return read(ClaudeStreamReader(), lines(*own))


def test_the_end_of_a_stream_has_the_tokens_that_messages_did_not_know() -> None:
    usage = {"input_tokens": 30, "cache_read_input_tokens": 180, "output_tokens": 50}
    end = {"type": "result", "is_error": False, "result": "done", "usage": usage}
    events, report = stream(said(text("a"), out=1), said(text("b"), id="m2", out=1), end)
    assert kinds(events) == ["message", "message", "submit"]
    assert (events[-1].tokens_in, events[-1].tokens_out) == (10, 48)
    assert report.clock is Clock.NONE


def test_a_stream_that_was_cut_says_so_and_one_that_failed_too() -> None:
    assert "no result at its end" in notes(stream(said(text("a")))[1])
    events, report = stream(said(text("a")), {"type": "result", "is_error": True})
    assert events[-1].ok is False
    assert "ended in an error" in notes(report)
