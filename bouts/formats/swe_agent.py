"""SWE-agent's ``.traj``: steps without a clock, of windowed editors and shell commands.

The file has no version. It tells what a call was by its action, a line as the agent typed it:
the first word is the tool. Nothing in it tells the time: ``execution_time`` is how long a tool
ran, not when, and not how long the model took.

What becomes an event
---------------------

- The task, the user's first message in ``history``, is the ``start``. The rest of the history
  says again what the trajectory says, and is not read.
- A step is one event (one a file, where it edits several); one without an action a ``message``.
- ``edit`` and ``insert`` change the file that ``state`` names as open, and relative paths start
  from its working directory, as both were before the step.
- Windowed editors say in words whether they worked; there are no exit codes.
- Tokens are told only as totals, which ``facts`` keep.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, BinaryIO, ClassVar

import orjson

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.contents import Edit, Replace, Swap, Write
from bouts.formats.telemetry.parts import is_number, joined, text_of
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.shell import MAX_COMMAND_CHARS, simple_commands
from bouts.formats.text import single_line
from bouts.formats.types import Clock, Event, Kind, Report, Unreadable

NO_CLOCK = "clock: none; execution_time tells how long a tool ran, not when"

# `edit 4:7`, the new lines and the end mark, as the windowed editor of versions 0.x has it.
_LINES_EDIT = re.compile(r"edit\s+\d+:\d+(?:\s|$)")
# Tools that are about the file which is open.
_OPEN_FILE = frozenset({"edit", "insert", "goto", "scroll_down", "scroll_up"})
_PATH_FIRST = frozenset({"create", "open", "filemap", "view_image"})
_PLAIN = frozenset({"find_file", "search_dir", "search_file", "submit"})
_EDITORS = frozenset({"edit_anthropic", "str_replace_editor"})
_TIMED_OUT = re.compile(r"EXECUTION TIMED OUT|The command .{1,2000}? was cancelled because it took")
_EDITED = re.compile(r"Text replaced\.|Replaced \d+ occurrences|File updated\.|\[File: ")
_NOT_EDITED = re.compile(
    r"Your (?:proposed )?edit (?:has introduced|was not applied|would have)|No (?:changes|file open)"
    r"|Text not found|Usage: |Error|usage: |Warning: File "
)


class SweAgentReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "swe-agent"
    version: ClassVar[int] = 1 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        if keys.get("trajectory", ...) is not None or "schema_version" in keys:
            return False
        return b'"action"' in head and b'"observation"' in head and b'"thought"' in head

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(report).events(source)


class _Reading:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._open_file: str | None = None  # as the step before has left it
        self._folder: str | None = None
        self._task: tuple[str, str] | None = None  # pointer, text

    def events(self, source: BinaryIO) -> Iterator[Event]:
        document = Document(source, self._report)
        self._survey(document)
        self._report.clock = Clock.NONE
        self._report.note(NO_CLOCK)
        recorder = Recorder(self._folder)
        if self._task:
            yield recorder.message(Moment(None, self._task[1]), self._task[0], by_user=True)
        counts: Counter[str] = Counter(steps=0)
        for part in document.parts("/trajectory/*"):
            counts["steps"] += 1
            if isinstance(part.value, dict):
                yield from self._step(part.value, part.pointer, recorder)
            else:
                self._remarks.add("a step is no object", part.pointer)
        if not counts["steps"]:
            raise Unreadable("no steps in it", "/trajectory")
        recorder.finish(self._report)
        self._report.counts.update(counts)
        self._remarks.write(self._report)

    def _survey(self, document: Document) -> None:
        """Find the task, the folder where the work began, and the totals."""
        message: dict[str, Any] = {}  # what is read of one message of the history
        place = ""
        for pattern, pointer, value in document.parts(*_HEAD, *_MESSAGE, _STATE):
            if pattern == _STATE:
                self._folder = self._folder or _state(value)[1]
            elif pattern in _MESSAGE:
                if pointer.rpartition("/")[0] != place:
                    self._note_task(place, message)
                    place, message = pointer.rpartition("/")[0], {}
                message[pattern] = value
            else:
                self._note_head(pattern, value)
        self._note_task(place, message)

    def _note_task(self, place: str, message: dict[str, Any]) -> None:
        """The first thing that a user says is the task, unless it is of a demonstration."""
        role, content, is_demo = (message.get(pattern) for pattern in _MESSAGE)
        if self._task is None and role == "user" and not is_demo and (text := text_of(content)):
            self._task = place, text

    def _note_head(self, pattern: str, value: Any) -> None:
        name = pattern.rpartition("/")[2]
        if isinstance(value, dict):
            totals = {key: value[key] for key in _TOTALS if is_number(value.get(key))}
            self._report.facts[name] = totals
        elif isinstance(value, str):
            self._report.facts[name] = single_line(value)[:200]
            if name == "swe_agent_version":
                self._report.format_version = single_line(value)[:40]

    def _step(self, step: dict[str, Any], pointer: str, recorder: Recorder) -> Iterator[Event]:
        action, observation = step.get("action"), step.get("observation")
        output = observation if isinstance(observation, str) else ""
        thought, response = (step.get(name) for name in ("thought", "response"))
        said = thought if isinstance(thought, str) and thought else response
        moment = Moment(None, joined(said if isinstance(said, str) else "", _reasoning(step)))
        if isinstance(action, str) and action.strip():
            call = self._call(action, output, pointer)
            call.folder = self._folder
            call.output = output
            if _TIMED_OUT.match(output):
                call.extras.append({"success": False})
            yield from recorder.calls([call], moment)
        else:
            yield recorder.message(moment, pointer, output, by_user=False)
        open_file, folder = _state(step.get("state"))
        self._open_file, self._folder = open_file, folder or self._folder

    def _call(self, action: str, output: str, pointer: str) -> Call:
        """Tell a call of one of SWE-agent's own tools from a command line."""
        if _LINES_EDIT.match(action):
            edits = self._of_open_file(lambda path: Write(path, None))
            return Call("edit", {"input": action}, pointer, extras=_success(output), edits=edits)
        commands = simple_commands(action)
        words = commands[0].words if len(commands) == 1 else []
        tool = words[0] if words else ""
        is_cut = len(action) > MAX_COMMAND_CHARS
        if tool in _EDITORS and len(words) > 2:
            arguments = _editor_arguments(words)
            edits = (Write(words[2], None),) if is_cut and words[1] != "view" else ()
            return Call(tool, arguments, pointer, edits=edits)
        if tool in _PATH_FIRST and len(words) > 1:
            edits = (Write(words[1], None),) if tool == "create" else ()
            extras = _success(output) if edits else []
            return Call(tool, {"path": words[1]}, pointer, extras=extras, edits=edits)
        if tool in _OPEN_FILE and len(words) > 1 - (tool[:6] == "scroll"):
            arguments = {"path": self._open_file, "input": action}
            edits = self._of_open_file(lambda path: _windowed_edit(path, words, is_cut=is_cut))
            if tool in {"edit", "insert"}:
                return Call(tool, arguments, pointer, extras=_success(output), edits=edits)
            return Call(tool, arguments, pointer)
        if tool in _PLAIN:
            return Call(tool, {"input": action} if tool != "submit" else {}, pointer)
        return Call("bash", {"command": action}, pointer)

    def _of_open_file(self, edit: Any) -> tuple[Edit, ...]:
        return (edit(self._open_file),) if self._open_file else ()


