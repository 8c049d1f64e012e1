"""Trivy's own JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats.sniff import find_reader
from bouts.formats.trivy import TrivyReader
from bouts.formats.types import Kind, ScanFinding, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def scan(*targets: Any) -> str:
    return json.dumps({"SchemaVersion": 2, "ArtifactName": ".", "Results": list(targets)})


def only(kind: str, **found: Any) -> ScanFinding:
    (finding,) = read(TrivyReader(), scan({"Target": "t", kind: [found]}))[0]
    return finding


def test_all_that_trivy_looks_for_is_read() -> None:
    found, report = read(TrivyReader(), FIXTURES / "trivy.json")
    assert [(f.rule, f.path, f.line, f.severity, f.critical) for f in found] == [
        ("CVE-2000-0001", "requirements.txt", None, "CRITICAL", True),
        ("CVE-2000-0001", "requirements.txt", None, "CRITICAL", True),
        ("CVE-2000-0002", "requirements.txt", None, "HIGH", False),
        ("DS002", "Dockerfile", 2, "HIGH", False),
        ("aws-access-key-id", "settings.py", 3, "CRITICAL", True),
        ("GPL-3.0-only", None, None, "HIGH", False),
    ]
    assert found[0].message == "first 1.0, fixed in 1.1: first: runs what it is given"
    assert found[3].snippet == "USER root"
    # One advisory of two packages is two; an ignored one and a passed check are none.
    assert report.counts == {
        **{"targets": 5, "results": 8, "live": 6, "critical": 3},
        **{"suppressed": 1, "no_defect": 1},
    }
    assert (report.format_version, report.facts["trivy"]) == ("2", "0.68.1")


@pytest.mark.parametrize("severity", ["HIGH", "UNKNOWN", None, ["CRITICAL"]])
def test_nothing_but_its_own_word_is_critical(severity: Any) -> None:
    score = {"CVSS": {"nvd": {"V3Score": 10.0}}}
    assert not only("Vulnerabilities", VulnerabilityID="C", Severity=severity, **score).critical


def test_a_package_inside_a_file_has_the_path_of_that_file() -> None:
    fields = {"PkgPath": "lib/x.jar", "Locations": [{"StartLine": 7}]}
    finding = only("Vulnerabilities", **fields)
    assert (finding.rule, finding.path, finding.line) == ("(no rule)", "lib/x.jar", 7)


@pytest.mark.parametrize("status", ["PASS", "EXCEPTION"])
def test_a_check_that_passed_is_no_defect(status: str) -> None:
    found, report = read(
        TrivyReader(), scan({"Misconfigurations": [{"ID": "D", "Status": status}]})
    )
    assert found == []
    assert report.counts["no_defect"] == 1


def test_a_target_without_findings_is_clean() -> None:
    for target in ({"Target": "t"}, {"Target": "t", "Vulnerabilities": None}):
        found, report = read(TrivyReader(), scan(target))
        assert found == []
        assert (report.counts["targets"], report.notes) == (1, [])


@pytest.mark.parametrize(
    "document",
    [
        *("null", " null\n", scan(), scan(5), "[]"),
        '{"SchemaVersion": 2, "ArtifactName": "."}',
        '{"SchemaVersion": 2, "ArtifactName": ".", "Results": null}',
    ],
)
def test_a_file_without_targets_is_unreadable_and_never_clean(document: str) -> None:
    with pytest.raises(Unreadable, match="no target in it"):
        read(TrivyReader(), document)


@pytest.mark.parametrize("document", ["null\n", '[{"Target": "t", "Vulnerabilities": null}]'])
def test_what_old_versions_wrote_is_known_for_theirs(document: str) -> None:
    reader = find_reader(Kind.SCAN, document.encode())
    assert reader is not None
    assert reader.format == "trivy"


def test_the_targets_of_an_old_version_are_read() -> None:
    old = [{"Target": "t", "Vulnerabilities": [{"VulnerabilityID": "C", "Severity": "CRITICAL"}]}]
    (finding,), _ = read(TrivyReader(), json.dumps(old))
    assert (finding.rule, finding.critical) == ("C", True)


def test_what_is_no_finding_is_noted() -> None:
    _, report = read(TrivyReader(), scan({"Vulnerabilities": [5], "Secrets": 5}))
    assert "a finding that is no object [/Results/0/Vulnerabilities/0]" in notes(report)
