"""SWE-agent: its own tools told from a line, and no clock whatever the file says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats import documents
from bouts.formats.swe_agent import NO_CLOCK, SweAgentReader
from bouts.formats.telemetry.contents import content_digest
from bouts.formats.telemetry.shell import MAX_COMMAND_CHARS
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import notes, read


def traj(*steps: dict[str, Any], **fields: Any) -> bytes:
    document = {"environment": "main", "trajectory": list(steps), "history": [], "info": {}}
    return json.dumps(document | fields).encode()


def step(action: str, observation: str = "", open_file: str = "n/a", **more: Any) -> dict[str, Any]:
    state = {"open_file": open_file, "working_dir": "/repo"}
    return {
        "action": action,
        "observation": observation,
        "thought": "so",
        "response": "so",
        "state": state,
        **more,
    }


def events(*steps: dict[str, Any], **fields: Any) -> list[Event]:
    return read(SweAgentReader(), traj(*steps, **fields))[0]


def last(*steps: dict[str, Any]) -> Event:
    return events(*steps)[-1]


OPEN = step("open src/a.py", "[File: /repo/src/a.py]", "/repo/src/a.py")


@pytest.mark.parametrize(
    ("action", "kind", "tool", "path", "inferred"),
    [
        ("open src/b.py 12", EventKind.READ, "open", "src/b.py", False),
        ("goto 7", EventKind.READ, "goto", "src/a.py", False),
        ("scroll_down", EventKind.READ, "scroll_down", "src/a.py", False),
        ("find_file b.py src", EventKind.SEARCH, "find_file", None, False),
        ("search_dir 'x y'", EventKind.SEARCH, "search_dir", None, False),
        ("create new.py", EventKind.EDIT, "create", "new.py", False),
        ("edit 'x' 'y'", EventKind.EDIT, "edit", "src/a.py", False),
        ("edit 4:7\nfoo = 'it''s\nend_of_edit", EventKind.EDIT, "edit", "src/a.py", False),
        ("insert 'text'", EventKind.EDIT, "insert", "src/a.py", False),
        ("str_replace_editor view /repo/b.py", EventKind.READ, "str_replace_editor", "b.py", False),
        ("submit", EventKind.SUBMIT, "submit", None, False),
        ("pytest -q", EventKind.TEST, "bash", None, True),
        ("cat b.py", EventKind.READ, "bash", "b.py", True),
        ("python run.py", EventKind.RUN, "bash", None, False),
    ],
)
def test_a_line_tells_its_tool(
    action: str, kind: EventKind, tool: str, path: str | None, inferred: bool
) -> None:
    event = last(OPEN, step(action, open_file="/repo/src/a.py"))
    assert (event.kind, event.tool, event.path, event.inferred) == (kind, tool, path, inferred)
    assert event.raw == "/trajectory/1"


def test_state_may_be_json_in_a_string_as_versions_0_have_it() -> None:
    first = step("open /repo/a.py", "[File: /repo/a.py]")
    first["state"] = '{"open_file": "/repo/a.py", "working_dir": "/repo"}'
    assert last(first, step("edit 1:1\nx\nend_of_edit", "File updated.")).path == "a.py"
    first["state"] = "{"
    assert last(first, step("edit 1:1\nx\nend_of_edit")).path is None


@pytest.mark.parametrize(
    ("observation", "ok"),
    [
        ("Text replaced. Please review", True),
        ("Replaced 2 occurrences. Please", True),
        ("Your proposed edit has introduced new syntax error(s).", False),
        ("Your edit was not applied (file not modified).", False),
        ("", None),
    ],
)
def test_an_editor_says_whether_it_worked(observation: str, ok: bool | None) -> None:
    assert last(OPEN, step("edit 'x' 'y'", observation)).ok is ok


def test_relative_paths_begin_where_the_shell_was_before_the_step() -> None:
    there = step("cd sub")
    there["state"]["working_dir"] = "/repo/sub"
    assert last(step("ls"), there, step("cat b.py")).path == "sub/b.py"


def test_the_content_of_a_file_that_was_written_is_known() -> None:
    path = "/repo/a.py"
    first = step(f"str_replace_editor create {path} --file_text 'x = 1\n'", "File created")
    second = step(
        f"str_replace_editor str_replace {path} --old_str '1' --new_str '2'", "has been edited."
    )
    third = step(f"str_replace_editor insert {path} --insert_line 1 --new_str 'y'", "edited")
    _, changed, grown = events(first, second, third)
    assert (changed.before, changed.after) == (content_digest("x = 1\n"), content_digest("x = 2\n"))
    assert (grown.lines_added, grown.after) == (1, content_digest("x = 2\ny\n"))


def test_the_content_of_a_call_that_is_too_long_to_take_apart_is_not_claimed() -> None:
    text = "x" * MAX_COMMAND_CHARS
    event = last(step(f"str_replace_editor create /repo/a.py --file_text '{text}'", "created"))
    assert (event.kind, event.path, event.after) == (EventKind.EDIT, "a.py", None)


def test_a_command_that_was_ended_has_failed() -> None:
    observation = "EXECUTION TIMED OUT BECAUSE no output was produced in time"
    assert last(step("make", observation)).ok is False


def test_a_step_without_an_action_is_what_was_said() -> None:
    event = last(step("", "Your output was not formatted correctly.", thought="hm"))
    assert (event.kind, event.text) == (EventKind.MESSAGE, "hm")
    assert event.output.startswith("Your output")


def test_the_task_is_no_demonstration() -> None:
    history = [
        {"role": "system", "content": "you are"},
        {"role": "user", "content": "a demonstration", "agent": "main", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "the task"}], "agent": "main"},
        {"role": "user", "content": "an observation"},
    ]
    start = events(step("ls"), history=history)[0]
    assert (start.kind, start.text, start.raw) == (EventKind.START, "the task", "/history/2")


def test_no_clock_is_made_of_execution_times() -> None:
    found, report = read(SweAgentReader(), traj(step("ls", execution_time=1.5)))
    assert report.clock is Clock.NONE
    assert notes(report).startswith(NO_CLOCK)
    assert {event.t for event in found} == {None}


def test_totals_and_the_exit_status_are_kept() -> None:
    stats = {"instance_cost": 0.5, "tokens_sent": 10, "tokens_received": True, "other": 1}
    info = {"exit_status": "exit_cost", "model_stats": stats, "swe_agent_version": "1.1.0"}
    report = read(SweAgentReader(), traj(step("ls"), info=info))[1]
    assert report.facts["exit_status"] == "exit_cost"
    assert report.facts["model_stats"] == {"instance_cost": 0.5, "tokens_sent": 10}
    assert report.format_version == "1.1.0"


def test_a_file_without_steps_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no steps in it"):
        read(SweAgentReader(), traj())


def test_a_large_file_is_read_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    history = [{"role": "user", "content": "the task", "agent": "main"}]
    data = traj(OPEN, step("edit 'x' 'y'", "Text replaced."), history=history)
    whole = read(SweAgentReader(), data)
    monkeypatch.setattr(documents, "WHOLE_LIMIT", 0)
    assert read(SweAgentReader(), data) == whole


def test_what_is_no_step_is_left_out_and_said() -> None:
    document = json.loads(traj(step("ls")))
    document["trajectory"] += [None, 3]
    report = Report()
    found, report = read(SweAgentReader(), json.dumps(document))
    assert len(found) == 1
    assert "a step is no object (2 times)" in notes(report)
