"""Semgrep's own JSON (FORMATS.md, 4). Critical is its severity CRITICAL.

Rules have one of two scales, ERROR, WARNING, INFO or CRITICAL to LOW. A finding that a comment
silences stands in the file with ``is_ignored`` and is counted, not yielded. Errors of the scan
are noted; a scan that names its files and has none is no evidence and unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, label, line_number, path, short, text, word
from bouts.formats.findings import CRITICAL, LEVELS, MESSAGE_LIMIT, SNIPPET_LIMIT, ScanTally
from bouts.formats.guard import guarded
from bouts.formats.text import shorten, shorten_id
from bouts.formats.types import Kind, Report, ScanFinding, Unreadable

_VERSION = "/version"
_ERROR = "/errors/*"
_FILES = "/paths/scanned?"
_FILE = "/paths/scanned/*"
_RESULTS = "/results?"
_RESULT = "/results/*"
# Beside its results and errors it has but these, of which an old one has none.
_OTHERS = frozenset({"version", "paths", "results", "errors"})

_NO_LEVELS = ("EXPERIMENT", "INVENTORY")  # severities of rules that find no fault
_HIDDEN_LINES = "requires login"  # stands for the code where nobody was logged in


class SemgrepReader:
    kind: ClassVar[Kind] = Kind.SCAN
    format: ClassVar[str] = "semgrep"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head).keys()
        if "results" not in keys or keys >= {"metrics", "generated_at"}:
            return False
        is_named = b'"check_id"' in head or {"errors", "paths"} <= keys
        return is_named or ("errors" in keys and keys <= _OTHERS)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[ScanFinding]:
        tally = ScanTally(report)
        document = Document(source, report)
        has_results = tells_files = False
        files = 0
        for pattern, pointer, value in document.parts(_VERSION, _ERROR, _FILES, _FILE, _RESULTS):
            if pattern == _VERSION:
                report.format_version = short(value) or None
            elif pattern == _ERROR:
                level = label(value, "level", limit=20) or "error"
                tally.remarks.add(f"the scan tells of an error, of level {level}", pointer)
            elif pattern == _FILES:
                tells_files = value == "array"
            elif pattern == _FILE:
                files += 1
            else:
                has_results = value == "array"
        if not has_results:
            raise Unreadable("no results in it: no evidence, not clean", "/results")
        report.facts["tools"] = ["Semgrep"]
        for _, pointer, result in document.parts(_RESULT):
            tally.see(pointer)
            extra = inner(result, "extra")
            if not isinstance(result, dict):
                tally.remarks.add("a result that is no object", pointer)
            elif extra.get("is_ignored") is True:
                tally.drop("suppressed")
            else:
                yield tally.add(_finding(result, extra, tally))
        if not tally.results and tells_files and not files:
            raise Unreadable("no file was scanned: no evidence, not clean", "/paths/scanned")
        tally.finish(**({"files": files} if tells_files else {}))


def _finding(result: Record, extra: Record, tally: ScanTally) -> ScanFinding:
    severity = word(extra, "severity")
    if (lines := text(extra, "lines")) == _HIDDEN_LINES:
        tally.remarks.add("the code of a finding is withheld, as nobody was logged in")
        lines = ""
    return ScanFinding(
        rule=shorten_id(text(result, "check_id") or "(no rule)"),
        level="none" if severity in _NO_LEVELS else LEVELS.get(severity or "", "warning"),
        message=shorten(text(extra, "message"), MESSAGE_LIMIT),
        path=path(text(result, "path")),
        line=line_number(inner(result, "start").get("line")),
        snippet=shorten(lines, SNIPPET_LIMIT),
        severity=severity,
        confidence=word(inner(extra, "metadata"), "confidence"),
        critical=severity == CRITICAL,
    )
