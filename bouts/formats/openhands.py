"""OpenHands V0 (0.x): an array of events, actions and what was observed of them.

It is a ``trajectory`` file, or a line of an evaluation's ``output.jsonl`` with the events under
``history``.

What becomes an event
---------------------

- An action of the agent is an event; its observation, which points back by ``cause``, is its
  output. Ids have gaps, and the order is that of the file.
- ``run`` is told further by its command line, ``edit`` by its ``command``; ``think`` is a
  ``plan``, ``finish`` the ``submit``. The user's first message is the ``start``.
- What the program does for itself (changes of state, recalls, condensations) is counted as
  ``bookkeeping`` and left out.
- An edit's observation has the file before and after, from which ``before``, ``after`` and the
  lines are derived; relative paths start where the shell last said that it is.
- Exit codes come from ``extras.metadata``; -1 is a command that still runs.
- Times are those of a machine whose zone is not told. Tokens are those of the response that an
  action came with, once a response; failing that the growth of ``llm_metrics``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, first_item_keys, top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.contents import told_edits
from bouts.formats.telemetry.parts import joined, mapping, text_of, token_count
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.tokens import Growth
from bouts.formats.telemetry.waiting import Step, WaitingRoom
from bouts.formats.types import Event, Kind, Report, Unreadable

Record = Mapping[str, Any]

# Actions that are calls under another name, see `bouts.formats.telemetry.tools`.
_TOOLS = {
    "browse": "browser",
    "browse_interactive": "browser",
    "run_ipython": "ipython",
    "task_tracking": "task_tracker",
}
_SAID = {"message", "system"}
_BOOKKEEPING = {
    *("change_agent_state", "condensation", "condensation_request", "loop_recovery", "null"),
    *("pause", "recall", "resume", "start_hidden", "stop"),
}
# Arguments that say what the agent thinks, or how the program is to carry the action out.
_NO_ARGUMENTS = {
    *("blocking", "confirmation_state", "hidden", "impl_source", "is_input", "is_static"),
    *("security_risk", "thought", "translated_ipython_code"),
}
_FAILURES = {"error", "user_rejected"}


class OpenHandsReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "openhands"
    version: ClassVar[int] = 1 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = first_item_keys(head)
        if keys:
            is_ours = "action" in keys or "observation" in keys
            return is_ours and "source" in keys and "id" in keys and "kind" not in keys
        keys = top_keys(head)
        is_evaluation = "history" in keys and ("instance_id" in keys or "metadata" in keys)
        return is_evaluation and b'"observation"' in head and b'"cause"' in head

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(report).events(source)


class _Reading:
    """One pass over one file, after a survey of its clock."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(records=0)
        self._recorder = Recorder()
        self._room = WaitingRoom(self._recorder)
        self._folder: str | None = None  # where the shell last said that it is
        self._responses: set[str] = set()  # whose tokens are counted
        self._growth = Growth()

    def events(self, source: BinaryIO) -> Iterator[Event]:
        document = Document(source, self._report)
        for part in document.parts("/*/timestamp", "/history/*/timestamp"):
            self._clock.survey(part.value)
        self._clock.settle(self._report)
        for part in document.parts("/*", "/history/*"):
            self._counts["records"] += 1
            if isinstance(part.value, dict):
                yield from self._record(part.value, part.pointer)
            else:
                self._remarks.add("an event is no object", part.pointer)
        if not self._counts["records"]:
            raise Unreadable("no events in it", "/history")
        yield from self._room.rest()
        if self._room.unanswered:
            self._report.note(f"actions without an observation: {self._room.unanswered:,}")
        self._recorder.finish(self._report)
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _record(self, record: Record, pointer: str) -> Iterator[Event]:
        action, observation = record.get("action"), record.get("observation")
        if isinstance(action, str):
            if action in _BOOKKEEPING:
                self._counts["bookkeeping"] += 1
            else:
                yield from self._room.add(self._step(action, record, pointer))
        elif isinstance(observation, str):
            yield from self._observe(observation, record, pointer)
        else:
            self._remarks.add("an event is neither an action nor an observation", pointer)

    # Actions

    def _step(self, action: str, record: Record, pointer: str) -> Step:
        arguments = mapping(record, "args")
        words = [arguments.get(name) for name in ("thought", "content")]
        if action not in _SAID:
            words = words[:1]  # the content of a write is no word of the agent's
        moment = Moment(
            self._clock.seconds(record.get("timestamp"), self._remarks, pointer),
            joined(*(word for word in words if isinstance(word, str))),
            *self._tokens(record),
        )
        if action in _SAID:
            by_user = record.get("source") == "user" and action == "message"
            return Step(moment, pointer, by_user=by_user)
        return Step(moment, pointer, [self._call(action, arguments, record, pointer)])

    def _call(self, action: str, arguments: Record, record: Record, pointer: str) -> Call:
        given = {key: value for key, value in arguments.items() if key not in _NO_ARGUMENTS}
        tool = _TOOLS.get(action, action)
        if action in {"call_tool_mcp", "mcp"} and isinstance(given.get("name"), str):
            tool, given = given["name"], mapping(given, "arguments")
        elif action == "edit" and not given.get("command"):
            given = {"path": given.get("path")}  # what was written is told by the observation
        elif action in {"think", "finish"}:
            moved = ("final_thought", "outputs") if action == "finish" else ()
            given = {name: given[name] for name in moved if name in given}
        # Nothing comes back of the end.
        waits_for = None if action == "finish" else _cause(record.get("id"))
        return Call(tool, given, pointer, waits_for, folder=self._folder)

    def _tokens(self, record: Record) -> tuple[int | None, int | None]:
        response = mapping(record, "tool_call_metadata", "model_response")
        usage, response_id = mapping(response, "usage"), response.get("id")
        if usage and isinstance(response_id, str):
            if response_id in self._responses:
                return None, None  # another call of the same response
            self._responses.add(response_id)
            return tuple(token_count(usage.get(name)) for name in _USAGE)  # type: ignore[return-value]
        total = mapping(record, "llm_metrics", "accumulated_token_usage")
        return self._growth.since({"": total}) if total else (None, None)

    # Observations

    def _observe(self, observation: str, record: Record, pointer: str) -> Iterator[Event]:
        extras, output = mapping(record, "extras"), text_of(record.get("content"))
        metadata = mapping(extras, "metadata")
        outcome: dict[str, Any] = {}
        if observation in _FAILURES:
            outcome["success"] = False
        elif "exit_code" in metadata or "exit_code" in extras:
            outcome["exit_code"] = metadata.get("exit_code", extras.get("exit_code"))
        answered = self._room.answer(_cause(record.get("cause")), output, outcome)
        if answered:
            _, call = answered
            call.edits = told_edits(*(extras.get(name) for name in _TEXTS))
            if call.edits and observation not in _FAILURES:
                call.extras.append({"success": True})
        elif observation == "error":
            moment = Moment(
                self._clock.seconds(record.get("timestamp"), self._remarks, pointer), output
            )
            yield from self._room.add(Step(moment, pointer))
        else:
            self._counts["bookkeeping"] += 1
        folder = metadata.get("working_dir")
        if isinstance(folder, str) and folder.startswith("/"):
            self._folder = folder
        yield from self._room.ready()


_USAGE = ("prompt_tokens", "completion_tokens")
_TEXTS = ("path", "old_content", "new_content")


def _cause(written: Any) -> str | None:
    """Return an id, which is a number here, as the name of a call."""
    return str(written) if type(written) is int else None
