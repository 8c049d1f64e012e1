"""ATIF: steps to events, calls to kinds, and a file that breaks the rules all the same."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import pytest

from bouts.formats import documents
from bouts.formats.atif import AtifReader
from bouts.formats.telemetry import recorder, spool
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import call, notes, read, trajectory

PYTEST_OUTPUT = """\
tests/test_a.py::TestA::test_b[1] PASSED [ 50%]
tests/test_a.py::test_c FAILED [100%]
=== 1 failed, 1 passed in 0.02s ===
[exit code: 1]
"""


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def events(*steps: dict[str, Any], **fields: Any) -> list[Event]:
    return read(AtifReader(), trajectory(*steps, **fields))[0]


def only(*steps: dict[str, Any], **fields: Any) -> Event:
    (event,) = events(*steps, **fields)
    return event


def report_of(*steps: dict[str, Any], **fields: Any) -> Report:
    return read(AtifReader(), trajectory(*steps, **fields))[1]


def user(message: str = "go", **fields: Any) -> dict[str, Any]:
    return {"source": "user", "message": message, **fields}


def kinds(found: list[Event]) -> list[str]:
    return [str(event.kind) for event in found]


# Steps


def test_the_first_step_of_the_user_is_the_start_and_all_else_said_a_message() -> None:
    found = events(
        {"source": "system", "message": "you are"}, user(), {"message": "well"}, user("and?")
    )
    assert kinds(found) == ["message", "start", "message", "message"]
    assert [event.seq for event in found] == [1, 2, 3, 4]
    assert [event.raw for event in found] == ["/steps/0", "/steps/1", "/steps/2", "/steps/3"]


def test_each_call_of_a_step_is_an_event_and_the_first_has_what_the_step_says() -> None:
    step = {
        "message": "look, then run",
        "reasoning_content": "since it fails",
        "metrics": {"prompt_tokens": 100, "completion_tokens": 7},
        "tool_calls": [
            {"tool_call_id": "1", "function_name": "read_file", "arguments": {"path": "a.py"}},
            {"tool_call_id": "2", "function_name": "bash", "arguments": {"command": "make"}},
        ],
        "observation": {
            "results": [
                {"source_call_id": "2", "content": "made"},
                {"source_call_id": "1", "content": "x = 1"},
            ]
        },
    }
    first, second = events(step)
    assert (first.kind, first.path, first.call, first.output) == (
        EventKind.READ,
        "a.py",
        "1",
        "x = 1",
    )
    assert first.text == "look, then run\n\nsince it fails"
    assert (first.tokens_in, first.tokens_out) == (100, 7)
    assert first.raw == "/steps/0/tool_calls/0"
    assert (second.kind, second.command, second.output) == (EventKind.RUN, "make", "made")
    assert (second.text, second.tokens_in) == ("", None)


def test_a_call_that_edits_several_files_is_an_event_a_file() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+1\n*** Add File: b\n+2\n*** End Patch"
    first, second = events(call("apply_patch", "Done!", input=patch))
    assert (first.path, second.path) == ("a", "b")
    assert first.call == second.call == "c"
    assert (first.ok, second.ok) == (True, True)


def test_a_command_line_that_edits_and_tests_gives_its_edits_first() -> None:
    found = events(call("bash", PYTEST_OUTPUT, command="echo x > a.py && pytest -v"))
    assert kinds(found) == ["edit", "test"]
    assert (found[0].path, found[0].after, found[0].ok) == ("a.py", sha("x\n"), None)
    assert (found[1].ok, found[1].exit_code, found[1].failed) == (False, 1, 1)
    assert found[0].call == found[1].call


def test_copied_context_gives_no_events_but_is_counted() -> None:
    found, report = read(
        AtifReader(), trajectory(user(is_copied_context=True), {"message": "on it"})
    )
    assert kinds(found) == ["message"]
    assert report.counts["copied_steps"] == 1
    assert found[0].raw == "/steps/1"


def test_counts_are_of_events_and_of_each_kind() -> None:
    report = report_of(user(), call("bash", command="ls"), call("submit"))
    assert report.counts == {"events": 3, "start": 1, "search": 1, "submit": 1, "steps": 3}


def test_content_parts_are_joined_and_pictures_only_named() -> None:
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"media_type": "image/png", "path": "/etc/passwd"}},
    ]
    event = only({"message": parts})
    assert event.text == "see\n[image]"


def test_commands_of_terminus_are_read_from_its_messages() -> None:
    message = {
        "analysis": "It fails.",
        "plan": "Look.",
        "commands": [{"keystrokes": "ls -la\n"}, {"keystrokes": ""}, {"keystrokes": "cat a\n"}],
        "task_complete": True,
    }
    step = {"message": json.dumps(message), "observation": {"results": [{"content": "screen"}]}}
    found, report = read(AtifReader(), trajectory(step))
    assert kinds(found) == ["search", "read", "submit"]
    assert found[0].text == "It fails.\n\nLook."
    assert found[-1].output == "screen"
    assert "JSON of messages" in notes(report)


@pytest.mark.parametrize("message", ["{", '{"commands": 1}', "{}", "[1]", '{"a": "keystrokes"}'])
def test_other_json_in_a_message_is_a_message(message: str) -> None:
    event = only({"message": message})
    assert (event.kind, event.text) == (EventKind.MESSAGE, message)


# Kinds


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "inferred"),
    [
        ("Read", {"file_path": "a"}, "read", False),
        ("view", {"path": "a"}, "read", False),
        ("str_replace_editor", {"command": "view", "path": "a"}, "read", False),
        ("Grep", {"pattern": "x"}, "search", False),
        ("list_dir", {"path": "."}, "search", False),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, "edit", False),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": ""}, "edit", False),
        ("TodoWrite", {"todos": []}, "plan", False),
        ("update_plan", {}, "plan", False),
        ("task_tracker", {"command": "view"}, "read", False),
        ("think", {"thought": "hm"}, "plan", False),
        ("finish", {}, "submit", False),
        ("git_commit", {"message": "x"}, "checkpoint", False),
        ("run_tests", {}, "test", False),
        ("bash", {"command": "make"}, "run", False),
        ("shell", {"command": ["bash", "-lc", "pytest -q"]}, "test", True),
        ("execute_bash", {"command": "cat a"}, "read", True),
        ("python", {"code": "import pytest"}, "run", False),
        ("mcp__files__read_file", {"path": "a"}, "read", False),
        ("functions.shell", {"command": "ls"}, "search", True),
        ("my_file_reader_view", {"path": "a"}, "read", True),
        ("searchTheCode", {"q": "x"}, "search", True),
        ("frobnicate", {}, "run", True),
        ("frobnicate", {"command": "pytest"}, "test", True),
        ("swe_agent_action", {"raw_action": "open a.py 10"}, "read", True),
    ],
)
def test_a_call_has_the_kind_that_its_tool_and_command_tell(
    tool: str, arguments: dict[str, Any], kind: str, inferred: bool
) -> None:
    event = only(call(tool, **arguments))
    assert (str(event.kind), event.inferred) == (kind, inferred)


def test_what_a_plan_or_a_submission_says_is_its_text() -> None:
    todos = [{"content": "fix it", "status": "pending"}, "test it"]
    assert only(call("TodoWrite", todos=todos)).text == "- pending: fix it\n- test it"
    assert (
        only({**call("finish", message="All green."), "message": "Done"}).text
        == "Done\n\nAll green."
    )


# Edits and contents


def test_a_file_is_followed_from_its_first_full_write_on() -> None:
    first, second, third = events(
        call("write_file", path="a", content="one\ntwo\n"),
        call("str_replace_editor", command="str_replace", path="./a", old_str="two", new_str="2"),
        call("str_replace_editor", command="undo_edit", path="a"),
    )
    assert (first.before, first.after) == (None, sha("one\ntwo\n"))
    assert (second.before, second.after) == (sha("one\ntwo\n"), sha("one\n2\n"))
    assert (second.lines_added, second.lines_removed) == (1, 1)
    assert (third.before, third.after) == (sha("one\n2\n"), sha("one\ntwo\n"))


def test_digests_that_the_trajectory_tells_are_believed() -> None:
    step = call("edit_file", "ok", path="a", old_string="x", new_string="y")
    step["tool_calls"][0]["extra"] = {"before_sha256": sha("x")}
    step["observation"]["results"][0]["extra"] = {"after_sha256": sha("y").upper()}
    event = only(step)
    assert (event.before, event.after) == (sha("x"), sha("y"))


def test_what_is_no_digest_is_not_believed() -> None:
    step = call("edit_file", "ok", path="a", old_string="x", new_string="y")
    step["tool_calls"][0]["extra"] = {"before_sha256": "x", "after_sha256": 1}
    assert (only(step).before, only(step).after) == (None, None)


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("The file a has been edited successfully.", True),
        ("File created successfully at: a", True),
        ("ERROR:\nNo replacement was performed", False),
        ("No replacement was performed, old_str did not appear verbatim", False),
        ("something", None),
    ],
)
def test_an_editors_words_tell_its_success(output: str, ok: bool | None) -> None:
    step = call("str_replace_editor", output, command="create", path="a", file_text="x")
    event = only(step)
    assert event.ok is ok
    assert event.after == (None if ok is False else sha("x"))


def test_a_failed_edit_leaves_the_content_as_it_was() -> None:
    *_, failed, again = events(
        call("write_file", "ok", path="a", content="1"),
        call("write_file", "Error: read-only", path="a", content="2"),
        call("write_file", "ok", path="a", content="3"),
    )
    assert (failed.ok, failed.before, failed.after) == (False, sha("1"), sha("1"))
    assert again.before == sha("1")


def test_a_checkout_restores_what_was_committed() -> None:
    found = events(
        call("write_file", path="a", content="1"),
        call("bash", command="git commit -am one"),
        call("write_file", path="a", content="2"),
        call("bash", command="git checkout -- a"),
        call("bash", command="git checkout main"),
    )
    assert kinds(found) == ["edit", "checkpoint", "edit", "edit", "run"]
    assert (found[3].before, found[3].after) == (sha("2"), sha("1"))


def test_a_stash_is_a_checkpoint_and_no_commit() -> None:
    found = events(
        call("write_file", path="a", content="1"),
        call("bash", command="git stash"),
        call("bash", command="git checkout -- a"),
    )
    assert kinds(found) == ["edit", "checkpoint", "edit"]
    assert found[2].after is None


def test_removing_and_copying_count_only_where_somebody_worked() -> None:
    found = events(
        call("bash", command="rm -rf build && cp a.py a.bak"),
        call("write_file", path="a.py", content="1"),
        call("bash", command="cp a.py a.bak"),
        call("write_file", path="a.py", content="2"),
        call("bash", command="cp a.bak a.py"),
        call("bash", command="rm a.bak"),
    )
    assert kinds(found) == ["run", "edit", "run", "edit", "edit", "run"]
    assert found[4].after == sha("1")


def test_an_edit_of_unknown_files_is_an_edit_without_a_path() -> None:
    event = only(call("bash", command="patch -p1 < fix.diff"))
    assert (event.kind, event.path) == (EventKind.EDIT, None)


# Paths


@pytest.mark.parametrize("where", ["agent", "file"])
def test_paths_are_relative_to_the_folder_that_the_trajectory_names(where: str) -> None:
    extra = {"extra": {"cwd": "/workspace/"}}
    agent = {"name": "a", "version": "1"}
    fields = {"agent": agent | extra} if where == "agent" else {"agent": agent} | extra
    paths = ["/workspace/a/b.py", "a/./b.py", "/workspace2/c", "/workspace/../etc/x", "../y"]
    found = events(*(call("read_file", path=path) for path in paths), **fields)
    assert [event.path for event in found] == [
        "a/b.py",
        "a/b.py",
        "/workspace2/c",
        "/etc/x",
        "../y",
    ]


def test_paths_stay_as_they_are_where_no_folder_is_named() -> None:
    assert only(call("read_file", path="/app/a.py")).path == "/app/a.py"


def test_the_folder_counts_even_where_it_is_named_after_the_steps() -> None:
    document = json.loads(trajectory(call("read_file", path="/w/a")))
    document["extra"] = {"cwd": "/w"}
    document["agent"] = document.pop("agent")
    assert list(document)[-1] == "agent"
    (event,), _ = read(AtifReader(), json.dumps(document))
    assert event.path == "a"


# Tests and outcomes


def test_test_results_are_parsed_from_text_and_said_to_be() -> None:
    (event,), report = read(
        AtifReader(), trajectory(call("bash", PYTEST_OUTPUT, command="pytest -v"))
    )
    assert event.kind is EventKind.TEST
    assert event.results == {"tests.test_a.TestA::test_b[1]": True, "tests.test_a::test_c": False}
    assert (event.passed, event.failed, event.ok, event.exit_code) == (1, 1, False, 1)
    assert "parsed from text: 1 run" in notes(report)


def test_a_test_command_without_a_result_stays_a_test_without_results() -> None:
    event = only(
        call("bash", "bash: pytest: command not found\n[exit code: 127]", command="pytest")
    )
    assert event.kind is EventKind.TEST
    assert (event.results, event.passed, event.failed) == (None, None, None)
    assert (event.ok, event.exit_code) == (False, 127)


def test_a_test_command_that_collected_nothing_says_so() -> None:
    event = only(call("bash", "no tests ran in 0.01s\n[exit code: 5]", command="pytest"))
    assert (event.results, event.passed, event.failed, event.ok) == (None, 0, 0, False)


def test_a_failing_run_is_not_ok_though_the_pipe_says_zero() -> None:
    output = "FAILED a.py::t - x\n1 failed in 0.1s\n[exit code: 0]"
    event = only(call("bash", output, command="pytest | tail"))
    assert (event.exit_code, event.ok) == (0, False)


def test_a_quiet_run_names_what_failed_and_counts_the_rest() -> None:
    output = "FAILED a.py::t - x\n1 failed, 4 passed in 0.1s"
    event = only(call("bash", output, command="pytest -q"))
    assert (event.results, event.passed, event.failed) == ({"a::t": False}, 4, 1)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("done\n[exit code: 3]", 3),
        ("<returncode>2</returncode>\n<output>x</output>", 2),
        ("x\n[The command completed with exit code 0.]\n[Current working directory: /w]", 0),
        ("Exit code 1\nbad", 1),
        ("x\nProcess exited with code 127", 127),
        ("[The command completed with exit code -1.]", None),
        ("the exit code 3 is fine", None),
        ("", None),
    ],
)
def test_an_exit_code_is_read_from_text(output: str, code: int | None) -> None:
    event = only(call("bash", output, command="./run"))
    assert event.exit_code == code
    assert event.ok is (None if code is None else code == 0)


@pytest.mark.parametrize(
    ("extra", "code", "ok"),
    [
        ({"exit_code": 1}, 1, False),
        ({"returncode": 0}, 0, True),
        ({"exit_code": True}, None, None),
        ({"exit_code": -1}, None, None),
        ({"success": False}, None, False),
        ({"is_error": True}, None, False),
        ({"is_error": "no"}, None, None),
    ],
)
def test_the_record_has_the_word_before_the_text(
    extra: dict[str, Any], code: int | None, ok: bool | None
) -> None:
    step = call("bash", "fine", command="./run")
    step["observation"]["results"][0]["extra"] = extra
    event = only(step)
    assert (event.exit_code, event.ok) == (code, ok)


def test_expected_and_infrastructure_failures_are_marked_where_the_record_says_so() -> None:
    step = call("bash", "x", command="./run")
    step["tool_calls"][0]["extra"] = {"expected": True, "infra": "yes"}
    assert (only(step).expected, only(step).infra) == (True, False)


def test_the_same_call_has_the_same_signature_and_another_has_not() -> None:
    found = events(
        call("bash", command="make", timeout=5),
        call("bash", command=" make\n", timeout=99),
        call("bash", command="make all"),
        call("read_file", path="a", line=1),
        call("read_file", line=1, path="a"),
    )
    signatures = [event.signature for event in found]
    assert signatures[0] == signatures[1] != signatures[2]
    assert signatures[3] == signatures[4]


# The clock


def stamped(*stamps: Any) -> list[dict[str, Any]]:
    return [
        {"message": "x", **({"timestamp": stamp} if stamp is not None else {})} for stamp in stamps
    ]


def test_zoned_stamps_give_seconds_since_the_first() -> None:
    found, report = read(
        AtifReader(), trajectory(*stamped("2026-01-01T12:00:00Z", "2026-01-01T14:00:30.5+02:00"))
    )
    assert [event.t for event in found] == [0.0, 30.5]
    assert (report.clock, report.origin) == (Clock.ZONED, "2026-01-01T12:00:00+00:00")


def test_all_events_of_a_step_have_its_time() -> None:
    step = {
        **call("bash", command="echo x > a; echo y > b; make"),
        "timestamp": "2026-01-01T12:00:09Z",
    }
    found = events(*stamped("2026-01-01T12:00:00Z"), step)
    assert [event.t for event in found] == [0.0, 9.0, 9.0, 9.0]


def test_stamps_without_a_zone_are_naive() -> None:
    found, report = read(
        AtifReader(), trajectory(*stamped("2026-01-01T12:00:00", "2026-01-01 12:00:02"))
    )
    assert [event.t for event in found] == [0.0, 2.0]
    assert (report.clock, report.origin) == (Clock.NAIVE, "2026-01-01T12:00:00")


def test_no_stamps_are_no_clock_and_no_note() -> None:
    found, report = read(AtifReader(), trajectory(*stamped(None, None)))
    assert [event.t for event in found] == [None, None]
    assert (report.clock, report.origin, report.notes) == (Clock.NONE, None, [])


def test_a_stamp_that_is_missing_broken_or_of_another_sort_costs_only_its_own_time() -> None:
    stamps = (
        "2026-01-01T12:00:00",
        "2026-01-01T12:00:01Z",
        None,
        "yesterday",
        1767268800,
        "2026-01-01T12:00:05Z",
    )
    found, report = read(AtifReader(), trajectory(*stamped(*stamps)))
    assert [event.t for event in found] == [None, 0.0, None, None, None, 4.0]
    assert report.clock is Clock.ZONED
    assert "1 time stamps have no zone" in notes(report)
    assert "2 time stamps cannot be read" in notes(report)
    assert "without a time stamp [/steps/2]" in notes(report)


def test_a_clock_of_one_moment_is_called_fabricated() -> None:
    stamps = [f"2026-01-01T12:00:00.{n:03}+00:00" for n in range(0, 900, 150)]
    found, report = read(AtifReader(), trajectory(*stamped(*stamps)))
    assert {event.t for event in found} == {None}
    assert (report.clock, report.origin) == (Clock.NONE, None)
    assert "fabricated clock: all 6 time stamps lie within 0.750 s" in notes(report)


@pytest.mark.parametrize(("count", "span"), [(5, 0), (6, 1000)])
def test_few_steps_or_a_whole_second_are_not_called_fabricated(count: int, span: int) -> None:
    millis = [n * span // (count - 1) for n in range(count)]
    stamps = [f"2026-01-01T12:00:0{m // 1000}.{m % 1000:03}Z" for m in millis]
    assert report_of(*stamped(*stamps)).clock is Clock.ZONED


def test_a_copied_step_has_no_say_in_the_clock() -> None:
    steps = stamped("2025-01-01T00:00:00Z", "2026-01-01T12:00:00Z", "2026-01-01T12:00:05Z")
    steps[0]["is_copied_context"] = True
    assert [event.t for event in events(*steps)] == [0.0, 5.0]


def test_time_that_runs_backwards_is_left_and_noted() -> None:
    found, report = read(
        AtifReader(), trajectory(*stamped("2026-01-01T12:00:05Z", "2026-01-01T12:00:00Z"))
    )
    assert [event.t for event in found] == [0.0, -5.0]
    assert "runs backwards" in notes(report)


# Breaking the rules


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ({"step_id": 7}, "step_id does not count"),
        ({"source": "robot"}, "source is none of"),
        ({"source": ["agent"]}, "source is none of"),
        ({"message": None}, "no message"),
        ({"colour": "red"}, "a step has a field 'colour'"),
        ({"source": "user", "metrics": {}}, "fields of the agent's"),
        ({"metrics": {"prompt_tokens": -1}}, "no whole number"),
        ({"metrics": {"prompt_tokens": True}}, "no whole number"),
        ({"tool_calls": "x"}, "tool_calls is no array"),
        ({"tool_calls": [1]}, "a tool call is no object"),
        ({"tool_calls": [{"tool_call_id": "1", "arguments": {}}]}, "no function_name"),
        ({"tool_calls": [{"function_name": "f", "arguments": {}}]}, "no tool_call_id"),
        ({"tool_calls": [{"tool_call_id": "1", "function_name": "f"}]}, "arguments of a tool call"),
        ({"observation": []}, "an observation has no results"),
        ({"observation": {"results": ["x"]}}, "a result is no object"),
        (
            {**call("bash", command="x"), "observation": {"results": [{"content": "y"}]}},
            "names no call",
        ),
    ],
)
def test_what_breaks_the_rules_is_read_and_noted(step: dict[str, Any], fault: str) -> None:
    found, report = read(AtifReader(), trajectory(step))
    assert len(found) == 1
    assert f"not as ATIF has it: {fault}" in notes(report) or fault in notes(report)


def test_a_step_that_is_no_object_is_noted_and_passed_over() -> None:
    document = json.loads(trajectory({"message": "x"}))
    document["steps"].insert(0, "step")
    found, report = read(AtifReader(), json.dumps(document))
    assert len(found) == 1
    assert "a step is no object [/steps/0]" in notes(report)


def test_ids_that_stand_twice_are_noted_and_the_first_gets_the_result() -> None:
    one = {"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "x"}}
    step = {
        "tool_calls": [one, one],
        "observation": {"results": [{"source_call_id": "1", "content": "y"}]},
    }
    found, report = read(AtifReader(), trajectory(step))
    assert [event.output for event in found] == ["y", ""]
    assert "stands twice" in notes(report)


def test_results_without_links_go_in_order_where_the_numbers_agree() -> None:
    calls = [
        {"tool_call_id": str(n), "function_name": "bash", "arguments": {"command": "x"}}
        for n in (1, 2)
    ]
    step = {"tool_calls": calls, "observation": {"results": [{"content": "a"}, {"content": "b"}]}}
    assert [event.output for event in events(step)] == ["a", "b"]
    step["observation"] = {"results": [{"content": "a"}]}
    assert [event.output for event in events(step)] == ["", "a"]


def test_arguments_in_a_string_are_read_as_the_object_that_they_mean() -> None:
    for written, command in (('{"command": "make"}', "make"), ("make all", "make all")):
        step = {
            "tool_calls": [{"tool_call_id": "1", "function_name": "bash", "arguments": written}]
        }
        assert only(step).command == command


@pytest.mark.parametrize("version", ["1.0", "1.5", "1.8"])
def test_the_version_is_told(version: str) -> None:
    report = report_of(user(), schema_version=f"ATIF-v{version}")
    assert report.format_version == version
    assert not report.notes


@pytest.mark.parametrize("version", [None, "ATIF-v2.0", "2", 1])
def test_a_version_that_is_missing_or_unknown_is_noted(version: object) -> None:
    assert "not as ATIF has it" in notes(report_of(user(), schema_version=version))


def test_totals_and_continuations_are_told() -> None:
    report = report_of(
        user(),
        final_metrics={"total_prompt_tokens": 5, "total_cost_usd": 0.5, "total_steps": "x"},
        continued_trajectory_ref="../trajectory.cont-1.json",
    )
    assert report.facts["final_metrics"] == {"total_prompt_tokens": 5, "total_cost_usd": 0.5}
    assert "goes on in another file: ../trajectory.cont-1.json" in notes(report)


# Refusals, limits, marks


@pytest.mark.parametrize("document", ["{}", '{"steps": []}', '{"steps": {"0": {}}}', "[]", "1"])
def test_a_file_without_steps_is_unreadable(document: str) -> None:
    with pytest.raises(Unreadable, match="no steps in it"):
        read(AtifReader(), document)


def test_nan_in_a_trajectory_is_refused() -> None:
    with pytest.raises(Unreadable, match="NaN is no number"):
        read(AtifReader(), trajectory({"metrics": {"cost_usd": float("nan")}}))


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MAX_EVENTS", 2)
    with pytest.raises(Unreadable, match=r"MAX_EVENTS = 2 \(/steps/2\)"):
        events(user(), user(), user())
    one = {"tool_call_id": "1", "function_name": "x", "arguments": {}}
    with pytest.raises(Unreadable, match="MAX_CALLS = 1,000"):
        events({"tool_calls": [one] * 1001})


def test_arguments_that_are_nested_too_deep_are_refused_with_their_place() -> None:
    nested: Any = "x"
    for _ in range(500):
        nested = [nested]
    with pytest.raises(Unreadable, match=r"too deep \(/steps/0/tool_calls/0\)"):
        events(call("frobnicate", value=nested))


def test_texts_are_cut_and_marked() -> None:
    step = call("bash", "o" * 50_000, command="x" * 50_000)
    step["message"] = "m\0" + "m" * 50_000
    found, report = read(AtifReader(), trajectory(step))
    (event,) = found
    assert event.text.startswith("m␀m")
    assert event.command is not None
    for text in (event.text, event.output, event.command):
        assert "characters cut" in text
        assert len(text) < 17_000
    assert "repaired" in notes(report)


def test_a_streamed_trajectory_gives_the_same_events() -> None:
    steps = [
        user(timestamp="2026-01-01T12:00:00Z"),
        call("write_file", "ok", path="/w/a", content="1"),
        {**call("bash", PYTEST_OUTPUT, command="pytest -v"), "timestamp": "2026-01-01T12:00:09Z"},
        {"message": "odd", "colour": 1},
    ]
    data = trajectory(*steps, extra={"cwd": "/w"})
    whole, report = read(AtifReader(), data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "WHOLE_LIMIT", 0)
        streamed, second = read(AtifReader(), data)
    assert streamed == whole
    assert (second.counts, second.notes, second.origin) == (
        report.counts,
        report.notes,
        report.origin,
    )


def test_a_large_trajectory_takes_little_memory() -> None:
    import tracemalloc

    data = trajectory(*(call("bash", "y" * 7500, command=f"echo {n}") for n in range(1200)))
    assert len(data) > 2 * documents.WHOLE_LIMIT
    tracemalloc.start()
    try:
        for _ in AtifReader().read(io.BytesIO(data), Report()):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000


# Subagents


def subagent(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {**json.loads(trajectory(*steps)), "trajectory_id": name}


def delegates(*names: str) -> dict[str, Any]:
    step = call("task", "done", prompt="look")
    references = [{"trajectory_id": name} for name in names]
    step["observation"]["results"][0]["subagent_trajectory_ref"] = references
    return step


def delegated() -> bytes:
    first = subagent("one", user("look"), call("bash", "ok", command="echo 1 > a"))
    second = subagent("two", {"message": "nothing to do"})
    steps = (user(), delegates("one"), {"message": "then"}, delegates("two", "one"))
    return trajectory(*steps, subagent_trajectories=[first, second])


def test_what_a_subagent_did_stands_where_a_step_names_it_and_once() -> None:
    found, report = read(AtifReader(), delegated())
    assert [event.raw for event in found] == [
        "/steps/0",
        "/steps/1/tool_calls/0",
        "/subagent_trajectories/0/steps/0",
        "/subagent_trajectories/0/steps/1/tool_calls/0",
        "/steps/2",
        "/steps/3/tool_calls/0",
        "/subagent_trajectories/1/steps/0",
    ]
    assert kinds(found).count("start") == 1
    assert (report.counts["steps"], report.counts["subagent_steps"]) == (4, 3)
    assert report.counts["subagent_references"] == 3
    assert notes(report) == ""


def test_subagents_are_read_the_same_way_from_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(AtifReader(), delegated())
    monkeypatch.setattr(documents, "WHOLE_LIMIT", 0)
    monkeypatch.setattr(spool, "IN_MEMORY", 10)
    assert read(AtifReader(), delegated()) == whole


def test_the_clock_of_a_subagent_is_that_of_the_file() -> None:
    stamps = [f"2026-01-01T00:00:{second:02}Z" for second in range(4)]
    inner = subagent("one", {"message": "a", "timestamp": stamps[2]})
    found = events(
        user(timestamp=stamps[0]),
        {**delegates("one"), "timestamp": stamps[1]},
        {"message": "b", "timestamp": stamps[3]},
        subagent_trajectories=[inner],
    )
    assert [event.t for event in found] == [0, 1, 2, 3]


def test_a_subagent_that_no_step_names_is_left_out_and_said() -> None:
    found, report = read(
        AtifReader(), trajectory(user(), subagent_trajectories=[subagent("one", {"message": "a"})])
    )
    assert kinds(found) == ["start"]
    assert "no step names a subagent's trajectory, which is left out" in notes(report)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"trajectory_id": "three"}, "that is not in the file"),
        ({"trajectory_id": 3}, "that is not in the file"),
        ({"session_id": "s"}, "a reference to a subagent names none"),
        ({"trajectory_path": "sub.json"}, "a subagent's trajectory is in another file"),
        ({"trajectory_id": "one", "more": 1}, "a reference to a subagent has a field 'more'"),
    ],
)
def test_a_reference_that_leads_nowhere_is_said(fields: dict[str, Any], said: str) -> None:
    step = delegates()
    step["observation"]["results"][0]["subagent_trajectory_ref"] = [fields]
    report = report_of(step, subagent_trajectories=[subagent("one", {"message": "a"})])
    assert said in notes(report)


def test_subagents_have_ids_of_their_own_and_none_inside() -> None:
    inner = subagent("one", {"message": "a"})
    nested = {**subagent("two", {"message": "b"}), "subagent_trajectories": [inner]}
    report = report_of(delegates("one", "two"), subagent_trajectories=[inner, inner, nested])
    assert "has no trajectory_id of its own" in notes(report)
    assert "holds further ones, which are left out" in notes(report)


# What the rules of ATIF forbid, one by one


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (user(reasoning_effort="high"), "has fields of the agent's"),
        ({"llm_call_count": 0, "metrics": {"prompt_tokens": 1}}, "called no model has metrics"),
        ({"llm_call_count": 0, "reasoning_content": "hm"}, "called no model has metrics"),
        ({"llm_call_count": -1}, "llm_call_count is no whole number"),
        ({"metrics": {"prompt_tokens": 1, "price": 2}}, "a metrics object has a field 'price'"),
        ({"metrics": 3}, "metrics is no object"),
        ({"observation": {"results": [], "more": 1}}, "an observation has a field 'more'"),
        ({"message": [{"type": "text"}]}, "is no text, image or audio"),
        ({"message": [{"type": "film", "source": {}}]}, "is no text, image or audio"),
        ({"message": [{"type": "text", "text": "a", "n": 1}]}, "part of a message has a field"),
        (
            {"observation": {"results": [{"content": [{"type": "image"}]}]}},
            "is no text, image or audio",
        ),
        (
            {"observation": {"results": [{"subagent_trajectory_ref": {}}]}},
            "subagent_trajectory_ref is no array",
        ),
    ],
)
def test_each_violation_is_listed_and_the_step_read(step: dict[str, Any], said: str) -> None:
    found, report = read(AtifReader(), trajectory(step))
    assert len(found) == 1
    assert said in notes(report)


def test_totals_with_fields_of_their_own_are_said() -> None:
    report = report_of(user(), final_metrics={"total_steps": 1, "price": 2})
    assert "final_metrics has a field 'price'" in notes(report)
    assert report.facts["final_metrics"] == {"total_steps": 1}


def test_parts_as_the_rules_have_them_are_no_violation() -> None:
    source = {"media_type": "image/png", "path": "/etc/passwd"}
    parts = [{"type": "text", "text": "a"}, {"type": "image", "source": source}]
    found, report = read(AtifReader(), trajectory({"message": parts}))
    assert found[0].text == "a\n[image]"
    assert notes(report) == ""
