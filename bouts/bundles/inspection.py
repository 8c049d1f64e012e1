"""What is in a file, told without a bundle around it: `manage.py inspect`.

The kind is sniffed like the format, by content and over all kinds. What no reader recognises is
said as closely as its first bytes allow, since the next step depends on it: an empty file wants
another look at the tool, an archive wants to be unpacked, plain text is a log.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel

from bouts.archives.limits import Limits
from bouts.bundles import documents, manifest
from bouts.bundles.reading import State
from bouts.formats.documents import top_keys
from bouts.formats.sniff import HEAD_BYTES, READERS
from bouts.formats.text import count as count_of
from bouts.formats.text import single_line
from bouts.formats.types import Kind, Note, Reader, Report, Unreadable
from bouts.formats.xml import root_tag

STANDARD_INPUT = Path("-")
BLOCK = 1024 * 1024
KEYS_SHOWN = 8
LIMITS = Limits()

# Our own documents, by what they say their schema is.
_DOCUMENTS: dict[str, tuple[type[BaseModel], str | None]] = {
    "bouts.match/1": (manifest.MatchFile, None),
    "bouts.challenge/1": (manifest.ChallengeFile, None),
    "bouts.verdicts/1": (manifest.VerdictsFile, Kind.VERDICTS),
    "bouts.claims/1": (manifest.ClaimsFile, Kind.CLAIMS),
}
_MAGIC = (
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
)
_BLANKS = b"\xef\xbb\xbf \t\r\n"
# A document, and not a line such as "[info] started".
_DOCUMENT = re.compile(rb'[{<]|\[\s*[\[{"\]]')


@dataclass(slots=True)
class Inspected:
    """One file and what was found. ``notes`` begin with the reason where it is unreadable."""

    path: str
    kind: str | None = None
    format: str | None = None
    version: str | None = None  # of the format, where the file or its shape tells
    state: State = State.UNREADABLE
    clock: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "kind": self.kind,
            "format": self.format,
            "version": self.version,
            "state": self.state.value,
            "clock": self.clock,
            "counts": self.counts,
            "notes": [{"text": note.text, "place": note.place} for note in self.notes],
        }


def inspect(path: Path, *, kind: Kind | None = None, format: str | None = None) -> Inspected:
    """Read a file by the reader that its content asks for, within ``kind`` and ``format``.

    ``format`` overrules the content, as in a manifest. ``-`` is what comes in on standard input.
    Nothing is raised: a file that is not there is unreadable too.
    """
    found = Inspected(str(path))
    try:
        if path.is_dir():
            raise Unreadable(
                "a folder: name the files in it, or check it as a bundle with"
                " `manage.py upload --check`"
            )
        with _opened(path) as source:
            head = source.read(HEAD_BYTES)
            if not head:
                raise Unreadable("the file is empty")
            schema = top_keys(head).get("schema") if format is None else None
            if isinstance(schema, str) and schema in _DOCUMENTS:
                _check_document(found, schema, head + source.read(LIMITS.document_bytes))
                return found
            readers = list(_readers(head, kind, format))
            if not readers:
                raise Unreadable(_described(source, head, kind, format))
            _read(found, readers[0], source)
            others = ", ".join(f"{other.kind} ({other.format})" for other in readers[1:])
            if others:
                found.notes.append(Note(f"its content also fits: {others}"))
    except Unreadable as error:
        found.notes.insert(0, Note(error.reason, error.place))
    except OSError as error:
        found.notes.insert(0, Note((error.strerror or str(error)).lower()))
    return found


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file; what comes through a pipe is laid aside first, since readers go back in it."""
    with ExitStack() as stack:
        source: BinaryIO = sys.stdin.buffer
        if path != STANDARD_INPUT:
            source = stack.enter_context(path.open("rb"))
        if not source.seekable():
            aside = stack.enter_context(tempfile.TemporaryFile())
            while block := source.read(BLOCK):
                aside.write(block)
                if aside.tell() > LIMITS.bundle_bytes:
                    raise Unreadable(f"more than {LIMITS.bundle_bytes:,} bytes come in")
            aside.seek(0)
            source = aside
        yield source


