"""A native bundle of a given size: 200 events, 60 tests in two suites' files, a diff, verdicts.

No two bundles share a file: each file names its match, so that each has to be stored.
"""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from bouts.actions import uploads
from bouts.models import Team

STARTED = datetime(2026, 3, 12, 14, 0, tzinfo=UTC)
SEVERITIES = ("critical", "high", "medium")
TESTS = [f"tests.test_{number // 10}::test_{number}" for number in range(60)]

CHALLENGE: dict[str, Any] = {
    "schema": "bouts.challenge/1",
    "slug": "bench",
    "title": "Bench",
    "tests": [
        {
            "id": test,
            "suite": "static" if number < 36 else "hidden",
            "severity": SEVERITIES[number % 3],
        }
        for number, test in enumerate(TESTS)
    ],
}


def store_challenge(folder: Path) -> None:
    """Store the challenge and the team that every bundle here names."""
    Team.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    path = folder / "challenge.json"
    path.write_text(json.dumps(CHALLENGE))
    uploads.upload(path, name=path.name, by=None)


def write(
    path: Path,
    match: str,
    *,
    events: int = 200,
    shown: int = 10,
    logged: int = 0,
    scores: tuple[int, int, int] = (70, 75, 80),
) -> None:
    """Write one bundle as a zip; ``scores`` are those of the panel's seats.

    ``shown`` is the number of lines that reading a file shows, ``logged`` those of a log.
    """
    files = {
        "static.xml": junit(match, TESTS[:36]),
        "hidden.xml": junit(match, TESTS[36:]),
        "trajectory.json": json.dumps(trajectory(match, events, shown)),
        "final.diff": diff(match, 40),
        "verdicts.json": json.dumps(verdicts(match, scores)),
    }
    manifest: dict[str, Any] = {
        "schema": "bouts.match/1",
        "match": match,
        "challenge": "bench",
        "agent": {"team": "bench", "name": "Heron", "version": "1", "base_model": "quill-4"},
        "started_at": STARTED.isoformat(),
        "finished_at": (STARTED + timedelta(minutes=40)).isoformat(),
        "build": {"ok": True},
        "artifacts": [
            {"path": "static.xml", "kind": "tests", "suite": "static", "run": 1},
            {"path": "hidden.xml", "kind": "tests", "suite": "hidden", "run": 1},
            {"path": "trajectory.json", "kind": "telemetry"},
            {"path": "final.diff", "kind": "diff"},
            {"path": "verdicts.json", "kind": "verdicts"},
        ],
    }
    if logged:
        files["run.log"] = "".join(f"{match}: line {number}\n" for number in range(logged))
        manifest["artifacts"].append({"path": "run.log", "kind": "log"})
    # What is this regular would be taken for a bomb were it packed.
    method = zipfile.ZIP_STORED if logged else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("match.json", json.dumps(manifest))
        for name, content in files.items():
            archive.writestr(name, content)


def junit(match: str, tests: list[str]) -> str:
    cases = []
    for number, test in enumerate(tests):
        classname, _, name = test.partition("::")
        body = '<failure message="expected 1, got 2">trace</failure>' if number % 7 == 0 else ""
        cases.append(
            f"<testcase classname={quoteattr(classname)} name={quoteattr(name)} time='0.01'>{body}</testcase>"
        )
    return f"<testsuite name={quoteattr(match)} tests='{len(tests)}'>{''.join(cases)}</testsuite>"


def trajectory(match: str, events: int, shown: int) -> dict[str, Any]:
    """An ATIF trajectory that reads, edits and tests in turn, a step a second."""
    steps: list[dict[str, Any]] = [
        {"step_id": 1, "timestamp": STARTED.isoformat(), "source": "user", "message": "Mend it."}
    ]
    for number in range(2, events + 1):
        call = f"call-{number}"
        match number % 4:
            case 0:
                name, arguments = (
                    "write_file",
                    {"path": f"src/m{number % 9}.py", "content": f"x = {number}\n"},
                )
                content = "written"
            case 1:
                name, arguments = "bash", {"command": "python -m pytest -v"}
                content = "tests/test_0.py::test_0 PASSED\ntests/test_0.py::test_1 FAILED\n=== 1 failed, 1 passed in 0.10s ==="
            case _:
                name, arguments = "read_file", {"path": f"src/m{number % 9}.py"}
                content = f"x = {number}\n" * shown
        steps.append(
            {
                "step_id": number,
                "timestamp": (STARTED + timedelta(seconds=number)).isoformat(),
                "source": "agent",
                "message": f"Step {number}",
                "tool_calls": [
                    {"tool_call_id": call, "function_name": name, "arguments": arguments}
                ],
                "observation": {"results": [{"source_call_id": call, "content": content}]},
            }
        )
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": match,
        "agent": {"name": "Heron", "version": "1"},
        "steps": steps,
    }


def diff(match: str, lines: int) -> str:
    added = "".join(f"+x = {number}\n" for number in range(lines - 1)) + f"+# {match}\n"
    return f"diff --git a/src/m0.py b/src/m0.py\n--- a/src/m0.py\n+++ b/src/m0.py\n@@ -0,0 +1,{lines} @@\n{added}"


def verdicts(match: str, scores: tuple[int, int, int]) -> dict[str, Any]:
    return {
        "schema": "bouts.verdicts/1",
        "verdicts": [
            {
                "judge": "strategy",
                "seat": seat,
                "score": score,
                "rationale": f"A sound order of work in {match}.",
            }
            for seat, score in zip(("anthropic", "openai", "google"), scores, strict=True)
        ],
    }
