"""mini-swe-agent: a conversation with a shell, as version 1, version 2 or a bare list of messages.

=====================  ==============================================================
``trajectory_format``  what it tells
=====================  ==============================================================
``mini-swe-agent-1``   the command stands in the agent's words, its exit code in those of the
                       answer; times are the provider's (``response.created``: whole seconds, of
                       the agent's turns alone), or of every message from 1.16 on
``…-1.1`` (version 2)  commands and exit codes of their own, times of both sides
none: a bare list      the words alone: no clock, no tokens
=====================  ==============================================================

What becomes an event
---------------------

- The user's first message is the ``start``; what answers a command goes to the command.
- Where the agent's turns have times and the task has none, the clock starts with the first turn,
  and what was said before it is left out: nobody can tell how long before it was.
- Each command is an event at the time of the agent's message, in a shell of its own that begins
  in the environment's ``cwd``. Words with no command or several were not run (the agent is told
  so) and are a ``message``.
- Kinds are inferred from the command line, tests and submission among them.
- Tokens are those of each response.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, first_item_keys, top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.clock import Timekeeper, from_epoch
from bouts.formats.telemetry.parts import is_number, joined, mapping, text_of, token_count
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.text import single_line
from bouts.formats.types import Clock, Event, Kind, Report, Unreadable

Record = Mapping[str, Any]

MAX_CALLS = 1_000  # of one message

BARE = "a bare list of messages: no clock, no tokens, no totals"
UNTIMED = "the task has no time: the clock starts with the agent's first turn"
ONE_SIDED = "times are the provider's: whole seconds, of the agent's turns alone"

_COMMAND = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```", re.DOTALL)
_NOT_RUN = re.compile(r"\s*(?:The last command <command>|Command not executed|Interrupted by user)")
# What tells a bare list of ours from those of others.
_MARKS = (
    *(b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", b"MINI_SWE_AGENT_FINAL_OUTPUT"),
    *(b"mswea_bash_command", b"<returncode>"),
)


class MiniSweAgentReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "mini-swe-agent"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        written = keys.get("trajectory_format")
        if isinstance(written, str):
            return written.startswith("mini-swe-agent")
        if keys:
            # The format may stand behind more messages than the head shows.
            is_ours = b'"mini_version"' in head or any(mark in head for mark in _MARKS)
            return "messages" in keys and keys["messages"] is None and is_ours
        item = first_item_keys(head)
        return "role" in item and "content" in item and any(mark in head for mark in _MARKS)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(report).events(source)


class _Reading:
    """One pass over one file, after a survey of what has to be known before."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._has_own_stamps = False
        self._has_begun = False  # the agent has had its first turn
        self._left_out = 0  # of what was said before that, at a time that nobody tells
        self._version = ""
        self._folder: str | None = None
        # What the agent does, until all of it is answered.
        self._moment = Moment(None)
        self._calls: list[Call] = []
        self._open_calls: list[Call] = []

    def events(self, source: BinaryIO) -> Iterator[Event]:
        document = Document(source, self._report)
        self._survey(document)
        self._recorder = Recorder(self._folder)
        counts: Counter[str] = Counter(messages=0)
        for part in document.parts("/messages/*", "/*"):
            counts["messages"] += 1
            if isinstance(part.value, dict):
                yield from self._message(part.value, part.pointer)
            else:
                self._remarks.add("a message is no object", part.pointer)
        if not counts["messages"]:
            raise Unreadable("no messages in it", "/messages")
        yield from self._flush()
        self._recorder.finish(self._report)
        if self._left_out:
            self._report.note(UNTIMED)
            counts["left_out"] = self._left_out
        self._report.counts.update(counts)
        self._remarks.write(self._report)

    # What has to be known before the first event

    def _survey(self, document: Document) -> None:
        provider = Timekeeper()  # of the provider's stamps, where there are no others
        has_provider = is_bare = False
        for pattern, _, value in document.parts(*_HEAD, *_STAMPS, *_CREATED, "/*/role"):
            if pattern in _STAMPS:
                self._has_own_stamps = True
                self._clock.survey(from_epoch(value))
            elif pattern in _CREATED:
                has_provider = True
                provider.survey(from_epoch(value))
            elif pattern == "/*/role":
                is_bare = True
            else:
                self._note_head(pattern, value)
        if not self._has_own_stamps:
            self._clock = provider
        self._clock.settle(self._report)
        if is_bare:
            self._report.note(BARE)
        elif has_provider and not self._has_own_stamps:
            self._report.note(ONE_SIDED)

    def _note_head(self, pattern: str, value: Any) -> None:
        name = pattern.rpartition("/")[2]
        if name == "model_stats":
            stats = mapping(value)
            self._report.facts[name] = {
                key: stats[key]
                for key in ("instance_cost", "api_calls")
                if is_number(stats.get(key))
            }
        elif not isinstance(value, str):
            return
        elif name == "trajectory_format":
            self._version = single_line(value.removeprefix("mini-swe-agent-"))[:20]
            self._report.format_version = self._version
        elif name == "cwd":
            self._folder = value or None
        else:
            self._report.facts[name] = single_line(value)[:200]

    # Messages

    def _message(self, message: Record, pointer: str) -> Iterator[Event]:
        role = message.get("role")
        if role == "assistant" or message.get("object") == "response":
            yield from self._flush()
            yield from self._turn(message, pointer)
        elif role == "tool" or message.get("type") == "function_call_output":
            call_id = message.get("tool_call_id") or message.get("call_id")
            named = (call for call in self._open_calls if call.id == call_id)
            self._answer(next(named, None), message, pointer)
        elif self._open_calls and role in ("user", "exit"):
            self._answer(self._open_calls[0], message, pointer)
        elif text := _said(message):
            yield from self._flush()
            moment = Moment(self._seconds(message, pointer), text)
            has_clock = self._report.clock is not Clock.NONE
            if has_clock and moment.t is None and not self._has_begun:
                self._left_out += 1
            else:
                by_user = role == "user" and not self._has_begun
                yield self._recorder.message(moment, pointer, by_user=by_user)

    def _turn(self, message: Record, pointer: str) -> Iterator[Event]:
        """Begin what the agent does next, or tell what it says."""
        self._has_begun = True
        text, calls = _said(message), self._commands(message, pointer)
        usage = mapping(message, "extra", "response", "usage")
        moment = Moment(
            self._seconds(message, pointer),
            joined(text, _reasoning(message)),
            token_count(usage.get("prompt_tokens", usage.get("input_tokens"))),
            token_count(usage.get("completion_tokens", usage.get("output_tokens"))),
        )
        if calls:
            self._moment, self._calls, self._open_calls = moment, calls, [*calls]
        else:
            yield self._recorder.message(moment, pointer, by_user=False)

    def _commands(self, message: Record, pointer: str) -> list[Call]:
        actions = mapping(message, "extra").get("actions")
        if isinstance(actions, list):
            if len(actions) > MAX_CALLS:
                raise Unreadable(f"more commands than MAX_CALLS = {MAX_CALLS:,}", pointer)
            return [
                self._call(action.get("command"), f"{pointer}/extra/actions/{index}", action)
                for index, action in enumerate(actions)
                if isinstance(action, dict)
            ]
        if self._version not in {"", "1"}:
            return []
        commands = _COMMAND.findall(_said(message))
        # Of none or several none was run.
        return [self._call(commands[0].strip(), pointer, {})] if len(commands) == 1 else []

    def _call(self, command: Any, pointer: str, action: Record) -> Call:
        call_id = action.get("tool_call_id")
        line = command if isinstance(command, str) else ""
        return Call(
            "bash",
            {"command": line},
            pointer,
            call_id if isinstance(call_id, str) else None,
            folder=self._folder,
        )

    def _answer(self, call: Call | None, message: Record, pointer: str) -> None:
        if call is None:
            self._remarks.add("an answer names no command that waits for one", pointer)
            return
        self._open_calls.remove(call)
        extra, text = mapping(message, "extra"), _said(message) or text_of(message.get("output"))
        raw = extra.get("raw_output")
        call.output = raw if isinstance(raw, str) else text
        if message.get("role") == "exit":
            call.extras.append({"success": extra.get("exit_status") == "Submitted"})
        elif _was_not_run(extra, text):
            call.extras.append({"success": False})
        else:
            call.extras.append(extra)

    def _flush(self) -> Iterator[Event]:
        """Yield the events of what the agent did last."""
        calls, self._calls, self._open_calls = self._calls, [], []
        return self._recorder.calls(calls, self._moment)

    def _seconds(self, message: Record, pointer: str) -> float | None:
        extra = mapping(message, "extra")
        stamp = extra.get("timestamp", message.get("timestamp"))
        if not self._has_own_stamps:
            stamp = mapping(extra, "response").get("created")
        if stamp is None:
            return None  # only the agent's turns have one, but for version 1.16 and 1.17
        return self._clock.seconds(from_epoch(stamp), self._remarks, pointer)


