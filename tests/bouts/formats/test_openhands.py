"""OpenHands, events of 0.x and of its SDK: actions with what was observed of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.openhands import OpenHandsReader
from bouts.formats.openhands_sdk import OpenHandsSdkReader
from bouts.formats.telemetry import waiting
from bouts.formats.telemetry.contents import content_digest
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import notes, read

AT = "2026-01-01T00:00:{:02}"


def v0(*records: dict[str, Any]) -> bytes:
    numbered = [
        {"id": number, "timestamp": AT.format(number), "source": "agent", **record}
        for number, record in enumerate(records)
    ]
    return json.dumps(numbered).encode()


def action(name: str, /, **args: Any) -> dict[str, Any]:
    return {"action": name, "args": args}


def seen(cause: int, name: str = "run", content: str = "", **extras: Any) -> dict[str, Any]:
    return {"observation": name, "cause": cause, "content": content, "extras": extras}


def events(*records: dict[str, Any]) -> list[Event]:
    return read(OpenHandsReader(), v0(*records))[0]


def report_of(*records: dict[str, Any]) -> Report:
    return read(OpenHandsReader(), v0(*records))[1]


def test_an_observation_goes_to_its_cause_and_order_is_that_of_the_actions() -> None:
    first, second = events(
        action("run", command="make"),
        action("run", command="ls"),
        seen(1, content="b"),
        seen(0, content="a", metadata={"exit_code": 2}),
    )
    assert (first.command, first.output, first.ok, first.exit_code) == ("make", "a", False, 2)
    assert (second.command, second.output, second.seq) == ("ls", "b", 2)
    assert (first.t, second.t) == (0, 1)


@pytest.mark.parametrize(
    ("record", "kind", "tool"),
    [
        (action("read", path="/w/a.py"), EventKind.READ, "read"),
        (action("write", path="/w/a.py", content="x"), EventKind.EDIT, "write"),
        (action("edit", path="/w/a.py", command="view"), EventKind.READ, "edit"),
        (action("think", thought="hm"), EventKind.PLAN, "think"),
        (action("finish", final_thought="done"), EventKind.SUBMIT, "finish"),
        (action("run_ipython", code="1"), EventKind.RUN, "ipython"),
        (action("task_tracking", command="plan", task_list=[]), EventKind.PLAN, "task_tracker"),
        (action("task_tracking", command="view"), EventKind.READ, "task_tracker"),
        (action("call_tool_mcp", name="grep", arguments={"q": 1}), EventKind.SEARCH, "grep"),
        (action("run", command="pytest"), EventKind.TEST, "run"),
    ],
)
def test_an_action_is_a_call(record: dict[str, Any], kind: EventKind, tool: str) -> None:
    (event,) = events(record)
    assert (event.kind, event.tool) == (kind, tool)


def test_a_thought_is_said_once() -> None:
    (event,) = events(action("think", thought="hm"))
    assert event.text == "hm"
    (event,) = events(action("finish", thought="", final_thought="done"))
    assert event.text == "done"


def test_only_the_first_word_of_the_user_is_the_start() -> None:
    user = {"source": "user"}
    found = events(
        action("system", content="you are"),
        action("message", content="go") | user,
        action("message", content="and?") | user,
        action("message", content="well"),
    )
    assert [(str(event.kind), event.text) for event in found] == [
        ("message", "you are"),
        ("start", "go"),
        ("message", "and?"),
        ("message", "well"),
    ]


def test_the_file_before_and_after_is_told() -> None:
    edit = action("edit", path="/w/a.py", content="", impl_source="oh_aci")
    told = {"path": "/w/a.py", "old_content": "x\n", "new_content": "y\nz\n"}
    (event,) = events(edit, seen(0, "edit", **told))
    assert (event.before, event.after) == (content_digest("x\n"), content_digest("y\nz\n"))
    assert (event.lines_added, event.lines_removed, event.ok) == (2, 1, True)


@pytest.mark.parametrize("name", ["error", "user_rejected"])
def test_what_failed_or_was_refused_changed_nothing(name: str) -> None:
    (event,) = events(action("write", path="/w/a.py", content="x"), seen(0, name, "no"))
    assert (event.ok, event.before, event.lines_added) == (False, event.after, 0)


def test_an_error_without_a_cause_is_said() -> None:
    event = events(action("run", command="ls"), seen(0), {"observation": "error", "content": "no"})[
        -1
    ]
    assert (event.kind, event.text) == (EventKind.MESSAGE, "no")


def test_minus_one_still_runs() -> None:
    (event,) = events(action("run", command="serve"), seen(0, metadata={"exit_code": -1}))
    assert (event.ok, event.exit_code) == (None, None)


def test_relative_paths_begin_where_the_shell_is() -> None:
    found = events(
        action("run", command="cd /w/sub"),
        seen(0, metadata={"exit_code": 0, "working_dir": "/w/sub"}),
        action("run", command="cat a.py"),
    )
    assert found[-1].path == "/w/sub/a.py"


def test_tokens_are_counted_once_a_response() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    came = {"tool_call_metadata": {"model_response": {"id": "r", "usage": usage}}}
    found = events(action("run", command="ls") | came, action("run", command="make") | came)
    assert [event.tokens_in for event in found] == [5, None]


def test_running_totals_of_tokens_are_told_by_what_they_grew() -> None:
    totals = ({"prompt_tokens": count, "completion_tokens": 1} for count in (5, 5, 9))
    found = events(
        *(
            action("run", command=f"c{number}")
            | {"llm_metrics": {"accumulated_token_usage": total}}
            for number, total in enumerate(totals)
        )
    )
    assert [(event.tokens_in, event.tokens_out) for event in found] == [
        (5, 1),
        (None, None),
        (4, None),
    ]


def test_what_the_program_does_for_itself_is_counted_and_left_out() -> None:
    report = report_of(
        action("recall"),
        seen(0, "recall"),
        action("change_agent_state"),
        action("run", command="ls"),
    )
    assert (report.counts["bookkeeping"], report.counts["events"]) == (3, 1)
    assert "actions without an observation: 1" in notes(report)


def test_a_line_of_an_evaluation_has_the_events_under_history() -> None:
    history = json.loads(v0(action("run", command="ls"), seen(0, content="a")))
    data = json.dumps({"instance_id": "x", "metadata": {}, "history": history}).encode() + b"\n"
    assert OpenHandsReader().recognises(data)
    (event,) = read(OpenHandsReader(), data)[0]
    assert (event.output, event.raw) == ("a", "/history/0")


def test_actions_that_wait_for_ever_do_not_hold_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MAX_WAITING", 2)
    found, report = read(
        OpenHandsReader(), v0(*(action("run", command=f"c{n}") for n in range(9)), seen(8))
    )
    assert [event.command for event in found] == [f"c{n}" for n in range(9)]
    assert "actions without an observation: 8" in notes(report)


def test_times_have_no_zone() -> None:
    assert report_of(action("run", command="ls")).clock is Clock.NAIVE


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"history": {}}'])
def test_a_file_without_events_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable, match="no events in it"):
        read(OpenHandsReader(), data)


# The SDK


def sdk(*records: dict[str, Any]) -> bytes:
    return b"".join(
        json.dumps(
            {"id": f"e{number}", "timestamp": AT.format(number), "source": "agent", **record}
        ).encode()
        + b"\n"
        for number, record in enumerate(records)
    )


def acts(call: str, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
    called = {"id": call, "name": tool, "arguments": json.dumps(arguments)}
    return {
        "kind": "ActionEvent",
        "tool_name": tool,
        "tool_call_id": call,
        "tool_call": called,
        "thought": [],
        **more,
    }


def observed(call: str, kind: str = "ObservationEvent", **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "source": "environment", "tool_call_id": call, **fields}


def stats(**totals: int) -> dict[str, Any]:
    uses = {name: {"accumulated_token_usage": {"prompt_tokens": n}} for name, n in totals.items()}
    value = {"usage_to_metrics": uses}
    return {
        "kind": "ConversationStateUpdateEvent",
        "source": "environment",
        "key": "stats",
        "value": value,
    }


def of_sdk(*records: dict[str, Any]) -> list[Event]:
    return read(OpenHandsSdkReader(), sdk(*records))[0]


def test_a_terminal_tells_its_exit_code() -> None:
    observation = {"content": [{"type": "text", "text": "no"}], "exit_code": 2, "is_error": False}
    (event,) = of_sdk(
        acts("c", "terminal", {"command": "make"}), observed("c", observation=observation)
    )
    assert (event.kind, event.ok, event.exit_code, event.output) == (EventKind.RUN, False, 2, "no")
    assert (event.call, event.raw) == ("c", "/0")


def test_a_terminal_that_still_runs_has_neither_failed_nor_succeeded() -> None:
    observation = {"content": [], "metadata": {"exit_code": -1}, "is_error": False}
    (event,) = of_sdk(
        acts("c", "terminal", {"command": "x"}), observed("c", observation=observation)
    )
    assert (event.ok, event.exit_code) == (None, None)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("AgentErrorEvent", {"error": "no"}),
        ("UserRejectObservation", {"rejection_reason": "no"}),
        ("ObservationEvent", {"observation": {"content": [{"text": "no"}], "is_error": True}}),
    ],
)
def test_a_call_that_failed_or_was_refused(kind: str, fields: dict[str, Any]) -> None:
    call = acts("c", "file_editor", {"command": "create", "path": "/a", "file_text": "x"})
    (event,) = of_sdk(call, observed("c", kind, **fields))
    assert (event.kind, event.ok, event.output) == (EventKind.EDIT, False, "no")
    assert event.before == event.after


def test_an_editor_tells_the_file_before_and_after() -> None:
    call = acts("c", "file_editor", {"command": "str_replace", "path": "/a", "old_str": "x"})
    told = {
        "path": "/a",
        "old_content": "x\n",
        "new_content": "y\n",
        "content": [],
        "is_error": False,
    }
    (event,) = of_sdk(call, observed("c", observation=told))
    assert (event.before, event.after, event.ok) == (
        content_digest("x\n"),
        content_digest("y\n"),
        True,
    )


def test_the_same_call_with_another_summary_is_the_same_call() -> None:
    one, two = of_sdk(
        acts("c", "grep", {"pattern": "x", "summary": "look", "security_risk": "LOW"}),
        acts("d", "grep", {"pattern": "x", "summary": "look again"}),
    )
    assert one.signature == two.signature


def test_tokens_are_what_the_totals_of_all_uses_grew_by() -> None:
    found = of_sdk(
        stats(agent=10),
        acts("c", "terminal", {"command": "ls"}),
        stats(agent=10, condenser=4),
        stats(agent=30, condenser=4),
        acts("d", "terminal", {"command": "ls"}),
        acts("e", "terminal", {"command": "ls"}),
    )
    assert [event.tokens_in for event in found] == [10, 24, None]


def test_a_call_over_acp_is_told_by_its_last_word() -> None:
    told = {"kind": "ACPToolCallEvent", "tool_call_id": "c", "title": "ls", "tool_kind": "execute"}
    found = of_sdk(
        told | {"status": "pending"},
        told | {"status": "failed", "raw_input": {"command": "make"}, "raw_output": "no"},
    )
    assert [(event.command, event.ok, event.output, event.raw) for event in found] == [
        ("make", False, "no", "/1")
    ]


def test_a_failure_of_the_conversation_is_said() -> None:
    (event,) = of_sdk({"kind": "ConversationErrorEvent", "code": "Limit", "detail": "reached"})
    assert (event.kind, event.text) == (EventKind.MESSAGE, "Limit\n\nreached")


def test_an_array_of_the_same_events_is_read_too() -> None:
    records = [
        json.loads(line) for line in sdk(acts("c", "terminal", {"command": "ls"})).splitlines()
    ]
    for document, pointer in ((records, "/0"), ({"items": records}, "/items/0")):
        data = json.dumps(document).encode()
        assert OpenHandsSdkReader().recognises(data)
        assert [event.raw for event in read(OpenHandsSdkReader(), data)[0]] == [pointer]


def test_the_two_sorts_of_events_are_not_taken_for_each_other() -> None:
    old, new = v0(action("run", command="ls")), sdk(acts("c", "terminal", {}))
    assert OpenHandsReader().recognises(old) and not OpenHandsSdkReader().recognises(old)
    assert OpenHandsSdkReader().recognises(new) and not OpenHandsReader().recognises(new)
