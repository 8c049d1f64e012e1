"""What a span tells of the agent's work, in each of the vocabularies that name its attributes.

- ``gen_ai.*`` of OpenTelemetry in both generations: ``gen_ai.provider.name`` with messages as
  JSON, and before it ``gen_ai.system`` with ``gen_ai.prompt.0.content`` or messages as events.
  OpenLLMetry's ``traceloop.*`` belongs to the older one.
- ``openinference.span.kind`` with ``llm.*``, ``tool.*``, ``input.value`` and ``output.value``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

from bouts.formats.telemetry.parts import joined, mapping, token_count
from bouts.formats.telemetry.recorder import TEXT_LIMIT
from bouts.formats.telemetry.spans import Span, flattened
from bouts.formats.telemetry.test_output import MAX_OUTPUT_CHARS
from bouts.formats.text import shorten

Fields = Mapping[str, Any]

MAX_MESSAGES = 5_000  # of one span, what is looked at
MAX_INPUT_CHARS = 500_000  # of a call's arguments


class Work(StrEnum):
    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    PLAN = "plan"
    OTHER = "other"


@dataclass(slots=True)
class Digest:
    """What is kept of a span: little, however long the conversation is that it repeats."""

    work: Work
    names: str = ""  # the vocabulary: "gen_ai", "gen_ai before 1.37" or "openinference"
    tool: str = ""
    call_id: str = ""
    arguments: Any = None
    output: str = ""
    failed: bool | None = None
    request: str = ""  # what the user asked for
    text: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)  # id, name, arguments
    results: list[tuple[str, str]] = field(default_factory=list)  # id, output


@dataclass(slots=True)
class _Message:
    role: str
    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)


def digest_of(span: Span) -> Digest:
    """Return what a span tells; one that tells nothing of an agent is of work ``other``."""
    given = span.attributes
    if "openinference.span.kind" in given or span.kind.upper() in _OPENINFERENCE:
        found = _openinference(span)
    elif any(key.startswith(_GEN_AI) for key in given):
        found = _gen_ai(span)
    else:
        return Digest(Work.OTHER)
    found.failed = span.failed
    if span.failed is None and "error.type" in given:
        found.failed = True
    if found.failed:
        reasons = [_text(note.attributes.get("exception.message")) for note in span.notes]
        found.output = joined(found.output, span.status, *reasons)
    found.output = shorten(found.output, MAX_OUTPUT_CHARS)
    found.text = shorten(found.text, TEXT_LIMIT)
    found.request = shorten(found.request, TEXT_LIMIT)
    return found


# OpenTelemetry

_GEN_AI = ("gen_ai.", "traceloop.")
_NEW_NAMES = ("gen_ai.provider.name", "gen_ai.input.messages", "gen_ai.output.messages")
_OLD_NAMES = ("gen_ai.system", "gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens")
_OLD_PREFIXES = ("gen_ai.prompt.", "gen_ai.completion.", "traceloop.")

_OPERATIONS = {
    "chat": Work.MODEL,
    "completion": Work.MODEL,
    "generate_content": Work.MODEL,
    "text_completion": Work.MODEL,
    "invoke_agent": Work.AGENT,
    "invoke_workflow": Work.AGENT,
    "agent": Work.AGENT,
    "workflow": Work.AGENT,
    "execute_tool": Work.TOOL,
    "tool": Work.TOOL,
    "plan": Work.PLAN,
}


def generation_of(attributes: Iterable[str]) -> str:
    """Return which generation of names attributes are of; empty where they do not tell."""
    keys = set(attributes)
    if not keys.isdisjoint(_NEW_NAMES):
        return "gen_ai.provider.name"
    is_old = any(key.startswith(_OLD_PREFIXES) for key in keys)
    return "gen_ai.system" if is_old or not keys.isdisjoint(_OLD_NAMES) else ""


def _gen_ai(span: Span) -> Digest:
    given = dict(span.attributes)
    for note in span.notes:  # messages may be events, or attributes of an event
        given |= {k: v for k, v in note.attributes.items() if k.startswith("gen_ai.")}
    operation = _first(given, "gen_ai.operation.name", "traceloop.span.kind", "llm.request.type")
    work = _OPERATIONS.get(str(operation).lower(), Work.OTHER)
    if operation is None:
        work = _guessed(given)
    found = Digest(work, generation_of(given))
    asked, said = _asked(given, span), _said(given, span)
    found.request = _request(asked)
    found.tokens_in = _count(given, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    found.tokens_out = _count(given, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    if work is Work.TOOL:
        found.tool = _text(_first(given, "gen_ai.tool.name", "traceloop.entity.name"))
        found.tool = found.tool or span.name.removeprefix("execute_tool ")
        found.call_id = _text(given.get("gen_ai.tool.call.id"))
        sent = _first(
            given, "gen_ai.tool.call.arguments", "traceloop.entity.input", "langfuse.input"
        )
        got = _first(given, "gen_ai.tool.call.result", "traceloop.entity.output", "langfuse.output")
        found.arguments = _arguments(sent)
        found.output = _plain(got)
        if got is None:
            results = [message for message in asked + said if message.role == "tool"]
            found.output = joined(*(message.text for message in results))
    elif work in {Work.MODEL, Work.PLAN}:
        _add_said(found, asked, said)
    return found


def _guessed(given: Fields) -> Work:
    """Tell what a span without an operation is, as the oldest names leave it."""
    if "gen_ai.tool.name" in given:
        return Work.TOOL
    if "gen_ai.request.model" in given or "gen_ai.response.model" in given:
        return Work.MODEL
    return Work.OTHER


def _asked(given: Fields, span: Span) -> list[_Message]:
    written = _first(given, "gen_ai.input.messages", "langfuse.input", "gen_ai.prompt")
    messages = _messages(written) or _numbered(given, "gen_ai.prompt")
    if not messages:
        messages = [
            _message({**note.attributes, "role": note.name.split(".")[1]})
            for note in span.notes[:MAX_MESSAGES]
            if note.name in _MESSAGE_NOTES
        ]
    return messages


def _said(given: Fields, span: Span) -> list[_Message]:
    written = _first(given, "gen_ai.output.messages", "langfuse.output", "gen_ai.completion")
    messages = _messages(written) or _numbered(given, "gen_ai.completion")
    if not messages:
        choices = [note.attributes for note in span.notes if note.name == "gen_ai.choice"]
        messages = [
            _message({"role": "assistant", **(mapping(_parsed(c.get("message"))) or c)})
            for c in choices[:MAX_MESSAGES]
        ]
    return messages


_MESSAGE_NOTES = frozenset(
    f"gen_ai.{role}.message" for role in ("system", "user", "assistant", "tool")
)


# OpenInference

_OPENINFERENCE = {
    "LLM": Work.MODEL,
    "TOOL": Work.TOOL,
    "RETRIEVER": Work.TOOL,
    "AGENT": Work.AGENT,
    "CHAIN": Work.OTHER,
}


def _openinference(span: Span) -> Digest:
    given = flattened(span.attributes)
    kind = str(given.get("openinference.span.kind") or span.kind).upper()
    found = Digest(_OPENINFERENCE.get(kind, Work.OTHER), "openinference")
    if found.work is Work.OTHER and not span.parent:
        found.work = Work.AGENT  # a chain around all
    sent, got = given.get("input.value"), given.get("output.value")
    if found.work is Work.TOOL:
        is_search = kind == "RETRIEVER"
        found.tool = _text(given.get("tool.name")) or ("search" if is_search else span.name)
        found.call_id = _text(_first(given, "tool_call.id", "tool.id"))
        found.arguments = {"query": _plain(sent)} if is_search else _arguments(sent)
        found.output = _plain(got)
    elif found.work is Work.MODEL:
        asked = _numbered(given, "llm.input_messages")
        _add_said(found, asked, _numbered(given, "llm.output_messages"))
        found.request = _request(asked)
        found.text = found.text or ("" if found.calls else _plain(got))
        found.tokens_in = _count(given, "llm.token_count.prompt")
        found.tokens_out = _count(given, "llm.token_count.completion")
    elif found.work is Work.AGENT:
        found.request = _plain(sent)
        found.text = _plain(got)
        found.tokens_in = _count(given, "llm.token_count.prompt")
        found.tokens_out = _count(given, "llm.token_count.completion")
    return found


# Messages


def _add_said(found: Digest, asked: list[_Message], said: list[_Message]) -> None:
    """Take what the model said now, and the results that came since it said something last."""
    found.text = joined(*(message.text for message in said if message.role != "tool"))
    found.calls = [call for message in said for call in message.calls]
    for message in reversed(asked):
        if message.role == "assistant":
            break
        found.results[:0] = message.results
    found.results += [result for message in said for result in message.results]


def _request(messages: list[_Message]) -> str:
    return next((m.text for m in messages if m.role == "user" and m.text), "")


def _messages(written: Any) -> list[_Message]:
    """Read messages with parts, as JSON or already as what it means."""
    parsed = _parsed(written)
    if isinstance(parsed, dict):
        parsed = parsed.get("messages", [parsed])
    if not isinstance(parsed, list):
        return [_Message("user", parsed)] if isinstance(parsed, str) and parsed else []
    return [_message(item) for item in parsed[:MAX_MESSAGES] if isinstance(item, dict)]


def _message(written: Fields) -> _Message:
    message = _Message(str(written.get("role", "assistant")))
    texts: list[str] = []
    content = _parsed(_first(written, "parts", "content"))
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            _read_part(part, message, texts)
    call_id = _text(_first(written, "tool_call_id", "id"))
    if message.role == "tool" and not message.results:
        message.results.append((call_id, "\n".join(texts)))
    calls = _parsed(written.get("tool_calls"))
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            message.calls.append(_call(mapping(call, "tool_call") or call))
    message.text = "\n".join(texts)
    return message


def _read_part(part: Fields, message: _Message, texts: list[str]) -> None:
    match part.get("type"):
        case "tool_call" | "tool_use" | "function_call":
            message.calls.append(_call(part))
        case "tool_call_response" | "tool_result":
            output = _plain(_first(part, "response", "result", "content"))
            message.results.append((_id(_first(part, "id", "tool_use_id")), output))
        case _:
            content = _first(part, "content", "text", "message_content.text")
            texts.append(_text(content) if content else f"[{part.get('type')!s:.20}]")


def _call(written: Fields) -> dict[str, Any]:
    function = mapping(written, "function")
    sent = _first(written, "arguments", "input") or function.get("arguments")
    return {
        "id": _id(written.get("id")),
        "name": _text(written.get("name")) or _text(function.get("name")),
        "arguments": _arguments(sent),
    }


def _numbered(given: Fields, prefix: str) -> list[_Message]:
    """Read messages whose parts are attributes: ``PREFIX.0.role``, ``PREFIX.0.content``."""
    by_number: dict[int, dict[str, Any]] = defaultdict(dict)
    for number, rest, value in _under(given, prefix):
        by_number[number][rest.removeprefix("message.")] = value
    messages: list[_Message] = []
    for number in sorted(by_number)[:MAX_MESSAGES]:
        parts = by_number[number]
        calls: dict[int, dict[str, Any]] = defaultdict(dict)
        for index, rest, value in _under(parts, "tool_calls"):
            calls[index][rest.removeprefix("tool_call.").removeprefix("function.")] = value
        contents = [_text(v) for _, rest, v in _under(parts, "contents") if rest.endswith(".text")]
        plain = {k: v for k, v in parts.items() if not k.startswith(("tool_calls.", "contents."))}
        plain.setdefault("content", contents)
        messages.append(_message({**plain, "tool_calls": [calls[i] for i in sorted(calls)]}))
    return messages


def _under(given: Fields, prefix: str) -> Iterator[tuple[int, str, Any]]:
    for key, value in given.items():
        if key.startswith(prefix) and key[len(prefix) : len(prefix) + 1] == ".":
            number, dot, rest = key[len(prefix) + 1 :].partition(".")
            if dot and number.isdecimal() and len(number) < 7:
                yield int(number), rest, value


# Loose values


def _first(fields: Fields, *names: str) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _id(value: Any) -> str:
    """Return the id of a call; the framework of Microsoft gives run and call in a list."""
    parsed = _parsed(value)
    if isinstance(parsed, list) and parsed:
        return _text(parsed[-1])
    return _text(value)


def _count(given: Fields, *names: str) -> int | None:
    """Return a number of tokens, which Langfuse exports as text."""
    value = _first(given, *names)
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        value = int(value)
    return token_count(value)


def _parsed(value: Any) -> Any:
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _arguments(sent: Any) -> Any:
    parsed = _parsed(sent)
    if isinstance(inner := mapping(parsed, "inputs"), dict) and inner:
        return inner
    if isinstance(parsed, dict):
        return parsed
    return parsed[:MAX_INPUT_CHARS] if isinstance(parsed, str) else {}


def _plain(value: Any) -> str:
    """Return what came back as text; of an object what it says is its output, else all of it."""
    parsed = _parsed(value)
    if isinstance(parsed, dict):
        inner = _first(parsed, "output", "content", "result", "text")
        if isinstance(inner, str):
            return inner
    if isinstance(parsed, str):
        return parsed
    return "" if parsed is None else _dumped(parsed)


def _dumped(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, TypeError):
        return ""
