"""ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.8 (FORMATS.md, 2).

The world is laxer than the specification, so a file is read as far as it makes sense, and what
breaks the rules is noted. Only a file without a single step is unreadable.

How steps become events
-----------------------

``seq`` counts events from 1 in the order of the file; anchors point at it (``event:SEQ``).

- A step that names a subagent whose trajectory is embedded is followed by that one's events, once.
  A trajectory in another file is not opened, nor is one shown that no step names: its place in
  the order is unknown.
- A step without tool calls is one event: ``start`` for the first step of the user, else a
  ``message``. A step with ``is_copied_context`` repeats an earlier file and gives none.
- A step with tool calls is one event a call. A call that edits several files is one event a
  file, all with the same ``call``. A command line that edits and then does more, such as
  ``sed -i … && pytest``, is an event for each edited file, then one for the rest.
- The first event of a step carries what the step says: ``text`` (the message, then the
  reasoning), and the tokens. All of a step's events have its time.
- Terminus 2 without function calls writes its commands as JSON into the message: each is a
  call of ``bash_command``, ``task_complete`` one of ``task_complete``.

How calls become kinds
----------------------

============  ============================================================================
kind          tools (all names in `bouts.formats.telemetry.tools`)
============  ============================================================================
read          read, view, open, cat …
search        grep, search, find, glob, ls …
edit          edit, write, create, str_replace, insert, apply_patch, undo_edit …
plan          plan, todo, update_plan, think …
submit        submit, finish, complete …
checkpoint    commit, stash, snapshot …
test          run_tests, pytest …
run           bash, shell, run, execute_bash …, and every tool that nothing is known of
============  ============================================================================

A command line tells more than its tool (`bouts.formats.telemetry.commands`): pytest, unittest,
tox, go test, cargo test, npm test … are ``test``; git commit, stash and tag ``checkpoint``;
cat, less, head, sed -n ``read``; grep, rg, find, ls ``search``; sed -i, here-documents, tee and
patches ``edit``. Such kinds, and those guessed from a word in the tool's name, are
``inferred``.

What else an event carries
--------------------------

- Results are parsed from what a test command printed. One that printed none stays a ``test``
  without results. Exit code and success come from ``extra`` of the call or of its result, else
  from the text.
- ``before`` and ``after`` follow the file through the edits from the first full write on, or
  are what ``extra.before_sha256`` and ``extra.after_sha256`` say.
- Paths are relative to ``cwd`` in the ``extra`` of the agent or the file, where it is given.
- ``raw`` is the JSON pointer of the call or step.
- A file that goes on in another one names it, and this is no reader's business: in a bundle the
  files of one run are joined (`bouts.bundles.runs`).
- Tokens are those of the step; ``final_metrics``, which hold those of subagents too, are kept as
  they are told and added to nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, NamedTuple

import orjson

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.parts import arguments_of, is_number, mapping, text_of, token_count
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.spool import Spool
from bouts.formats.telemetry.subagents import Subagents
from bouts.formats.text import single_line
from bouts.formats.types import Event, Kind, Report, Unreadable

Record = Mapping[str, Any]

MAX_CALLS = 1_000  # of one step
BLOCK = 1024 * 1024  # bytes that are searched at once

_VERSION = re.compile(r"ATIF-v(\d{1,3}\.\d{1,3})")
_KNOWN_VERSIONS = {f"1.{minor}" for minor in range(9)}
_SOURCES = ("system", "user", "agent")

# What each object may hold; everything else belongs into its `extra`.
_FIELDS = {
    "a step": frozenset(
        {
            *("step_id", "timestamp", "source", "model_name", "reasoning_effort", "message"),
            *("reasoning_content", "tool_calls", "observation", "metrics", "is_copied_context"),
            *("llm_call_count", "extra"),
        }
    ),
    "a tool call": frozenset({"tool_call_id", "function_name", "arguments", "extra"}),
    "an observation": frozenset({"results"}),
    "a result": frozenset({"source_call_id", "content", "subagent_trajectory_ref", "extra"}),
    "a metrics object": frozenset(
        {
            *("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra"),
            *("prompt_token_ids", "completion_token_ids", "logprobs"),
        }
    ),
    "final_metrics": frozenset(
        {
            *("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"),
            *("total_cost_usd", "total_steps", "extra"),
        }
    ),
    "a reference to a subagent": frozenset(
        {"trajectory_id", "trajectory_path", "session_id", "extra"}
    ),
    "a part of a message": frozenset({"type", "text", "source"}),
}
_AGENTS_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
_NOT_WITHOUT_MODEL = ("metrics", "reasoning_content")  # where no model was called
_PART_TYPES = ("text", "image", "audio")


class AtifReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "atif"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        version = keys.get("schema_version")
        if isinstance(version, str):
            return version.startswith("ATIF")
        return "steps" in keys and b'"step_id"' in head and b'"source"' in head

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return _Reading(report).events(source)


def continued_in(source: BinaryIO) -> str | None:
    """Return the name of the file that a trajectory goes on in, None where it names none.

    It is asked before any file is read, hence of the whole file, but where no such field is
    written at all nothing is parsed.
    """
    if not _holds(source, _CONTINUED[1:].encode()):
        return None
    try:
        part = next(Document(source, Report()).parts(_CONTINUED), None)
    except Unreadable:
        return None  # which is for its reader to say
    return part.value if part and isinstance(part.value, str) else None


def _holds(source: BinaryIO, wanted: bytes) -> bool:
    source.seek(0)
    before = b""
    while block := source.read(BLOCK):
        if wanted in before + block:
            return True
        before = block[-len(wanted) :]
    return False


class _Reading:
    """One pass over one file, after a survey of what has to be known before."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(steps=0)
        self._folder: str | None = None

    def events(self, source: BinaryIO) -> Iterator[Event]:
        document = Document(source, self._report)
        with Spool() as spool:
            self._subagents = Subagents(spool)
            self._survey(document)
            self._clock.settle(self._report)
            recorder = Recorder(self._folder)
            yield from self._steps(document, recorder)
            for place in self._subagents.unnamed():
                self._fault("no step names a subagent's trajectory, which is left out", place)
        recorder.finish(self._report)
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _steps(self, document: Document, recorder: Recorder) -> Iterator[Event]:
        for number, part in enumerate(document.parts("/steps/*"), start=1):
            self._counts["steps"] += 1
            yield from self._step(part.value, number, part.pointer, recorder)
            for trajectory_id in self._named(part.value):
                yield from self._subagent(trajectory_id, part.pointer, recorder)
        if not self._counts["steps"]:
            raise Unreadable("no steps in it", "/steps")

    def _subagent(self, trajectory_id: Any, place: str, recorder: Recorder) -> Iterator[Event]:
        """Yield what an embedded subagent did, where a step names it for the first time."""
        steps = self._subagents.steps_of(trajectory_id)
        if steps is None:
            self._fault("a step names a subagent's trajectory that is not in the file", place)
            return
        for number, (pointer, step) in enumerate(steps, start=1):
            self._counts["subagent_steps"] += 1
            yield from self._step(step, number, pointer, recorder)

    @staticmethod
    def _named(step: Any) -> Iterator[Any]:
        """Yield the ids of the embedded trajectories that a step's results refer to."""
        results = mapping(step, "observation").get("results")
        for result in results if isinstance(results, list) else ():
            references = mapping(result).get("subagent_trajectory_ref")
            for reference in references if isinstance(references, list) else ():
                if (trajectory_id := mapping(reference).get("trajectory_id")) is not None:
                    yield trajectory_id

    def _fault(self, text: str, place: str | None = None) -> None:
        """Note that the file breaks the rules of ATIF."""
        self._remarks.add(f"not as ATIF has it: {text}", place)

    # What has to be known before the first event

    def _survey(self, document: Document) -> None:
        head: dict[str, Any] = {}
        stamps = _Stamps(self._clock)
        for pattern, pointer, value in document.parts(*_HEAD, *_STAMPS, *_SUBAGENTS):
            if pattern in _STAMPS:
                stamps.add(pattern, pointer, value)
            elif pattern in _SUBAGENTS:
                self._note_subagent(pattern, pointer, value)
            else:
                head[pattern] = value
        stamps.close()
        self._check_head(head)
        folders = (head.get(pattern) for pattern in ("/agent/extra/cwd", "/extra/cwd"))
        self._folder = next((path for path in folders if path and isinstance(path, str)), None)
        if isinstance(metrics := head.get("/final_metrics"), dict):
            self._report.facts["final_metrics"] = {
                name: metrics[name] for name in _TOTALS if is_number(metrics.get(name))
            }
        if (following := head.get(_CONTINUED)) is not None:
            name = single_line(following)[:200] if isinstance(following, str) else "?"
            self._report.facts["continued_in"] = name
            self._report.note(f"it goes on in another file: {name}", _CONTINUED)

    def _note_subagent(self, pattern: str, pointer: str, value: Any) -> None:
        if pattern == _SUBAGENTS[0]:
            if not self._subagents.name(pointer, value):
                self._fault("a subagent's trajectory has no trajectory_id of its own", pointer)
        elif pattern == _SUBAGENTS[1]:
            step = mapping(value)
            if step.get("timestamp") is not None and step.get("is_copied_context") is not True:
                self._clock.survey(step["timestamp"])
            self._subagents.keep(pointer, value)
        elif value == "array":
            self._fault("a subagent's trajectory holds further ones, which are left out", pointer)

    def _check_head(self, head: Mapping[str, Any]) -> None:
        written = head.get("/schema_version")
        version = _VERSION.fullmatch(written) if isinstance(written, str) else None
        if version is None:
            self._fault("schema_version is missing or unknown", "/schema_version")
        else:
            self._report.format_version = version[1]
            if version[1] not in _KNOWN_VERSIONS:
                self._fault(f"version {version[1]} is none of 1.0 to 1.8", "/schema_version")
        for name in ("name", "version"):
            if not isinstance(head.get(f"/agent/{name}"), str):
                self._fault(f"the agent's {name} is missing", f"/agent/{name}")
        self._check_object("final_metrics", head.get("/final_metrics"), "/final_metrics")

    # Steps

    def _step(self, step: Any, number: int, pointer: str, recorder: Recorder) -> Iterator[Event]:
        if not isinstance(step, dict):
            self._fault("a step is no object", pointer)
            return
        self._check_step(step, number, pointer)
        if step.get("is_copied_context") is True:
            self._counts["copied_steps"] += 1
            return
        if step.get("llm_call_count") == 0:
            self._counts["deterministic_steps"] += 1
        text, calls = text_of(step.get("message")), self._calls(step.get("tool_calls"), pointer)
        if not calls and step.get("source") == "agent":
            text, calls = _terminus(text, pointer)
            if calls:
                self._remarks.add("commands are read from the JSON of messages", pointer)
        reasoning = step.get("reasoning_content")
        if isinstance(reasoning, str) and reasoning:
            text = f"{text}\n\n{reasoning}" if text else reasoning
        seconds = self._clock.seconds(step.get("timestamp"), self._remarks, pointer)
        moment = Moment(seconds, text, *self._tokens(step.get("metrics"), pointer))
        results = self._results(step.get("observation"), pointer)
        if calls:
            self._link(results, calls, step, pointer)
            yield from recorder.calls(calls, moment)
        else:
            output = "\n".join(result.output for result in results if result.output)
            by_user = step.get("source") == "user"
            yield recorder.message(moment, pointer, output, by_user=by_user)

    def _check_step(self, step: Record, number: int, pointer: str) -> None:
        if step.get("step_id") != number:
            self._fault("step_id does not count 1, 2, 3 …", pointer)
        source = step.get("source")
        if source not in _SOURCES:
            self._fault("a step's source is none of system, user, agent", pointer)
        elif source != "agent" and any(step.get(name) is not None for name in _AGENTS_ONLY):
            self._fault("a step that is not the agent's has fields of the agent's", pointer)
        if not isinstance(step.get("message"), (str, list)):
            self._fault("a step has no message", pointer)
        self._check_parts(step.get("message"), pointer)
        calls = step.get("llm_call_count")
        if calls == 0 and any(step.get(name) is not None for name in _NOT_WITHOUT_MODEL):
            self._fault("a step that called no model has metrics or reasoning", pointer)
        elif calls is not None and token_count(calls) is None:
            self._fault("llm_call_count is no whole number from 0 on", pointer)
        self._check_fields("a step", step, pointer)
        self._check_object("a metrics object", step.get("metrics"), f"{pointer}/metrics")

    def _check_parts(self, content: Any, pointer: str) -> None:
        """Check the parts of a message or result: text has text, all else has a source."""
        for part in content if isinstance(content, list) else ():
            fields = mapping(part)
            self._check_fields("a part of a message", fields, pointer)
            has = "text" if fields.get("type") == "text" else "source"
            if fields.get("type") not in _PART_TYPES or fields.get(has) is None:
                self._fault("a part of a message is no text, image or audio", pointer)

    def _check_object(self, what: str, written: Any, pointer: str) -> None:
        if isinstance(written, dict):
            self._check_fields(what, written, pointer)
        elif written is not None:
            self._fault(f"{pointer.rpartition('/')[2]} is no object", pointer)

    def _check_fields(self, what: str, fields: Record, pointer: str) -> None:
        known = _FIELDS[what]
        if fields.keys() <= known:
            return
        for name in sorted(fields.keys() - known):
            self._fault(f"{what} has a field {single_line(name)[:60]!r}", pointer)

    def _tokens(self, metrics: Any, pointer: str) -> tuple[int | None, int | None]:
        if not isinstance(metrics, dict):
            return None, None
        return (
            self._count(metrics.get("prompt_tokens"), pointer),
            self._count(metrics.get("completion_tokens"), pointer),
        )

    def _count(self, written: Any, pointer: str) -> int | None:
        count = token_count(written)
        if count is None and written is not None:
            self._fault("a number of tokens is no whole number from 0 on", pointer)
        return count

    # Tool calls and what came back

    def _calls(self, written: Any, pointer: str) -> list[Call]:
        if not written:
            return []
        if not isinstance(written, list):
            self._fault("tool_calls is no array", pointer)
            return []
        if len(written) > MAX_CALLS:
            limit = f"MAX_CALLS = {MAX_CALLS:,}"
            raise Unreadable(f"more tool calls in a step than {limit}", pointer)
        calls: list[Call] = []
        for index, fields in enumerate(written):
            place = f"{pointer}/tool_calls/{index}"
            if isinstance(fields, dict):
                calls.append(self._call(fields, place))
            else:
                self._fault("a tool call is no object", place)
        if len(calls) > 1 and len({call.id or id(call) for call in calls}) < len(calls):
            self._fault("a tool_call_id stands twice in a step", pointer)
        return calls

    def _call(self, fields: Record, pointer: str) -> Call:
        self._check_fields("a tool call", fields, pointer)
        tool, call_id = fields.get("function_name"), fields.get("tool_call_id")
        arguments = fields.get("arguments")
        if not (isinstance(tool, str) and tool.strip()):
            self._fault("a tool call has no function_name", pointer)
            tool = "unknown"
        if not isinstance(call_id, str):
            self._fault("a tool call has no tool_call_id", pointer)
            call_id = None
        if not isinstance(arguments, dict):
            self._fault("the arguments of a tool call are no object", pointer)
            arguments = arguments_of(arguments)
        return Call(tool, arguments, pointer, call_id, extras=_extras(fields))

    def _results(self, observation: Any, pointer: str) -> list[_Result]:
        written = observation.get("results") if isinstance(observation, dict) else None
        if observation is not None and not isinstance(written, list):
            self._fault("an observation has no results", pointer)
        self._check_fields("an observation", mapping(observation), pointer)
        results: list[_Result] = []
        for index, fields in enumerate(written if isinstance(written, list) else []):
            place = f"{pointer}/observation/results/{index}"
            if not isinstance(fields, dict):
                self._fault("a result is no object", place)
                continue
            self._check_fields("a result", fields, place)
            self._check_parts(fields.get("content"), place)
            self._check_references(fields.get("subagent_trajectory_ref"), place)
            results.append(
                _Result(
                    fields.get("source_call_id"), text_of(fields.get("content")), _extras(fields)
                )
            )
        return results

    def _check_references(self, written: Any, pointer: str) -> None:
        if written is not None and not isinstance(written, list):
            self._fault("subagent_trajectory_ref is no array", pointer)
        for reference in written if isinstance(written, list) else ():
            fields = mapping(reference)
            self._check_fields("a reference to a subagent", fields, pointer)
            self._counts["subagent_references"] += 1
            path = fields.get("trajectory_path")
            if fields.get("trajectory_id") is None and path is None:
                self._fault("a reference to a subagent names none", pointer)
            elif fields.get("trajectory_id") is None:
                self._remarks.add(
                    "a subagent's trajectory is in another file, which is not opened", pointer
                )

    def _link(self, results: list[_Result], calls: list[Call], step: Record, pointer: str) -> None:
        """Give each call its results: by id, else in order where the numbers agree.

        What is left belongs to the step, and goes to its last call.
        """
        by_id = {call.id: call for call in reversed(calls) if call.id}
        are_unlinked = all(result.call_id is None for result in results)
        in_order = are_unlinked and len(results) == len(calls)
        for index, result in enumerate(results):
            call = by_id.get(result.call_id) if isinstance(result.call_id, str) else None
            if call is None:
                call = calls[index] if in_order else calls[-1]
                if step.get("tool_calls"):
                    self._fault("a result names no call of its step", pointer)
            call.output = f"{call.output}\n{result.output}" if call.output else result.output
            call.extras += result.extras


