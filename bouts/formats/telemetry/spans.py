"""Spans of a trace, from any of the shapes in which files hold them.

- OTLP/JSON: ``resourceSpans``, as one document or a document a line. Ids are hex, though some
  producers write base64; times are nanoseconds in a string; attributes are typed wrappers.
- Flat spans, an object each, in an array, a line each, or under ``spans``, ``data`` or
  ``observations``: what SDKs print, and what Phoenix and Langfuse export.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, NamedTuple

import orjson

from bouts.formats.documents import Document, first_item_keys, top_keys
from bouts.formats.jsonl import JsonLines, head_records
from bouts.formats.remarks import Remarks
from bouts.formats.telemetry.clock import from_epoch, parse_stamp
from bouts.formats.telemetry.parts import mapping
from bouts.formats.types import Report

Fields = Mapping[str, Any]

MAX_NESTED = 32  # of an attribute's value
MAX_ATTRIBUTES = 20_000  # of one span; a long conversation has some for each message

_HEX_ID = re.compile(r"(?:0x)?([0-9a-fA-F]{16}|[0-9a-fA-F]{32})")
_BASE64_ID = re.compile(r"[A-Za-z0-9+/]{11}=|[A-Za-z0-9+/]{22}==")
_SCHEMA = re.compile(r"/schemas/(\d{1,4}(?:\.\d{1,4}){1,2})$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NS_PER_US = 1_000
_LATEST_NS = 10**19

_OTLP_KEYS = frozenset({"resourceSpans", "resource_spans"})
_OTLP_SPANS = tuple(
    f"/{resource}/*/{scope}/*/spans/*"
    for resource, scope in (
        ("resourceSpans", "scopeSpans"),
        ("resourceSpans", "instrumentationLibrarySpans"),
        ("resource_spans", "scope_spans"),
    )
)
_OTLP_SCHEMAS = ("/resourceSpans/*/schemaUrl", "/resourceSpans/*/scopeSpans/*/schemaUrl")
_LISTS = ("spans", "data", "observations")
_FLAT_SPANS = ("/*", *(f"/{name}/*" for name in _LISTS))


class Note(NamedTuple):
    """An event within a span, such as a message or an exception."""

    name: str
    attributes: dict[str, Any]


@dataclass(slots=True)
class Span:
    """One span, alike from every shape. ``failed`` is None where its status is not set."""

    id: str
    parent: str
    name: str
    start: datetime | None
    end: datetime | None
    stamp: Any  # the start as it is written
    attributes: dict[str, Any]
    pointer: str
    kind: str = ""  # where the span itself says what it is
    failed: bool | None = None
    status: str = ""
    notes: list[Note] = field(default_factory=list)


def is_otlp(head: bytes) -> bool:
    return any(
        not _OTLP_KEYS.isdisjoint(keys) for keys in (top_keys(head), *head_records(head)[:1])
    )


def is_flat(head: bytes) -> bool:
    """Whether a file begins with a flat span, or with a list of them among other things."""
    keys = top_keys(head)
    if "observations" in keys and "trace" in keys:
        return True
    candidates = [keys, first_item_keys(head), *head_records(head)[:1]]
    candidates += [item for name in _LISTS if name in keys for item in [_listed(head, name)]]
    return any(_is_span(candidate) for candidate in candidates)


def _is_span(keys: Fields) -> bool:
    has_id = not keys.keys().isdisjoint({"context", "span_id", "spanId", "context.span_id"})
    has_start = not keys.keys().isdisjoint({"start_time", "startTime", "startTimeUnixNano"})
    return has_id and has_start


def _listed(head: bytes, name: str) -> Fields:
    """Return the keys of the first item of a list under this key, as far as the head shows."""
    found = re.search(rb'"' + name.encode() + rb'"\s*:\s*(?=\[)', head)
    return first_item_keys(head[found.end() :]) if found else {}


class Spans:
    """The spans of one file. `all` may be asked several times."""

    def __init__(self, source: BinaryIO, report: Report, remarks: Remarks) -> None:
        self._report = report
        self._remarks = remarks
        source.seek(0)
        head = source.read(64 * 1024)
        self._document: Document | None = None
        self._lines: JsonLines | None = None
        if len(head_records(head)) > 1:
            self._lines = JsonLines(source, report)
        else:
            self._document = Document(source, report)

    def all(self) -> Iterator[Span]:
        if self._document is not None:
            yield from self._in_document(self._document)
        elif self._lines is not None:
            for record in self._lines.records():
                yield from self._in_record(record.value, record.pointer)

    def _in_document(self, document: Document) -> Iterator[Span]:
        is_other = True
        for pattern, pointer, value in document.parts(*_OTLP_SPANS, *_OTLP_SCHEMAS, *_FLAT_SPANS):
            is_other = False
            if pattern in _OTLP_SCHEMAS:
                self._read_schema(value)
            else:
                yield from self._span(value, pointer, is_otlp=pattern in _OTLP_SPANS)
        if is_other:  # a single flat span, which is a document of its own
            for _, pointer, value in document.parts(""):
                yield from self._span(value, pointer, is_otlp=False)

    def _in_record(self, record: Fields, pointer: str) -> Iterator[Span]:
        if _OTLP_KEYS.isdisjoint(record):
            yield from self._span(record, pointer, is_otlp=False)
            return
        for resource_index, resource in _items(record, "resourceSpans", "resource_spans"):
            self._read_schema(resource.get("schemaUrl"))
            for scope_index, scope in _items(
                resource, "scopeSpans", "instrumentationLibrarySpans", "scope_spans"
            ):
                self._read_schema(scope.get("schemaUrl"))
                for index, span in _items(scope, "spans"):
                    place = f"{pointer}/{resource_index}/{scope_index}/{index}"
                    yield from self._span(span, place, is_otlp=True)

    def _read_schema(self, url: Any) -> None:
        if isinstance(url, str) and (found := _SCHEMA.search(url[-60:])):
            self._report.format_version = found[1]

    def _span(self, value: Any, pointer: str, *, is_otlp: bool) -> Iterator[Span]:
        if not isinstance(value, dict):
            self._remarks.add("a span is no object", pointer)
            return
        span = _from_otlp(value, pointer) if is_otlp else _from_flat(value, pointer)
        if len(span.attributes) > MAX_ATTRIBUTES:
            self._remarks.add("a span has too many attributes to look at", pointer)
            return
        if span.start and span.end and not _in_order(span.start, span.end):
            self._remarks.add("a span ends before it starts", pointer)
        yield span


def _items(holder: Fields, *names: str) -> Iterator[tuple[str, Fields]]:
    for name in names:
        values = holder.get(name)
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, dict):
                yield f"{name}/{index}", value


def _in_order(start: datetime, end: datetime) -> bool:
    return (start.tzinfo is None) != (end.tzinfo is None) or start <= end


# OTLP


def _from_otlp(value: Fields, pointer: str) -> Span:
    status = mapping(value, "status")
    stamp = _first(value, "startTimeUnixNano", "start_time_unix_nano")
    notes = value.get("events")
    return Span(
        id=span_id(_first(value, "spanId", "span_id")),
        parent=span_id(_first(value, "parentSpanId", "parent_span_id")),
        name=_text(value.get("name")),
        start=from_nanoseconds(stamp),
        end=from_nanoseconds(_first(value, "endTimeUnixNano", "end_time_unix_nano")),
        stamp=stamp,
        attributes=_unwrapped(value.get("attributes")),
        pointer=pointer,
        failed=_failed(status.get("code")),
        status=_text(status.get("message")),
        notes=[
            Note(_text(note.get("name")), _unwrapped(note.get("attributes")))
            for note in (notes if isinstance(notes, list) else ())
            if isinstance(note, dict)
        ],
    )


def from_nanoseconds(written: Any) -> datetime | None:
    """Return nanoseconds since 1970, as a number or in a string, as a time of ours."""
    if isinstance(written, str) and written.isdecimal() and len(written) < len(str(_LATEST_NS)):
        written = int(written)
    if type(written) is not int or not 0 < written < _LATEST_NS:
        return None
    if from_epoch(written // 1_000_000_000) is None:
        return None
    return _EPOCH + timedelta(microseconds=written // _NS_PER_US)


def span_id(written: Any) -> str:
    """Return an id as lower-case hex where it is hex or base64, else as it is written."""
    if not isinstance(written, str):
        return ""
    if found := _HEX_ID.fullmatch(written):
        return "" if not found[1].strip("0") else found[1].lower()
    if _BASE64_ID.fullmatch(written):
        try:
            return base64.b64decode(written, validate=True).hex()
        except binascii.Error:
            pass
    return written[:200]


def _unwrapped(attributes: Any) -> dict[str, Any]:
    """Return a list of keys and typed values as an object."""
    found: dict[str, Any] = {}
    for item in attributes if isinstance(attributes, list) else ():
        if isinstance(item, dict) and isinstance(key := item.get("key"), str):
            found[key] = _value(item.get("value"), MAX_NESTED)
    return found


def _value(wrapper: Any, nested: int) -> Any:
    if not isinstance(wrapper, dict) or not nested:
        return None
    for name, value in wrapper.items():
        match name:
            case "intValue" | "int_value":
                return int(value) if isinstance(value, str) and _is_int(value) else value
            case "arrayValue" | "array_value":
                items = mapping(value).get("values")
                return [_value(v, nested - 1) for v in (items if isinstance(items, list) else ())]
            case "kvlistValue" | "kvlist_value":
                items = mapping(value).get("values")
                return {
                    item["key"]: _value(item.get("value"), nested - 1)
                    for item in (items if isinstance(items, list) else ())
                    if isinstance(item, dict) and isinstance(item.get("key"), str)
                }
            case _:
                return value
    return None


def _is_int(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < len(str(2**63)) + 1


# Flat spans


def _from_flat(value: Fields, pointer: str) -> Span:
    context = mapping(value, "context")
    status = mapping(value, "status")
    code = _first(value, "status_code", "statusCode", "level") or status.get("status_code")
    stamp = _first(value, "start_time", "startTime", "startTimeUnixNano")
    notes = _parsed(value.get("events"))
    return Span(
        id=span_id(
            _first(context, "span_id", "spanId")
            or _first(value, "span_id", "spanId", "context.span_id", "id")
        ),
        parent=span_id(
            _first(value, "parent_id", "parentId", "parent_span_id", "parentSpanId")
            or value.get("parentObservationId")
        ),
        name=_text(value.get("name")),
        start=_time(stamp),
        end=_time(_first(value, "end_time", "endTime", "endTimeUnixNano")),
        stamp=stamp,
        attributes=_flat_attributes(value),
        pointer=pointer,
        kind=_text(_first(value, "span_kind", "spanKind")),
        failed=_failed(code if code is not None else status.get("code")),
        status=_text(_first(value, "status_message", "statusMessage") or status.get("description")),
        notes=[
            Note(_text(note.get("name")), flattened(mapping(note, "attributes")))
            for note in (notes if isinstance(notes, list) else ())
            if isinstance(note, dict)
        ],
    )


def _flat_attributes(value: Fields) -> dict[str, Any]:
    """Return a flat span's attributes: under their name, in metadata, or with a prefix."""
    own = _parsed(value.get("attributes"))
    given = dict(own) if isinstance(own, dict) else {}
    if not given:
        given = dict(mapping(_parsed(value.get("metadata")), "attributes"))
    given |= {k.removeprefix("attributes."): v for k, v in value.items() if k[:11] == "attributes."}
    flat = flattened(given)
    # Langfuse takes what went in and out away from the attributes.
    for name in ("input", "output"):
        if "parentObservationId" in value and (told := value.get(name)) is not None:
            flat.setdefault(f"langfuse.{name}", told)
    return flat


