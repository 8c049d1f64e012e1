"""What a call of a tool does, from the tool's name and its arguments.

`TOOLS` is the table. A name that is not in it is guessed from the verb in it, and failing that
a `run`; both guesses are marked as inferred, as is what a command line turns out to do.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bouts.formats.telemetry.commands import meaning_of
from bouts.formats.telemetry.contents import Edit
from bouts.formats.telemetry.editors import EDITOR_KINDS, edits_of, path_of
from bouts.formats.types import EventKind


@dataclass(frozen=True, slots=True)
class Action:
    """What a call does: its kind, the files that it edits, what it looks at or runs."""

    kind: EventKind
    inferred: bool = False
    edits: tuple[Edit, ...] = ()
    path: str | None = None
    command: str | None = None
    text: str = ""  # what a plan or a submission says in its arguments
    pieces: int = 0  # in which its command line was taken apart


TOOLS: Mapping[str, EventKind] = {
    name: kind
    for kind, names in {
        EventKind.READ: (
            *("cat", "cat_file", "fetch", "file_read", "get_file", "goto", "notebookread"),
            *("open", "open_file", "read", "read_file", "read_files", "read_many_files"),
            *("bashoutput", "taskget", "tasklist", "taskoutput"),
            *("readfile", "scroll_down", "scroll_up", "view", "view_file", "web_fetch", "webfetch"),
        ),
        EventKind.SEARCH: (
            *("codebase_search", "file_search", "find", "find_file", "find_files", "glob", "grep"),
            *("grep_search", "list", "list_dir", "list_directory", "list_files", "ls", "search"),
            *("search_code", "search_dir", "search_file", "search_files", "web_search"),
            "websearch",
        ),
        EventKind.EDIT: (
            *("append", "append_file", "apply_diff", "apply_patch", "create", "create_file"),
            *("delete_file", "edit", "edit_file", "file_edit", "file_write", "insert"),
            *("insert_edit_into_file", "insert_text", "multi_edit", "multiedit", "notebookedit"),
            *("patch", "replace", "replace_in_file", "search_replace", "str_replace"),
            *("undo_edit", "write", "write_file", "write_to_file"),
            # Editors with a command of their own, see `EDITOR_KINDS`.
            *("edit_anthropic", "editor", "file_editor", "str_replace_based_edit_tool"),
            *("str_replace_editor", "text_editor"),
        ),
        EventKind.PLAN: (
            *("create_goal", "taskcreate", "taskupdate", "update_goal"),
            *("create_plan", "exit_plan_mode", "exitplanmode", "plan", "task_tracker", "think"),
            *("todo", "todo_read", "todo_write", "todoread", "todowrite", "update_plan"),
            *("update_todos", "write_todos"),
        ),
        EventKind.SUBMIT: (
            *("attempt_completion", "complete", "complete_task", "done", "final_answer", "finish"),
            *("mark_task_complete", "submit", "submit_answer", "task_complete"),
        ),
        EventKind.CHECKPOINT: ("checkpoint", "commit", "git_commit", "snapshot", "stash"),
        EventKind.TEST: ("pytest", "run_test", "run_tests", "runtests", "test"),
        EventKind.RUN: (
            # Shells, whose command line tells more.
            *(
                "bash",
                "bash_command",
                "cmd",
                "command_execution",
                "container.exec",
                "exec",
                "exec_command",
            ),
            *("execute_bash", "execute_command", "keystrokes", "local_shell", "powershell", "run"),
            *("run_bash", "run_command", "run_in_terminal", "run_shell_command"),
            *("run_terminal_cmd", "sh", "shell", "shell_command", "swe_agent_action", "terminal"),
            *("tmux", "write_stdin", "zsh"),
            # Those in `_NO_SHELLS`.
            *("browser", "code_interpreter", "execute_code", "execute_ipython_cell", "ipython"),
            *("jupyter", "python", "run_code", "run_python"),
        ),
    }.items()
    for name in names
}

# Tools of kind `run` whose input is a program's text, not a command line.
_NO_SHELLS = frozenset(
    {
        *("browser", "code_interpreter", "execute_code", "execute_ipython_cell", "ipython"),
        *("jupyter", "python", "run_code", "run_python"),
    }
)
_PLAN_LOOKS = ("view", "read")  # commands of a todo tool that plan nothing

# Of the arguments of plans and submissions: settings, and the fields of a list's items.
_NOT_SAID = frozenset({"command", "security_risk"})
_ITEM_TEXTS = ("status", "title", "content", "text", "step", "task", "description", "notes")

# Words in a tool's name, in the order in which they are asked.
_VERBS: tuple[tuple[EventKind, frozenset[str]], ...] = (
    (EventKind.TEST, frozenset({"pytest", "test", "tests"})),
    (
        EventKind.EDIT,
        frozenset({"append", "create", "delete", "edit", "insert", "patch", "replace", "write"}),
    ),
    (EventKind.SEARCH, frozenset({"find", "glob", "grep", "list", "ls", "search"})),
    (EventKind.READ, frozenset({"cat", "get", "open", "read", "show", "view"})),
    (EventKind.PLAN, frozenset({"plan", "think", "todo", "todos"})),
    (EventKind.SUBMIT, frozenset({"complete", "finish", "submit"})),
    (EventKind.CHECKPOINT, frozenset({"checkpoint", "commit", "snapshot"})),
)

# Arguments that hold a command line, by the names that tools give them.
_COMMANDS = ("command", "cmd", "commands", "keystrokes", "script", "raw_action", "action", "input")


def action_of(tool: str, arguments: Any) -> Action:
    """Tell what a call does. ``arguments`` is an object, or the bare text that a tool was given."""
    name, kind, inferred = _known(tool)
    given = arguments if isinstance(arguments, dict) else {"input": arguments}
    if kind is EventKind.EDIT:
        return _editing(name, given, inferred)
    if kind is EventKind.PLAN and given.get("command") in _PLAN_LOOKS:
        return Action(EventKind.READ, inferred)
    if kind in {EventKind.PLAN, EventKind.SUBMIT}:
        return Action(kind, inferred, text=said_text(given))
    command = command_line(given) if kind in {EventKind.RUN, EventKind.TEST} else None
    if kind is EventKind.RUN and command is not None and name not in _NO_SHELLS:
        meaning = meaning_of(command)
        is_guess = inferred or meaning.kind is not EventKind.RUN or bool(meaning.edits)
        return Action(
            *(meaning.kind, is_guess, meaning.edits, meaning.path, command), pieces=meaning.pieces
        )
    return Action(kind, inferred, path=path_of(given), command=command)


@lru_cache(maxsize=1024)
def _known(tool: str) -> tuple[str, EventKind, bool]:
    """Return a tool's plain name, its kind, and whether that is a guess.

    A name may come with the server or namespace that it belongs to: ``mcp__fs__read_file``.
    """
    lowered = tool.strip().lower()
    for name in (lowered, re.split(r"__|[.:/]", lowered)[-1]):
        if name in TOOLS:
            return name, TOOLS[name], False
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", tool)}
    for kind, verbs in _VERBS:
        if not verbs.isdisjoint(words):
            return lowered, kind, True
    return lowered, EventKind.RUN, True


def command_line(arguments: Mapping[str, Any]) -> str | None:
    """Return the command line among a call's arguments, put together where it is a list."""
    for key in _COMMANDS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            if all(isinstance(word, str) for word in value):
                return shlex.join(value) if key != "commands" else "\n".join(value)
            lines = (item.get("keystrokes") for item in value if isinstance(item, dict))
            return "".join(line for line in lines if isinstance(line, str))
    return None


def said_text(arguments: Mapping[str, Any]) -> str:
    """Return a plan or a closing word as text: paragraphs, and lists a line an item."""
    lines: list[str] = []
    for name, value in arguments.items():
        if isinstance(value, str) and name not in _NOT_SAID:
            lines.append(value)
        for item in value if isinstance(value, list) else ():
            if isinstance(item, str):
                lines.append(f"- {item}")
            elif isinstance(item, dict):
                words = [item[key] for key in _ITEM_TEXTS if isinstance(item.get(key), str)]
                lines.append(f"- {': '.join(words)}")
    return "\n".join(lines)


def _editing(name: str, arguments: Mapping[str, Any], inferred: bool) -> Action:
    command = arguments.get("command")
    if isinstance(command, str) and command in EDITOR_KINDS:
        name = command
        if EDITOR_KINDS[command] is EventKind.READ:
            return Action(EventKind.READ, inferred, path=path_of(arguments))
    edits = tuple(edits_of(name, arguments))
    return Action(EventKind.EDIT, inferred, edits, edits[0].path if edits else None)