class _Result(NamedTuple):
    call_id: Any
    output: str
    extras: list[Record]


class _Stamps:
    """Puts the parts of a step together: a copied step's stamp is of another run."""

    def __init__(self, clock: Timekeeper) -> None:
        self._clock = clock
        self._index = ""
        self._stamp: Any = None
        self._is_copied = False

    def add(self, pattern: str, pointer: str, value: Any) -> None:
        index = pointer.split("/", 3)[2]
        if index != self._index:
            self.close()
            self._index, self._stamp, self._is_copied = index, None, False
        if pattern == _STAMPS[0]:
            self._stamp = value
        else:
            self._is_copied = value is True

    def close(self) -> None:
        if self._stamp is not None and not self._is_copied:
            self._clock.survey(self._stamp)


_CONTINUED = "/continued_trajectory_ref"
_HEAD = (
    *("/schema_version", "/agent/name", "/agent/version", "/agent/extra/cwd", "/extra/cwd"),
    *("/final_metrics", _CONTINUED),
)
_SUBAGENTS = (
    "/subagent_trajectories/*/trajectory_id",
    "/subagent_trajectories/*/steps/*",
    "/subagent_trajectories/*/subagent_trajectories?",
)
_STAMPS = ("/steps/*/timestamp", "/steps/*/is_copied_context")
_TOTALS = (
    *("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"),
    *("total_cost_usd", "total_steps"),
)


def _extras(fields: Record) -> list[Record]:
    extra = fields.get("extra")
    return [extra] if isinstance(extra, dict) else []


def _terminus(message: str, pointer: str) -> tuple[str, list[Call]]:
    """Return what Terminus 2 says and the commands in its message; no calls where it is none."""
    if not message.lstrip().startswith("{"):
        return message, []
    try:
        said = orjson.loads(message)
    except orjson.JSONDecodeError:
        return message, []
    commands = said.get("commands")
    if not isinstance(commands, list):
        return message, []
    calls = [
        Call("bash_command", {"keystrokes": command["keystrokes"]}, pointer)
        for command in commands[:MAX_CALLS]
        if isinstance(command, dict)
        and isinstance(command.get("keystrokes"), str)
        and command["keystrokes"].strip()
    ]
    if said.get("task_complete") is True:
        calls.append(Call("task_complete", {}, pointer))
    words = [said[name] for name in ("analysis", "plan") if isinstance(said.get(name), str)]
    return ("\n\n".join(words) if calls else message), calls