def flattened(given: Fields, prefix: str = "", nested: int = MAX_NESTED) -> dict[str, Any]:
    """Return nested objects as dotted keys. Lists of objects get their indices as keys."""
    flat: dict[str, Any] = {}
    for key, value in given.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and nested and name not in _KEPT:
            flat |= flattened(value, f"{name}.", nested - 1)
        elif isinstance(value, list) and nested and name not in _KEPT and _of_objects(value):
            items = {str(index): item for index, item in enumerate(value)}
            flat |= flattened(items, f"{name}.", nested - 1)
        else:
            flat[name] = value
        if len(flat) > MAX_ATTRIBUTES:
            break
    return flat


# Attributes whose value is an object or a list by itself.
_KEPT = frozenset(
    {
        *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"),
        *("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.definitions"),
        *("input.value", "output.value", "metadata"),
    }
)


def _of_objects(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) for value in values)


# Loose values


def _first(fields: Fields, *names: str) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _time(written: Any) -> datetime | None:
    return parse_stamp(written) or from_nanoseconds(written) or from_epoch(written)


def _parsed(value: Any) -> Any:
    """Return what is JSON in a string as what it means, as tables export it."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _failed(code: Any) -> bool | None:
    """Return what a status says: 0 and UNSET nothing, 1 and OK success, 2 and ERROR failure."""
    word = str(code).upper().removeprefix("STATUS_CODE_").removeprefix("STATUSCODE.")
    return {"1": False, "OK": False, "2": True, "ERROR": True}.get(word)
