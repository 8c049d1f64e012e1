"""Matches, breakdowns, challenges and boards over the API: to whom what, and in which form."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from bouts.actions import people
from bouts.models import Bundle, Match, User
from judging import actions
from judging.models import Scorecard, Step
from tests import matches
from tests.factories import make_team
from tests.judging.cards import make_agent, make_version, record
from tests.matches import CANARY, judge, panel

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
TWO_JUDGES = {"judges": ["objective", "strategy", "integrity"]}
WEEK = timedelta(days=7)

READABLE = [
    "/api/matches/",
    "/api/matches/m-1/",
    "/api/matches/m-1/breakdown/",
    "/api/matches/m-1/breakdown/?revision=1",
    "/api/matches/m-1/revisions/",
    "/api/challenges/",
    "/api/challenges/refunds/",
    "/api/leaderboard/",
    "/api/leaderboard/refunds/",
]


@pytest.fixture
def ops(client_of: SignedIn, operator: User) -> Client:
    return client_of(operator)


@pytest.fixture
def settled(tmp_path: Path) -> Bundle:
    """A match of Northbank with a final total."""
    return judge(tmp_path, challenge=TWO_JUDGES)


@pytest.fixture
def disputed(tmp_path: Path) -> Bundle:
    """A match of Northbank whose panel disagrees."""
    return judge(tmp_path, challenge=TWO_JUDGES, verdicts=panel(60, 76, 92))


def get(client: Client, address: str, **headers: str) -> Any:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def bearer(user: User, *scopes: str) -> dict[str, str]:
    _, secret = people.create_token(user, f"for {scopes}", list(scopes), WEEK)
    return {"Authorization": f"Bearer {secret}"}


# Who may ask


@pytest.mark.parametrize("address", [*READABLE, "/api/uploads/", "/api/cases/"])
def test_nobody_gets_in_without_a_name(address: str, settled: Bundle) -> None:
    answer = Client().get(address)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert set(answer.json()) == {"detail"}


@pytest.mark.parametrize("address", READABLE)
def test_everybody_who_is_signed_in_may_read(
    address: str,
    settled: Bundle,
    client_of: SignedIn,
    competitor: User,
    rival: User,
    reviewer: User,
    lead: User,
    operator: User,
    admin: User,
) -> None:
    for user in (competitor, rival, reviewer, lead, operator, admin):
        get(client_of(user), address)


@pytest.mark.parametrize("address", READABLE)
def test_a_token_needs_the_scope_to_read_and_to_be_alive(
    address: str, settled: Bundle, operator: User
) -> None:
    reading, sending = bearer(operator, "read"), bearer(operator, "upload")
    get(Client(), address, **reading)
    assert Client().get(address, headers=sending).status_code == 403
    operator.api_tokens.update(expires_at=timezone.now())
    assert Client().get(address, headers=reading).status_code == 401


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("address", READABLE)
def test_nothing_of_it_can_be_written(
    method: str, address: str, settled: Bundle, ops: Client
) -> None:
    assert getattr(ops, method)(address).status_code in {403, 405}


def test_what_is_not_there_is_404_in_json(ops: Client, settled: Bundle) -> None:
    for address in (
        "/api/matches/m-9/",
        "/api/matches/m-9/breakdown/",
        "/api/matches/m-1/breakdown/?revision=9",
        "/api/matches/m-9/revisions/",
        "/api/challenges/nothing/",
        "/api/leaderboard/nothing/",
        "/api/leaderboard/refunds/?version=9",
        "/api/matches/?page=9",
    ):
        answer = ops.get(address)
        assert answer.status_code == 404, address
        assert set(answer.json()) == {"detail"}


# Breakdowns


def test_scores_are_decimal_strings_and_null_has_a_reason(ops: Client, tmp_path: Path) -> None:
    judge(tmp_path, static=["<testsuite"], hidden=["<testsuite"])
    body = get(ops, "/api/matches/m-1/breakdown/")
    assert (body["total"], body["reason"], body["status"]) == (None, "unreadable", "unscored")
    objective = body["judges"]["objective"]
    assert (objective["raw"], objective["reason"]) == (None, "unreadable")
    assert body["judges"]["strategy"]["raw"] == "75.00"
    row = get(ops, "/api/matches/m-1/")
    assert (row["total"], row["reason"], row["status"]) == (None, "unreadable", "unscored")
    for text in _texts(body):
        assert text not in {"NaN", "nan", "Infinity"}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def test_the_ledger_adds_up_for_whoever_asks(
    disputed: Bundle, client_of: SignedIn, competitor: User, rival: User, operator: User
) -> None:
    for user in (competitor, rival, operator):
        body = get(client_of(user), "/api/matches/m-1/breakdown/")
        cents = [round(float(row["points"]) * 100) for row in body["ledger"]]
        assert sum(cents) == round(float(body["total"]) * 100)


def test_a_rival_sees_scores_and_no_more(
    disputed: Bundle, client_of: SignedIn, rival: User, operator: User
) -> None:
    theirs = get(client_of(rival), "/api/matches/m-1/breakdown/")
    ours = get(client_of(operator), "/api/matches/m-1/breakdown/")
    assert theirs["total"] == ours["total"]
    for judge_name, card in theirs["judges"].items():
        assert card["counted"] == ours["judges"][judge_name]["counted"]
        assert not {"rationale", "evidence", "seats"} & set(card)
    assert not {"artifacts", "cases", "range"} & set(theirs)
    assert "artifacts" in theirs["withheld"]


def test_no_competitor_reads_the_name_of_a_hidden_test(
    disputed: Bundle, client_of: SignedIn, competitor: User, rival: User, operator: User
) -> None:
    assert CANARY in json.dumps(get(client_of(operator), READABLE[2]))
    for user in (competitor, rival):
        for address in READABLE:
            assert CANARY not in json.dumps(get(client_of(user), address)), address


def test_a_breakdown_that_one_has_is_not_sent_again(
    disputed: Bundle,
    ops: Client,
    operator: User,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    headers = bearer(operator, "read")
    first = Client().get(READABLE[2], headers=headers)
    assert first.status_code == 200
    tag = first["ETag"]
    with django_assert_max_num_queries(
        2
    ):  # the token and its owner, the scorecard and what the viewer may see of it
        again = Client().get(READABLE[2], headers={**headers, "If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == tag
    assert first["Cache-Control"] == again["Cache-Control"] == "private, no-cache"


def test_the_tag_changes_with_the_score_and_the_reader(
    disputed: Bundle, client_of: SignedIn, operator: User, competitor: User, reviewer: User
) -> None:
    def tag(user: User) -> str:
        return client_of(user).get(READABLE[2])["ETag"]

    before = tag(operator)
    assert tag(competitor) != before
    actions.rule_strategy(disputed, None, by=reviewer, reason="it stands")
    assert tag(operator) != before
    old = client_of(operator).get(f"{READABLE[2]}?revision=1", headers={"If-None-Match": before})
    assert old.status_code == 200  # it is superseded by now, which it says
    assert old.json()["superseded"] is True


@pytest.mark.parametrize("revision", ["x", "-1", "1.5", "9" * 12])
def test_a_revision_that_is_no_number_is_400(revision: str, ops: Client, settled: Bundle) -> None:
    answer = ops.get(f"/api/matches/m-1/breakdown/?revision={revision}")
    assert answer.status_code == 400
    assert answer.json() == {"revision": ["Expected a whole number."]}


def test_a_match_without_a_scorecard_says_why(ops: Client, tmp_path: Path) -> None:
    matches.store(tmp_path)
    assert get(ops, READABLE[2])["status"] == get(ops, READABLE[1])["status"] == "pending"
    assert get(ops, READABLE[1])["reason"] == "judging"
    Step.objects.filter(name="scorecard").update(state="failed")
    assert get(ops, READABLE[2])["status"] == get(ops, READABLE[1])["status"] == "failed"
    assert [row["match"] for row in get(ops, "/api/matches/?status=pending")["results"]] == ["m-1"]


def test_every_revision_is_listed(disputed: Bundle, ops: Client, reviewer: User) -> None:
    actions.rule_strategy(disputed, None, by=reviewer, reason="it stands")
    rows = get(ops, "/api/matches/m-1/revisions/")["results"]
    assert [(row["revision"], row["superseded"], row["cause"]) for row in rows] == [
        (2, False, "ruling"),
        (1, True, "first scorecard"),
    ]
    assert rows[1]["status"] == "provisional"


# Blind


def test_a_reviewer_finds_no_match_that_they_are_to_score_blind(
    disputed: Bundle, client_of: SignedIn, reviewer: User, operator: User
) -> None:
    client = client_of(reviewer)
    assert get(client, "/api/matches/")["count"] == 0
    for query in ("q=heron", "q=m-1", "team=northbank", "base_model=quill-4", "challenge=refunds"):
        assert get(client, f"/api/matches/?{query}")["count"] == 0, query
    for address in ("/api/matches/m-1/", "/api/matches/m-1/revisions/"):
        assert client.get(address).status_code == 404, address
    body = get(client, "/api/matches/m-1/breakdown/")
    assert body.keys() <= {"challenge_version", "withheld", "superseded"}
    assert get(client, "/api/leaderboard/refunds/")["count"] == 0
    assert get(client, "/api/leaderboard/")["count"] == 0
    assert get(client_of(operator), "/api/leaderboard/refunds/")["count"] == 1


# Lists


@pytest.fixture
def some(operator: User) -> None:
    refunds, search = make_version("refunds"), make_version("search")
    record(make_agent("Heron"), refunds, 90, match="m-1")
    record(make_agent("Wren", "halyard", "sable-2"), refunds, 80, match="m-2", status="provisional")
    record(make_agent("Heron"), search, None, match="m-3", status="unscored")
    Match.objects.filter(slug="m-2").update(bout="finals", exclusion="excluded")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["m-3", "m-2", "m-1"]),
        ("challenge=search", ["m-3"]),
        ("team=halyard", ["m-2"]),
        ("base_model=quill-4", ["m-3", "m-1"]),
        ("bout=finals", ["m-2"]),
        ("status=unscored", ["m-3"]),
        ("status=final", ["m-1"]),
        ("q=wren", ["m-2"]),
        ("q=halyard", ["m-2"]),
        ("q=M-1", ["m-1"]),
        ("q=heron&challenge=refunds", ["m-1"]),
        ("team=nobody", []),
    ],
)
def test_matches_are_narrowed(query: str, found: list[str], some: None, ops: Client) -> None:
    rows = get(ops, f"/api/matches/?{query}")["results"]
    assert [row["match"] for row in rows] == found


def test_a_filter_that_makes_no_sense_is_400(some: None, ops: Client) -> None:
    for address in (
        "/api/matches/?status=odd",
        "/api/leaderboard/?order=odd",
    ):
        answer = ops.get(address)
        assert answer.status_code == 400
        assert all(isinstance(texts, list) for texts in answer.json().values())


@pytest.mark.parametrize(
    ("query", "size"),
    [("page_size=2", 2), ("page_size=0", 3), ("page_size=-1", 3), ("page_size=x", 3), ("page_size=9999", 3)],
)  # fmt: skip
def test_pages_are_bounded(query: str, size: int, some: None, ops: Client) -> None:
    body = get(ops, f"/api/matches/?{query}")
    assert (body["count"], len(body["results"])) == (3, size)


def test_a_page_has_no_more_than_200_rows(operator: User, ops: Client) -> None:
    version = make_version()
    agent = make_agent()
    Match.objects.bulk_create(
        Match(slug=f"m-{number}", challenge=version.challenge, agent=agent) for number in range(201)
    )
    assert len(get(ops, "/api/matches/?page_size=9999")["results"]) == 200
    assert len(get(ops, "/api/matches/")["results"]) == 50


def test_ten_times_the_matches_need_no_more_queries(
    ops: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    version = make_version()
    for most in (2, 20):
        for number in range(most):
            record(make_agent(f"A{number}"), version, number)
        for address in ("/api/matches/", "/api/leaderboard/refunds/", "/api/challenges/"):
            with django_assert_max_num_queries(8):
                get(ops, address)


# Boards and challenges


def test_a_board_has_ranks_reasons_and_decimal_strings(some: None, ops: Client) -> None:
    rows = get(ops, "/api/leaderboard/refunds/?order=-total")["results"]
    # The exclusion was written past the actions: the board does not know of it.
    assert [(row["rank"], row["agent"], row["total"], row["reason"]) for row in rows] == [
        (1, "Heron", "90.00", None),
        (2, "Wren", "80.00", None),
    ]
    (row,) = get(ops, "/api/leaderboard/search/")["results"]
    assert (row["rank"], row["total"], row["status"]) == (None, None, "unscored")
    assert row["reason"] == "One match, without a total"


def test_a_board_is_narrowed_and_ordered_as_the_page_is(some: None, ops: Client) -> None:
    rows = get(ops, "/api/leaderboard/refunds/?order=total&team=halyard")["results"]
    assert [(row["rank"], row["agent"]) for row in rows] == [(2, "Wren")]
    rows = get(ops, "/api/leaderboard/refunds/?order=total")["results"]
    assert [row["agent"] for row in rows] == ["Wren", "Heron"]


def test_a_challenge_tells_its_tests_as_counts(ops: Client, tmp_path: Path) -> None:
    make_team()
    matches.store_challenge(tmp_path)
    body = get(ops, "/api/challenges/refunds/")
    assert body["tests"] == {
        "static": {"critical": 1, "medium": 1},
        "hidden": {"critical": 1, "high": 1},
    }
    assert body["weights"] == {"objective": 45, "process": 20, "strategy": 20, "recovery": 15}
    assert CANARY not in json.dumps(body)
    assert get(ops, "/api/challenges/")["results"] == [body]


def test_a_withdrawn_match_tells_its_public_reason(
    settled: Bundle, client_of: SignedIn, rival: User, operator: User
) -> None:
    actions.exclude_match(settled.match, "withdrawn", by=operator, reason="wrong commit")
    row = get(client_of(rival), "/api/matches/m-1/")
    assert (row["exclusion"], row["exclusion_reason"]) == ("withdrawn", "wrong commit")
    assert get(client_of(rival), "/api/leaderboard/refunds/")["results"][0]["rank"] is None


def test_the_live_scorecard_is_the_one_that_is_told(
    disputed: Bundle, ops: Client, reviewer: User
) -> None:
    actions.rule_strategy(disputed, None, by=reviewer, reason="it stands")
    card = Scorecard.objects.live().get()
    row = get(ops, "/api/matches/m-1/")
    assert (row["revision"], row["total"], row["status"]) == (2, str(card.total), card.status)
