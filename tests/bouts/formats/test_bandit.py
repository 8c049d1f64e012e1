"""Bandit's own JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.bandit import BanditReader
from bouts.formats.sarif import SarifReader
from bouts.formats.types import ScanFinding, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def scan(*results: Any, errors: list[Any] | None = None, loc: int = 9, files: int = 2) -> str:
    metrics: dict[str, Any] = {f"{number}.py": {"loc": loc} for number in range(files)}
    return json.dumps(
        {
            "errors": errors or [],
            "generated_at": "2026-01-01T00:00:00Z",
            "metrics": {**metrics, "_totals": {"loc": loc}},
            "results": list(results),
        }
    )


def result(**fields: Any) -> dict[str, Any]:
    outline = {"test_id": "B1", "issue_severity": "HIGH", "issue_confidence": "HIGH"}
    return {**outline, "filename": "./a.py", "line_number": 2, **fields}


def only(**fields: Any) -> ScanFinding:
    (finding,) = read(BanditReader(), scan(result(**fields)))[0]
    return finding


def test_its_json_says_what_its_sarif_says() -> None:
    found, report = read(BanditReader(), FIXTURES / "bandit.json")
    as_sarif, _ = read(SarifReader(), FIXTURES / "bandit.sarif")
    assert [(f.rule, f.path, f.line, f.level, f.critical) for f in found] == [
        (f.rule, f.path, f.line, f.level, f.critical) for f in as_sarif
    ]
    assert [f.snippet.strip() for f in found] == [f.snippet.strip() for f in as_sarif]
    assert (report.counts["live"], report.counts["critical"]) == (6, 2)
    assert not report.notes


@pytest.mark.parametrize(
    ("severity", "confidence", "critical", "level"),
    [
        ("HIGH", "HIGH", True, "error"),
        ("HIGH", "MEDIUM", False, "error"),
        ("MEDIUM", "HIGH", False, "warning"),
        ("LOW", "LOW", False, "note"),
        ("UNDEFINED", "UNDEFINED", False, "warning"),
        (None, None, False, "warning"),
        (["HIGH"], ["HIGH"], False, "warning"),
    ],
)
def test_critical_is_high_severity_with_high_confidence(
    severity: Any, confidence: Any, critical: bool, level: str
) -> None:
    finding = only(issue_severity=severity, issue_confidence=confidence)
    assert (finding.critical, finding.level) == (critical, level)


def test_the_line_of_a_finding_is_the_one_it_names() -> None:
    assert only(code="1 before\n2   eval(x)\n3 after\n").snippet == "  eval(x)"
    assert only(code="nothing numbered").snippet == ""
    assert only(line_number=None, code="1 x\n").snippet == ""
    assert only(filename="").path is None


def test_a_file_that_could_not_be_scanned_is_noted() -> None:
    _, report = read(BanditReader(), scan(errors=[{"filename": "0.py", "reason": "syntax"}]))
    assert "a file could not be scanned [/errors/0]" in notes(report)
    assert report.counts["files"] == 2


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (scan(loc=0), "no line of code was scanned"),
        (scan(errors=[{}, {}]), "no file could be scanned"),
        (scan(files=0, errors=[{}]), "no file could be scanned"),
        (scan().replace('"results": []', '"results": null'), "no results in it"),
        (scan().replace(', "results": []', ""), "no results in it"),
    ],
)
def test_a_scan_that_saw_nothing_is_unreadable_and_never_clean(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(BanditReader(), document)
    if "could" in reason:  # what it found stands, whatever it could not scan
        assert len(read(BanditReader(), scan(result(), errors=[{}, {}]))[0]) == 1


def test_the_real_scan_of_a_broken_file_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="no file could be scanned"):
        read(BanditReader(), FIXTURES / "bandit-broken.json")


def test_a_scan_without_findings_is_clean() -> None:
    found, report = read(BanditReader(), scan())
    assert found == []
    assert (report.counts["results"], report.notes) == (0, [])
