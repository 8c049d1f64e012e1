"""The rollouts that Codex keeps of its sessions, as JSON lines (FORMATS.md, 2).

A rollout is two logs in one: ``response_item`` records are what went to and from the model,
``event_msg`` records what the program showed of it. The first count; of the second only what has
no twin among them, found by the id of the call or item, or by the same words. What the second
know better, the exit code above all, is added to the first.

- A message that only carries instructions or the surroundings is not the user's: where the
  program shows what the user wrote, the user wrote no more.
- ``token_count`` is a running total that is written again and again: an event gets what the total
  has grown since the one before. Without it, ``token_usage_record`` counts once a response.
- ``task_complete`` is the end of the work. Snapshots that the program makes are counted, and are
  no checkpoints of the agent.
- ``raw`` is the JSON pointer of the record.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import top_keys
from bouts.formats.guard import guarded
from bouts.formats.jsonl import JsonLines, Record, head_records
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.codex import (
    TotalTokens,
    answer_of,
    file_edits,
    plain_path,
    session_of,
    words_digest,
)
from bouts.formats.telemetry.parts import arguments_of, joined, mapping, text_of, word
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.waiting import MAX_WAITING, Step, WaitingRoom
from bouts.formats.text import single_line
from bouts.formats.types import Event, Kind, Report, Unreadable

Fields = Mapping[str, Any]

_RECORDS = frozenset(
    {
        *("session_meta", "turn_context", "response_item", "event_msg", "compacted"),
        *("world_state", "token_usage_record", "inter_agent_communication_metadata"),
    }
)
# Response items that are calls, and the tool where the item does not name it.
_CALLS = {
    "function_call": "",
    "custom_tool_call": "",
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
# Those of which no result comes back as a record of its own.
_UNANSWERED = frozenset({"web_search_call", "image_generation_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
# What the program shows of a call when it is over; see also `item_completed`.
_SHOWN_CALLS = {
    "exec_command_end": "exec_command",
    "patch_apply_end": "apply_patch",
    "mcp_tool_call_end": "mcp",
    "web_search_end": "web_search",
    "view_image_tool_call": "view_image",
    "dynamic_tool_call_response": "dynamic",
}
_SHOWN_ITEMS = {
    "CommandExecution": "exec_command_end",
    "FileChange": "patch_apply_end",
    "McpToolCall": "mcp_tool_call_end",
}
_SPOKEN_ITEMS = frozenset({"UserMessage", "AgentMessage", "Reasoning", "Plan"})
_DONE = frozenset({"task_complete", "turn_complete"})
_TURN_DONE = "turn.completed"  # with the total, as `codex exec` prints it
_ENDS = {"turn_aborted": "a turn was aborted", "error": "an error is reported"}
_SPOKEN = frozenset(
    {"user_message", "agent_message", "agent_reasoning", "item_completed", *_DONE, *_ENDS}
)
# Beginnings of messages in the user's place that the program wrote.
_SURROUNDINGS = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|skills_instructions|"
    r"turn_aborted|collaboration_mode)\b|# AGENTS\.md instructions)"
)


class CodexRolloutReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "codex-rollout"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        return any(
            word(record.get("type")) in _RECORDS and "payload" in record and "timestamp" in record
            for record in (top_keys(head), *head_records(head))
        )

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(source, report).events()


class _Reading:
    """One pass over one file, after a survey of what has to be known before."""

    def __init__(self, source: BinaryIO, report: Report) -> None:
        self._report = report
        self._lines = JsonLines(source, report)
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(records=0)
        self._folder: str | None = None
        self._call_ids: set[str] = set()  # of calls among the response items
        self._words: set[bytes] = set()  # said in response items
        self._users_words: set[bytes] = set()  # said by the user, as the program shows it
        self._has_totals = False
        self._tokens = TotalTokens()
        self._responses: set[str] = set()
        self._thoughts: list[str] = []
        self._unasked: Step | None = None  # waits for nothing but what it cost
        self._newest: Step | None = None
        self._unspent = (0, 0)  # tokens before there was a step
        self._seen_calls: set[str] = set()
        self._recent: dict[str, Call] = {}  # calls by their ids, the last `MAX_WAITING`
        self._sessions: dict[str, str] = {}  # calls whose commands still run, by their session
        self._polls: dict[str, str] = {}  # sessions that a call only looks after, by its id

    def events(self) -> Iterator[Event]:
        self._survey()
        self._clock.settle(self._report)
        recorder = Recorder(self._folder)
        self._room = WaitingRoom(recorder)
        for record in self._lines.records():
            self._counts["records"] += 1
            yield from self._record(record)
        if thought := self._thought():
            yield from self._add(Step(Moment(None, thought), f"/{record.line - 1}"))
        yield from self._let_out()
        yield from self._room.rest()
        if self._room.unanswered:
            self._remarks.add(f"calls without a result: {self._room.unanswered:,}")
        recorder.finish(self._report)
        if not self._counts["items"]:
            raise Unreadable("nothing that was said or done in it, only records of other kinds")
        self._report.counts.update({name: n for name, n in self._counts.items() if n})
        self._remarks.write(self._report)

    # What has to be known before the first event

    def _survey(self) -> None:
        for record in self._lines.records():
            value, payload = record.value, mapping(record.value, "payload")
            match value.get("type"), word(payload.get("type")):
                case "session_meta", _:
                    self._read_meta(payload, record.pointer)
                case "response_item", kind:
                    self._survey_stamp(value)
                    if kind in _CALLS:
                        self._call_ids |= {_call_id(payload), word(payload.get("id"))}
                    for text in _said(payload):
                        self._words.add(words_digest(text))
                case "event_msg", "token_count":
                    self._has_totals |= bool(mapping(payload, "info", "total_token_usage"))
                case "event_msg", kind:
                    if kind in _SHOWN_CALLS or kind in _SPOKEN or kind == _TURN_DONE:
                        self._survey_stamp(value)
                    if kind == "user_message" or _item_type(payload) == "UserMessage":
                        self._users_words |= {words_digest(text) for text in _said(payload)}

    def _survey_stamp(self, value: Fields) -> None:
        if (stamp := value.get("timestamp")) is not None:
            self._clock.survey(stamp)

    def _read_meta(self, payload: Fields, pointer: str) -> None:
        """Read what the first such record says; further ones are of sessions that it goes on."""
        if payload.get("forked_from_id") is not None:
            self._remarks.add("forked from another session, whose beginning it repeats", pointer)
        if self._counts["sessions"]:
            return
        self._counts["sessions"] = 1
        folder, version = payload.get("cwd"), payload.get("cli_version")
        if isinstance(folder, str):
            self._folder = folder
        if isinstance(version, str):
            self._report.format_version = single_line(version)[:50]

    # Records

    def _record(self, record: Record) -> Iterator[Event]:
        value, payload = record.value, mapping(record.value, "payload")
        match value.get("type"):
            case "response_item":
                yield from self._item(payload, value, record.pointer)
            case "event_msg":
                yield from self._shown(payload, value, record.pointer)
            case "token_usage_record" if not self._has_totals:
                response = payload.get("response_id")
                if isinstance(response, str) and response not in self._responses:
                    self._responses.add(response)
                    self._spend(self._tokens.spent(mapping(payload, "usage")))

    def _item(self, payload: Fields, value: Fields, pointer: str) -> Iterator[Event]:
        kind = word(payload.get("type"))
        if kind in ("message", "agent_message"):
            self._counts["items"] += 1
            text = joined(*_said(payload))
            is_users = payload.get("role") == "user" and self._is_users(text)
            yield from self._say(text, value, pointer, by_user=is_users)
        elif kind == "reasoning":
            self._counts["items"] += 1
            self._thoughts += _said(payload)
        elif kind in _CALLS:
            self._counts["items"] += 1
            yield from self._call(payload, value, pointer)
        elif kind in _OUTPUTS:
            self._result(payload, pointer)
        elif kind == "ghost_snapshot":
            self._counts["snapshots"] += 1

    def _result(self, payload: Fields, pointer: str) -> None:
        """Give a call what came back. A command that still runs waits for the looks after it."""
        output, extras = answer_of(payload.get("output"))
        call_id = _call_id(payload)
        session = self._polls.pop(call_id, None)
        call_id = self._sessions.get(session, call_id) if session else call_id
        call = self._recent.get(call_id)
        if running := session_of(output):
            self._sessions[running] = call_id
            if call is not None:
                call.output = f"{call.output}\n{output}" if call.output else output
            return
        if session:
            self._sessions.pop(session, None)
        if self._room.answer(call_id, output, *extras) is None:
            self._remarks.add("a result names no call before it", pointer)

    def _is_users(self, text: str) -> bool:
        if self._users_words:
            return words_digest(text) in self._users_words
        return not _SURROUNDINGS.match(text)

    def _call(self, payload: Fields, value: Fields, pointer: str) -> Iterator[Event]:
        call_id = _call_id(payload)
        if call_id and call_id in self._seen_calls:
            self._counts["repeated"] += 1
            return
        self._seen_calls.add(call_id)
        fixed = _CALLS[word(payload.get("type"))]
        tool = fixed or payload.get("name")
        arguments = arguments_of(
            payload.get("arguments", payload.get("input", payload.get("action")))
        )
        session = str(mapping(arguments).get("session_id"))
        if tool == "write_stdin" and session in self._sessions and not arguments.get("chars"):
            self._polls[call_id] = session
            return
        call = Call(
            tool=tool if isinstance(tool, str) and tool.strip() else "unknown",
            arguments=arguments,
            pointer=pointer,
            # Of these the results do not come back as records.
            id=call_id if word(payload.get("type")) not in _UNANSWERED else None,
            folder=_folder_of(arguments),
        )
        t = self._time(value, pointer)
        yield from self._add(Step(Moment(t, self._thought()), pointer, [call]))

    # What the program shows

    def _shown(self, payload: Fields, value: Fields, pointer: str) -> Iterator[Event]:
        kind = word(payload.get("type"))
        if kind == "token_count":
            if total := mapping(payload, "info", "total_token_usage"):
                self._spend(self._tokens.grown(total))
            return
        if kind == _TURN_DONE:
            yield from self._finish_task(payload, value, pointer)
            self._spend(self._tokens.grown(mapping(payload, "usage")))
            return
        if kind == "item_completed":
            item = mapping(payload, "item")
            kind = _SHOWN_ITEMS.get(word(item.get("type")), kind)
            payload = {"call_id": item.get("id"), **item} if kind != "item_completed" else payload
        if kind in _SHOWN_CALLS:
            yield from self._shown_call(payload, kind, value, pointer)
        elif kind in _SPOKEN:
            yield from self._spoken(payload, kind, value, pointer)

    def _shown_call(
        self, payload: Fields, kind: str, value: Fields, pointer: str
    ) -> Iterator[Event]:
        """Add to a call what is shown of its end, or take it as a call where it is none yet."""
        output, extras = answer_of(payload.get("aggregated_output", payload.get("result")), payload)
        call_id = _call_id(payload)
        if call_id and call_id in self._call_ids:
            if call := self._recent.get(call_id):
                call.extras += extras
            return
        if call_id and call_id in self._seen_calls:
            self._counts["repeated"] += 1
            return
        self._seen_calls.add(call_id)
        self._counts["items"] += 1
        invocation = mapping(payload, "invocation") or payload
        tool = invocation.get("tool") if kind.startswith(("mcp", "dynamic")) else None
        call = Call(
            tool=tool if isinstance(tool, str) and tool.strip() else _SHOWN_CALLS[kind],
            arguments=arguments_of(_arguments(invocation)),
            pointer=pointer,
            output=output or text_of(payload.get("stdout")),
            extras=extras,
            edits=file_edits(payload.get("changes")),
            folder=plain_path(payload.get("cwd")),
        )
        yield from self._add(
            Step(Moment(self._time(value, pointer), self._thought()), pointer, [call])
        )

    def _spoken(self, payload: Fields, kind: str, value: Fields, pointer: str) -> Iterator[Event]:
        texts = _said(payload)
        item = _item_type(payload)
        if kind == "item_completed" and item not in _SPOKEN_ITEMS:
            return
        is_twin = any(words_digest(text) in self._words for text in texts)
        is_more = kind in _DONE or kind in _ENDS or item == "Plan"
        if not is_more and (is_twin or not any(texts)):
            return
        if kind in _DONE:
            yield from self._finish_task(payload, value, pointer)
            return
        self._counts["items"] += 1
        if kind == "agent_reasoning" or item == "Reasoning":
            self._thoughts += texts
        elif item == "Plan":
            call = Call("update_plan", {"plan": texts}, pointer)
            yield from self._add(Step(Moment(self._time(value, pointer)), pointer, [call]))
        elif kind in _ENDS:
            self._remarks.add(_ENDS[kind], pointer)
            text = f"[{kind}] {joined(*texts)}".strip()
            yield from self._say(text, value, pointer, by_user=False)
        else:
            by_user = kind == "user_message" or item == "UserMessage"
            yield from self._say(joined(*texts), value, pointer, by_user=by_user)

    def _finish_task(self, payload: Fields, value: Fields, pointer: str) -> Iterator[Event]:
        self._counts["items"] += 1
        failed = bool(mapping(payload, "error"))
        call = Call("task_complete", {}, pointer, extras=[{"is_error": failed}])
        if failed:
            self._remarks.add("the task ended in an error", pointer)
        yield from self._add(
            Step(Moment(self._time(value, pointer), self._thought()), pointer, [call])
        )

    # Steps

    def _time(self, value: Fields, pointer: str) -> float | None:
        return self._clock.seconds(value.get("timestamp"), self._remarks, pointer)

    def _thought(self) -> str:
        thoughts, self._thoughts = self._thoughts, []
        return joined(*thoughts)

    def _say(self, text: str, value: Fields, pointer: str, *, by_user: bool) -> Iterator[Event]:
        said = text if by_user else joined(text, self._thought())
        moment = Moment(self._time(value, pointer), said)
        yield from self._add(Step(moment, pointer, by_user=by_user))

    def _add(self, step: Step) -> Iterator[Event]:
        """Take a step. What is only said is kept until the next, since its cost comes after it."""
        yield from self._let_out()
        self._newest = step
        unspent, self._unspent = self._unspent, (0, 0)
        self._spend(unspent)
        for call in step.calls:
            if call.id:
                self._recent[call.id] = call
        while len(self._recent) > MAX_WAITING:
            del self._recent[next(iter(self._recent))]
        if any(call.id for call in step.calls):
            yield from self._room.add(step)
        else:
            self._unasked = step

    def _let_out(self) -> Iterator[Event]:
        step, self._unasked = self._unasked, None
        if step is not None:
            yield from self._room.add(step)
        yield from self._room.ready()

    def _spend(self, tokens: tuple[int, int]) -> None:
        """Give the newest step what was spent on it."""
        if self._newest is None:
            self._unspent = self._unspent[0] + tokens[0], self._unspent[1] + tokens[1]
        elif any(tokens):
            moment = self._newest.moment
            self._newest.moment = moment._replace(
                tokens_in=(moment.tokens_in or 0) + tokens[0],
                tokens_out=(moment.tokens_out or 0) + tokens[1],
            )


def _call_id(payload: Fields) -> str:
    return word(payload.get("call_id", payload.get("callId")))


def _item_type(payload: Fields) -> str:
    return word(mapping(payload, "item").get("type"))


def _folder_of(arguments: Any) -> str | None:
    given = mapping(arguments)
    return next((plain_path(given[n]) for n in ("workdir", "cwd") if given.get(n)), None)


def _arguments(invocation: Fields) -> Any:
    """Return what a call was given, of which each sort of call has another part."""
    for name in ("arguments", "action"):
        if isinstance(invocation.get(name), dict):
            return invocation[name]
    return {name: invocation[name] for name in ("command", "query", "path") if name in invocation}


def _said(payload: Fields) -> list[str]:
    """Return what a message, a thought or an item of either says: a text a part of it."""
    inner = mapping(payload, "item") or payload
    texts: list[str] = []
    for name in ("message", "text", "reason"):
        if isinstance(said := inner.get(name), str):
            texts.append(said)
    for name in ("content", "summary", "summary_text"):
        for part in inner[name] if isinstance(inner.get(name), list) else ():
            text = part if isinstance(part, str) else mapping(part).get("text")
            if isinstance(text, str):
                texts.append(text)
    return [text for text in texts if text.strip()]