_HEAD = (*("/environment", "/info/exit_status", "/info/model_stats", "/info/swe_agent_version"),)
_MESSAGE = ("/history/*/role", "/history/*/content", "/history/*/is_demo")
_STATE = "/trajectory/*/state"
_TOTALS = ("instance_cost", "tokens_sent", "tokens_received", "api_calls")


def _state(written: Any) -> tuple[str | None, str | None]:
    """Return the open file and the working directory; versions 0.x write them as JSON text."""
    if isinstance(written, str):
        try:
            written = orjson.loads(written)
        except orjson.JSONDecodeError:
            return None, None
    if not isinstance(written, dict):
        return None, None
    values = (written.get(name) for name in ("open_file", "working_dir"))
    open_file, folder = (
        value if isinstance(value, str) and value not in {"", "n/a"} else None for value in values
    )
    return open_file, folder


def _reasoning(step: dict[str, Any]) -> str:
    """Return the thinking that newer versions keep beside the thought."""
    blocks = step.get("thinking_blocks")
    if not isinstance(blocks, list):
        return ""
    said = (block.get("thinking") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in said if isinstance(text, str))


def _success(output: str) -> list[Mapping[str, Any]]:
    """Return what a windowed editor says of its success; nothing where it says neither."""
    if _NOT_EDITED.match(output.lstrip()):
        return [{"success": False}]
    return [{"success": True}] if _EDITED.match(output.lstrip()) else []


def _windowed_edit(path: str, words: list[str], *, is_cut: bool) -> Edit:
    """Return ``edit SEARCH REPLACEMENT [all]`` as a replacement; of all else only the file is known.

    It replaces in the window that is shown, so that where the text stands is only known where
    it stands once in the file.
    """
    if words[0] == "edit" and 2 < len(words) < 5 and words[1] and not is_cut:
        everywhere = words[3:] in (["True"], ["true"])
        return Replace(path, (Swap(words[1], words[2], everywhere),))
    return Write(path, None)


def _editor_arguments(words: list[str]) -> dict[str, Any]:
    """Return ``str_replace_editor COMMAND PATH --name value …`` as the arguments of a call."""
    arguments: dict[str, Any] = {"command": words[1], "path": words[2]}
    for name, value in pairwise(words[3:]):
        if name.startswith("--"):
            is_line = name == "--insert_line" and re.fullmatch(r"[0-9]{1,9}", value)
            arguments[name[2:]] = int(value) if is_line else value
    return arguments
