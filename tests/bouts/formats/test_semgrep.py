"""Semgrep's own JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.semgrep import SemgrepReader
from bouts.formats.sniff import find_reader
from bouts.formats.types import Kind, ScanFinding, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def scan(*results: Any, **fields: Any) -> str:
    return json.dumps({"version": "1.0", "results": list(results), "errors": [], **fields})


def result(**extra: Any) -> dict[str, Any]:
    extra = {"message": "bad", "severity": "ERROR", "lines": "eval(x)", **extra}
    return {"check_id": "r", "path": "a.py", "start": {"line": 3}, "extra": extra}


def only(**extra: Any) -> ScanFinding:
    (finding,) = read(SemgrepReader(), scan(result(**extra)))[0]
    return finding


def test_what_semgrep_wrote_is_read() -> None:
    found, report = read(SemgrepReader(), FIXTURES / "semgrep.json")
    assert [(f.rule, f.level, f.path, f.line, f.confidence) for f in found] == [
        ("shell-call", "error", "flawed.py", 8, "HIGH"),
        ("shell-call", "error", "flawed.py", 9, "HIGH"),
        ("shell-call", "error", "flawed.py", 10, "HIGH"),
        ("weak-digest", "warning", "flawed.py", 12, None),
    ]
    assert {finding.snippet for finding in found} == {""}
    assert "the code of a finding is withheld" in notes(report)
    assert (report.format_version, report.counts["files"]) == ("1.185.0", 1)


@pytest.mark.parametrize(
    ("severity", "level", "critical"),
    [
        ("CRITICAL", "error", True),
        ("critical", "error", True),
        ("HIGH", "error", False),
        ("ERROR", "error", False),
        ("MEDIUM", "warning", False),
        ("WARNING", "warning", False),
        ("LOW", "note", False),
        ("INFO", "note", False),
        ("INVENTORY", "none", False),
        (None, "warning", False),
        (5, "warning", False),
    ],
)
def test_critical_is_its_own_word(severity: Any, level: str, critical: bool) -> None:
    finding = only(severity=severity)
    assert (finding.level, finding.critical) == (level, critical)


def test_what_a_comment_silences_is_counted_and_not_yielded() -> None:
    found, report = read(SemgrepReader(), scan(result(is_ignored=True), result()))
    assert len(found) == 1
    assert (report.counts["results"], report.counts["suppressed"]) == (2, 1)


def test_errors_of_the_scan_are_noted() -> None:
    document = scan(result(), errors=[{"level": "warn"}, {"level": "error"}, 5])
    _, report = read(SemgrepReader(), document)
    assert "an error, of level warn [/errors/0]" in notes(report)
    assert "an error, of level error (2 times) [/errors/1]" in notes(report)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (scan(paths={"scanned": []}), "no file was scanned"),
        (scan(results=None), "no results in it"),
        ('{"errors": []}', "no results in it"),
    ],
)
def test_a_scan_that_saw_nothing_is_unreadable_and_never_clean(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(SemgrepReader(), document)


@pytest.mark.parametrize("fields", [{"paths": {"scanned": ["a.py"]}}, {}])
def test_a_scan_of_files_without_findings_is_clean(fields: dict[str, Any]) -> None:
    document = scan(**fields)
    reader = find_reader(Kind.SCAN, document.encode())
    assert reader is not None
    assert reader.format == "semgrep"
    assert read(reader, document)[0] == []


def test_a_place_that_is_none_is_unknown() -> None:
    odd = {"check_id": None, "path": 5, "start": [], "extra": None}
    (finding,), _ = read(SemgrepReader(), scan(odd))
    assert (finding.rule, finding.path, finding.line) == ("(no rule)", None, None)
