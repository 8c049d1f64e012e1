"""Who is told what, and who must not be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from adjudication import actions as adjudication
from adjudication.actions import Decision, ask_for_review, declare_conflict
from adjudication.models import Case, Ruling
from bouts.models import Match, Membership, User
from judging import actions as judging
from judging.models import Scorecard, Standing
from news.models import Notice
from tests.adjudication.making import (
    AGREEING,
    GOOD_LEVELS,
    case_of,
    finding,
    make_match,
)
from tests.factories import make_user

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
PLACE = {"artifact": "final.diff", "place": "diff:refunds/store.py:2"}


def rule(case: Case, by: User, reason: str = "All three see a part.", **decision: object) -> Ruling:
    adjudication.claim_case(case.pk, by=by)
    adjudication.commit_score(case.pk, by=by, levels=GOOD_LEVELS, reason="Sound.")
    case.refresh_from_db()
    made = Decision(**{"kind": Ruling.Kind.AVERAGE, "public_reason": reason, **decision})
    return adjudication.rule(case.pk, made, by=by, version=case.version)


def told(user: User, kind: str) -> list[str]:
    seen = Notice.objects.visible_to(user).filter(kind=kind)
    return list(seen.values_list("text", flat=True))


def test_a_team_reads_that_it_was_scored_flagged_and_ruled_on(
    competitor: User, rival: User, reviewer: User
) -> None:
    match = make_match()
    first = match.scorecards.get()
    (scored,) = told(competitor, "scored")
    assert f"{first.total} (provisional)" in scored
    (flagged,) = told(competitor, "flagged")
    assert "settle an open question" in flagged
    rule(case_of(match), reviewer)
    (ruled,) = told(competitor, "adjudicated")
    now = match.scorecards.live().get()
    assert f"{now.total} (final), was {first.total} (provisional)" in ruled
    assert "Reason: All three see a part." in ruled
    assert not Notice.objects.exclude(user=competitor).exists()
    assert told(rival, "scored") == []


def test_a_reason_that_quotes_a_hidden_test_is_withheld(competitor: User, reviewer: User) -> None:
    rule(case_of(make_match()), reviewer, "See hidden.test_vault::test_quarrel.")
    (ruled,) = told(competitor, "adjudicated")
    assert "quarrel" not in ruled and "withheld" in ruled


def test_no_team_is_told_of_anothers_review(
    competitor: User, rival: User, reviewer: User, client_of: SignedIn
) -> None:
    match = make_match(votes=AGREEING)
    make_match("h-1", team="halyard", votes=AGREEING)
    request = ask_for_review(
        match.pk, by=competitor, finding_key="", text="The lock.", evidence=[PLACE], revision=1
    )
    rule(request.case, reviewer, kind=Ruling.Kind.UPHOLD)
    assert len(told(competitor, "answered")) == 1
    page = client_of(rival).get("/notices/").content.decode()
    assert "answered" not in page and "m-1" not in page and "Heron" in page
    assert str(request.case) not in page


def test_reviewers_are_told_only_of_what_they_ruled_on_and_may_see(
    competitor: User, reviewer: User
) -> None:
    second = make_user("silas", User.Role.REVIEWER)
    match = make_match(stakes="high")
    case = case_of(match)
    rule(case, reviewer)
    assert not Notice.objects.filter(user=reviewer).exists()
    rule(case, second)
    case.refresh_from_db()
    assert case.state == Case.State.DECIDED
    assert told(reviewer, "decided") == [f"{case}, on which you ruled, is decided."]
    assert not Notice.objects.filter(user=second).exists()
    # Another question on the same match is open now: until scored blind, nothing of it shows.
    other = Case.objects.get(pk=case.pk)
    other.pk, other._state.adding = None, True
    other.reason, other.state, other.closed_at = "integrity_review", "open", None
    other.finding_key = "f" * 64
    other.save(force_insert=True)
    assert told(reviewer, "decided") == []
    other.delete()
    assert told(reviewer, "decided") != []
    declare_conflict(by=reviewer, team=match.agent.team)
    assert told(reviewer, "decided") == []


def test_whoever_left_the_team_reads_nothing_more_of_it(
    competitor: User, client_of: SignedIn
) -> None:
    make_match(votes=AGREEING)
    assert ">1 new<" in client_of(competitor).get("/account/").content.decode()
    Membership.objects.all().delete()
    left = User.objects.get(pk=competitor.pk)
    assert told(left, "scored") == []
    page = client_of(left).get("/notices/").content.decode()
    assert "Heron" not in page and " new<" not in page


def test_a_team_is_told_that_its_match_counts_no_more_and_again(
    competitor: User, operator: User
) -> None:
    match = make_match(votes=AGREEING)
    judging.exclude_match(match, "excluded", by=operator, reason="A second account.")
    judging.exclude_match(match, "", by=operator, reason="It was the same person.")
    back, off = told(competitor, "exclusion")
    assert "is excluded" in off and "A second account." in off
    assert "counts on the leaderboards again" in back


def test_marking_read_is_ones_own_business(
    competitor: User, rival: User, client_of: SignedIn
) -> None:
    make_match()
    first, second = Notice.objects.order_by("pk")
    assert client_of(rival).post(f"/notices/{first.pk}/read/").status_code == 404
    client = client_of(competitor)
    assert ">2 new<" in client.get("/notices/").content.decode()
    client.post(f"/notices/{first.pk}/read/")
    page = client.get("/notices/?show=unread").content.decode()
    assert ">1 new<" in page and page.count("Mark read") == 1
    client.post("/notices/read/")
    assert "Nothing unread" in client.get("/notices/?show=unread").content.decode()
    second.refresh_from_db()
    assert second.read_at is not None
    assert client.get("/notices/read/").status_code == 405


@pytest.mark.parametrize("role", ["competitor", "reviewer"])
def test_a_long_list_asks_no_more_often(role: str, client_of: SignedIn, db: None) -> None:
    match = make_match(votes=AGREEING)
    user = make_user("someone", role)

    def asked(count: int) -> int:
        Notice.objects.bulk_create(
            Notice(user=user, kind="scored", match=match, text=f"n {at}") for at in range(count)
        )
        client = client_of(user)
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/notices/").status_code == 200
        return len(queries)

    assert asked(1) == asked(48) <= 6


def test_the_badge_costs_others_than_reviewers_no_query(
    competitor: User, client_of: SignedIn
) -> None:
    client = client_of(competitor)
    with CaptureQueriesContext(connection) as queries:
        client.get("/schemas/")
    assert len(queries) == 2  # the session and the person


def test_nothing_but_a_ruling_changes_a_score(competitor: User, reviewer: User, lead: User) -> None:
    """Asking, claiming, scoring blind, declining, escalating, conflicts: none touches a score."""
    match = make_match(findings=[finding("judge_injection", confidence="high")])
    settled = make_match("m-2", votes=AGREEING)
    before = list(Scorecard.objects.order_by("pk").values()), list(Standing.objects.values())
    ask_for_review(
        settled.pk, by=competitor, finding_key="", text="The lock.", evidence=[PLACE], revision=1
    )
    case = case_of(match)
    adjudication.claim_case(case.pk, by=reviewer)
    adjudication.save_draft(case.pk, {"reason": "hm"}, by=reviewer)
    adjudication.renew(case.pk, by=reviewer)
    adjudication.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="Sound.")
    case.refresh_from_db()
    decision = Decision(kind=Ruling.Kind.ESCALATE, public_reason="A second look.")
    adjudication.rule(case.pk, decision, by=reviewer, version=case.version)
    adjudication.decline(case.pk, by=lead)
    declare_conflict(by=lead, team=match.agent.team)
    after = list(Scorecard.objects.order_by("pk").values()), list(Standing.objects.values())
    assert after == before


def test_a_ruling_moves_board_page_and_api_at_once(
    competitor: User, reviewer: User, client_of: SignedIn
) -> None:
    match = make_match()
    rule(case_of(match), reviewer)
    now = match.scorecards.live().get()
    assert now.number == 2
    client = client_of(competitor)
    assert Standing.objects.get(challenge_version=None).total == now.total
    for address in ("/leaderboard/", "/matches/m-1/", "/api/matches/m-1/breakdown/"):
        assert str(now.total) in client.get(address).content.decode(), address
    page = client.get("/matches/m-1/").content.decode()
    assert f"{match.scorecards.get(number=1).total} before, {now.total} after" in page
    assert "All three see a part." in page


def test_an_excluded_match_is_off_the_board_and_its_page_says_so(
    competitor: User, rival: User, operator: User, client_of: SignedIn
) -> None:
    match = make_match(votes=AGREEING)
    total = str(match.scorecards.get().total)
    assert total in client_of(rival).get("/leaderboard/").content.decode()
    judging.exclude_match(match, "withdrawn", by=operator, reason="Its team asked.")
    assert Match.objects.get().exclusion == "withdrawn"
    assert Standing.objects.filter(total=None).count() == Standing.objects.count()
    for person in (competitor, rival):
        page = client_of(person).get("/matches/m-1/").content.decode()
        assert "counts on no leaderboard" in page and "Its team asked." in page
    judging.exclude_match(match, "", by=operator, reason="It asked again.")
    assert total in client_of(rival).get("/leaderboard/").content.decode()
