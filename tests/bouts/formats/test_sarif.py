"""SARIF: what is live, how grave it is, and when a file says nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bouts.formats import documents, sarif
from bouts.formats.sarif import SarifReader
from bouts.formats.types import Report, ScanFinding, Unreadable
from tests.bouts.formats.reading import FIXTURES, notes, read


def run(*results: dict[str, Any], tool: str = "Scanner", **fields: Any) -> dict[str, Any]:
    driver = {"name": tool, "rules": fields.pop("rules", [])}
    extensions = fields.pop("extensions", [])
    return {
        "tool": {"driver": driver, "extensions": extensions},
        "results": [{"ruleId": "R1", "message": {"text": "bad"}, **result} for result in results],
        **fields,
    }


def sarif_file(*runs: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"version": "2.1.0", "runs": list(runs), **fields})


def findings(*runs: dict[str, Any]) -> list[ScanFinding]:
    return read(SarifReader(), sarif_file(*runs))[0]


def only(result: dict[str, Any], **fields: Any) -> ScanFinding:
    (finding,) = findings(run(result, **fields))
    return finding


def report_of(*runs: dict[str, Any]) -> Report:
    return read(SarifReader(), sarif_file(*runs))[1]


def at(path: str, line: int = 1, text: str = "") -> list[dict[str, Any]]:
    region = {"startLine": line, "snippet": {"text": text}}
    return [{"physicalLocation": {"artifactLocation": {"uri": path}, "region": region}}]


# What bandit itself wrote


def test_bandits_findings_carry_its_own_words() -> None:
    found, report = read(SarifReader(), FIXTURES / "bandit.sarif")
    shells = [finding for finding in found if finding.rule == "B602"]
    assert [(f.severity, f.confidence, f.level, f.path) for f in shells] == [
        ("HIGH", "HIGH", "error", "flawed.py")
    ] * 2
    assert shells[0].snippet.strip() == "subprocess.call(command, shell=True)"
    assert {finding.rule for finding in found if finding.critical} == {"B602", "B324"}
    assert report.facts["tools"] == ["Bandit"]


def test_the_same_line_twice_is_one_critical_finding() -> None:
    _, report = read(SarifReader(), FIXTURES / "bandit.sarif")
    # Two equal calls of a shell and one weak digest.
    assert (report.counts["live"], report.counts["critical"]) == (6, 2)


def test_a_file_that_bandit_could_not_scan_is_noted() -> None:
    found, report = read(SarifReader(), FIXTURES / "bandit-broken.sarif")
    assert found == []
    assert "tells of an error" in notes(report)


# Level


def test_a_level_comes_from_the_result_then_from_its_rule_then_is_a_warning() -> None:
    rules = [{"id": "R1", "defaultConfiguration": {"level": "error"}}, {"id": "R2"}]
    assert only({"level": "note"}, rules=rules).level == "note"
    assert only({}, rules=rules).level == "error"
    assert only({"level": "grave"}, rules=rules).level == "error"
    assert only({"ruleId": "R2"}, rules=rules).level == "warning"
    assert only({"ruleId": "R9"}, rules=rules).level == "warning"
    assert only({"level": ["error"]}).level == "warning"


@pytest.mark.parametrize(
    "reference",
    [
        {"ruleId": "R2"},
        {"ruleId": "R2/7"},
        {"ruleId": None, "ruleIndex": 1},
        {"ruleId": None, "rule": {"index": 1}},
        {"ruleId": None, "rule": {"id": "R2"}},
    ],
)
def test_a_result_points_at_its_rule_in_several_ways(reference: dict[str, Any]) -> None:
    rules = [{"id": "R1"}, {"id": "R2", "defaultConfiguration": {"level": "error"}}]
    finding = only(reference, rules=rules)
    assert finding.level == "error"
    assert finding.rule in {"R2", "R2/7"}


def test_rules_of_an_extension_are_found_by_index_and_by_id() -> None:
    extensions = [
        {"name": "first", "rules": [{"id": "X"}]},
        {"name": "second", "rules": [{"id": "Y", "defaultConfiguration": {"level": "error"}}]},
    ]
    reference = {"rule": {"index": 0, "toolComponent": {"index": 1}}, "ruleId": None}
    finding = only(reference, extensions=extensions)
    assert (finding.rule, finding.level) == ("Y", "error")
    assert only({"ruleId": "Y"}, extensions=extensions).level == "error"


@pytest.mark.parametrize(
    "named", [{"name": "second"}, {"guid": "g-2"}, {"guid": "?", "name": "second"}]
)
def test_an_extension_is_meant_by_its_name_or_guid_as_well(named: dict[str, str]) -> None:
    extensions = [
        {"name": "first", "guid": "g-1", "rules": [{"id": "X"}]},
        {
            "name": "second",
            "guid": "g-2",
            "rules": [{"id": "Y", "defaultConfiguration": {"level": "error"}}],
        },
    ]
    rules = [{"id": "of the driver", "defaultConfiguration": {"level": "note"}}]
    reference = {"rule": {"index": 0, "toolComponent": named}, "ruleId": None}
    finding = only(reference, extensions=extensions, rules=rules)
    assert (finding.rule, finding.level) == ("Y", "error")


def test_an_id_may_refine_a_rule_by_several_steps() -> None:
    rules = [{"id": "CA1", "defaultConfiguration": {"level": "error"}}]
    assert only({"ruleId": "CA1/a/b"}, rules=rules).level == "error"
    assert only({"ruleId": "/CA1"}, rules=rules).level == "warning"


# What an invocation was told of rules: SARIF 2.1.0, 3.20.5 and 3.27.10


def told(level: object, **descriptor: Any) -> dict[str, Any]:
    override = {"configuration": {"level": level}, "descriptor": descriptor}
    return {"executionSuccessful": True, "ruleConfigurationOverrides": [override]}


def of_invocation(index: object) -> dict[str, Any]:
    return {"provenance": {"invocationIndex": index}}


@pytest.mark.parametrize(
    "descriptor",
    [{"id": "R1"}, {"index": 0}, {"id": "R1/sub", "index": -1}, {"id": "?", "index": 0}],
)
def test_an_invocations_own_level_goes_before_the_rules(descriptor: dict[str, Any]) -> None:
    rules = [{"id": "R1", "defaultConfiguration": {"level": "note"}}]
    invocations = [{}, told("error", **descriptor)]
    result = of_invocation(1)
    assert only(result, rules=rules, invocations=invocations).level == "error"
    assert only(result | {"level": "none"}, rules=rules, invocations=invocations).level == "none"


@pytest.mark.parametrize(
    "provenance", [of_invocation(0), of_invocation(-1), of_invocation("1"), {}]
)
def test_it_holds_for_results_of_that_invocation_alone(provenance: dict[str, Any]) -> None:
    rules = [{"id": "R1", "defaultConfiguration": {"level": "note"}}]
    invocations = [{}, told("error", id="R1")]
    assert only(provenance, rules=rules, invocations=invocations).level == "note"


def test_a_lone_invocation_is_that_of_every_result() -> None:
    rules = [{"id": "R1", "defaultConfiguration": {"level": "note"}}, {"id": "R2"}]
    assert only({}, rules=rules, invocations=[told("error", id="R1")]).level == "error"
    assert only({}, rules=rules, invocations=[told("error", id="R2")]).level == "note"
    assert only({}, rules=rules, invocations=[told("severe", id="R1")]).level == "note"
    assert only({}, rules=rules, invocations=[told(["error"], id="R1")]).level == "note"


def test_a_level_may_be_told_of_rules_of_an_extension_and_of_rules_that_are_not_listed() -> None:
    of_extension = told("error", index=0, toolComponent={"name": "more"})
    extensions = [{"name": "more", "rules": [{"id": "X"}]}]
    found = only({"ruleId": "X"}, extensions=extensions, invocations=[of_extension])
    assert found.level == "error"
    assert only({}, invocations=[told("note", id="R1")]).level == "note"


def test_a_result_without_any_rule_is_a_finding_all_the_same() -> None:
    assert only({"ruleId": None}).rule == "(no rule)"
    assert only({"ruleId": None, "ruleIndex": -1}, rules=[{"id": "R"}]).rule == "(no rule)"


def test_rules_that_stand_behind_the_results_are_known() -> None:
    behind = run({}, rules=[{"id": "R1", "defaultConfiguration": {"level": "error"}}])
    behind["tool"] = behind.pop("tool")
    assert list(behind)[-1] == "tool"
    for limit in (documents.WHOLE_LIMIT, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "WHOLE_LIMIT", limit)
            assert findings(behind)[0].level == "error"


# Live or not


@pytest.mark.parametrize(
    ("result", "count"),
    [
        ({"suppressions": [{"kind": "inSource"}]}, "suppressed"),
        ({"suppressions": [{"kind": "external", "status": "accepted"}]}, "suppressed"),
        ({"kind": "pass"}, "no_defect"),
        ({"kind": "notApplicable"}, "no_defect"),
        ({"kind": "open"}, "no_defect"),
        ({"kind": "review"}, "no_defect"),
        ({"baselineState": "absent"}, "absent"),
    ],
)
def test_what_is_no_live_defect_is_counted_and_not_yielded(
    result: dict[str, Any], count: str
) -> None:
    found, report = read(SarifReader(), sarif_file(run(result, {})))
    assert len(found) == 1
    assert (report.counts["results"], report.counts["live"], report.counts[count]) == (2, 1, 1)


@pytest.mark.parametrize(
    "result",
    [
        {"suppressions": []},
        {"suppressions": None},
        {"suppressions": [{"status": "rejected"}]},
        {"suppressions": [{"status": "accepted"}, {"status": "underReview"}]},
        {"kind": "fail"},
        {"kind": "informational"},
        {"kind": ["pass"]},
        {"baselineState": "new"},
        {"baselineState": "unchanged"},
    ],
)
def test_everything_else_is_live(result: dict[str, Any]) -> None:
    assert len(findings(run(result))) == 1


# Critical


@pytest.mark.parametrize(
    ("result", "fields", "critical"),
    [
        ({"properties": {"severity": "critical"}}, {}, True),
        ({"properties": {"severity": "HIGH"}}, {}, False),
        ({"properties": {"security-severity": "9.0"}}, {}, True),
        ({"properties": {"security-severity": 9.8}}, {}, True),
        ({"properties": {"security-severity": "8.9"}}, {}, False),
        ({}, {"rules": [{"id": "R1", "properties": {"security-severity": "9.8"}}]}, True),
        ({}, {"rules": [{"id": "R1", "properties": {"tags": ["security", "CRITICAL"]}}]}, True),
        ({}, {"rules": [{"id": "R1", "properties": {"tags": ["critical-section"]}}]}, False),
        # What only informs is no defect, whatever its rule weighs.
        (
            {"kind": "informational"},
            {"rules": [{"id": "R1", "properties": {"security-severity": "9.8"}}]},
            False,
        ),
        ({"level": "error"}, {}, False),
        (
            {"properties": {"issue_severity": "HIGH", "issue_confidence": "HIGH"}},
            {"tool": "Bandit"},
            True,
        ),
        (
            {"properties": {"issue_severity": "HIGH", "issue_confidence": "MEDIUM"}},
            {"tool": "Bandit"},
            False,
        ),
        (
            {"properties": {"issue_severity": "HIGH", "issue_confidence": "HIGH"}},
            {"tool": "Other"},
            False,
        ),
    ],
)
def test_critical_is_what_the_rule_book_calls_so(
    result: dict[str, Any], fields: dict[str, Any], critical: bool
) -> None:
    assert only(result, **fields).critical is critical


def test_critical_findings_are_counted_once_by_rule_path_and_line_of_code() -> None:
    grave = {"properties": {"severity": "CRITICAL"}}
    report = report_of(
        run(
            {**grave, "locations": at("a.py", 1, "  eval(x)\n")},
            {**grave, "locations": at("a.py", 9, "eval(x)")},
            {**grave, "locations": at("b.py", 1, "eval(x)")},
            {**grave, "locations": at("a.py", 1, "eval(y)")},
            {**grave, "ruleId": "R2", "locations": at("a.py", 1, "eval(x)")},
            {**grave, "locations": at("c.py", 3)},
            {**grave, "locations": at("c.py", 4)},
        )
    )
    assert (report.counts["live"], report.counts["critical"]) == (7, 6)


@pytest.mark.parametrize("written", ["11", "-1", "high", "nan", [], True and "1e9"])
def test_a_security_severity_out_of_range_is_unknown_and_noted(written: object) -> None:
    (finding,), report = read(
        SarifReader(), sarif_file(run({"properties": {"security-severity": written}}))
    )
    assert finding.security_severity is None
    assert not finding.critical
    assert "security-severity" in notes(report)


# Places and messages


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/a%20b.py", "src/a b.py"),
        ("./src/a.py", "src/a.py"),
        ("file:///home/me/a.py", "/home/me/a.py"),
        ("file:///D:/x/a.py", "D:/x/a.py"),
        ("https://example.org/a.py", "https://example.org/a.py"),
        ("a%00b%0A", "a␀b␊"),
    ],
)
def test_a_uri_is_shown_as_a_path(uri: str, path: str) -> None:
    assert only({"locations": at(uri)}).path == path


@pytest.mark.parametrize(
    "locations",
    [None, [], [None], [{}], [{"physicalLocation": {}}], "x", [{"physicalLocation": 1}]],
)
def test_a_finding_may_have_no_place(locations: object) -> None:
    finding = only({"locations": locations})
    assert (finding.path, finding.line, finding.snippet) == (None, None, "")


def test_a_file_may_be_told_by_its_index_alone() -> None:
    place = [{"physicalLocation": {"artifactLocation": {"index": 1}}}]
    artifacts = [{"location": {"uri": "a.py"}}, {"location": {"uri": "b.py"}}]
    assert only({"locations": place}, artifacts=artifacts).path == "b.py"


@pytest.mark.parametrize("line", [0, -1, "7", 1.5, True, None, 2**40])
def test_a_line_that_is_none_is_left_out(line: object) -> None:
    assert only({"locations": at("a.py", line)}).line is None  # type: ignore[arg-type]


def test_a_message_may_stand_with_the_rule_and_have_blanks_to_fill() -> None:
    rules = [{"id": "R1", "messageStrings": {"m": {"text": "{0} is {1} and {2}"}}}]
    message = {"id": "m", "arguments": ["x", "bad"]}
    assert only({"message": message}, rules=rules).message == "x is bad and {2}"
    assert only({"message": {"markdown": "*bad*"}}).message == "*bad*"
    assert only({"message": None}).message == ""


# Saying nothing


def test_no_findings_in_a_run_with_results_is_a_clean_scan() -> None:
    found, report = read(SarifReader(), sarif_file(run()))
    assert found == []
    assert report.counts["results"] == 0
    assert not report.notes


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('{"version": "2.1.0", "runs": []}', "no runs in it"),
        ('{"version": "2.1.0"}', "no runs in it"),
        ('{"version": "2.1.0", "runs": null}', "no runs in it"),
        ("null", "no runs in it"),
        ('{"version": "2.1.0", "runs": [{}]}', "no run has results"),
        ('{"version": "2.1.0", "runs": [{"results": null}]}', "no run has results"),
        ('{"version": "1.0.0", "runs": []}', "SARIF 1.0.0 is not read"),
        ("", "the file is empty"),
    ],
)
def test_a_file_that_says_nothing_is_unreadable_and_never_clean(document: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(SarifReader(), document)


def test_a_failed_scan_without_findings_is_no_evidence() -> None:
    failed = run(invocations=[{"executionSuccessful": False}])
    with pytest.raises(Unreadable, match="did not succeed"):
        findings(failed)


def test_a_failed_scan_with_findings_tells_them_and_that_it_failed() -> None:
    found, report = read(
        SarifReader(), sarif_file(run({}, invocations=[{"executionSuccessful": False}]))
    )
    assert len(found) == 1
    assert "may not be all" in notes(report)


def test_a_run_without_results_beside_one_with_them_is_noted() -> None:
    silent = run()
    del silent["results"]
    assert "a run without results says nothing [/runs/0]" in notes(report_of(silent, run({})))


def test_results_of_several_runs_refer_to_their_own_rules() -> None:
    first = run({"ruleIndex": 0}, rules=[{"id": "A", "defaultConfiguration": {"level": "note"}}])
    second = run({"ruleIndex": 0}, rules=[{"id": "B", "defaultConfiguration": {"level": "error"}}])
    assert [finding.level for finding in findings(first, second)] == ["note", "error"]


def test_a_byte_order_mark_is_no_obstacle() -> None:
    found, report = read(SarifReader(), sarif_file(run({})).encode("utf-8-sig"))
    assert len(found) == 1
    assert not report.notes


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bouts.formats.findings.MAX_RESULTS", 2)
    with pytest.raises(Unreadable, match=r"MAX_RESULTS = 2 \(/runs/0/results/2\)"):
        findings(run({}, {}, {}))
    monkeypatch.setattr(sarif, "MAX_RULES", 2)
    with pytest.raises(Unreadable, match="MAX_RULES = 2"):
        findings(run({}, rules=[{"id": str(n)} for n in range(3)]))
