"""Matches that go through the real line: a bundle of files, stored, judged, with its cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from adjudication.models import Case
from bouts import chunks
from bouts.archives.limits import Limits
from bouts.bundles.ingest import store_bundle, store_challenge
from bouts.bundles.loading import load_bundle, load_challenge
from bouts.formats.types import Event, EventKind
from bouts.models import Blob, Bundle, Chunk, Match
from bouts.rules import CRITERIA, Judge
from judging.steps import run_steps
from tests.bouts.bundles.making import zipped
from tests.factories import make_team

DISAGREEING = {"anthropic": 92, "openai": 60, "google": 76}
CHAINED = {"anthropic": 60, "openai": 70, "google": 80}
AGREEING = {"anthropic": 70, "openai": 71, "google": 72}
MODELS = {
    "anthropic": "claude-sonnet-4-5-20250929",
    "openai": "gpt-4o-2024-11-20",
    "google": "gemini-2.5-pro",
}
GOOD_LEVELS = dict.fromkeys(CRITERIA[Judge.STRATEGY], 4)

DIFF = b"""--- a/refunds/store.py
+++ b/refunds/store.py
@@ -1,3 +1,4 @@
 def refund(key):
-    return pay(key)
+    with lock(key):
+        return pay(key)
 # end
--- /dev/null
+++ b/refunds/keys.py
@@ -0,0 +1 @@
+KEYS = {}
"""

EVENTS = (
    Event(1, EventKind.START, t=0.0),
    Event(2, EventKind.PLAN, t=8.0, text="Reproduce first, then find where the key is lost"),
    Event(3, EventKind.EDIT, t=60.0, path="refunds/store.py", before="a", after="b", call="c3"),
    Event(
        4,
        EventKind.TEST,
        t=90.0,
        signature="pytest",
        command="pytest -q",
        results={"tests.test_refunds::test_once": False},
        output="1 failed",
    ),
    Event(5, EventKind.EDIT, t=120.0, path="refunds/keys.py", before="x", after="y", call="c5"),
    Event(
        6,
        EventKind.TEST,
        t=150.0,
        signature="pytest",
        command="pytest -q",
        results={"tests.test_refunds::test_once": False},
        output="1 failed",
    ),
    Event(7, EventKind.EDIT, t=180.0, path="refunds/store.py", before="b", after="a", call="c7"),
    Event(
        8,
        EventKind.TEST,
        t=200.0,
        signature="pytest",
        command="pytest -q",
        results={"tests.test_refunds::test_once": True},
        output="1 passed",
    ),
    Event(9, EventKind.SUBMIT, t=210.0),
)


def make_challenge(
    slug: str = "retry-safe-refunds", *, stakes: str = "standard", **more: Any
) -> None:
    document = {
        "schema": "bouts.challenge/1",
        "slug": slug,
        "title": slug.replace("-", " ").capitalize(),
        "briefing": "Refund once, whatever is retried.",
        "stakes": stakes,
        "tests": [
            {"id": "tests.test_refunds::test_once", "suite": "static", "severity": "high"},
            {"id": "hidden.test_vault::test_quarrel", "suite": "hidden", "severity": "critical"},
        ],
        **more,
    }
    source = zipped({"challenge.json": json.dumps(document).encode()})
    with load_challenge(source, name="challenge.zip", limits=Limits()) as loaded:
        store_challenge(loaded, by=None)


def make_match(
    slug: str = "m-1",
    *,
    team: str = "northbank",
    agent: str = "Heron",
    votes: Mapping[str, float | None] = DISAGREEING,
    rationales: Mapping[str, str] = {},
    findings: Iterable[Mapping[str, Any]] = (),
    challenge: str = "retry-safe-refunds",
    stakes: str = "standard",
    static_passes: bool = True,
    hidden_passes: bool = True,
    events: Iterable[Event] = EVENTS,
    files: Mapping[str, bytes] = {},
) -> Match:
    """Upload a match and judge it; its cases are open when this returns.

    A vote of None is a seat that refused; no votes at all is no panel.
    """
    make_team(team)
    make_challenge(challenge, stakes=stakes)
    return upload(
        slug,
        team=team,
        agent=agent,
        votes=votes,
        rationales=rationales,
        findings=findings,
        challenge=challenge,
        static_passes=static_passes,
        hidden_passes=hidden_passes,
        events=events,
        files=files,
    ).match


def upload(
    slug: str = "m-1",
    *,
    team: str = "northbank",
    agent: str = "Heron",
    votes: Mapping[str, float | None] = DISAGREEING,
    rationales: Mapping[str, str] = {},
    findings: Iterable[Mapping[str, Any]] = (),
    challenge: str = "retry-safe-refunds",
    static_passes: bool = True,
    hidden_passes: bool = True,
    events: Iterable[Event] = EVENTS,
    files: Mapping[str, bytes] = {},
) -> Bundle:
    content = {
        "static.xml": junit("tests.test_refunds", "test_once", passes=static_passes),
        "hidden.xml": junit("hidden.test_vault", "test_quarrel", passes=hidden_passes),
        "final.diff": DIFF,
        "NOTES.md": b"# Notes\n\nThe lock is per key.\n",
        "verdicts.json": json.dumps(verdicts(votes, rationales, findings)).encode(),
        **files,
    }
    manifest = {
        "schema": "bouts.match/1",
        "match": slug,
        "challenge": challenge,
        "agent": {
            "team": team,
            "name": agent,
            "version": "2.3",
            "base_model": "quill-4-large",
            "scaffold": "trellis",
        },
        "started_at": "2026-03-12T14:00:00Z",
        "finished_at": "2026-03-12T14:40:00Z",
        "build": {"ok": True},
        "artifacts": [
            {"path": "static.xml", "kind": "tests", "suite": "static", "run": 1},
            {"path": "hidden.xml", "kind": "tests", "suite": "hidden", "run": 1},
            {"path": "final.diff", "kind": "diff"},
            {"path": "NOTES.md", "kind": "deliverable"},
            {"path": "verdicts.json", "kind": "verdicts"},
        ],
    }
    source = zipped({"match.json": json.dumps(manifest).encode(), **content})
    # One transaction, so that no worker begins before the timeline is there.
    with (
        load_bundle(source, name=f"{slug}.zip", limits=Limits()) as loaded,
        transaction.atomic(),
    ):
        bundle = store_bundle(loaded, by=None).bundle
        add_telemetry(bundle, events)
        run_steps(bundle)
    return bundle


def junit(classname: str, name: str, *, passes: bool = True) -> bytes:
    failure = "" if passes else '<failure message="quarrelled over the vault"/>'
    return (
        f'<testsuite name="s" tests="1"><testcase classname="{classname}" name="{name}">'
        f"{failure}</testcase></testsuite>"
    ).encode()


def verdicts(
    votes: Mapping[str, float | None],
    rationales: Mapping[str, str],
    findings: Iterable[Mapping[str, Any]],
) -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    for seat, score in votes.items():
        entry: dict[str, Any] = {
            "judge": "strategy",
            "seat": seat,
            "model": MODELS[seat],
            "rationale": rationales.get(seat, f"A sound order, says the {len(entries)}th."),
            "evidence": [{"artifact": "final.diff", "place": "diff:refunds/store.py:2"}],
        }
        entry |= {"state": "refused", "reason": "no"} if score is None else {"score": score}
        entries.append(entry)
    if findings := list(findings):
        entries.append({"judge": "integrity", "model": "sample", "findings": findings})
    return {"schema": "bouts.verdicts/1", "source": "sample", "verdicts": entries}


def finding(trigger: str = "output_spoofing", **more: Any) -> dict[str, Any]:
    return {
        "trigger": trigger,
        "note": "The answer is written into the file.",
        "evidence": [{"artifact": "final.diff", "place": "diff:refunds/keys.py:1"}],
        **more,
    }


def add_telemetry(bundle: Bundle, events: Iterable[Event]) -> None:
    """Give a bundle a timeline, as a reader of telemetry would have left it."""
    events = list(events)
    if not events:
        return
    blob, _ = Blob.objects.get_or_create(digest="e" * 64, defaults={"size": 1})
    artifact = bundle.artifacts.create(
        path="trajectory.json", kind="telemetry", blob=blob, state="read", clock="relative"
    )
    packer = chunks.Packer()
    for packed in [*map(packer.add, events), packer.close()]:
        if packed:
            Chunk.objects.create(
                artifact=artifact,
                first=packed.first,
                last=packed.last,
                count=packed.count,
                payload=packed.payload,
            )


def case_of(match: Match, reason: str = "panel_disagreement") -> Case:
    return Case.objects.exclude(state="void").get(match=match, reason=reason)


def copies_of(case: Case, count: int) -> list[Case]:
    """Make more cases like one: as many further questions about its match."""
    return Case.objects.bulk_create(
        Case(
            match=case.match,
            challenge=case.challenge,
            team=case.team,
            bundle=case.bundle,
            scorecard=case.scorecard,
            reason=case.reason,
            blocking=True,
            finding_key=f"copy-{number}",
            evidence_digest=f"copy-{number}",
            stakes=case.stakes,
            slots=case.slots,
        )
        for number in range(1, count + 1)
    )
