"""SARIF 2.1.0, the common format of security scanners (FORMATS.md, 4).

- A result without a level has that of its rule, else ``warning``. Rules stand in the driver or
  in an extension, and a result points at its rule by id, by index or by a reference. What an
  invocation was told of a rule (``ruleConfigurationOverrides``) goes before the rule's own level,
  for the results that name the invocation, and for all where the run has only one.
- A result that is suppressed, absent against the baseline, or of a kind that is no defect
  (``pass``, ``open``, ``review`` …) is counted and not yielded.
- *Critical* is what SCORING.md, 2 calls so: the scanner's own word CRITICAL, a
  ``security-severity`` of 9.0 or more, or Bandit's HIGH severity with HIGH confidence. The
  count of critical ones is of different ones: by rule, path and line of code.
- A file without runs, or in which no run has results, says nothing: it is unreadable, as is one
  whose scan failed before it found anything. A clean scan has an empty array.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, ClassVar
from urllib.parse import unquote

from bouts.formats.documents import Document, top_keys
from bouts.formats.findings import CRITICAL, HIGH, MESSAGE_LIMIT, SNIPPET_LIMIT, ScanTally
from bouts.formats.guard import guarded
from bouts.formats.text import shorten, shorten_id, single_line
from bouts.formats.types import Kind, Report, ScanFinding, Unreadable

MAX_RUNS = 1_000
MAX_RULES = 100_000  # in all runs, with what overrides them

CRITICAL_SEVERITY = 9.0  # of `security-severity`, 0 to 10

Record = Mapping[str, Any]

# Tuples: what is looked up in them comes from the file and may be no text at all.
_LEVELS = ("error", "warning", "note", "none")
_NO_DEFECTS = ("notApplicable", "open", "pass", "review")  # kinds of a result
_ARGUMENT = re.compile(r"\{(\d{1,3})\}")
_DRIVE = re.compile(r"/[A-Za-z]:/")

# What is asked for before the results, since it may stand behind them.
_VERSION = "/version"
_RUN = "/runs/*?"
_HAS_RESULTS = "/runs/*/results?"
_TOOL = "/runs/*/tool/driver/name"
_RULE = "/runs/*/tool/driver/rules/*"
_EXTENSION_RULE = "/runs/*/tool/extensions/*/rules/*"
_EXTENSION_NAMES = ("/runs/*/tool/extensions/*/guid", "/runs/*/tool/extensions/*/name")
_ARTIFACT = "/runs/*/artifacts/*/location/uri"
_INVOCATION = "/runs/*/invocations/*?"
_OVERRIDE = "/runs/*/invocations/*/ruleConfigurationOverrides/*"
_SUCCESS = "/runs/*/invocations/*/executionSuccessful"
_NOTICES = (
    "/runs/*/invocations/*/toolExecutionNotifications/*",
    "/runs/*/invocations/*/toolConfigurationNotifications/*",
)
_RESULT = "/runs/*/results/*"


@dataclass(frozen=True, slots=True)
class _Rule:
    id: str | None = None
    level: str | None = None
    security_severity: object = None  # as it is written
    severity: str | None = None  # the scanner's own word
    messages: Mapping[str, str] = field(default_factory=dict)
    overrides: dict[int, str] = field(default_factory=dict)  # levels by the invocation's index

    def level_in(self, invocation: int) -> str:
        """Return the level of a result that does not say its own."""
        return self.overrides.get(invocation) or self.level or "warning"


_NO_RULE = _Rule()


@dataclass(slots=True)
class _Run:
    """What the results of one run refer to, and whether they can be believed."""

    tool: str = ""
    rules: dict[tuple[int | None, int], _Rule] = field(default_factory=dict)  # by extension, index
    by_id: dict[str, _Rule] = field(default_factory=dict)
    artifacts: dict[int, str] = field(default_factory=dict)
    extensions: dict[str, int] = field(default_factory=dict)  # by name and by GUID
    invocations: int = 0
    overrides: list[tuple[int, Record]] = field(default_factory=list)  # with the invocation's index
    has_results: bool = False
    has_failed: bool = False

    def component(self, reference: Record) -> int | None:
        """Return the index of the extension that a reference means; None is the driver."""
        index = reference.get("index")
        if isinstance(index, int):
            return index if index >= 0 else None
        named = (reference.get("guid"), reference.get("name"))
        return next(
            (self.extensions[n] for n in named if isinstance(n, str) and n in self.extensions), None
        )

    def rule_of(self, reference: Record) -> _Rule | None:
        """Return the rule that a reference means: by index, else by id or the id that it refines."""
        index, name = reference.get("index"), reference.get("id")
        rule = None
        if isinstance(index, int) and index >= 0:
            rule = self.rules.get((self.component(_object(reference, "toolComponent")), index))
        while rule is None and isinstance(name, str) and name:
            rule = self.by_id.get(name)
            name = name.rpartition("/")[0]  # `CA1000/1` refines the rule CA1000
        return rule

    def override(self) -> None:
        """Give the rules the levels that invocations were told, once all rules are known."""
        for invocation, written in self.overrides:
            descriptor = _object(written, "descriptor")
            level, name = _object(written, "configuration").get("level"), descriptor.get("id")
            rule = self.rule_of(descriptor)
            if rule is None and isinstance(name, str):  # results may name it all the same
                rule = self.by_id[name] = _Rule(name)
            if rule is not None and level in _LEVELS:
                rule.overrides[invocation] = level

    def invocation_of(self, result: Record) -> int:
        """Return the index of the invocation that a result is of; -1 where nobody knows."""
        index = _object(result, "provenance").get("invocationIndex")
        if isinstance(index, int) and index >= 0:
            return index
        return 0 if self.invocations == 1 else -1


class SarifReader:
    kind: ClassVar[Kind] = Kind.SCAN
    format: ClassVar[str] = "sarif"
    version: ClassVar[int] = 3

    def recognises(self, head: bytes) -> bool:
        keys = top_keys(head)
        if "sarif" in str(keys.get("$schema", "")).lower():
            return True
        return "runs" in keys and (b'"driver"' in head or "version" in keys)

    @guarded
    def read(self, source: BinaryIO, report: Report) -> Iterator[ScanFinding]:
        return _Reading(report).findings(source)


class _Reading:
    """One pass over one file, after a survey of what the results refer to."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tally = ScanTally(report)
        self._remarks = self._tally.remarks
        self._runs: dict[int, _Run] = {}

    def findings(self, source: BinaryIO) -> Iterator[ScanFinding]:
        document = Document(source, self._report)
        self._survey(document)
        for _, pointer, result in document.parts(_RESULT):
            self._tally.see(pointer)
            if not isinstance(result, dict):
                self._remarks.add("a result that is no object", pointer)
            elif self._is_live(result):
                run = self._runs[_index(pointer, 2)]
                yield self._tally.add(self._finding(result, run, pointer))
        if not self._tally.results and any(run.has_failed for run in self._runs.values()):
            raise Unreadable("the scan did not succeed and found nothing: no evidence, not clean")
        self._tally.finish(runs=len(self._runs))

    def _survey(self, document: Document) -> None:
        rules = 0
        patterns = (_VERSION, _RUN, _HAS_RESULTS, _TOOL, _RULE, _EXTENSION_RULE, *_EXTENSION_NAMES)
        invocations = (_INVOCATION, _OVERRIDE, _SUCCESS, *_NOTICES)
        for pattern, pointer, value in document.parts(*patterns, _ARTIFACT, *invocations):
            if pattern == _VERSION:
                self._check_version(value)
                continue
            run = self._runs.setdefault(_index(pointer, 2), _Run())
            if pattern == _HAS_RESULTS:
                run.has_results = value == "array"
            elif pattern == _TOOL and isinstance(value, str):
                run.tool = single_line(value)[:200]
            elif pattern in {_RULE, _EXTENSION_RULE} and isinstance(value, dict):
                rules += 1
                _add_rule(run, pattern, pointer, value)
            elif pattern in _EXTENSION_NAMES and isinstance(value, str):
                rules += 1
                run.extensions.setdefault(value, _index(pointer, 5))
            elif pattern == _ARTIFACT and isinstance(value, str):
                run.artifacts[_index(pointer, 4)] = value
            elif pattern == _INVOCATION:
                run.invocations += 1
            elif pattern == _OVERRIDE and isinstance(value, dict):
                rules += 1
                run.overrides.append((_index(pointer, 4), value))
            elif pattern == _SUCCESS and value is False:
                run.has_failed = True
            elif pattern in _NOTICES and isinstance(value, dict) and value.get("level") == "error":
                self._remarks.add(
                    "the scanner tells of an error, such as a file not scanned", pointer
                )
            if len(self._runs) > MAX_RUNS or rules > MAX_RULES:
                limits = f"MAX_RUNS = {MAX_RUNS:,}, MAX_RULES = {MAX_RULES:,}"
                raise Unreadable(f"more runs or rules than {limits}", pointer)
        for run in self._runs.values():
            run.override()
        self._check_runs()

    def _check_version(self, version: Any) -> None:
        if isinstance(version, str) and version.startswith("2."):
            self._report.format_version = version[:20]
        elif isinstance(version, str) and version.startswith("1."):
            raise Unreadable(f"SARIF {version[:20]} is not read, only 2.1.0", "/version")
        else:
            self._remarks.add("the version is missing or unknown", "/version")

    def _check_runs(self) -> None:
        if not self._runs:
            raise Unreadable("no runs in it: no evidence, not clean", "/runs")
        if not any(run.has_results for run in self._runs.values()):
            raise Unreadable("no run has results: no evidence, not clean", "/runs")
        for index, run in self._runs.items():
            if not run.has_results:
                self._remarks.add("a run without results says nothing", f"/runs/{index}")
            if run.has_failed:
                text = "a scan did not succeed: what it found may not be all"
                self._remarks.add(text, f"/runs/{index}/invocations")
        tools = sorted({run.tool for run in self._runs.values() if run.tool})
        self._report.facts["tools"] = tools[:20]

    # Results

    def _is_live(self, result: Record) -> bool:
        if result.get("kind") in _NO_DEFECTS:
            self._tally.drop("no_defect")
            return False
        if result.get("baselineState") == "absent":
            self._tally.drop("absent")
            return False
        suppressions = result.get("suppressions")
        if isinstance(suppressions, list) and suppressions:
            states = [each.get("status") for each in suppressions if isinstance(each, dict)]
            # A suppression that is refused or still under review is none.
            if all(state in (None, "accepted") for state in states):
                self._tally.drop("suppressed")
                return False
        return True

    def _finding(self, result: Record, run: _Run, pointer: str) -> ScanFinding:
        rule_id, rule = _rule_of(result, run)
        level = result.get("level")
        if level not in _LEVELS:
            is_told = result.get("kind") == "informational"
            level = "none" if is_told else rule.level_in(run.invocation_of(result))
        properties = _object(result, "properties")
        path, line, snippet = _location(result, run)
        written = properties.get("security-severity", rule.security_severity)
        finding = ScanFinding(
            rule=shorten_id(rule_id),
            level=level,
            message=shorten(_message(result, rule), MESSAGE_LIMIT),
            path=path,
            line=line,
            snippet=shorten(snippet, SNIPPET_LIMIT),
            security_severity=self._security_severity(written, pointer),
            severity=_word(properties, "issue_severity", "severity") or rule.severity,
            confidence=_word(properties, "issue_confidence", "confidence"),
        )
        # What its rule weighs is a defect, and what only informs is none.
        is_defect = result.get("kind") != "informational"
        return replace(finding, critical=is_defect and _is_critical(finding, run.tool))

    def _security_severity(self, written: object, pointer: str) -> float | None:
        if written is None:
            return None
        try:
            value = float(written) if isinstance(written, str | int | float) else math.nan
        except ValueError:
            value = math.nan
        if 0 <= value <= 10:
            return value
        self._remarks.add("a security-severity that is no number from 0 to 10", pointer)
        return None


