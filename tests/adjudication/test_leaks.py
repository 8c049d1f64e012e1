"""A blind reviewer crawls all that there is to see of a case, and finds nothing to be primed by."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from django.test import Client

from adjudication import actions
from adjudication.models import Case, Claim
from bouts.formats.types import Event, EventKind
from bouts.models import User
from judging.actions import rule_strategy
from tests.adjudication.conftest import lapse
from tests.adjudication.making import AGREEING, EVENTS, GOOD_LEVELS, case_of, finding, make_match
from tests.adjudication.making import DIFF as PLAIN_DIFF
from tests.pages import without_tokens

# Whatever tells who fought, who judged and how much was given.
NAMES = ("heron", "northbank", "quill", "trellis", "secret-slug", "quokka")
SEATS = ("anthropic", "openai", "google", "claude", "gpt", "gemini")
FIGURES = ("93.17", "58.31", "75.43", "75.64", "65.64", "34.86")
HIDDEN = ("vault", "quarrel")

RATIONALES = {
    "anthropic": "Heron of Northbank reminds me, Claude, of quill-4-large in secret-slug-1.",
    "openai": "As GPT-4o I note that test_quarrel would fail for the trellis scaffold.",
    "google": "gemini-2.5-pro finds the plan sound; see hidden.test_vault::test_quarrel.",
}
TELLING = [
    *EVENTS[:-1],
    Event(9, EventKind.PLAN, t=201.0, text="I am Heron by Northbank on quill-4-large"),
    Event(10, EventKind.PLAN, t=202.0, text="test_quarrel must not fail"),
    Event(
        11,
        EventKind.TEST,
        t=203.0,
        signature="pytest",
        command="pytest heron/ northbank/",
        results={"hidden.test_vault::test_quarrel": False, "heron": False},
    ),
    Event(12, EventKind.SUBMIT, t=210.0),
]
DIFF = (
    PLAIN_DIFF
    + b"""--- a/heron/a.py
