"""Trivy's own JSON (FORMATS.md, 4): vulnerabilities, misconfigurations, secrets and licences.

- Critical is its severity CRITICAL. The line of a vulnerability is the package with its
  version, so that one advisory about two packages is two findings.
- A check that passed or has an exception is no defect; what an ignore file silences is counted.
- A target without findings is clean; a file without targets says nothing and is unreadable, as
  is the bare ``null`` that old versions wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from bouts.formats.documents import Document, top_keys
from bouts.formats.fields import Record, inner, items, label, line_number, path, short, text, word
from bouts.formats.findings import CRITICAL, LEVELS, MESSAGE_LIMIT, SNIPPET_LIMIT, ScanTally
from bouts.formats.guard import guarded
from bouts.formats.text import shorten, shorten_id
from bouts.formats.types import Kind, Report, ScanFinding, Unreadable

_VERSION = "/SchemaVersion"
_TRIVY = "/Trivy/Version"
_TARGET = "/Results/*"
_OLD_TARGET = "/*"  # of versions that had no schema version
_NULL = b"null"


class TrivyReader:
    kind: ClassVar[Kind] = Kind.SCAN
    format: ClassVar[str] = "trivy"
    version: ClassVar[int] = 1

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head).keys()
        if "SchemaVersion" in keys:
            return bool(keys & {"ArtifactName", "ArtifactType", "Results"})
        start = head.lstrip()
        return start.rstrip() == _NULL or (start[:1] == b"[" and b'"Target"' in head)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[ScanFinding]:
        tally = ScanTally(report)
        targets = 0
        parts = Document(source, report).parts(_VERSION, _TRIVY, _TARGET, _OLD_TARGET)
        for pattern, pointer, value in parts:
            if pattern == _VERSION:
                report.format_version = str(value)[:40] if type(value) is int else None
            elif pattern == _TRIVY:
                report.facts["trivy"] = short(value)
            elif isinstance(value, dict):
                targets += 1
                yield from _findings(value, pointer, tally)
            else:
                tally.remarks.add("a target that is no object", pointer)
        if not targets:
            raise Unreadable("no target in it: no evidence, not clean", "/Results")
        report.facts["tools"] = ["Trivy"]
        tally.finish(targets=targets)


def _findings(target: Record, pointer: str, tally: ScanTally) -> Iterator[ScanFinding]:
    for field, finding_of in _KINDS.items():
        for index, found in enumerate(items(target, field)):
            place = f"{pointer}/{field}/{index}"
            tally.see(place)
            if not isinstance(found, dict):
                tally.remarks.add("a finding that is no object", place)
            elif found.get("Status") in _NO_DEFECTS and field == "Misconfigurations":
                tally.drop("no_defect")
            else:
                yield tally.add(finding_of(found, text(target, "Target")))
    for index, _ in enumerate(items(target, "ExperimentalModifiedFindings")):
        tally.see(f"{pointer}/ExperimentalModifiedFindings/{index}")
        tally.drop("suppressed")


# Of a check: EXCEPTION is what old versions wrote where a check was waived.
_NO_DEFECTS = ("PASS", "EXCEPTION")


def _vulnerability(found: Record, target: str) -> ScanFinding:
    package = f"{label(found, 'PkgName')} {label(found, 'InstalledVersion')}".strip()
    fixed = label(found, "FixedVersion")
    title = text(found, "Title", "Description")
    return _finding(
        found,
        rule=text(found, "VulnerabilityID"),
        message=f"{package}{f', fixed in {fixed}' if fixed else ''}: {title}",
        target=text(found, "PkgPath") or target,
        line=_first(found, "Locations").get("StartLine"),
        snippet=package,
    )


def _misconfiguration(found: Record, target: str) -> ScanFinding:
    cause = inner(found, "CauseMetadata")
    return _finding(
        found,
        rule=text(found, "ID", "AVDID"),
        message=text(found, "Message", "Title", "Description"),
        target=target,
        line=cause.get("StartLine"),
        snippet=_code(cause, cause.get("StartLine")) or label(cause, "Resource"),
    )


def _secret(found: Record, target: str) -> ScanFinding:
    return _finding(
        found,
        rule=text(found, "RuleID"),
        message=text(found, "Title", "Category"),
        target=target,
        line=found.get("StartLine"),
        snippet=text(found, "Match"),
    )


def _licence(found: Record, target: str) -> ScanFinding:
    package = label(found, "PkgName")
    name = text(found, "Name")
    return _finding(
        found,
        rule=name,
        message=f"{package or 'a file'} is under {name}",
        target=text(found, "FilePath") or target,
        line=None,
        snippet=package,
    )


_KINDS = {
    "Vulnerabilities": _vulnerability,
    "Misconfigurations": _misconfiguration,
    "Secrets": _secret,
    "Licenses": _licence,
}


def _finding(
    found: Record, *, rule: str, message: str, target: str, line: Any, snippet: str
) -> ScanFinding:
    severity = word(found, "Severity")
    return ScanFinding(
        rule=shorten_id(rule or "(no rule)"),
        level=LEVELS.get(severity or "", "warning"),
        message=shorten(message, MESSAGE_LIMIT),
        path=path(target),
        line=line_number(line),
        snippet=shorten(snippet, SNIPPET_LIMIT),
        severity=severity,
        critical=severity == CRITICAL,
    )


def _first(found: Record, name: str) -> Record:
    return next((each for each in items(found, name) if isinstance(each, dict)), {})


def _code(cause: Record, line: Any) -> str:
    """Return the line of code at which a misconfiguration begins."""
    for each in items(inner(cause, "Code"), "Lines"):
        if isinstance(each, dict) and each.get("Number") == line:
            return text(each, "Content")
    return ""
