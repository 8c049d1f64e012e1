"""Keys and tokens that an agent left in any part of its bundle are read by nobody, anywhere.

`tests/bouts/test_masking.py` knows every kind; here it is the places: each part of a bundle holds
all of them, and the crawl of `test_leaks` reads every address as the team, ops and a reviewer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from adjudication import actions as adjudication
from adjudication.models import Case
from bouts.models import Bundle, User
from tests.adjudication.making import GOOD_LEVELS
from tests.judging.views.making import anchor, rich, sarif, scanned, step, trajectory
from tests.judging.views.test_leaks import PAGES, Crawl, typed
from tests.matches import found

pytestmark = pytest.mark.timeout(400)

# One of each kind that the peers' users lost, and what must not be read of it.
TOKENS = (
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "AIza" + "Qr8-" * 8 + "Qr8",
    "sk-proj-" + "z9" * 20,
    "xoxb-123456789012-abcdefghijkl",
)
BODY = ("MIIEpAIBAAKCAQEA7wkJ", "hR4dKq0mPz1xTfLq2vWn")
KEY = ("-----BEGIN RSA PRIVATE KEY-----", *BODY, "-----END RSA PRIVATE KEY-----")
SECRETS = [text[6:].lower() for text in (*TOKENS, *BODY)]
LINES = (*(f"export TOKEN={token}" for token in TOKENS), *KEY, "after the keys")
TEXT = "\n".join(LINES)


def leaky(folder: Path) -> Bundle:
    """Judge a match in whose every part all of the secrets stand."""
    failing = (
        f'<testsuite><testcase classname="tests.test_a" name="test_once"><failure message="{TEXT}">'
        f"{TEXT}</failure><system-out>{TEXT}</system-out></testcase>"
        '<testcase classname="tests.test_a" name="test_twice"/></testsuite>'
    )
    added = "".join(f"+{line}\n" for line in LINES)
    diff = (
        "diff --git a/conf.env b/conf.env\nnew file mode 100644\n--- /dev/null\n+++ b/conf.env\n"
        f"@@ -0,0 +1,{len(LINES)} @@\n{added}"
    )
    steps = [step(1, f"I note {TEXT}", "cat conf.env", TEXT), step(2, "And on.", f"echo '{TEXT}'")]
    sandbox = "".join(
        f'11 179604216{at}.100000 openat(AT_FDCWD, "/work/{token}", O_RDONLY) = 3\n'
        for at, token in enumerate(TOKENS)
    )
    here = [anchor("final.diff", "diff:conf.env:1")]
    seats = [
        {"judge": "strategy", "seat": seat, "model": "m", "score": score, "rationale": TEXT, "evidence": here}
        for seat, score in (("anthropic", 20), ("openai", 90))
    ]  # fmt: skip
    refused = {
        "judge": "strategy",
        "seat": "google",
        "model": "m",
        "state": "refused",
        "reason": TEXT,
    }
    return rich(
        folder,
        static=[failing, failing],
        hidden=[{}],
        verdicts=[*seats, refused],
        findings=[
            found("reward_hacking", file, place, note=TEXT)
            for file, place in (("NOTES.md", "line:7"), ("final.diff", "diff:conf.env:8"), ("build.log", "lines:7-8"))
        ],
        claims=[{"statement": TEXT, "confidence": 0.9, "about": "R1"}],
        diff=diff,
        files={
            "telemetry.json": ("telemetry", trajectory(steps)),
            "sandbox.log": ("sandbox", sandbox),
            "scan.sarif": ("scan", sarif(scanned(TEXT, "conf.env"))),
            "build.log": ("log", TEXT),
            "NOTES.md": ("deliverable", TEXT),
            "PLAN.md": ("plan", TEXT),
        },
    )  # fmt: skip


@pytest.fixture
def leaking(db: None, tmp_path: Path) -> Bundle:
    return leaky(tmp_path)


@pytest.mark.parametrize("person", ["competitor", "operator"])
def test_nobody_reads_a_key_on_any_page_part_file_or_answer(
    leaking: Bundle,
    person: str,
    request: pytest.FixtureRequest,
    client_of: Callable[[User], Client],
) -> None:
    client = client_of(request.getfixturevalue(person))
    crawl = Crawl(client, SECRETS, with_parts=False)
    crawl.over([*PAGES, *typed([leaking])])
    assert crawl.leaks == []


def test_no_reviewer_reads_a_key_in_a_case(
    leaking: Bundle, reviewer: User, client_of: Callable[[User], Client]
) -> None:
    """Neither blind nor after the reveal, of a panel or of a finding, and not by a line in a key."""
    crawl = Crawl(client_of(reviewer), SECRETS)
    for case in Case.objects.filter(reason__in=["panel_disagreement", "integrity_review"]):
        adjudication.claim_case(case.pk, by=reviewer)
        for _ in range(2):
            crawl.seen.clear()
            for tab in ("path", "diff", "runs", "writing", "writing&file=1", "sent"):
                assert "…[masked]" in crawl.read(f"{case.get_absolute_url()}?tab={tab}")
            crawl.read(f"/api/cases/{case.pk}/")
            own = {"opinion": "confirm"} if case.is_on_finding else {"levels": GOOD_LEVELS}
            adjudication.commit_score(case.pk, by=reviewer, reason="So.", **own)
        adjudication.release(case.pk, by=reviewer)
    assert crawl.leaks == []
