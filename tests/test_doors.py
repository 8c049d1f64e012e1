"""Which addresses open to whom: every one that there is, asked for by each role.

What somebody may read there of a match is another question (tests/judging/views/test_leaks.py).
An address that is added stays shut until it stands in these lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from adjudication.models import Case
from bouts.models import Upload, User
from judging.models import Step
from tests.judging.rejudging.making import preview, propose
from tests.judging.views.making import rich

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]

STRANGER = {"sign-in/", "api/schema/"}
# Whoever is signed in: boards, scores, challenges, and what is their own.
SIGNED_IN = {
    "api/", "api/schema/", "api/challenges/", "api/challenges/<slug:slug>/", "api/leaderboard/",
    "api/leaderboard/<slug:slug>/", "api/matches/", "api/matches/<match:slug>/breakdown/",
    "account/", "account/password/", "schemas/", "schemas/<slug:name>.json", "challenges/",
    "challenges/<slug:slug>/", "leaderboard/", "leaderboard.<file:kind>", "leaderboard/<slug:slug>/",
    "leaderboard/<slug:slug>.<file:kind>", "matches/", "matches.<file:kind>", "compare/", "search/",
    "matches/<match:slug>/", "matches/<match:slug>/progress/",
    "matches/<match:slug>/revisions/<int:number>/", "notices/",
}  # fmt: skip
# A rival reads of a match what a board tells. The blind find neither the agent nor the row.
COMPETITOR = SIGNED_IN | {
    "api/matches/<match:slug>/", "api/matches/<match:slug>/revisions/",
    "agents/<int:agent_id>/", "agents/<int:agent_id>.<file:kind>",
}  # fmt: skip
TEAM = COMPETITOR | {
    "teams/<slug:slug>/",
    "matches/<match:slug>/review/",
    *(
        f"matches/<match:slug>/evidence/{tab}/"
        for tab in (
            "tests", "timeline", "diff", "logs", "deliverables", "sandbox", "scan", "files",
            "<digest:digest>",
        )
    ),
}  # fmt: skip
REVIEWER = SIGNED_IN | {
    "api/cases/", "api/cases/counts/", "api/cases/<int:case_id>/", "queue/", "queue/cases.csv",
    "cases/<int:case_id>/", "conflicts/",
}  # fmt: skip
# Forms that a competitor may send: their own account, and a review of their own match.
SENT_BY_ALL = {
    "sign-in/", "sign-out/", "account/", "account/password/", "account/time-zone/", "notices/read/",
}  # fmt: skip
LINKS_OF_OTHERS = {"welcome/<str:secret>/", "new-password/<str:secret>/"}
REDIRECTS = {"", "sign-in/", "teams/", "matches/<match:slug>/evidence/"}
SHUT = {400, 401, 403, 404, 405}


def routes(found: URLResolver | None = None, before: str = "") -> Iterator[str]:
    """Yield the routes of all addresses; the one that stands for all others of the API left out."""
    for each in (found or get_resolver()).url_patterns:
        route = f"{before}{each.pattern}"
        if isinstance(each, URLResolver):
            yield from routes(each, route)
        elif "^" not in route:
            yield route


@pytest.fixture
def address_of(db: None, tmp_path: Path, operator: User) -> Callable[[str], str]:
    """Return what makes an address of a route, of rows that are there."""
    bundle = rich(tmp_path)
    named = {
        "agent_id": bundle.match.agent_id,
        "case_id": Case.objects.get(reason="panel_disagreement").pk,
        "digest": bundle.artifacts.get(path="final.diff").blob_id,
        "kind": "json",
        "name": "match-1",
        "rejudging_id": preview(propose(operator, match="m-1")).pk,
        "step_id": Step.objects.earliest("pk").pk,
        "upload_id": Upload.objects.create(name="a.zip", size=1, by=operator).pk,
        "username": operator.username,
    }
    slugs = {"matches": "m-1", "teams": "northbank"}

    def address(route: str) -> str:
        slug = next((slug for part, slug in slugs.items() if part in route), "refunds")
        values = {**named, "slug": slug}
        return "/" + re.sub(r"<\w+:(\w+)>", lambda hole: str(values.get(hole[1], 1)), route)

    return address


def opened(
    sign_in: Callable[[], Client], address_of: Callable[[str], str], method: str = "get"
) -> set[str]:
    """Return the routes that do not turn somebody away, each asked for as by nobody before."""
    found = set()
    for route in routes():
        answer = getattr(sign_in(), method)(address_of(route))
        turned_away = answer.status_code in SHUT or answer.headers.get("Location", "").startswith(
            "/sign-in/?"
        )
        if not turned_away and route not in LINKS_OF_OTHERS:
            found.add(route)
    return found


def test_a_stranger_opens_the_sign_in_page_and_nothing_that_tells(
    address_of: Callable[[str], str],
) -> None:
    assert opened(Client, address_of) == STRANGER
    assert opened(Client, address_of, "post") == {"sign-in/", "sign-out/"}


@pytest.mark.parametrize(
    ("person", "doors"), [("rival", COMPETITOR), ("competitor", TEAM), ("reviewer", REVIEWER)]
)
def test_each_role_opens_its_doors_and_no_others(
    person: str,
    doors: set[str],
    request: pytest.FixtureRequest,
    address_of: Callable[[str], str],
    client_of: Callable[[User], Client],
) -> None:
    user = request.getfixturevalue(person)
    found = opened(lambda: client_of(user), address_of) - REDIRECTS
    assert found ^ doors == set()


def test_a_competitor_sends_nothing_but_what_is_their_own(
    address_of: Callable[[str], str], rival: User, client_of: Callable[[User], Client]
) -> None:
    found = opened(lambda: client_of(rival), address_of, "post")
    assert found - REDIRECTS ^ SENT_BY_ALL - REDIRECTS == set()