def _is_critical(finding: ScanFinding, tool: str) -> bool:
    is_bandit = tool.lower() == "bandit"
    return (
        finding.severity == CRITICAL
        or (finding.security_severity or 0) >= CRITICAL_SEVERITY
        or (is_bandit and finding.severity == finding.confidence == HIGH)
    )


def _index(pointer: str, position: int) -> int:
    return int(pointer.split("/")[position])


def _object(record: Record, *names: str) -> Record:
    """Follow names down through objects; empty where there is none."""
    for name in names:
        inner = record.get(name)
        record = inner if isinstance(inner, dict) else {}
    return record


def _word(properties: Record, *names: str) -> str | None:
    """Return the first of these properties that is text, in capitals."""
    for name in names:
        if isinstance(value := properties.get(name), str) and value.strip():
            return single_line(value.strip().upper())[:40]
    return None


# Rules


def _add_rule(run: _Run, pattern: str, pointer: str, written: Record) -> None:
    properties = _object(written, "properties")
    tags = properties.get("tags")
    words = tags if isinstance(tags, list) else []
    level = _object(written, "defaultConfiguration").get("level")
    rule_id = written.get("id")
    messages = {
        name: text["text"]
        for name, text in _object(written, "messageStrings").items()
        if isinstance(text, dict) and isinstance(text.get("text"), str)
    }
    rule = _Rule(
        id=rule_id if isinstance(rule_id, str) else None,
        level=level if level in _LEVELS else None,
        security_severity=properties.get("security-severity"),
        # Trivy has the word among the tags.
        severity=_word(properties, "severity")
        or next((w for w in _SEVERITIES if w in words), None),
        messages=messages,
    )
    is_extension = pattern == _EXTENSION_RULE
    place = (_index(pointer, 5), _index(pointer, 7)) if is_extension else (None, _index(pointer, 6))
    run.rules[place] = rule
    if rule.id is not None:
        run.by_id.setdefault(rule.id, rule)


