"""The samples of an Inspect log, alike in both of its file formats.

A sample is one run of the agent. Its ``events`` tell what happened when; a log that was written
without them still has the ``messages``, which have no clock.

- ``model`` events are what the agent said, with the tokens; what it said with calls goes to the
  first of them. An answer from Inspect's cache costs no tokens again.
- ``tool`` events are the calls. Inspect gives no exit code, but the command that the call ran in
  the sandbox does, where it was one alone.
- Long texts lie in ``attachments``, which follow the events in the file.
- ``working_start`` begins as the machine's own counter in some versions, so that only
  ``timestamp`` is used, which always has a zone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bouts.formats.documents import Document
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry.clock import Timekeeper
from bouts.formats.telemetry.parts import arguments_of, joined, mapping, text_of, token_count, word
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.spool import Spool
from bouts.formats.telemetry.waiting import Step, WaitingRoom
from bouts.formats.types import Event, Report, Unreadable

Fields = Mapping[str, Any]

MAX_ATTACHMENTS = 200_000
# Of attachments put in their places, all together: a few bytes may name a large one each time.
MAX_RESOLVED_BYTES = 256 * 1024 * 1024
MAX_NESTED = 8  # of events within events and of values within arguments
LARGEST_WORKING_START_S = 3600.0  # of a sample's first event, which is to be near 0

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")


@dataclass(slots=True)
class _Said:
    """What the model said with calls, until the first of them is there to carry it."""

    moment: Moment
    pointer: str
    calls: frozenset[str]


@dataclass(slots=True)
class _Running:
    """A call whose commands in the sandbox are still to come."""

    call_id: str
    output: str
    failed: bool
    exit_codes: list[int] = field(default_factory=list)


class Samples:
    """Reads the samples of one log: `survey` every document, `settle`, then `events` of each."""

    def __init__(self, report: Report, attachments: Spool) -> None:
        self._report = report
        self._remarks = Remarks()
        self._clock = Timekeeper()
        self._counts: Counter[str] = Counter(samples=0)
        self._attachments = attachments
        self._numbers: dict[str, int] = {}  # of attachments, by their hash
        self._resolved_bytes = 0
        self._with_events: set[str] = set()
        self._recorder = Recorder()
        self._sample = ""
        self._room = WaitingRoom(self._recorder)
        self._has_started = False
        self._input = ""
        self._said: _Said | None = None
        self._span = ""  # of the tool that is about to be called
        self._running: dict[str, _Running] = {}

    # What has to be known before the first event

    def survey(self, document: Document, root: str, base: str = "") -> None:
        """Take note of the stamps and the attachments of a document's samples.

        ``root`` is the pattern of a sample in it, ``base`` what its pointers begin with.
        """
        patterns = {
            name: f"{root}/{path}"
            for name, path in (
                ("stamp", "events/*/timestamp"),
                ("event", "events/*/event"),
                ("counter", "events/*/working_start"),
                ("attachment", "attachments/{}"),
            )
        }
        names = {pattern: name for name, pattern in patterns.items()}
        of_event, at = dict[str, Any](), ""
        for pattern, pointer, value in document.parts(*patterns.values()):
            if (here := pointer.rpartition("/")[0]) != at:
                self._survey_stamp(of_event)
                of_event, at = {}, here
            match names[pattern]:
                case "stamp" | "event" as name:
                    of_event[name] = value
                    self._with_events.add(_sample_of(base + pointer))
                case "counter" if isinstance(value, float) and value > LARGEST_WORKING_START_S:
                    text = "working_start is not counted from the start, and is not used"
                    self._remarks.add(text, base + pointer)
                case "attachment" if isinstance(value, str) and not value.startswith("data:"):
                    self._attach(pointer.rpartition("/")[2], value)

        self._survey_stamp(of_event)

    def _survey_stamp(self, of_event: Fields) -> None:
        """Take note of the stamp of what becomes an event of ours: of steps, not of spans."""
        if word(of_event.get("event")) in _SPOKEN and (stamp := of_event.get("stamp")) is not None:
            self._clock.survey(stamp)

    def _attach(self, key: str, text: str) -> None:
        if key in self._numbers:
            return
        if len(self._numbers) >= MAX_ATTACHMENTS:
            raise Unreadable(f"more attachments than MAX_ATTACHMENTS = {MAX_ATTACHMENTS:,}")
        self._numbers[key] = self._attachments.add(text.encode(errors="replace"))

    def settle(self) -> None:
        self._clock.settle(self._report)

    # Events

    def events(self, document: Document, root: str, base: str = "") -> Iterator[Event]:
        wanted = [f"{root}/{name}" for name in ("input", "events/*", "messages/*")]
        yield from self._end()
        self._sample = ""
        for pattern, inner, value in document.parts(*wanted):
            pointer = base + inner
            sample = _sample_of(pointer)
            if sample != self._sample:
                yield from self._end()
                self._begin(sample)
            if pattern == wanted[0]:
                self._input = self._input_of(value)
            elif not isinstance(value, dict):
                self._remarks.add("what should be an event or a message is no object", pointer)
            elif pattern == wanted[1]:
                yield from self._event(value, pointer, MAX_NESTED)
            elif sample not in self._with_events:
                yield from self._message(value, pointer)

    def finish(self) -> Iterator[Event]:
        """Yield what is left and write the report. Raises `Unreadable` where there was nothing."""
        yield from self._end()
        if not self._counts["samples"]:
            raise Unreadable("no samples in it: the run ended before its first one did")
        if self._counts["samples"] > 1:
            self._report.note(
                f"{self._counts['samples']:,} samples, each a run of its own, one after another "
                "as the log has them"
            )
        self._recorder.finish(self._report)
        self._report.counts.update(self._counts)
        self._remarks.write(self._report)

    def _begin(self, sample: str) -> None:
        self._sample = sample
        self._counts["samples"] += 1
        self._recorder.restart()
        self._room = WaitingRoom(self._recorder)
        self._has_started, self._input = False, ""

    def _end(self) -> Iterator[Event]:
        if not self._sample:
            return
        if not self._has_started and self._input:
            yield from self._start(None, f"{self._sample}/input")
        yield from self._speak()
        self._answer_all()
        yield from self._room.rest()
        self._counts["unanswered"] += self._room.unanswered
        if not self._counts["unanswered"]:
            del self._counts["unanswered"]

    def _start(self, t: float | None, pointer: str) -> Iterator[Event]:
        """Yield the start of a sample, where there was none yet: the input is the user's."""
        if not self._has_started:
            self._has_started = True
            yield self._recorder.message(Moment(t, self._input), pointer, by_user=True)

    def _event(self, event: Fields, pointer: str, nested: int) -> Iterator[Event]:
        kind = word(event.get("event"))
        if kind in _SPOKEN:
            stamp = event.get("timestamp")
            t = self._clock.seconds(stamp, self._remarks, pointer)
            yield from self._start(t, pointer)
            match kind:
                case "model":
                    yield from self._model(event, pointer, t)
                case "tool":
                    yield from self._tool(event, pointer, t)
                case "error" | "sample_limit":
                    yield from self._speak()
                    yield from self._broken_off(event, pointer, t)
                case "input":
                    text = self._resolved(event.get("input"))
                    yield from self._add(Step(Moment(t, text_of(text)), pointer, by_user=True))
        elif kind == "span_begin" and event.get("type") == "tool":
            self._span = str(event.get("id"))
        elif kind == "sandbox":
            self._executed(event)
        elif kind == "span_end" and (running := self._running.pop(str(event.get("id")), None)):
            self._answer(running)
            yield from self._room.ready()
        inner = event.get("events") if kind in {"tool", "subtask"} else None
        for index, child in enumerate(inner if nested and isinstance(inner, list) else ()):
            if isinstance(child, dict):
                yield from self._event(child, f"{pointer}/events/{index}", nested - 1)

    def _model(self, event: Fields, pointer: str, t: float | None) -> Iterator[Event]:
        if event.get("pending") is True:
            return
        yield from self._speak()
        message = _first_message(event.get("output"))
        calls = [call for call in _list(message.get("tool_calls")) if isinstance(call, dict)]
        usage = mapping(event.get("output"), "usage") if event.get("cache") != "read" else {}
        error = event.get("error")
        said = self._said_text(message) or (error if isinstance(error, str) else "")
        moment = Moment(t, said, *_tokens(usage))
        ids = frozenset(str(call.get("id")) for call in calls)
        self._said = _Said(moment, pointer, ids)
        if not calls:
            yield from self._speak()

    def _tool(self, event: Fields, pointer: str, t: float | None) -> Iterator[Event]:
        call_id = event.get("id")
        moment = Moment(t)
        if self._said and str(call_id) in self._said.calls:
            moment = self._said.moment._replace(t=t)
            self._said = None
        call = Call(
            tool=_name(event.get("function")),
            arguments=self._resolved(arguments_of(event.get("arguments"))),
            pointer=pointer,
            id=call_id if isinstance(call_id, str) else None,
        )
        output, failed = self._outcome(event.get("result"), event.get("error"))
        yield from self._add(Step(moment, pointer, [call]))
        if call.id is None:
            call.output = output
            return
        running = _Running(call.id, output, failed)
        if self._span:
            self._running[self._span] = running
            self._span = ""
        else:
            self._answer(running)

    def _executed(self, event: Fields) -> None:
        """Take note of the exit code of a command in the sandbox."""
        running = self._running.get(str(event.get("span_id")))
        code = event.get("result")
        if running and event.get("action") == "exec" and type(code) is int:
            running.exit_codes.append(code)

    def _answer(self, running: _Running) -> None:
        extras: list[Fields] = [{"is_error": True}] if running.failed else []
        if len(running.exit_codes) == 1 and not running.failed:
            extras.append({"exit_code": running.exit_codes[0]})
        self._room.answer(running.call_id, running.output, *extras)

    def _answer_all(self) -> None:
        for running in self._running.values():
            self._answer(running)
        self._running.clear()

    def _broken_off(self, event: Fields, pointer: str, t: float | None) -> Iterator[Event]:
        words = (mapping(event, "error").get("message"), event.get("message"))
        text = next((word for word in words if isinstance(word, str)), "")
        yield from self._add(Step(Moment(t, f"[{event.get('event')}] {text}"), pointer))

    def _add(self, step: Step) -> Iterator[Event]:
        return self._room.add(step)

    def _speak(self) -> Iterator[Event]:
        """Let out what was said with calls that never came."""
        if said := self._said:
            self._said = None
            if said.moment.text or said.moment.tokens_out is not None:
                yield from self._add(Step(said.moment, said.pointer))

    # Messages, where a log has no events

    def _message(self, message: Fields, pointer: str) -> Iterator[Event]:
        role = message.get("role")
        if role == "user" and not self._has_started:
            self._input = self._input or self._text(message)
            yield from self._start(None, pointer)
            return
        yield from self._start(None, f"{self._sample}/input" if self._input else pointer)
        if role == "tool":
            yield from self._result(message, pointer)
            return
        calls = [
            self._call_of(call, f"{pointer}/tool_calls/{index}")
            for index, call in enumerate(_list(message.get("tool_calls")))
            if isinstance(call, dict)
        ]
        moment = Moment(None, self._said_text(message))
        yield from self._add(Step(moment, pointer, calls, by_user=role == "user"))

    def _call_of(self, call: Fields, pointer: str) -> Call:
        call_id = call.get("id")
        return Call(
            tool=_name(call.get("function")),
            arguments=self._resolved(arguments_of(call.get("arguments"))),
            pointer=pointer,
            id=call_id if isinstance(call_id, str) else None,
        )

    def _result(self, message: Fields, pointer: str) -> Iterator[Event]:
        output, failed = self._outcome(message.get("content"), message.get("error"))
        extras = [{"is_error": True}] if failed else []
        if self._room.answer(message.get("tool_call_id"), output, *extras):
            yield from self._room.ready()
            return
        self._remarks.add("a result names no call before it", pointer)
        call = Call(_name(message.get("function")), {}, pointer, output=output, extras=[*extras])
        yield from self._add(Step(Moment(None), pointer, [call]))

    # Texts

    def _outcome(self, result: Any, error: Any) -> tuple[str, bool]:
        """Return what a call gave back, and whether Inspect says that it failed."""
        failed = isinstance(error, dict)
        reason = mapping(error).get("message")
        told = reason if isinstance(reason, str) else ""
        return joined(self._plain(result), told), failed

    def _plain(self, value: Any) -> str:
        value = self._resolved(value)
        if isinstance(value, str | list):
            return text_of(value)
        return "" if value is None else str(value)

    def _input_of(self, value: Any) -> str:
        if isinstance(value, list):
            texts = [self._text(m) for m in value if isinstance(m, dict)]
            return joined(*texts)
        return self._plain(value)

    def _text(self, message: Fields) -> str:
        return text_of(self._resolved(message.get("content")))

    def _said_text(self, message: Fields) -> str:
        """Return a message and then its reasoning, which is a part of it or stands beside it."""
        content = self._resolved(message.get("content"))
        parts = content if isinstance(content, list) else []
        thoughts = [part for part in parts if mapping(part).get("type") == "reasoning"]
        said = text_of([part for part in parts if part not in thoughts] if parts else content)
        reasons = [part.get("reasoning") for part in thoughts] + [message.get("reasoning")]
        return joined(said, *(self._plain(reason) for reason in reasons if reason))

    def _resolved(self, value: Any, nested: int = MAX_NESTED) -> Any:
        """Return a value with its attachments in their places."""
        if isinstance(value, str):
            named = _ATTACHMENT.fullmatch(value)
            number = self._numbers.get(named[1]) if named else None
            return value if number is None else self._attached(number)
        if isinstance(value, list) and nested:
            return [self._resolved(item, nested - 1) for item in value]
        if isinstance(value, dict) and nested:
            return {key: self._resolved(item, nested - 1) for key, item in value.items()}
        return value

    def _attached(self, number: int) -> str:
        text = self._attachments.get(number)
        self._resolved_bytes += len(text)
        if self._resolved_bytes > MAX_RESOLVED_BYTES:
            limit = f"MAX_RESOLVED_BYTES = {MAX_RESOLVED_BYTES:,}"
            raise Unreadable(f"attachments are named for more text than {limit}", self._sample)
        return text.decode()


_SPOKEN = frozenset({"sample_init", "model", "tool", "error", "sample_limit", "input"})


def _sample_of(pointer: str) -> str:
    """Return the pointer of the sample that a place in the log belongs to."""
    steps = pointer.split("/")
    return "/".join(steps[:3]) if steps[1] == "samples" else "/".join(steps[:2])


def _first_message(output: Any) -> Fields:
    choices = mapping(output).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return mapping(first, "message")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _name(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else "unknown"


def _tokens(usage: Fields) -> tuple[int | None, int | None]:
    """Return tokens in and out. Cached ones are apart where the total says so."""
    given = token_count(usage.get("input_tokens"))
    out = token_count(usage.get("output_tokens"))
    if given is None or out is None:
        return given, out
    cached = sum(
        token_count(usage.get(f"input_tokens_cache_{way}")) or 0 for way in ("read", "write")
    )
    is_apart = usage.get("total_tokens") == given + cached + out
    return given + cached if is_apart else given, out
