"""A match with the recording of each harness: judged, drawn, and followed to the record."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Artifact, Bundle, User
from judging.models import Scorecard
from tests.bouts.formats.reading import FIXTURES
from tests.judging.views.making import plain
from tests.judging.views.test_evidence_detail import at, said
from tests.judging.views.test_evidence_tabs import tab

ClientOf = Callable[[User], Client]

# What is n/a in each format, and why; all else of Process and Recovery has a value.
NOTHING_TO_SAY = {"pivot_latency_s": "no_contradictions", "reversion_ratio": "too_few"}
TIMED = ("dwell_ratio", "first_fix_ratio", "recovery_speed_s", "thrash_per_min")
NO_CLOCK = {**NOTHING_TO_SAY, **dict.fromkeys(TIMED, "no_clock")}
NO_ERRORS = {"recovery_speed_s": "no_errors", "scope_expansion": "no_errors"}


@dataclass(frozen=True)
class Work:
    """What harnesses recorded: a piece of work, whose tests the challenge knows."""

    tests: dict[str, bool]  # name -> fails at the start
    runs: str
    command: str


MENDING = Work(
    {"test_add": True, "test_sub": False},
    "3 test runs, from 1 of 2 to 2 of 2 passing",
    "python -m pytest -q",
)
# There is nothing at the start, so that the test that fails at first is no error.
WRITING = Work(
    {"test_zero": True, "test_sum": True},
    "2 test runs, from 1 of 2 to 2 of 2 passing",
    "python -m pytest -v",
)
WROTE = {**NOTHING_TO_SAY, **NO_ERRORS}
WROTE_WITHOUT_CLOCK = {**NO_CLOCK, **NO_ERRORS}
FORMATS = {
    "swe-agent.traj": ("swe-agent", MENDING, NO_CLOCK),
    "mini-bare.traj.json": ("mini-swe-agent", MENDING, NO_CLOCK),
    "mini-2.traj.json": ("mini-swe-agent", MENDING, NOTHING_TO_SAY),
    "openhands.json": ("openhands", MENDING, NOTHING_TO_SAY),
    "openhands-sdk.jsonl": ("openhands-sdk", MENDING, NOTHING_TO_SAY),
    "gemini-cli.jsonl": ("gemini-cli", MENDING, NOTHING_TO_SAY),
    "claude-code.jsonl": ("claude-code", WRITING, WROTE),
    "claude-stream.jsonl": ("claude-stream", WRITING, WROTE_WITHOUT_CLOCK),
    "codex-rollout.jsonl": ("codex-rollout", WRITING, WROTE),
    "codex-exec.jsonl": ("codex-exec", WRITING, WROTE_WITHOUT_CLOCK),
    # A tool that does not exist was called, which nothing made good.
    "inspect.eval": ("inspect-eval", WRITING, NOTHING_TO_SAY),
    "inspect.json": ("inspect-json", WRITING, NOTHING_TO_SAY),
    "genai.otlp.json": ("otel-genai", WRITING, WROTE),
    "genai-before.otlp.jsonl": ("otel-genai", WRITING, WROTE),
    "openinference.jsonl": ("openinference", WRITING, WROTE),
}
DIFF = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


def judged(folder: Path, name: str, work: Work) -> Bundle:
    tests = [
        {"id": f"test_calc::{test}", "suite": "static", "fails_at_start": fails}
        for test, fails in work.tests.items()
    ]
    cases = "".join(f'<testcase classname="test_calc" name="{test}"/>' for test in work.tests)
    return plain(
        folder,
        challenge={"tests": tests},
        static=[f"<testsuite>{cases}</testsuite>"],
        diff=DIFF,
        files={name: ("telemetry", (FIXTURES / name).read_bytes())},
    )


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMATS)
def test_the_recording_of_a_harness_is_judged_and_shown(
    name: str, tmp_path: Path, competitor: User, client_of: ClientOf
) -> None:
    format, work, reasons = FORMATS[name]
    has_clock = "no_clock" not in reasons.values()
    bundle = judged(tmp_path, name, work)
    artifact = Artifact.objects.get(bundle=bundle, path=name)
    assert (artifact.format, artifact.state) == (format, "read")

    judges = Scorecard.objects.get(match=bundle.match, is_live=True).breakdown["judges"]
    metrics = judges["process"]["metrics"] | judges["recovery"]["metrics"]
    told = {key: metric["reason"] for key, metric in metrics.items() if metric["score"] is None}
    assert told == reasons
    for judge in (judges["process"], judges["recovery"]):  # without a model two metrics are it
        defined = sum(metric["score"] is not None for metric in judge["metrics"].values())
        assert (judge["raw"] is None) is (defined < 2)

    client = client_of(competitor)
    timeline = tab(client, "timeline")
    assert timeline.count("<tr id=") == artifact.counts["events"]
    assert work.runs in timeline
    assert ("the record has no clock" in timeline) is not has_clock

    (seq, *_) = re.findall(r'<tr id="e-(\d+)"[^>]*>(?:(?!</tr>).)*pytest', timeline, re.DOTALL)
    event = client.get(at(bundle, name, f"event:{seq}")).content.decode()
    (record,) = re.findall(r'href="([^"]*at=json[^"]*)"', event)
    assert work.command in said(client, unescape(record))