def _readers(head: bytes, kind: Kind | None, format: str | None) -> Iterator[Reader]:
    """Yield the readers in question, of each kind the first that recognises the content."""
    kinds = set()
    for reader in READERS:
        if reader.kind in kinds or kind not in (None, reader.kind):
            continue
        if format is not None:
            if reader.format == format:
                yield reader
        # Any text is a log, so that only text which is nothing else is one.
        elif reader.recognises(head) and (reader.kind is not Kind.LOG or kind is Kind.LOG):
            kinds.add(reader.kind)
            yield reader
    if not kinds and kind is None and format is None and _is_plain_text(head):
        yield from (reader for reader in READERS if reader.kind is Kind.LOG)


def _read(found: Inspected, reader: Reader, source: BinaryIO) -> None:
    report = Report()
    found.kind, found.format = reader.kind, reader.format
    source.seek(0)
    try:
        for _ in reader.read(source, report):
            pass
        found.state = State.READ
        found.counts = dict(report.counts)
        found.clock = report.clock
    finally:
        found.version = report.format_version
        found.notes += report.notes


def _check_document(found: Inspected, schema: str, data: bytes) -> None:
    """Check one of our own documents by itself; what it points at needs the bundle."""
    found.format, _, found.version = schema.partition("/")
    model, found.kind = _DOCUMENTS[schema]
    if len(data) > LIMITS.document_bytes:
        raise Unreadable(f"more than {LIMITS.document_bytes:,} bytes are no document of ours")
    value, faults = documents.parse(data, found.path)
    if not faults:
        _, faults = documents.validate(model, value, found.path)
    if faults:
        found.notes = [
            Note(f"found {fault.found}; expected: {fault.expected}", fault.field)
            for fault in faults
        ]
        return
    found.state = State.READ
    found.counts = {
        key: len(entries) for key, entries in value.items() if isinstance(entries, list)
    }
    found.notes.append(Note("checked by itself; what it points at is checked with its bundle"))


# What nobody recognises


def _described(source: BinaryIO, head: bytes, kind: Kind | None, format: str | None) -> str:
    """Say what a file looks like that no reader recognises, and what to do about it."""
    wanted = f"reader of {kind}" if kind else "reader"
    if format is not None:
        names = ", ".join(sorted({r.format for r in READERS if kind in (None, r.kind)}))
        return f"no {wanted} is named {format!r}; there are {names}"
    return f"no {wanted} recognises the content: {_looks(source, head)}"


def _looks(source: BinaryIO, head: bytes) -> str:
    for magic, name in _MAGIC:
        if head.startswith(magic):
            is_archive = "compressed" in name or "archive" in name
            advice = "; a bundle is checked with `manage.py upload --check`" if is_archive else ""
            return name + _members(source) + advice
    text = head.lstrip(_BLANKS)
    if keys := top_keys(head):
        named = ", ".join(single_line(key)[:40] for key in list(keys)[:KEYS_SHOWN])
        more = ", …" if len(keys) > KEYS_SHOWN else ""
        return f"a JSON object with {named}{more}"
    if text[:1] in (b"{", b"["):
        return "it begins like JSON"
    if text[:1] == b"<":
        root = root_tag(head)
        return f"XML of <{single_line(root)[:40]}>" if root else "it begins like XML"
    if _is_plain_text(head):
        return "plain text"
    return "bytes that are no text"


def _members(source: BinaryIO) -> str:
    try:
        with zipfile.ZipFile(source) as archive:
            count = len(archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ""
    return f" of {count_of(count, 'member')}" if count else ""


def _is_plain_text(head: bytes) -> bool:
    """Whether it reads as lines of text, and not as a document that ought to be recognised."""
    text = head.lstrip(_BLANKS)
    if b"\0" in head or _DOCUMENT.match(text) or any(text.startswith(m) for m, _ in _MAGIC):
        return False
    controls = Counter(head[:4096].translate(None, b"\t\n\r\x1b\b\f"))
    return sum(times for byte, times in controls.items() if byte < 0x20) * 100 <= len(head[:4096])
