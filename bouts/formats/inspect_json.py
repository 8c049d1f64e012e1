"""Inspect's log as one JSON document (FORMATS.md, 2). How samples become events stands in
`bouts.formats.telemetry.inspect_samples`.

``raw`` is the JSON pointer of the event, or of the message where the log has no events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.guard import guarded
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.inspect_samples import Samples
from bouts.formats.telemetry.spool import Spool
from bouts.formats.text import single_line
from bouts.formats.types import Event, Kind, Report

HEADER = ("/version", "/status", "/eval/packages/inspect_ai")
_KNOWN_VERSION = 2


class InspectJsonReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "inspect-json"
    version: ClassVar[int] = 1 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        return {"version", "status", "eval"} <= keys.keys() and keys["eval"] is None

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        document = Document(source, report)
        write_header({part.pattern: part.value for part in document.parts(*HEADER)}, report)
        with Spool() as attachments:
            samples = Samples(report, attachments)
            samples.survey(document, "/samples/*")
            samples.settle()
            yield from samples.events(document, "/samples/*")
            yield from samples.finish()


def write_header(header: Mapping[str, Any], report: Report) -> None:
    """Write what the head of a log says of the log, its parts given by `HEADER`."""
    version, status, package = (header.get(pattern) for pattern in HEADER)
    if isinstance(version, int) and not isinstance(version, bool):
        report.format_version = str(version)[:20]
    if version != _KNOWN_VERSION:
        report.note(f"the log's version is not {_KNOWN_VERSION}", HEADER[0])
    if isinstance(package, str):
        report.facts["inspect_ai"] = single_line(package)[:100]
    if isinstance(status, str):
        report.facts["status"] = single_line(status)[:100]
        if status != "success":
            report.note(f"the run did not end well: {single_line(status)[:100]}", HEADER[1])