+++ b/heron/a.py
@@ -1,1 +1,2 @@ def northbank():
-old
+# by Heron, Northbank, on quill-4-large with trellis
+assert test_quarrel and "claude"
"""
)


@pytest.fixture
def case(db: None) -> Case:
    match = make_match(
        "secret-slug-1",
        votes={"anthropic": 93.17, "openai": 58.31, "google": 75.43},
        rationales=RATIONALES,
        events=TELLING,
        files={
            "final.diff": DIFF,
            "NOTES.md": b"By Heron (Northbank), on quill-4-large.\nAvoids test_quarrel.\n",
        },
    )
    case = case_of(match)
    total = str(match.scorecards.get().total)
    assert len(total) >= 5
    case.total = total
    return case


def crawl(client: Client, case: Case, choices: int) -> Iterator[tuple[str, str]]:
    """Yield the address and the text of everything that leads on from the queue and the case.

    Of the queue, under so many ``choices`` at once: further ones show fewer of the same rows.
    """
    start = ["/queue/", case.get_absolute_url(), "/api/cases/"]
    start += ["/api/cases/counts/", f"/api/cases/{case.pk}/"]
    start += [
        f"{case.get_absolute_url()}?tab={tab}"
        for tab in ("path", "diff", "runs", "writing", "sent")
    ]
    seen: set[str] = set()
    while start:
        address = start.pop()
        if address in seen:
            continue
        seen.add(address)
        for headers in ({}, {"HX-Request": "true"}):
            response = client.get(address, headers=headers)
            assert response.status_code == 200, address
            body = b"".join(response).decode()
            yield address, html.unescape(without_tokens(body) + str(response.headers)).lower()
        links = [
            urljoin(address, html.unescape(link).partition("#")[0])
            for link in re.findall(r'(?:href|hx-get)="([^"]+)"', body)
        ]
        start += [
            link
            for link in links
            if link.startswith(("/queue/", case.get_absolute_url()))
            and len(parse_qsl(urlsplit(link).query, keep_blank_values=True)) <= choices
        ]


def betrayals(client: Client, case: Case, *words: str, choices: int = 1) -> set[tuple[str, str]]:
    return {
        (address, word)
        for address, told in crawl(client, case, choices)
        for word in words
        if word in told and re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", told)
    }


ALL = 100
EVERYTHING = (*NAMES, *SEATS, *FIGURES, *HIDDEN)


def test_the_crawl_would_find_what_it_looks_for(case: Case, operator: User, client_of) -> None:
    found = {word for _, word in betrayals(client_of(operator), case, *EVERYTHING, case.total)}
    assert {"heron", "northbank", "claude", "93.17", "58.31", "75.43", case.total} <= found


def test_whoever_only_looks_learns_nothing(case: Case, reviewer: User, client_of) -> None:
    assert not betrayals(client_of(reviewer), case, *EVERYTHING, case.total)


def test_whoever_holds_the_case_learns_nothing_before_committing(
    case: Case, reviewer: User, client_of
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    client = client_of(reviewer)
    assert not betrayals(client, case, *EVERYTHING, case.total, choices=ALL)
    refused = client.post(f"/cases/{case.pk}/commit/", {"reason": "x"})
    early = client.post(
        f"/cases/{case.pk}/rule/",
        {"version": case.version, "ruling": "average", "public_reason": "x"},
    )
    preview = client.post(f"/cases/{case.pk}/preview/", {"version": 1, "ruling": "average"})
    for response in (refused, early, preview):
        told = html.unescape(without_tokens(response.content.decode())).lower()
        assert not [word for word in (*EVERYTHING, case.total) if word in told], response
    lapse(Claim.objects.get())
    assert not betrayals(client, case, *EVERYTHING, case.total)


def test_whoever_finds_it_held_learns_nothing(
    case: Case, reviewer: User, second: User, client_of
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    actions.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="So.")
    assert not betrayals(client_of(second), case, *EVERYTHING, case.total)


def test_a_lead_sees_the_spread_and_nothing_else(case: Case, lead: User, client_of) -> None:
    assert not betrayals(client_of(lead), case, *NAMES, *SEATS, *FIGURES[:5], case.total)


def test_no_tag_and_no_cause_tells_a_rival_that_a_case_is_open(
    competitor: User, rival: User, reviewer: User, client_of
) -> None:
    """An answer of 304 tells that nothing has changed, and one of 200 that something has."""
    match = make_match("m-1", votes=AGREEING)
    addresses = (match.get_absolute_url(), "/api/matches/m-1/breakdown/")
    clients = {user: client_of(user) for user in (competitor, rival)}
    before = {
        (user, address): client.get(address)["ETag"]
        for user, client in clients.items()
        for address in addresses
    }
    place = {"artifact": "final.diff", "place": "diff:refunds/store.py:2"}
    asked = actions.ask_for_review(
        match.pk, by=competitor, finding_key="", text="See.", evidence=[place], revision=1
    )
    after = {
        (user, address): clients[user].get(address, headers={"If-None-Match": tag}).status_code
        for (user, address), tag in before.items()
    }
    assert {status for (user, _), status in after.items() if user == rival} == {304}
    assert {status for (user, _), status in after.items() if user == competitor} == {200}
    # Before a blind reviewer the match stands as it always stood.
    blind = client_of(reviewer).get(addresses[1])
    assert "ETag" not in blind.headers
    assert blind.json().keys() == {"challenge_version", "withheld"}
    rule_strategy(
        asked.case.bundle, None, by=reviewer, reason="So.", cause=f"ruling on {asked.case}"
    )
    causes = {
        user: client.get("/api/matches/m-1/revisions/").json()["results"][0]["cause"]
        for user, client in clients.items()
    }
    assert causes == {competitor: f"ruling on {asked.case}", rival: "ruling"}


def test_a_finding_shows_its_evidence_and_nobodys_name(reviewer: User, client_of) -> None:
    match = make_match(
        "secret-slug-2",
        votes={"anthropic": 70, "openai": 71, "google": 72},
        findings=[finding("test_suite_access", note="Heron (Northbank) read test_quarrel.")],
        files={"final.diff": DIFF},
    )
    case = case_of(match, "integrity_review")
    client = client_of(reviewer)
    assert not betrayals(client, case, *NAMES, *SEATS)
    assert "test_quarrel" in client.get(case.get_absolute_url()).content.decode()
