"""OpenInference's spans, in OTLP/JSON or as an object each, as Phoenix exports (FORMATS.md, 2).

How spans become events stands in `bouts.formats.telemetry.span_events`. What a tool was given is
its ``input.value``, what came back its ``output.value``. ``raw`` is the JSON pointer of the span.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.guard import guarded
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.span_events import read_trace
from bouts.formats.telemetry.spans import is_flat, is_otlp
from bouts.formats.types import Event, Kind, Report

# Words that stand in a file of these spans near its beginning, and in no other.
_MARKS = (b"openinference.span.kind", b'"openinference"', b'"span_kind"')


class OpenInferenceReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "openinference"
    version: ClassVar[int] = 2 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        return is_openinference(head) and (is_otlp(head) or is_flat(head))

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        return read_trace(source, report)


def is_openinference(head: bytes) -> bool:
    """Whether a file of spans has its attributes named as OpenInference does."""
    return any(mark in head for mark in _MARKS)