_HEAD = (
    *("/trajectory_format", "/info/exit_status", "/info/mini_version", "/info/model_stats"),
    "/info/config/environment/cwd",
)
_STAMPS = tuple(
    f"{base}/*{place}" for base in ("/messages", "") for place in ("/timestamp", "/extra/timestamp")
)
_CREATED = tuple(f"{base}/*/extra/response/created" for base in ("/messages", ""))


def _said(message: Record) -> str:
    """Return what a message says, which the Responses API keeps in items of output."""
    text = text_of(message.get("content"))
    items = message.get("output")
    if text or not isinstance(items, list):
        return text
    said = (item for item in items if isinstance(item, dict) and item.get("type") == "message")
    return "\n".join(text_of(item.get("content")) for item in said)


def _reasoning(message: Record) -> str:
    if isinstance(text := message.get("reasoning_content"), str):
        return text
    choices = mapping(message, "extra", "response").get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    inner = mapping(first, "message")
    said = (inner.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in said if isinstance(text, str)), "")


def _was_not_run(extra: Record, text: str) -> bool:
    """Whether a command was refused, or ended by the harness: it has no exit code then."""
    if "interrupt_type" in extra or extra.get("returncode") == -1:
        return True
    return not extra and _NOT_RUN.match(text) is not None
