"""The messages of Claude Code, alike in its session files and in its stream.

A record holds one message of the API or, more often, one block of one: the same ``message.id``
on several lines, each with the usage of the whole message as far as it was known. So tokens count
once a message, by the largest that any line has. What a message says and thinks goes to its
first call.

Bash has no exit code but in the words "Exit code 1" of a failure. ``toolUseResult`` has a file's
whole content as it was before an edit, and so the content after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bouts.formats.remarks import Remarks
from bouts.formats.telemetry.contents import Edit, Told
from bouts.formats.telemetry.parts import arguments_of, joined, mapping, text_of, token_count
from bouts.formats.telemetry.recorder import Call, Moment, Recorder
from bouts.formats.telemetry.waiting import MAX_WAITING, Step, WaitingRoom
from bouts.formats.types import Event, Unreadable

Fields = Mapping[str, Any]

MAX_MESSAGES = 1_000_000  # whose usage is kept

# Tokens that go in, of which `input_tokens` has only those that no cache had.
_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Usage:
    """The tokens of each message: the largest that any of its lines has, spent once."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, int]] = {}

    def survey(self, message: Fields, spare_id: str) -> None:
        """Take note of a line; ``spare_id`` names a message that has no id of its own."""
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        if len(self._of) >= MAX_MESSAGES:
            raise Unreadable(f"more messages than MAX_MESSAGES = {MAX_MESSAGES:,}")
        seen_in, seen_out = self._of.get(name := message_id(message, spare_id), (0, 0))
        given, written = tokens_of(usage)
        self._of[name] = max(seen_in, given), max(seen_out, written)

    def spend(self, name: str) -> tuple[int | None, int | None]:
        return self._of.pop(name, (None, None))


def message_in(record: Fields) -> Fields:
    """Return a record's message, which may be nothing but a text."""
    written = record.get("message")
    return {"content": written} if isinstance(written, str) else mapping(written)


def message_id(message: Fields, spare_id: str) -> str:
    name = message.get("id")
    return name if isinstance(name, str) and name else spare_id


def tokens_of(usage: Fields) -> tuple[int, int]:
    """Return tokens in, those from the cache among them, and tokens out."""
    given = sum(token_count(usage.get(name)) or 0 for name in _INPUTS)
    return given, token_count(usage.get("output_tokens")) or 0


@dataclass(slots=True)
class Line:
    """A record as both formats have it: where it stands, and what applies to all of it."""

    pointer: str
    spare_id: str
    t: float | None = None
    folder: str | None = None
    is_agents: bool = False  # of a subagent, whose user is the agent
    told: Any = None  # what the tool itself says of its result


@dataclass(slots=True)
class _Saying:
    """What a message said before it called something."""

    id: str
    line: Line
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    tokens: tuple[int | None, int | None] = (None, None)

    def taken(self, t: float | None) -> Moment:
        """Return all of it, and forget it."""
        moment = Moment(t, joined(*self.texts, *self.thoughts), *self.tokens)
        self.texts, self.thoughts, self.tokens = [], [], (None, None)
        return moment