_SEVERITIES = (CRITICAL, HIGH, "MEDIUM", "LOW")


def _rule_of(result: Record, run: _Run) -> tuple[str, _Rule]:
    """Return the id and the rule of a result, which names it itself or in a reference."""
    reference = _object(result, "rule")
    index = result.get("ruleIndex", reference.get("index"))
    names = [each for each in (result.get("ruleId"), reference.get("id")) if isinstance(each, str)]
    rules = (run.rule_of({**reference, "index": index, "id": name}) for name in names or [""])
    rule = next((rule for rule in rules if rule), _NO_RULE)
    return (names[0] if names else rule.id or "(no rule)"), rule


def _message(result: Record, rule: _Rule) -> str:
    message = _object(result, "message")
    for text in (message.get("text"), rule.messages.get(str(message.get("id")))):
        if isinstance(text, str) and text:
            break
    else:
        text = message.get("markdown")
    arguments = message.get("arguments")
    if not isinstance(text, str) or not isinstance(arguments, list):
        return text if isinstance(text, str) else ""

    def filled(placeholder: re.Match[str]) -> str:
        index = int(placeholder[1])
        return str(arguments[index])[:500] if index < len(arguments) else placeholder[0]

    return _ARGUMENT.sub(filled, text[:MESSAGE_LIMIT])


# Places


def _location(result: Record, run: _Run) -> tuple[str | None, int | None, str]:
    """Return path, line and code of a result's first location, as far as it has one."""
    locations = result.get("locations")
    first = locations[0] if isinstance(locations, list) and locations else None
    physical = _object(first, "physicalLocation") if isinstance(first, dict) else {}
    artifact = _object(physical, "artifactLocation")
    uri = artifact.get("uri")
    if not isinstance(uri, str) and isinstance(index := artifact.get("index"), int):
        uri = run.artifacts.get(index)
    line = _object(physical, "region").get("startLine")
    snippet = _object(physical, "region", "snippet").get("text")
    return (
        _path(uri) if isinstance(uri, str) else None,
        line if type(line) is int and 0 < line < 2**31 else None,
        snippet if isinstance(snippet, str) else "",
    )


def _path(uri: str) -> str:
    """Return a URI's path, for display alone: nothing opens it."""
    path = unquote(uri.removeprefix("file://"), errors="replace")
    if _DRIVE.match(path):
        path = path[1:]
    return shorten_id(path.removeprefix("./"))
