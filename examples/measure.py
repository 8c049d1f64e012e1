"""What is measured of a challenge, not decided: which tests fail at the start, known scanner
findings, how long the benchmark takes. Writes them into `challenge.json`, and the starting
tree into an archive beside it.
"""

from __future__ import annotations

import gzip
import io
import json
import statistics
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from examples.grader import RUNS, SUITES, Grades, grade, lay
from examples.sandbox import Sandbox

EPOCH = 1_793_610_000  # 2 November 2026: an archive of the same tree has the same bytes


def measure(sandbox: Sandbox, challenge: Path) -> None:
    """Grade the starting tree and bring `challenge.json` and `tree.tar.gz` up to date."""
    lay(sandbox, challenge)
    grades = grade(sandbox, challenge)
    document = load(challenge)
    outcomes = {suite: _outcomes(grades, suite) for suite in SUITES}
    _match_tests(document["tests"], outcomes, challenge.name)
    for test in document["tests"]:
        test["fails_at_start"] = _always(outcomes[test["suite"]][test["id"]])
    document["starting_findings"] = _findings(json.loads(grades.files["scan.sarif"]))
    if "benchmark" in document:
        timing = json.loads(grades.files["benchmark.json"])["benchmarks"][0]
        document["benchmark"] = {
            "name": timing["name"],
            "baseline_s": round(statistics.median(timing["stats"]["data"]), 6),
        }
    save(challenge, document)
    (challenge / "tree.tar.gz").write_bytes(archive(challenge / "tree"))


def load(challenge: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((challenge / "challenge.json").read_text())
    return document


def save(challenge: Path, document: dict[str, Any]) -> None:
    """Write `challenge.json` with a line a test, so that a person can read it."""
    rows: dict[str, str] = {}
    for name in ("tests", "starting_findings"):
        lines = ",\n".join(f"    {json.dumps(entry)}" for entry in document[name])
        rows[f'"@{name}"'] = f"[\n{lines}\n  ]" if lines else "[]"
    text = json.dumps(
        {key: f"@{key}" if f'"@{key}"' in rows else value for key, value in document.items()},
        indent=2,
        ensure_ascii=False,
    )
    for mark, lines in rows.items():
        text = text.replace(mark, lines)
    (challenge / "challenge.json").write_text(f"{text}\n")


def archive(tree: Path) -> bytes:
    """A tar.gz of a folder that depends on nothing but its files."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", filename="", mtime=EPOCH) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        for path in sorted(tree.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                info = tarfile.TarInfo(path.relative_to(tree).as_posix())
                info.size, info.mtime, info.mode = path.stat().st_size, EPOCH, 0o644
                tar.addfile(info, io.BytesIO(path.read_bytes()))
    return buffer.getvalue()


def _outcomes(grades: Grades, suite: str) -> dict[str, list[bool]]:
    """Whether each test passed, by run."""
    found: dict[str, list[bool]] = {}
    for run in range(1, RUNS + 1):
        if text := grades.files.get(f"results/{suite}-{run}.xml"):
            for case in ElementTree.fromstring(text).iter("testcase"):
                test = f"{case.get('classname')}::{case.get('name')}"
                failed = case.find("failure") is not None or case.find("error") is not None
                found.setdefault(test, []).append(not failed)
    return found


def _match_tests(
    listed: list[dict[str, Any]], outcomes: dict[str, dict[str, list[bool]]], slug: str
) -> None:
    there = {(suite, test) for suite, tests in outcomes.items() for test in tests}
    named = {(test["suite"], test["id"]) for test in listed}
    if there != named:
        raise SystemExit(f"{slug}: challenge.json and the tests differ: {sorted(there ^ named)}")


def _always(passed: list[bool]) -> bool | None:
    """True where a test always fails at the start, None where it depends on the run."""
    return not passed[0] if len(set(passed)) == 1 else None


def _findings(sarif: dict[str, Any]) -> list[dict[str, Any]]:
    """Known findings by rule and file, since touching such a line makes it no worse."""
    found: list[dict[str, Any]] = []
    for result in sarif["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        finding = {"rule": result["ruleId"], "path": place["uri"]}
        if finding not in found:
            found.append(finding)
    return found
