"""mini-swe-agent: what was run, what came back, and whose clock it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.mini_swe_agent import BARE, ONE_SIDED, UNTIMED, MiniSweAgentReader
from bouts.formats.types import Clock, Event, EventKind, Unreadable
from tests.bouts.formats.reading import notes, read

AT = 1_790_000_000  # seconds since 1970


def v1(*messages: dict[str, Any], **fields: Any) -> bytes:
    document = {"info": {}, "messages": list(messages), "trajectory_format": "mini-swe-agent-1"}
    return json.dumps(document | fields).encode()


def v2(*messages: dict[str, Any]) -> bytes:
    return v1(*messages, trajectory_format="mini-swe-agent-1.1")


def says(content: str, **extra: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return message | ({"extra": extra} if extra else {})


def runs(command: str, **extra: Any) -> dict[str, Any]:
    return says(f"So.\n\n```bash\n{command}\n```", **extra)


def hears(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def acts(*commands: str, at: float = AT) -> dict[str, Any]:
    actions = [{"command": c, "tool_call_id": f"call_{i}"} for i, c in enumerate(commands)]
    return says("", actions=actions, timestamp=at)


def tool(number: int, output: str, code: int = 0) -> dict[str, Any]:
    extra = {"raw_output": output, "returncode": code, "timestamp": AT + 9}
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": "shown", "extra": extra}


def events(data: bytes) -> list[Event]:
    return read(MiniSweAgentReader(), data)[0]


def test_the_exit_code_stands_in_the_words_of_version_1() -> None:
    answer = "<returncode>2</returncode>\n<output>\nno\n</output>"
    (event,) = events(v1(runs("make"), hears(answer)))
    assert (event.kind, event.ok, event.exit_code, event.command) == (
        EventKind.RUN,
        False,
        2,
        "make",
    )
    assert event.output == answer


@pytest.mark.parametrize("commands", [(), ("ls", "pwd")])
def test_none_or_several_commands_were_not_run(commands: tuple[str, ...]) -> None:
    words = "Well." + "".join(f"\n```bash\n{command}\n```" for command in commands)
    event, told = events(v1(says(words), hears("Please always provide EXACTLY ONE action")))
    assert (event.kind, event.command) == (EventKind.MESSAGE, None)
    assert told.text.startswith("Please always")


def test_a_block_of_another_language_is_no_command() -> None:
    (event,) = events(v1(says("```python\nx\n```\n\n```mswea_bash_command\nls\n```")))
    assert event.command == "ls"


@pytest.mark.parametrize(
    "answer",
    [
        "The last command <command>make</command> timed out and has been killed.",
        "Command not executed. The user rejected it.",
    ],
)
def test_a_command_that_was_ended_or_refused_has_failed(answer: str) -> None:
    (event,) = events(v1(runs("cat > a.py <<'E'\nx\nE"), hears(answer)))
    assert (event.kind, event.ok) == (EventKind.EDIT, False)
    assert event.before == event.after


def test_calls_of_version_2_are_answered_by_their_ids() -> None:
    first, second = events(v2(acts("make", "ls"), tool(1, "b"), tool(0, "a", 3)))
    assert (first.output, first.exit_code, first.raw) == ("a", 3, "/messages/0/extra/actions/0")
    assert (second.output, second.ok, second.raw) == ("b", True, "/messages/0/extra/actions/1")


def test_minus_one_is_not_executed_and_no_exit_code() -> None:
    (event,) = events(v2(acts("make"), tool(0, "", -1)))
    assert (event.ok, event.exit_code) == (False, None)


def test_an_answer_to_nothing_is_said() -> None:
    report = read(MiniSweAgentReader(), v2(acts("ls"), tool(0, "a"), tool(7, "b")))[1]
    assert "an answer names no command that waits for one [/messages/2]" in notes(report)


@pytest.mark.parametrize(("status", "ok"), [("Submitted", True), ("LimitsExceeded", False)])
def test_the_end_answers_what_was_run_last(status: str, ok: bool) -> None:
    end = {"role": "exit", "content": "diff", "extra": {"exit_status": status}}
    (event,) = events(v2(acts("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"), end))
    assert (event.kind, event.ok, event.output) == (EventKind.SUBMIT, ok, "diff")


def test_an_end_that_answers_nothing_is_said() -> None:
    end = {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded"}}
    event = events(v2(acts("ls"), tool(0, "a"), end))[-1]
    assert (event.kind, event.text) == (EventKind.MESSAGE, "LimitsExceeded")


def test_each_command_is_run_where_the_environment_begins() -> None:
    info = {"config": {"environment": {"cwd": "/repo"}}}
    found = events(v1(runs("cat a.py"), hears(""), runs("cd sub && cat b.py"), info=info))
    assert [event.path for event in found] == ["a.py", "sub/b.py"]


def test_tokens_and_reasoning_are_those_of_the_response() -> None:
    message = {"content": "", "reasoning": "since it fails"}
    response = {
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        "choices": [{"message": message}],
    }
    (event,) = events(v1(runs("ls", response=response)))
    assert (event.tokens_in, event.tokens_out) == (7, 2)
    assert event.text.endswith("since it fails")


# Clocks


def test_the_stamps_of_the_provider_are_one_sided() -> None:
    turns = [runs("ls", response={"created": AT + number * 10}) for number in range(2)]
    found, report = read(MiniSweAgentReader(), v1(hears("the task"), turns[0], hears(""), turns[1]))
    assert report.clock is Clock.ZONED
    assert [event.t for event in found] == [0, 10]
    assert report.origin == "2026-09-21T14:13:20+00:00"
    assert ONE_SIDED in notes(report) and UNTIMED in notes(report)
    assert report.counts["left_out"] == 1


def test_stamps_of_its_own_count_before_those_of_the_provider() -> None:
    task = hears("the task", timestamp=AT - 5)
    turn = runs("ls", response={"created": AT - 1000}) | {"timestamp": AT}
    found, report = read(MiniSweAgentReader(), v1(task, turn))
    assert [(event.kind, event.t) for event in found] == [
        (EventKind.START, 0),
        (EventKind.SEARCH, 5),
    ]
    assert notes(report) == ""


def test_a_bare_list_has_no_clock_and_keeps_its_task() -> None:
    data = json.dumps([hears("the task"), runs("ls")]).encode()
    found, report = read(MiniSweAgentReader(), data)
    assert [event.kind for event in found] == [EventKind.START, EventKind.SEARCH]
    assert report.clock is Clock.NONE
    assert BARE in notes(report)


def test_turns_within_a_second_have_a_fabricated_clock() -> None:
    turns = [acts("ls", at=AT + number / 100) for number in range(6)]
    found, report = read(MiniSweAgentReader(), v2(*turns))
    assert report.clock is Clock.NONE
    assert "fabricated clock" in notes(report)
    assert {event.t for event in found} == {None}


@pytest.mark.parametrize("stamp", [True, "soon", -1, 1e300, 5])
def test_what_is_no_time_gives_none(stamp: object) -> None:
    found, report = read(MiniSweAgentReader(), v2(acts("ls", at=stamp)))  # type: ignore[arg-type]
    assert found[0].t is None
    assert report.clock is Clock.NONE


# Whose it is


def test_a_list_of_messages_of_another_agent_is_not_ours() -> None:
    messages = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hello"}]
    assert not MiniSweAgentReader().recognises(json.dumps(messages).encode())
    assert not MiniSweAgentReader().recognises(json.dumps({"messages": messages}).encode())


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"messages": {}}', b'"messages"'])
def test_a_file_without_messages_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable, match="no messages in it"):
        read(MiniSweAgentReader(), data)