class Talk:
    """Turns the messages of a session into events, in the order in which they come."""

    def __init__(self, recorder: Recorder, usage: Usage, remarks: Remarks) -> None:
        self._usage = usage
        self._remarks = remarks
        self._room = WaitingRoom(recorder)
        self._saying: _Saying | None = None
        self._nameless: deque[tuple[str, Any]] = deque(maxlen=MAX_WAITING)
        self.spent = [0, 0]  # tokens in and out that events have so far

    def assistant(self, message: Fields, line: Line) -> Iterator[Event]:
        name = message_id(message, line.spare_id)
        if self._saying is None or self._saying.id != name:
            yield from self.pause()
            self._saying = _Saying(name, line, tokens=self._usage.spend(name))
            self.spent[0] += self._saying.tokens[0] or 0
            self.spent[1] += self._saying.tokens[1] or 0
        saying = self._saying
        for index, block in enumerate(_blocks(message)):
            match block.get("type"):
                case "thinking":
                    saying.thoughts.append(_text(block.get("thinking")))
                case "tool_use" | "server_tool_use" | "mcp_tool_use":
                    pointer = f"{line.pointer}/message/content/{index}"
                    yield from self._call(block, pointer, line, saying)
                case "web_search_tool_result" | "web_fetch_tool_result" | "mcp_tool_result":
                    self._answer(block, line)
                case "redacted_thinking":
                    pass
                case _:
                    saying.texts.append(text_of([block]))

    def user(self, message: Fields, line: Line) -> Iterator[Event]:
        said: list[Fields] = []
        for block in _blocks(message):
            if block.get("type") == "tool_result":
                self._answer(block, line)
            else:
                said.append(block)
        yield from self._room.ready()
        if text := text_of(said):
            yield from self.pause()
            step = Step(Moment(line.t, text), line.pointer, by_user=not line.is_agents)
            yield from self._room.add(step)

    def called(self, record: Fields, line: Line) -> Iterator[Event]:
        """Take a call that is a record of its own, and may have no id."""
        yield from self.pause()
        call_id = record.get("id")
        if not isinstance(call_id, str):
            call_id = line.spare_id
            self._nameless.append((call_id, record.get("name")))
        saying = _Saying(line.spare_id, line)
        yield from self._call({**record, "id": call_id}, line.pointer, line, saying)

    def returned(self, record: Fields, line: Line) -> Iterator[Event]:
        """Take a result that is a record of its own: without an id, of the tool's last call."""
        call_id = record.get("tool_use_id")
        matches = [call for call, tool in self._nameless if tool == record.get("name")]
        if not isinstance(call_id, str) and matches:
            call_id = matches[-1]
        output = record.get("output", record.get("content"))
        self._answer({**record, "tool_use_id": call_id, "content": output}, line)
        yield from self._room.ready()

    def add(self, step: Step) -> Iterator[Event]:
        yield from self.pause()
        yield from self._room.add(step)

    def pause(self) -> Iterator[Event]:
        """Let out what was said without a call after it."""
        saying, self._saying = self._saying, None
        if saying is None:
            return
        moment = saying.taken(saying.line.t)
        if moment.text or moment.tokens_out is not None:
            yield from self._room.add(Step(moment, saying.line.pointer))

    def finish(self) -> Iterator[Event]:
        yield from self.pause()
        yield from self._room.rest()
        if self._room.unanswered:
            self._remarks.add(f"calls without a result: {self._room.unanswered:,}")

    def _call(self, block: Fields, pointer: str, line: Line, saying: _Saying) -> Iterator[Event]:
        call_id, tool = block.get("id"), block.get("name")
        call = Call(
            tool=tool if isinstance(tool, str) and tool.strip() else "unknown",
            arguments=arguments_of(block.get("input")),
            pointer=pointer,
            id=call_id if isinstance(call_id, str) else None,
            folder=line.folder,
        )
        yield from self._room.add(Step(saying.taken(line.t), pointer, [call]))

    def _answer(self, block: Fields, line: Line) -> None:
        output = text_of(block.get("content"))
        # The API leaves `is_error` out where nothing failed.
        extras = {"is_error": block.get("is_error") is True}
        found = self._room.answer(block.get("tool_use_id"), output, extras)
        if found is None:
            self._remarks.add("a result names no call before it", line.pointer)
        elif isinstance(line.told, dict) and not extras["is_error"]:
            found[1].edits = _told_edits(line.told)


def _blocks(message: Fields) -> list[Fields]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _told_edits(told: Fields) -> tuple[Edit, ...]:
    """Return the edit that a tool tells of its file, where it tells the whole of it.

    What the user changed on the way to the disk is not in it.
    """
    path, old = told.get("filePath"), told.get("originalFile")
    if not isinstance(path, str) or told.get("userModified") is True:
        return ()
    content = told.get("content")
    if isinstance(content, str) and told.get("type") in ("create", "update"):
        return (Told(path, old if isinstance(old, str) else None, content),)
    swaps = told.get("edits")
    if not isinstance(swaps, list):
        swaps = [
            {
                "old_string": told.get("oldString"),
                "new_string": told.get("newString"),
                "replace_all": told.get("replaceAll"),
            }
        ]
    new = old if isinstance(old, str) else None
    for swap in swaps:
        new = _swapped(new, mapping(swap))
    return (Told(path, old, new),) if isinstance(old, str) and new is not None else ()


def _swapped(text: str | None, swap: Fields) -> str | None:
    before, after = swap.get("old_string"), swap.get("new_string")
    if text is None or not isinstance(before, str) or not isinstance(after, str):
        return None
    if not before:
        return after if not text else None
    if before not in text:
        return None
    return text.replace(before, after, -1 if swap.get("replace_all") is True else 1)
