"""Bandit's own JSON (FORMATS.md, 4). Critical is HIGH severity with HIGH confidence.

A file that could not be scanned is noted; a scan of no line, or in which no file could be
scanned, is no evidence and unreadable, never clean. What a ``nosec`` comment silences is not in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, line_number, path, text, word
from bouts.formats.findings import HIGH, LEVELS, MESSAGE_LIMIT, SNIPPET_LIMIT, ScanTally
from bouts.formats.guard import guarded
from bouts.formats.text import shorten, shorten_id
from bouts.formats.types import Kind, Report, ScanFinding, Unreadable

_ERROR = "/errors/*"
_FILE = "/metrics/{}?"
_LINES = "/metrics/_totals/loc"
_RESULTS = "/results?"
_RESULT = "/results/*"

_EXCERPT_LINE = re.compile(r"(\d{1,9}) ?(.*)")


class BanditReader:
    kind: ClassVar[Kind] = Kind.SCAN
    format: ClassVar[str] = "bandit"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        return top_keys(head).keys() >= {"errors", "generated_at"} and b'"metrics"' in head

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[ScanFinding]:
        tally = ScanTally(report)
        document = Document(source, report)
        has_results, lines = False, None
        files = errors = 0
        for pattern, pointer, value in document.parts(_ERROR, _FILE, _LINES, _RESULTS):
            if pattern == _ERROR:
                errors += 1
                tally.remarks.add("a file could not be scanned", pointer)
            elif pattern == _FILE:
                files += 1
            elif pattern == _LINES:
                lines = value
            else:
                has_results = value == "array"
        if not has_results:
            raise Unreadable("no results in it: no evidence, not clean", "/results")
        if lines == 0:
            raise Unreadable("no line of code was scanned: no evidence, not clean", _LINES)
        report.facts["tools"] = ["Bandit"]
        for _, pointer, result in document.parts(_RESULT):
            tally.see(pointer)
            if isinstance(result, dict):
                yield tally.add(_finding(result))
            else:
                tally.remarks.add("a result that is no object", pointer)
        if errors >= max(files, 1) and not tally.results:
            raise Unreadable("no file could be scanned: no evidence, not clean", "/errors")
        tally.finish(files=files)


def _finding(result: Record) -> ScanFinding:
    severity, confidence = word(result, "issue_severity"), word(result, "issue_confidence")
    line = line_number(result.get("line_number"))
    return ScanFinding(
        rule=shorten_id(text(result, "test_id", "test_name") or "(no rule)"),
        level=LEVELS.get(severity or "", "warning"),
        message=shorten(text(result, "issue_text"), MESSAGE_LIMIT),
        path=path(text(result, "filename")),
        line=line,
        snippet=shorten(_line_of(text(result, "code"), line), SNIPPET_LIMIT),
        severity=severity,
        confidence=confidence,
        critical=severity == confidence == HIGH,
    )


def _line_of(excerpt: str, line: int | None) -> str:
    """Return one line of an excerpt whose lines begin with their numbers.

    The lines around it are no part of the finding: it stays the same when they change.
    """
    for each in excerpt.split("\n"):
        if (found := _EXCERPT_LINE.match(each)) and int(found[1]) == line:
            return found[2]
    return ""
