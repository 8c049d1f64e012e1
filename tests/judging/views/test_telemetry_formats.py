"""A match with the recording of each harness: judged, drawn, and followed to the record."""

from __future__ import annotations

import re
from collections.abc import Callable
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
FORMATS = {
    "swe-agent.traj": ("swe-agent", NO_CLOCK),
    "mini-bare.traj.json": ("mini-swe-agent", NO_CLOCK),
    "mini-2.traj.json": ("mini-swe-agent", NOTHING_TO_SAY),
    "openhands.json": ("openhands", NOTHING_TO_SAY),
    "openhands-sdk.jsonl": ("openhands-sdk", NOTHING_TO_SAY),
    "gemini-cli.jsonl": ("gemini-cli", NOTHING_TO_SAY),
}
TESTS = [
    {"id": f"test_calc::{name}", "suite": "static", "fails_at_start": fails}
    for name, fails in (("test_add", True), ("test_sub", False))
]
RESULTS = (
    '<testsuite><testcase classname="test_calc" name="test_add"/>'
    '<testcase classname="test_calc" name="test_sub"/></testsuite>'
)
DIFF = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


def judged(folder: Path, name: str) -> Bundle:
    content = (FIXTURES / name).read_bytes()
    return plain(
        folder,
        challenge={"tests": TESTS},
        static=[RESULTS],
        diff=DIFF,
        files={name: ("telemetry", content)},
    )


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMATS)
def test_the_recording_of_a_harness_is_judged_and_shown(
    name: str, tmp_path: Path, competitor: User, client_of: ClientOf
) -> None:
    format, reasons = FORMATS[name]
    bundle = judged(tmp_path, name)
    artifact = Artifact.objects.get(bundle=bundle, path=name)
    assert (artifact.format, artifact.state) == (format, "read")

    judges = Scorecard.objects.get(match=bundle.match, is_live=True).breakdown["judges"]
    metrics = judges["process"]["metrics"] | judges["recovery"]["metrics"]
    told = {key: metric["reason"] for key, metric in metrics.items() if metric["score"] is None}
    assert told == reasons
    assert judges["recovery"]["raw"] is not None
    assert (judges["process"]["raw"] is None) is (reasons is NO_CLOCK)

    client = client_of(competitor)
    timeline = tab(client, "timeline")
    assert timeline.count("<tr id=") == artifact.counts["events"]
    assert "3 test runs, from 1 of 2 to 2 of 2 passing" in timeline
    assert ("the record has no clock" in timeline) is (reasons is NO_CLOCK)

    (seq, *_) = re.findall(r'<tr id="e-(\d+)"[^>]*>(?:(?!</tr>).)*pytest', timeline, re.DOTALL)
    event = client.get(at(bundle, name, f"event:{seq}")).content.decode()
    (record,) = re.findall(r'href="([^"]*at=json[^"]*)"', event)
    assert "python -m pytest -q" in said(client, unescape(record))
