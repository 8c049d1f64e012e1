"""No competitor reads of a hidden test, on any page, part, download or answer of the API.

A crawl follows every link from the start pages, as a page and as a part; beside it stand
addresses that no link leads to, as somebody would type them who knows or guesses digests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urljoin

import pytest
from django.test import Client

from bouts.models import Artifact, Bundle, User
from judging.actions import decide_finding
from judging.models import Rejudging
from tests.factories import make_user
from tests.judging.rejudging.making import preview, propose
from tests.judging.views.making import CANARIES, KEY, TIMES, TIMES_TOGETHER, retire, rich
from tests.pages import without_tokens

# Every address of the site is read, twice over: that takes a loaded machine its time.
pytestmark = pytest.mark.timeout(400)

PAGES = (
    "/matches/",
    "/matches/?q=heron",
    "/matches/m-1/",
    "/matches/m-1/progress/",
    "/matches/m-1/revisions/1/",
    "/challenges/",
    "/challenges/refunds/",
    "/leaderboard/",
    "/leaderboard.csv",
    "/leaderboard/refunds.json",
    "/leaderboard/refunds/?window=365",
    "/matches.csv",
    "/matches.csv?rationales=1",
    "/matches.json?rationales=1",
    "/matches.json?q=heron",
    "/search/?q=heron",
    "/search/?q=m-",
    "/search/?q=test_zan",
    "/notices/",
    "/webhooks/",
    "/figures/",
    "/figures/decisions.csv",
    "/matches/m-1/review/",
    "/compare/?m=m-1&m=m-2",
    "/compare.csv?m=m-1&m=m-2",
    "/api/matches/",
    "/api/matches/m-1/",
    "/api/matches/m-1/breakdown/",
    "/api/matches/m-1/breakdown/?revision=1",
    "/api/matches/m-1/revisions/",
    "/api/challenges/",
    "/api/challenges/refunds/",
    "/rejudgings/",
    "/api/rejudgings/",
)
TABS = ("tests", "timeline", "diff", "logs", "deliverables", "sandbox", "scan", "files")
QUERIES = (
    "",
    "?page=2",
    "?revision=1",
    "?at=3",
    "?only=2&from=1",
    "?line=diff:notes/peek.py:1",
    "?kind=run",
    "?phase=1",
    "?show=refused",
    "?show=failing",
)
PLACES = (
    "",
    f"test:hidden/{KEY}",
    f"test:static/{KEY}",
    *(f"event:{seq}" for seq in (1, 3, 4)),
    *(f"line:{line}" for line in (1, 2)),
    "lines:1-200",
    *(f"diff:notes/peek.py:{line}" for line in (1, 2)),
    "json:/steps/2/observation/results/0/content",
    "json:/verdicts/1/rationale",
)
LINKS = re.compile(r'(?:href|hx-get|data-first|action)="([^"]+)"')
MOST = 3_000  # addresses
# What a page of ours leads to that is not about matches, would end the session, or shows the
# same board in another order. Of the lines of a file, each an address, the first nine are read;
# what is chosen from a tab is typed, once for each way of choosing.
ELSEWHERE = re.compile(
    r"/(static|sign-out|account|teams|people|audit|cases|queue|work|upload|conflicts)\b"
    r"|/api/(schema|docs)|/leaderboard/.*\?"
    r"|.*[?&](at=line(:|%3A)\d\d|kind=|phase=|window=|show=|line=|find=)"
)


def typed(bundles: Iterable[Bundle]) -> Iterator[str]:
    """Yield every address that could be typed: any file at any place, raw and in tabs."""
    for file in Artifact.objects.filter(bundle__in=bundles):
        address = f"/matches/m-1/evidence/{file.blob_id}/"
        yield f"{address}raw/"
        yield f"{address}?find=test"
        yield f"{address}?go=2"
        for place in PLACES if file.bundle.is_live else PLACES[:2]:
            yield f"{address}?{urlencode({'at': place})}" if place else address
    for tab in TABS:
        for query in QUERIES:
            yield f"/matches/m-1/evidence/{tab}/{query}"


class Crawl:
    """Follows links as one person and tells what it read there that it should not have."""

    def __init__(
        self, client: Client, words: Iterable[str] = CANARIES, *, with_parts: bool = True
    ) -> None:
        self.client = client
        self.with_parts = with_parts
        self.words = tuple(words)
        self.leaks: list[str] = []
        self.seen: dict[str, int] = {}

    def over(self, addresses: Iterable[str]) -> Crawl:
        waiting = list(addresses)
        typed = set(waiting)
        while waiting:
            address = waiting.pop()
            if address in self.seen or (address not in typed and ELSEWHERE.match(address)):
                continue
            assert len(self.seen) < MOST, "the crawl goes round in circles"
            body = self.read(address)
            waiting += [
                urljoin(address, unescape(link)).partition("#")[0] for link in LINKS.findall(body)
            ]
        return self

    def read(self, address: str) -> str:
        bodies = []
        for headers in ({}, {"HX-Request": "true"})[: 1 + self.with_parts]:
            answer = self.client.get(address, headers=headers)
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            body = content.decode(errors="replace")
            told = f"{body}\n{answer.headers}".lower()
            self.leaks += [f"{word} at {address} {headers}" for word in self.words if word in told]
            bodies.append(body)
            self.seen[address] = answer.status_code
            assert answer.status_code < 500, address
        return bodies[0]


@pytest.fixture
def bundles(db: None, tmp_path: Path) -> list[Bundle]:
    """A match with an old bundle and a live one, several revisions, and a quoting ruling."""
    old = rich(tmp_path / "old")
    lead = make_user("wilhelmina", User.Role.LEAD)
    key = old.findings.get(trigger="acknowledged_uncertainty").key
    decide_finding(old, key, status="dismissed", by=lead, reason="It means test_zanzibar_key.")
    new = rich(tmp_path / "new", hidden_log="kumquat-log once more, test_zanzibar_lock\n")
    assert new.number == 2
    previewed(tmp_path)
    return [old, new]


PREVIEWED = "heliotrope"  # a word of a rejudging that nobody has applied


def previewed(tmp_path: Path) -> None:
    """Preview a rejudging that would change the match, and apply it not."""
    rejudging = preview(
        propose(make_user("otto", User.Role.OPS), to_newest=True, match="m-1", reason=PREVIEWED)
    )
    assert rejudging.matches.get().candidate


def test_the_crawl_finds_what_there_is_to_find(
    bundles: list[Bundle], operator: User, client_of: Callable[[User], Client]
) -> None:
    """Staff may read it all, so the crawl must come across every canary."""
    words = {*CANARIES, *TIMES}
    crawl = Crawl(client_of(operator), words, with_parts=False)
    crawl.over([*PAGES[2:5], *typed(bundles[1:])])
    assert {leak.partition(" at ")[0] for leak in crawl.leaks} == words


# While a case is open its models are for staff, and so is for ever who ruled.
NAMELESS = ("claude-opus", "gpt-4o", "gemini-2.5", "anthropic", "openai", "wilhelmina")


@pytest.mark.parametrize("person", ["competitor", "rival", "reviewer"])
def test_no_competitor_and_no_blind_reviewer_reads_what_is_not_for_them(
    bundles: list[Bundle],
    person: str,
    request: pytest.FixtureRequest,
    client_of: Callable[[User], Client],
) -> None:
    client = client_of(request.getfixturevalue(person))
    number = Rejudging.objects.get().pk
    rejudging = [
        f"{root}/rejudgings/{number}{rest}"
        for root, rest in (
            ("", "/"),
            ("", ".csv"),
            ("", ".json"),
            ("/api", "/"),
            ("/api", "/matches/"),
        )
    ]
    words = [*CANARIES, *TIMES, *TIMES_TOGETHER, *NAMELESS, PREVIEWED]
    crawl = Crawl(client, words).over([*PAGES, *rejudging, *typed(bundles)])
    assert crawl.leaks == []
    assert {crawl.seen[address] for address in rejudging} == {403}
    opened = [
        address
        for address, status in crawl.seen.items()
        if status == 200 and "/evidence/" in address
    ]
    # The team opens evidence; nobody else opens any.
    assert (len(opened) > 100) is (person == "competitor")
    assert bool(opened) is (person == "competitor")


def test_category_adds_the_category_and_nothing_else(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    bundle = rich(tmp_path, disclosure="category")
    # Which part of a page is sent hangs on no disclosure: parts are read where it is closed.
    crawl = Crawl(client_of(competitor), with_parts=False).over([*PAGES, *typed([bundle])])
    assert crawl.leaks == []
    html = client_of(competitor).get("/matches/m-1/").content.decode()
    assert '<th scope="row">keys</th>' in html


def test_open_stays_closed_until_the_challenge_is_retired(
    tmp_path: Path, competitor: User, rival: User, client_of: Callable[[User], Client]
) -> None:
    bundle = rich(tmp_path, disclosure="open")
    closed = Crawl(client_of(competitor))
    for address in PAGES:
        closed.read(address)
    assert closed.leaks == []
    retire()
    opened = Crawl(client_of(competitor), with_parts=False)
    for address in typed([bundle]):
        opened.read(address)
    assert {leak.split()[0] for leak in opened.leaks} == set(CANARIES)
    # What is open to the team is open to nobody else.
    assert Crawl(client_of(rival), with_parts=False).over([*PAGES, *typed([bundle])]).leaks == []


@pytest.mark.parametrize("look", ["team", "others"])
def test_looking_through_a_competitors_eyes_shows_no_more_than_they_see(
    bundles: list[Bundle], operator: User, client_of: Callable[[User], Client], look: str
) -> None:
    def looked(addresses: Iterable[str]) -> Iterator[str]:
        for address in addresses:
            if address.startswith("/api/"):
                continue
            yield f"{address}{'&' if '?' in address else '?'}as={look}"

    crawl = Crawl(client_of(operator), with_parts=False)
    for address in looked([*PAGES[2:5], *typed(bundles[1:])]):
        crawl.read(address)
    assert crawl.leaks == []


def test_a_blind_reviewer_learns_neither_agent_nor_total(
    bundles: list[Bundle], reviewer: User, client_of: Callable[[User], Client]
) -> None:
    """The leaderboard names both, but not which of its agents fought this match."""
    client = client_of(reviewer)
    total = str(bundles[1].match.scorecards.get(is_live=True).total)
    crawl = Crawl(client, ("heron", total))
    for address in PAGES:
        if "leaderboard" not in address and "q=" not in address:
            crawl.read(address)
    assert crawl.leaks == []
    assert "No match fits these filters" in client.get("/matches/?q=heron").content.decode()


def test_a_hidden_name_that_exists_and_one_that_does_not_look_alike(
    bundle: Bundle, as_team: Client
) -> None:
    """Else the address of evidence would tell which guesses at names are right."""
    for path in ("hidden-1.xml", "static-1.xml"):
        digest = Artifact.objects.get(bundle=bundle, path=path).blob_id
        answers = []
        for name in (KEY, "hidden.t::test_guessed_key"):
            at = urlencode({"at": f"test:hidden/{name}"})
            answer = as_team.get(f"/matches/m-1/evidence/{digest}/?{at}")
            body = without_tokens(answer.content.decode())
            answers.append(
                (
                    answer.status_code,
                    body.replace(name, "NAME").replace(urlencode({"": name})[1:], "NAME"),
                )
            )
        assert answers[0] == answers[1]
