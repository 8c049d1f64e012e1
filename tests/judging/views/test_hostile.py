"""Whatever strangers write is text on every page: nothing runs, nothing hides, nothing fetches."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import pytest
from django.test import Client

from bouts.models import Bundle, User
from tests.judging.views.making import TESTS, anchor, rich, sarif, scanned, step, trajectory
from tests.judging.views.test_leaks import PAGES, TABS, Crawl, typed
from tests.matches import found

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><iframe src=javascript:alert(1)>',
    "'-alert(1)-'",
    "{{ 7|add:7 }}{% debug %}",
    "javascript:alert(1)",
    "</pre></td></table><form action=http://evil.example>",
    "<style>*{display:none}</style>",
    "<a href=http://evil.example/>x</a>",
)
ALL = " ".join(PAYLOADS)
INVISIBLE = "\u202eevil\u2066\u200b\ufeff\U000e0041"
ANSI = "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x1b[2J \x07 \x9b31m"
NAME = "Heron <img src=x onerror=alert(1)>"
FILE = "logs/<svg onload=alert(1)>.log"


@pytest.fixture
def hostile(db: None, tmp_path: Path) -> Bundle:
    return store_hostile(tmp_path)


def store_hostile(folder: Path) -> Bundle:
    """Judge a match that tries it in every name and text there is."""
    test_id = f"test_twice {ALL}"
    tests = [
        *TESTS,
        {
            "id": f"tests.test_a::{test_id}",
            "suite": "static",
            "requirement": ALL,
            "category": "<b>c</b>",
        },
    ]
    results = (
        "<testsuite><testcase classname='tests.test_a' name='test_once'/>"
        f"<testcase classname='tests.test_a' name={quoteattr(test_id)}>"
        f"<failure message={quoteattr(ALL + INVISIBLE)}>{escape(ALL)}</failure>"
        f"<system-out>{escape(ALL)}</system-out></testcase></testsuite>"
    )
    diff = (
        f"--- a/refunds/{PAYLOADS[1].replace('/', '')}.py\n+++ b/refunds/{PAYLOADS[1].replace('/', '')}.py\n"
        f"@@ -1 +1,2 @@ {ALL}\n-x = 1\n+x = '{ALL}{INVISIBLE}'\n+y = \x1b[31m2\n"
    )
    note = f"# {ALL}\n\n{ALL}{INVISIBLE}\n\n![i](http://evil.example/i.png) [l](javascript:alert(1)) <http://evil.example>\n"
    steps = [
        step(1, ALL + INVISIBLE, "ls", ALL),
        step(2, "x", f"python -m pytest tests # {ALL}", f"{ALL}\n1 failed in 1s"),
    ]
    sandbox = f'11 1796042165.1 openat(AT_FDCWD, "/work/{PAYLOADS[1]}", O_RDONLY) = 3\n'
    return rich(
        folder,
        agent={"name": NAME, "version": "<b>2</b>", "base_model": "<i>q</i>", "scaffold": "<u>s</u>"},
        bout="<em>Autumn</em>",
        challenge={"tests": tests, "title": "Refunds <script>alert(1)</script>", "briefing": note, "family": "<b>f</b>"},
        static=[results],
        diff=diff,
        verdicts=[
            {"judge": "strategy", "seat": "openai", "model": "<b>m</b>", "score": 60, "rationale": ALL + INVISIBLE,
             "evidence": [anchor("NOTES.md", "line:1")]},
            {"judge": "strategy", "seat": "google", "state": "refused", "reason": ALL},
            {"judge": "process", "score": 50, "rationale": ALL + ANSI},
        ],
        findings=[found("acknowledged_uncertainty", "NOTES.md", "line:1", note=ALL + INVISIBLE)],
        claims=[{"statement": ALL + INVISIBLE, "confidence": 0.5, "about": ALL}],
        files={
            "telemetry.json": ("telemetry", trajectory(steps)),
            "sandbox.log": ("sandbox", sandbox),
            "scan.sarif": ("scan", sarif(scanned(ALL + INVISIBLE, PAYLOADS[1]))),
            "build.log": ("log", f"{ALL}{INVISIBLE}\n{ANSI}\n"),
            "NOTES.md": ("deliverable", note),
        },
    )  # fmt: skip


class Inspector(HTMLParser):
    """Collects what a page could do that ours never does."""

    FORBIDDEN = {"iframe", "object", "embed", "img", "base", "style", "audio", "video"}

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        is_data = values.get("type") == "application/json" and "src" not in values
        is_ours = values.get("src", "").startswith("/static/")
        if tag in self.FORBIDDEN or (tag == "script" and not is_data and not is_ours):
            self.faults.append(f"<{tag}>")
        self.faults += [
            f"{tag} {name}" for name in values if name.startswith("on") or name == "style"
        ]
        for name in ("href", "src", "action", "hx-get"):
            address = values.get(name, "")
            if address and not address.startswith(("/", "?", "#")):
                self.faults.append(f"{tag} {name}={address}")


class Inspection(Crawl):
    def read(self, address: str) -> str:
        body = super().read(address)
        if body.startswith("<!doctype html>"):
            inspector = Inspector()
            inspector.feed(body)
            self.leaks += [f"{fault} at {address}" for fault in inspector.faults]
            self.leaks += [
                f"{char!r} at {address}"
                for char in INVISIBLE
                if not char.isascii() and char in body
            ]
            self.leaks += [f"{char!r} at {address}" for char in "\x1b\x07\x9b" if char in body]
            assert "1414" not in body and "{{ 14" not in body, address
        return body


@pytest.mark.parametrize("person", ["competitor", "rival", "operator"])
def test_no_page_lets_through_what_was_uploaded(
    hostile: Bundle,
    person: str,
    request: pytest.FixtureRequest,
    client_of: Callable[[User], Client],
) -> None:
    client = client_of(request.getfixturevalue(person))
    inspection = Inspection(client, words=(), with_parts=False)
    inspection.over([*(page for page in PAGES if "/api/" not in page), *typed([hostile])])
    assert inspection.leaks == []
    assert len(inspection.seen) > 50


def test_what_was_uploaded_is_there_to_be_read(
    hostile: Bundle, competitor: User, client_of: Callable[[User], Client]
) -> None:
    """A sanitiser that takes tags away would hide what a reviewer has to see."""
    client = client_of(competitor)
    card = client.get("/matches/m-1/").content.decode()
    for payload in PAYLOADS[:3]:
        assert payload.replace("<", "&lt;").replace(">", "&gt;") in card
    assert "Heron &lt;img src=x onerror=alert(1)&gt;" in card
    assert "[U+202E]evil[U+2066][U+200B][U+FEFF][U+E0041]" in card
    for tab in TABS:
        body = client.get(f"/matches/m-1/evidence/{tab}/").content.decode()
        assert "&lt;img src=x onerror=alert(1)&gt;" in body, tab


def test_a_terminals_colours_are_classes(
    hostile: Bundle, competitor: User, client_of: Callable[[User], Client]
) -> None:
    digest = hostile.artifacts.get(path="build.log").blob_id
    body = client_of(competitor).get(f"/matches/m-1/evidence/{digest}/").content.decode()
    assert '<span class="ansi-red">red</span>' in body
    assert "link" in body and "evil.example\x07" not in body


def test_a_name_in_an_address_stays_in_it(
    hostile: Bundle, competitor: User, client_of: Callable[[User], Client]
) -> None:
    client = client_of(competitor)
    found = client.get(f"/matches/?agent={quote(NAME)}").content.decode()
    assert 'href="/matches/m-1/"' in found
