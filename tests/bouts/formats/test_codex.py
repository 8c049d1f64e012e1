"""Rollouts and streams of Codex: what is peculiar to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.codex_exec import CodexExecReader
from bouts.formats.codex_rollout import CodexRolloutReader
from bouts.formats.types import Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import notes, read

PATCH = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def item(type: str, **fields: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": type, **fields}}


def shown(type: str, **fields: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": type, **fields}}


def message(role: str, words: str) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "text", "text": words}])


def call(id: str, command: str, name: str = "shell") -> dict[str, Any]:
    given = json.dumps({"command": ["bash", "-lc", command]})
    return item("function_call", name=name, arguments=given, call_id=id)


def output(id: str, answer: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=id, output=answer)


def total(given: int, out: int) -> dict[str, Any]:
    usage = {"input_tokens": given, "output_tokens": out}
    return shown("token_count", info={"total_token_usage": usage})


def rollout(*records: dict[str, Any], cwd: str = "/w") -> tuple[list[Event], Report]:
    meta = {"type": "session_meta", "payload": {"cwd": cwd, "cli_version": "0.1"}}
    stamped = [
        {"timestamp": f"2026-01-01T00:00:{number:02}Z", **record}
        for number, record in enumerate([meta, *records])
    ]
    return read(CodexRolloutReader(), lines(*stamped))


def kinds(events: list[Event]) -> list[str]:
    return [str(event.kind) for event in events]


def test_a_turn_that_is_logged_twice_counts_once() -> None:
    events, _ = rollout(
        shown("user_message", message="go"),
        message("user", "go"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        shown("agent_reasoning", text="hm"),
        shown("agent_message", message="well"),
        message("assistant", "well"),
        call("1", "ls"),
        shown("exec_command_end", call_id="1", exit_code=3, aggregated_output="no"),
        output("1", "no"),
    )
    assert kinds(events) == ["start", "message", "search"]
    assert events[1].text == "well\n\nhm"
    assert (events[2].exit_code, events[2].output) == (3, "no")


def test_what_only_the_program_shows_counts_too() -> None:
    change = {"type": "add", "content": "x\n"}
    events, _ = rollout(
        shown("user_message", message="go"),
        shown("exec_command_end", call_id="1", command=["bash", "-lc", "ls"], exit_code=0),
        shown("patch_apply_end", call_id="2", success=True, changes={"/w/a.py": change}),
        shown("item_completed", item={"type": "Plan", "id": "3", "text": "first this"}),
    )
    assert kinds(events) == ["start", "search", "edit", "plan"]
    assert (events[2].path, events[2].ok, events[2].lines_added) == ("a.py", True, 1)


def test_surroundings_in_the_users_place_are_not_the_users() -> None:
    events, _ = rollout(message("user", "<environment_context>x"), message("user", "go"))
    assert kinds(events) == ["message", "start"]
    told, _ = rollout(
        message("user", "read this"), message("user", "go"), shown("user_message", message="go")
    )
    assert kinds(told) == ["message", "start"]


def test_totals_cost_what_they_have_grown() -> None:
    events, _ = rollout(
        message("assistant", "a"), total(100, 10), total(100, 10), shown("token_count", info=None),
        message("assistant", "b"), total(250, 15),
        message("assistant", "c"), total(50, 5),
    )  # fmt: skip
    assert [(event.tokens_in, event.tokens_out) for event in events] == [
        (100, 10),
        (150, 5),
        (None, None),
    ]


def test_usage_records_count_once_a_response_where_there_is_no_total() -> None:
    usage = {"input_tokens": 7, "output_tokens": 2}
    record = {"type": "token_usage_record", "payload": {"response_id": "r", "usage": usage}}
    events, _ = rollout(message("assistant", "a"), record, record)
    assert (events[0].tokens_in, events[0].tokens_out) == (7, 2)
    events, _ = rollout(message("assistant", "a"), record, total(9, 3))
    assert (events[0].tokens_in, events[0].tokens_out) == (9, 3)


@pytest.mark.parametrize(
    ("answer", "text", "code"),
    [
        (json.dumps({"output": "x", "metadata": {"exit_code": 4}}), "x", 4),
        ("Exit code: 5\nWall time: 1 seconds\nOutput:\nx", None, 5),
        ("Chunk ID: 1\nProcess exited with code 6\nOutput:\nx", None, 6),
        ([{"type": "input_text", "text": "x"}], "x", None),
        ({"content": "x", "success": False}, "x", None),
    ],
)
def test_results_are_read_in_every_shape(answer: Any, text: str | None, code: int | None) -> None:
    (event,), _ = rollout(call("1", "make"), output("1", answer))
    assert event.exit_code == code
    assert event.output == (text or answer)
    assert event.ok is (None if code is None and isinstance(answer, list) else False)


def test_a_command_that_still_runs_waits_for_the_looks_after_it() -> None:
    def look(id: str) -> dict[str, Any]:
        given = json.dumps({"session_id": 9, "chars": ""})
        return item("function_call", name="write_stdin", arguments=given, call_id=id)

    events, _ = rollout(
        call("1", "pytest"),
        output("1", "Process running with session ID 9\nOutput:\ncollecting"),
        look("2"),
        output("2", "Process running with session ID 9\nOutput:\n"),
        look("3"),
        output("3", "Process exited with code 0\nOutput:\n=== 2 passed in 9.00s ==="),
        message("assistant", "done"),
    )
    assert kinds(events) == ["test", "message"]
    assert (events[0].passed, events[0].exit_code) == (2, 0)
    assert events[0].t == 0


def test_paths_start_where_the_call_was_made() -> None:
    given = json.dumps({"command": ["apply_patch", PATCH], "workdir": "/w/lib"})
    made = item("function_call", name="shell", arguments=given, call_id="1")
    (event,), _ = rollout(made, output("1", "Exit code: 0\nSuccess."))
    assert (event.kind, event.path) == (EventKind.EDIT, "lib/a.py")


def test_a_fork_is_noted_and_a_call_that_it_repeats_counts_once() -> None:
    fork = {"type": "session_meta", "payload": {"forked_from_id": "x"}}
    events, report = rollout(fork, call("1", "ls"), output("1", ""), call("1", "ls"))
    assert len(events) == 1
    assert report.counts["repeated"] == 1
    assert "forked from another session" in notes(report)


def test_a_rollout_in_which_nothing_happened_is_refused() -> None:
    with pytest.raises(Unreadable, match="nothing that was said or done"):
        rollout()


def test_one_moment_for_all_is_a_fabricated_clock() -> None:
    records = [{"timestamp": "2026-01-01T00:00:00Z", **message("assistant", "x")}] * 7
    events, report = read(CodexRolloutReader(), lines(*records))
    assert "fabricated clock" in notes(report)
    assert {event.t for event in events} == {None}


# The stream


def stream(*records: dict[str, Any]) -> tuple[list[Event], Report]:
    return read(CodexExecReader(), lines({"type": "thread.started", "thread_id": "t"}, *records))


def test_calls_stand_in_the_order_in_which_they_were_begun() -> None:
    def part(state: str, id: str, **fields: Any) -> dict[str, Any]:
        item = {"id": id, "type": "command_execution", "command": f"echo {id}", **fields}
        return {"type": f"item.{state}", "item": item}

    events, _ = stream(
        part("started", "1"),
        part("started", "2"),
        part("completed", "2", exit_code=0, aggregated_output="b"),
        part("completed", "1", exit_code=1, aggregated_output="a"),
        part("started", "3"),
    )
    assert [event.output for event in events] == ["a", "b", ""]
    assert [event.exit_code for event in events] == [1, 0, None]


def test_a_change_of_files_is_an_edit_a_file() -> None:
    changes = [{"path": "/w/a", "kind": "add"}, {"path": "/w/b", "kind": "delete"}]
    item = {"id": "1", "type": "file_change", "changes": changes, "status": "completed"}
    events, _ = stream({"type": "item.completed", "item": item})
    assert [(event.kind, event.path, event.ok) for event in events] == [
        (EventKind.EDIT, "/w/a", True),
        (EventKind.EDIT, "/w/b", True),
    ]


def test_a_turn_that_failed_ends_the_work_badly() -> None:
    said = {"id": "1", "type": "agent_message", "text": "hm"}
    failed = {"type": "turn.failed", "error": {"message": "quota"}}
    events, report = stream({"type": "item.completed", "item": said}, failed)
    assert (events[-1].kind, events[-1].ok, events[-1].output) == (
        EventKind.SUBMIT,
        False,
        "quota",
    )
    assert "a turn failed" in notes(report)


def test_a_list_of_things_to_do_is_a_plan() -> None:
    todo = {"id": "1", "type": "todo_list", "items": [{"text": "test it", "completed": False}]}
    (event,), _ = stream({"type": "item.completed", "item": todo})
    assert event.kind is EventKind.PLAN
    assert "test it" in event.text
