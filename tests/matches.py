"""Real bundles for tests: a folder of files as a grader would write them, uploaded and judged."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from bouts.actions import uploads
from bouts.models import Bundle
from judging import steps
from tests.factories import make_team

CANARY = "test_zanzibar"

CHALLENGE: dict[str, Any] = {
    "schema": "bouts.challenge/1",
    "slug": "refunds",
    "title": "Retry-safe refunds",
    "briefing": "Refund once, whatever is retried.",
    "tests": [
        {"id": "tests.test_a::test_once", "suite": "static", "severity": "critical", "path": "tests/test_a.py"},
        {"id": "tests.test_a::test_twice", "suite": "static", "severity": "medium", "path": "tests/test_a.py"},
        {"id": f"hidden.t::{CANARY}_key", "suite": "hidden", "severity": "critical", "path": "hidden/t.py"},
        {"id": f"hidden.t::{CANARY}_lock", "suite": "hidden", "severity": "high", "path": "hidden/t.py"},
    ],
    "forbidden_paths": ["hidden/*"],
    "allowed_hosts": ["packages.example"],
}  # fmt: skip
STATIC = {"tests.test_a::test_once": True, "tests.test_a::test_twice": True}
HIDDEN = {f"hidden.t::{CANARY}_key": True, f"hidden.t::{CANARY}_lock": True}
DIFF = """\
diff --git a/refunds.py b/refunds.py
--- a/refunds.py
+++ b/refunds.py
@@ -1,2 +1,2 @@
-old = 1
+new = 1
 same = 2
"""


def junit(results: Mapping[str, bool | str]) -> str:
    """Write results as JUnit XML: True passes, False fails, "skip" is skipped."""
    cases = []
    for test_id, result in results.items():
        classname, _, name = test_id.rpartition("::")
        inner = {
            True: "",
            False: '<failure message="expected one refund, got two">trace</failure>',
            "skip": "<skipped/>",
        }[result]
        cases.append(
            f"<testcase classname={quoteattr(classname)} name={quoteattr(name)}>{inner}</testcase>"
        )
    return f"<testsuite>{''.join(cases)}</testsuite>"


def panel(*scores: float | None) -> list[dict[str, Any]]:
    """Return verdicts of the three seats; a seat without a score refused."""
    answers: list[dict[str, Any]] = []
    for seat, score in zip(("anthropic", "openai", "google"), scores, strict=True):
        answer = {"judge": "strategy", "seat": seat, "model": f"sample-{seat}"}
        if score is None:
            answers.append({**answer, "state": "refused", "reason": "the model declined"})
        else:
            answers.append({**answer, "score": score, "rationale": f"Seat {seat} thinks."})
    return answers


def found(trigger: str, artifact: str, place: str, **more: Any) -> dict[str, Any]:
    """Return an integrity finding as a verdicts file has it."""
    return {"trigger": trigger, "evidence": [{"artifact": artifact, "place": place}], **more}


def write_bundle(
    folder: Path,
    *,
    match: str = "m-1",
    agent: Mapping[str, str] | None = None,
    static: Sequence[Mapping[str, bool | str] | str] = (STATIC,),
    hidden: Sequence[Mapping[str, bool | str] | str] = (HIDDEN,),
    verdicts: Sequence[Mapping[str, Any]] | None = None,
    findings: Sequence[Mapping[str, Any]] = (),
    claims: Sequence[Mapping[str, Any]] = (),
    files: Mapping[str, tuple[str, str | bytes]] | None = None,
    diff: str = DIFF,
    hidden_log: str = "",
    **manifest: Any,
) -> Path:
    """Write a bundle's folder. ``files`` maps further paths to (kind, content)."""
    folder.mkdir(parents=True, exist_ok=True)
    artifacts: list[dict[str, Any]] = []

    def add(path: str, content: str | bytes, **entry: Any) -> None:
        data = content if isinstance(content, bytes) else content.encode()
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        artifacts.append({"path": path, **entry})

    for suite, runs in (("static", static), ("hidden", hidden)):
        for number, results in enumerate(runs, start=1):
            text = results if isinstance(results, str) else junit(results)
            log = f"{suite}-{number}.log"
            (folder / log).write_text(
                f"run {number} of {suite}\n{hidden_log if suite == 'hidden' else ''}"
            )
            add(f"{suite}-{number}.xml", text, kind="tests", suite=suite, run=number, log=log)
    add("final.diff", diff, kind="diff")
    for path, (kind, content) in (files or {}).items():
        add(path, content, kind=kind)
    answers = list(panel(70, 75, 80) if verdicts is None else verdicts)
    if findings:
        answers.append({"judge": "integrity", "findings": list(findings)})
    if answers:
        document = {"schema": "bouts.verdicts/1", "verdicts": answers}
        add("verdicts.json", json.dumps(document), kind="verdicts")
    if claims:
        add("claims.json", json.dumps({"claims": list(claims)}), kind="claims")
    document = {
        "schema": "bouts.match/1",
        "match": match,
        "challenge": "refunds",
        "agent": {
            "team": "northbank", "name": "Heron", "version": "2.3", "base_model": "quill-4",
            **(agent or {}),
        },
        "started_at": "2026-03-12T14:00:00Z",
        "finished_at": "2026-03-12T14:40:00Z",
        "build": {"ok": True},
        "artifacts": artifacts,
        **manifest,
    }  # fmt: skip
    (folder / "match.json").write_text(json.dumps(document))
    return folder


def challenge(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(CHALLENGE), **changes}


def store_challenge(folder: Path, **changes: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "challenge.json"
    path.write_text(json.dumps(challenge(**changes)))
    uploads.upload(path, name=path.name, by=None)


def store(folder: Path, **options: Any) -> Bundle:
    """Upload a bundle, its challenge and team first; do not judge it."""
    make_team((options.get("agent") or {}).get("team", "northbank"))
    store_challenge(folder / "challenge", **options.pop("challenge", {}))
    outcome = uploads.upload(write_bundle(folder / "bundle", **options), name="bundle", by=None)
    assert outcome.bundle is not None
    return outcome.bundle


def judge(folder: Path, **options: Any) -> Bundle:
    """Upload a bundle and do all the work that follows from it, here and now."""
    bundle = store(folder, **options)
    steps.run_steps(bundle)
    return bundle
