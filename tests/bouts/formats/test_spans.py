"""Traces of spans: shapes, vocabularies, and what stands in them more than once."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from bouts.formats.openinference import OpenInferenceReader
from bouts.formats.otel_genai import OtelGenAiReader
from bouts.formats.telemetry.spans import from_nanoseconds, span_id
from bouts.formats.types import Clock, Event, EventKind, Report, Unreadable
from tests.bouts.formats.reading import notes, read

START = 1_780_000_000


def wrapped(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": [wrapped(item) for item in value]}}
        case dict():
            pairs = [{"key": key, "value": wrapped(item)} for key, item in value.items()]
            return {"kvlistValue": {"values": pairs}}
    return {"stringValue": value}


def span(
    id: int, parent: int = 0, start: float | None = None, name: str = "x", **fields: Any
) -> dict[str, Any]:
    """A span of OTLP that begins as many seconds after the first as its id says."""
    begin = START + (id if start is None else start)
    attributes = fields.pop("attributes", {})
    return {
        "traceId": f"{1:032x}",
        "spanId": f"{id:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent else {}),
        "name": name,
        "startTimeUnixNano": str(int(begin * 10**9)),
        "endTimeUnixNano": str(int((begin + 1) * 10**9)),
        "attributes": [{"key": key, "value": wrapped(v)} for key, v in attributes.items()],
        **fields,
    }


def chat(id: int, parent: int = 0, text: str = "", **more: Any) -> dict[str, Any]:
    said = [{"role": "assistant", "parts": [{"type": "text", "content": text}]}]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "a.vendor",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.output.messages": json.dumps(said),
    }
    return span(id, parent, attributes=attributes | more.pop("attributes", {}), **more)


def tool(id: int, parent: int = 0, name: str = "bash", **more: Any) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": json.dumps({"command": "make"}),
    }
    return span(id, parent, attributes=attributes | more.pop("attributes", {}), **more)


def agent(id: int, parent: int = 0, **more: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 99}
    return span(id, parent, attributes=attributes | more.pop("attributes", {}), **more)


def otlp(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def trace(*spans: dict[str, Any]) -> tuple[list[Event], Report]:
    return read(OtelGenAiReader(), otlp(*spans))


def kinds(events: list[Event]) -> list[str]:
    return [str(event.kind) for event in events]


# The tree


def test_spans_stand_in_the_order_in_which_they_began() -> None:
    events, _ = trace(tool(3, 1, start=5), chat(2, 1, "b", start=4), agent(1, start=1))
    assert kinds(events) == ["start", "message", "run"]
    assert [event.t for event in events] == [0, 3, 4]


def test_parallel_calls_are_told_apart_though_they_overlap() -> None:
    long = {"endTimeUnixNano": str((START + 90) * 10**9)}
    events, report = trace(tool(1, **long), tool(2), tool(3))
    assert [event.t for event in events] == [0, 1, 2]
    assert report.notes == []


def test_a_parent_that_carries_the_sum_of_its_children_adds_nothing() -> None:
    events, report = trace(agent(1), chat(2, 1, "a"), agent(3, 1), chat(4, 3, "b"))
    assert [event.tokens_in for event in events] == [None, 10, 10]
    assert report.counts["sums_left_out"] == 2


def test_an_agent_that_shows_no_call_of_a_model_keeps_its_tokens() -> None:
    events, _ = trace(agent(1), tool(2, 1))
    assert [event.tokens_in for event in events] == [99, None]


def test_of_a_call_that_two_programs_wrote_the_inner_one_counts() -> None:
    events, _ = trace(chat(1, 0, "outer"), chat(2, 1, "inner"))
    assert [event.text for event in events] == ["inner"]


def test_a_tool_within_the_same_tool_is_its_twin_but_a_tool_of_a_subagent_is_not() -> None:
    events, report = trace(tool(1), tool(2, 1), agent(3, 1), tool(4, 3))
    assert kinds(events) == ["run", "start", "run"]
    assert report.counts["twins"] == 1


def test_a_span_that_was_delivered_twice_counts_once() -> None:
    events, report = trace(tool(1), tool(1))
    assert len(events) == 1
    assert report.counts["repeated"] == 1


def test_what_a_model_called_is_a_call_where_no_tool_span_shows_it() -> None:
    part = {"type": "tool_call", "id": "c", "name": "bash", "arguments": {"command": "ls"}}
    back = {"type": "tool_call_response", "id": "c", "response": "a.py"}
    said = json.dumps([{"role": "assistant", "parts": [part]}])
    asked = json.dumps(
        [
            {"role": "user", "parts": [{"type": "text", "content": "go"}]},
            {"role": "assistant", "parts": [part]},
            {"role": "tool", "parts": [back]},
        ]
    )
    first = chat(1, attributes={"gen_ai.output.messages": said})
    second = chat(2, 0, "done", attributes={"gen_ai.input.messages": asked})
    events, _ = trace(first, second)
    assert kinds(events) == ["search", "start", "message"] or kinds(events) == [
        "start",
        "search",
        "message",
    ]
    (call,) = [event for event in events if event.kind is EventKind.SEARCH]
    assert (call.command, call.output) == ("ls", "a.py")
    shown, _ = trace(first, tool(3, attributes={"gen_ai.tool.call.id": "c"}))
    assert kinds(shown) == ["message", "run"]


def test_spans_around_each_other_end_nothing() -> None:
    events, _ = trace(tool(1, 2), chat(2, 1, "a"))
    assert len(events) == 2


# Vocabularies


def test_the_names_of_both_generations_are_read_and_told() -> None:
    old = {
        "gen_ai.system": "a.vendor",
        "llm.request.type": "chat",
        "gen_ai.usage.prompt_tokens": 7,
        "gen_ai.usage.completion_tokens": 3,
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "go",
        "gen_ai.completion.0.content": "well",
    }
    events, report = trace(span(1, attributes=old))
    assert [(event.text, event.tokens_in, event.tokens_out) for event in events] == [
        ("go", None, None),
        ("well", 7, 3),
    ]
    assert report.facts["attribute_names"] == ["gen_ai.system"]
    _, report = trace(span(1, attributes=old), chat(2, 0, "x"))
    assert report.facts["attribute_names"] == ["gen_ai.provider.name", "gen_ai.system"]
    assert "several vocabularies" in notes(report)


def test_messages_that_are_events_of_a_span_are_read() -> None:
    def note(name: str, **attributes: Any) -> dict[str, Any]:
        pairs = [{"key": key, "value": wrapped(value)} for key, value in attributes.items()]
        return {"name": name, "attributes": pairs}

    said = [
        note("gen_ai.user.message", content="go"),
        note("gen_ai.choice", message=json.dumps({"content": "well"})),
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "a.vendor"}
    events, _ = trace(span(1, attributes=attributes, events=said))
    assert [event.text for event in events] == ["go", "well"]


@pytest.mark.parametrize(
    ("status", "ok"), [({}, None), ({"code": 0}, None), ({"code": 1}, True), ({"code": 2}, False)]
)
def test_the_status_of_a_span_is_the_success_of_its_call(status: Any, ok: bool | None) -> None:
    events, _ = trace(tool(1, status=status))
    assert events[0].ok is ok


def test_a_failed_span_says_why() -> None:
    exception = {
        "name": "exception",
        "attributes": [{"key": "exception.message", "value": wrapped("no such file")}],
    }
    failed = tool(1, status={"code": 2, "message": "failed"}, events=[exception])
    events, _ = trace(failed)
    assert events[0].output == "failed\n\nno such file"


def test_openinference_is_read_nested_as_phoenix_exports_it() -> None:
    def flat(id: str, kind: str, second: int, **attributes: Any) -> dict[str, Any]:
        context = {"trace_id": "t", "span_id": id}
        times = {"start_time": f"2026-01-01T00:00:{second:02}+00:00"}
        return {"name": kind, "span_kind": kind, "context": context, "parent_id": None} | {
            **times,
            "status_code": "OK",
            "attributes": attributes,
        }

    message = {"message": {"role": "assistant", "content": "look"}}
    tokens = {"prompt": 4, "completion": 1}
    spans = [
        flat("b", "TOOL", 2, tool={"name": "bash"}, input={"value": '{"command": "ls"}'}),
        flat("a", "LLM", 1, llm={"output_messages": [message], "token_count": tokens}),
    ]
    for data in (json.dumps(spans), "\n".join(map(json.dumps, spans)), json.dumps({"data": spans})):
        reader = OpenInferenceReader()
        assert reader.recognises(data.encode())
        assert not OtelGenAiReader().recognises(data.encode())
        events, report = read(reader, data)
        assert kinds(events) == ["message", "search"]
        assert [event.t for event in events] == [0, 1]
        assert (events[0].tokens_in, events[1].ok) == (4, True)
        assert report.clock is Clock.ZONED


# Ids, times, faults


def test_ids_in_base64_mean_the_same_as_in_hex() -> None:
    hex_id = "00f067aa0ba902b7"
    assert span_id(base64.b64encode(bytes.fromhex(hex_id)).decode()) == hex_id
    assert span_id(hex_id.upper()) == span_id(f"0x{hex_id}") == hex_id
    assert span_id("0" * 16) == span_id(7) == ""


@pytest.mark.parametrize("written", ["", "0", "-1", "x", 1.5, True, None, "9" * 30, 10**30])
def test_odd_times_are_no_time(written: Any) -> None:
    assert from_nanoseconds(written) is None


def test_a_span_without_a_time_stands_with_what_is_around_it() -> None:
    events, report = trace(agent(1), tool(2, 1, startTimeUnixNano="x"), chat(3, 1, "a"))
    assert kinds(events) == ["start", "run", "message"]
    assert events[1].t is None
    assert "1 time stamps cannot be read" in notes(report)


def test_an_end_before_the_beginning_is_noted() -> None:
    _, report = trace(tool(1, endTimeUnixNano="1700000000000000000"))
    assert "ends before it starts" in notes(report)


def test_a_trace_of_something_else_is_refused() -> None:
    with pytest.raises(Unreadable, match="no span in it is of an agent"):
        trace(span(1, attributes={"http.method": "GET"}))


def test_a_version_is_that_of_the_schema() -> None:
    document = json.loads(otlp(tool(1)))
    document["resourceSpans"][0]["schemaUrl"] = "https://opentelemetry.io/schemas/1.41.0"
    for data in (json.dumps(document), json.dumps(document) + "\n" + json.dumps(document)):
        assert read(OtelGenAiReader(), data)[1].format_version == "1.41.0"
