"""OpenTelemetry's spans of generative AI: OTLP/JSON, and spans an object each (FORMATS.md, 2).

How spans become events stands in `bouts.formats.telemetry.span_events`, the names of attributes in
`bouts.formats.telemetry.span_words`: both generations are read, and which one it was is kept in
``attribute_names``. What was said and what tools were given is in a span only where the program
was told to record it. Exit codes are in none. ``raw`` is the JSON pointer of the span.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.guard import guarded
from bouts.formats.openinference import is_openinference
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.span_events import read_trace
from bouts.formats.telemetry.spans import is_flat, is_otlp
from bouts.formats.types import Event, Kind, Report


class OtelGenAiReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "otel-genai"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        return (is_otlp(head) or is_flat(head)) and not is_openinference(head)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return read_trace(source, report)
