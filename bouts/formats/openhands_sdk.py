"""OpenHands V1, the events of its SDK: a line each (or an array), named by their ``kind``.

What becomes an event
---------------------

- An ``ActionEvent`` is a call; its observation, error or rejection names it by ``action_id`` or
  ``tool_call_id`` and is its output. A ``MessageEvent`` is said; the user's first is the
  ``start``. A failure of the conversation itself is a ``message``.
- ``finish`` is the ``submit``, ``think`` and the planning of ``task_tracker`` a ``plan``; a
  ``terminal`` is told further by its command line.
- An agent of another make that is driven over ACP tells a call again and again while it runs:
  its last word counts, once.
- Everything else (state, condensation, hooks, tokens) is counted as ``bookkeeping``.
- An editor's observation has the file before and after, from which ``before``, ``after`` and the
  lines are derived; relative paths start where the terminal last said that it is.
- Exit codes are the terminal's; -1 is a command that still runs.
- Times have no zone. Tokens are told as running totals (``stats``): an event has what they grew
  by since the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import first_item_keys, top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.contents import told_edits
from bouts.formats.telemetry.parts import arguments_of, joined, mapping, text_of
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.records import Records
from bouts.formats.telemetry.tokens import Growth
from bouts.formats.telemetry.waiting import Step, WaitingRoom
from bouts.formats.text import single_line
from bouts.formats.types import Event, Kind, Report

Record = Mapping[str, Any]

_KINDS = frozenset(
    {
        *("ActionEvent", "AgentErrorEvent", "Condensation", "ConversationErrorEvent"),
        *("ConversationStateUpdateEvent", "MessageEvent", "ObservationEvent", "PauseEvent"),
        *("SystemPromptEvent", "UserRejectObservation", "ACPToolCallEvent"),
    }
)
_SAYINGS = frozenset({"ConversationErrorEvent", "MessageEvent", "SystemPromptEvent"})
_ANSWERS = frozenset({"AgentErrorEvent", "ObservationEvent", "UserRejectObservation"})
# What the model says about a call, not to the tool.
_ASIDES = frozenset({"kind", "security_risk", "summary"})
# The kinds of tools that ACP knows, as tools of ours.
_ACP_TOOLS = {"execute": "bash", "fetch": "web_fetch", "delete": "delete_file", "move": "edit"}


class OpenHandsSdkReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "openhands-sdk"
    version: ClassVar[int] = 1 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = first_item_keys(head) or top_keys(head)
        if "items" in keys or "events" in keys:
            return any(f'"{kind}"'.encode() in head for kind in _KINDS)
        is_event = "source" in keys and "timestamp" in keys and "id" in keys
        return is_event and keys.get("kind") in _KINDS

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(report).events(source)


class _Reading:
    """One pass over one file, after a survey of its clock and of what is told several times."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(records=0)
        self._recorder = Recorder()
        self._room = WaitingRoom(self._recorder)
        self._folder: str | None = None  # where the terminal last said that it is
        self._growth = Growth()
        self._tokens: tuple[int | None, int | None] = (None, None)  # that no event has yet
        self._last_words: dict[str, str] = {}  # of calls over ACP, their last record

    def events(self, source: BinaryIO) -> Iterator[Event]:
        records = Records(source, self._report, "/*", "/items/*", "/events/*")
        for pointer, record in records:
            self._clock.survey(record.get("timestamp"))
            if record.get("kind") == "ACPToolCallEvent":
                self._last_words[str(record.get("tool_call_id"))] = pointer
        self._clock.settle(self._report)
        for pointer, record in records:
            self._counts["records"] += 1
            yield from self._record(str(record.get("kind")), record, pointer)
        yield from self._room.rest()
        if self._room.unanswered:
            self._report.note(f"actions without an observation: {self._room.unanswered:,}")
        self._recorder.finish(self._report)
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _record(self, kind: str, record: Record, pointer: str) -> Iterator[Event]:
        if kind == "ActionEvent":
            yield from self._room.add(self._action(record, pointer))
        elif kind in _SAYINGS:
            yield from self._room.add(self._saying(kind, record, pointer))
        elif kind in _ANSWERS:
            self._answer(kind, record, pointer)
            yield from self._room.ready()
        elif kind == "ACPToolCallEvent":
            if self._last_words[str(record.get("tool_call_id"))] == pointer:
                yield from self._room.add(self._acp_call(record, pointer))
        else:
            self._counts["bookkeeping"] += 1
            if kind == "ConversationStateUpdateEvent":
                self._note_state(record.get("key"), record.get("value"))

    def _note_state(self, key: Any, value: Any) -> None:
        if key == "execution_status" and isinstance(value, str):
            self._report.facts[key] = single_line(value)[:40]
        stats = mapping(value, "stats") if key == "full_state" else mapping(value)
        uses = mapping(stats, "usage_to_metrics")
        totals = {use: mapping(told, "accumulated_token_usage") for use, told in uses.items()}
        grown = self._growth.since(totals)
        waiting = self._tokens
        self._tokens = (_sum(waiting[0], grown[0]), _sum(waiting[1], grown[1]))

    # What is done and said

    def _moment(self, record: Record, pointer: str, *texts: str) -> Moment:
        seconds = self._clock.seconds(record.get("timestamp"), self._remarks, pointer)
        tokens: tuple[int | None, int | None] = (None, None)
        if record.get("source") == "agent":
            tokens, self._tokens = self._tokens, tokens
        return Moment(seconds, joined(*texts), *tokens)

    def _action(self, record: Record, pointer: str) -> Step:
        reasoning = record.get("reasoning_content")
        said = (text_of(record.get("thought")), reasoning if isinstance(reasoning, str) else "")
        called = mapping(record, "tool_call")
        tool = next(
            (t for t in (record.get("tool_name"), called.get("name")) if isinstance(t, str)), ""
        )
        arguments = arguments_of(called.get("arguments")) or mapping(record, "action")
        if isinstance(arguments, dict):
            arguments = {key: arguments[key] for key in arguments if key not in _ASIDES}
        call = Call(
            tool or "unknown",
            arguments,
            pointer,
            call_id if isinstance(call_id := record.get("tool_call_id"), str) else None,
            folder=self._folder,
        )
        return Step(self._moment(record, pointer, *said), pointer, [call])

    def _saying(self, kind: str, record: Record, pointer: str) -> Step:
        message = mapping(record, "llm_message")
        texts = [text_of(message.get("content"))]
        if kind == "SystemPromptEvent":
            texts = [text_of([record.get("system_prompt")])]
        elif kind == "ConversationErrorEvent":
            texts = [str(record[name]) for name in ("code", "detail") if name in record]
        elif isinstance(reasoning := message.get("reasoning_content"), str):
            texts.append(reasoning)
        by_user = kind == "MessageEvent" and record.get("source") == "user"
        return Step(self._moment(record, pointer, *texts), pointer, by_user=by_user)

    def _acp_call(self, record: Record, pointer: str) -> Step:
        kind, title = record.get("tool_kind"), record.get("title")
        tool = _ACP_TOOLS.get(str(kind), str(kind or title or "unknown"))
        given = record.get("raw_input")
        arguments = (
            given if isinstance(given, dict) else {"input": given if isinstance(given, str) else ""}
        )
        output = record.get("raw_output")
        is_over = record.get("status") in ("completed", "failed")
        has_failed = record.get("is_error") is True or record.get("status") == "failed"
        call = Call(
            tool,
            arguments,
            pointer,
            output=output if isinstance(output, str) else text_of(record.get("content")),
            extras=[{"success": not has_failed}] if is_over else [],
            folder=self._folder,
        )
        return Step(self._moment(record, pointer), pointer, [call])

    # What comes back

    def _answer(self, kind: str, record: Record, pointer: str) -> None:
        observation = mapping(record, "observation")
        output = text_of(observation.get("content"))
        extra: dict[str, Any] = {}
        if kind == "ObservationEvent":
            metadata = mapping(observation, "metadata")
            code = observation.get("exit_code")
            code = metadata.get("exit_code") if code is None else code
            is_error = observation.get("is_error")
            if is_error is True or (is_error is False and code is None):
                extra["is_error"] = is_error
            extra["exit_code"] = code
            if isinstance(folder := metadata.get("working_dir"), str) and folder[:1] == "/":
                self._folder = folder
        else:
            told = record.get("error", record.get("rejection_reason"))
            output = told if isinstance(told, str) else ""
            extra["success"] = False
        answered = self._room.answer(record.get("tool_call_id"), output, extra)
        if answered is None:
            self._remarks.add("an observation of an action that is not in the file", pointer)
        elif observation.get("is_error") is not True:
            path = observation.get("path") or observation.get("file_path")
            texts = (observation.get(name) for name in ("old_content", "new_content"))
            answered[1].edits = told_edits(path, *texts)


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
