"""Inspect's log as a ZIP file of JSON documents (FORMATS.md, 2), read where they lie. How samples
become events stands in `bouts.formats.telemetry.inspect_samples`.

``header.json`` is written last: a run that was ended has only ``_journal/start.json``. A file
that is cut short has no directory and is unreadable. ``raw`` is a JSON pointer whose first step
is the member: ``/samples~11_epoch_1.json/events/4``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.documents import Document, step_of
from bouts.formats.guard import guarded
from bouts.formats.inspect_json import HEADER, write_header
from bouts.formats.telemetry import SHARED_VERSION
from bouts.formats.telemetry.inspect_samples import Samples
from bouts.formats.telemetry.spool import Spool
from bouts.formats.types import Event, Kind, Report, Unreadable
from bouts.formats.zipped import MAGIC, ZipFile

_FINISHED, _STARTED = "header.json", "_journal/start.json"
_OF_A_LOG = (b"_journal/", b"header.json", b"samples/")
_NAME_AT = 30  # bytes of a local header before the name


class InspectEvalReader:
    kind: ClassVar[Kind] = Kind.TELEMETRY
    format: ClassVar[str] = "inspect-eval"
    version: ClassVar[int] = 1 + SHARED_VERSION

    def recognises(self, head: bytes) -> bool:
        return head.startswith(MAGIC) and head.startswith(_OF_A_LOG, _NAME_AT)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[Event]:
        archive = ZipFile(source)
        _read_header(archive, report)
        names = [
            name for name in archive.names if name.startswith("samples/") and name.endswith(".json")
        ]
        with Spool() as attachments:
            samples = Samples(report, attachments)
            for name in names:
                samples.survey(_document(archive, name, report), "", f"/{step_of(name)}")
            samples.settle()
            for name in names:
                document = _document(archive, name, Report())  # what is odd is noted already
                yield from samples.events(document, "", f"/{step_of(name)}")
            yield from samples.finish()


def _read_header(archive: ZipFile, report: Report) -> None:
    name = _FINISHED if _FINISHED in archive.names else _STARTED
    if name not in archive.names:
        raise Unreadable(f"no {_FINISHED} and no {_STARTED} in it")
    document = _document(archive, name, report)
    header = {part.pattern: part.value for part in document.parts(*HEADER)}
    if name == _STARTED:
        header["/status"] = "started"
    write_header(header, report)


def _document(archive: ZipFile, name: str, report: Report) -> Document:
    try:
        return Document(archive.opened(name), report)
    except Unreadable as error:
        place = f", {error.place}" if error.place else ""
        raise Unreadable(error.reason, f"member {name[:200]!r}{place}") from None
