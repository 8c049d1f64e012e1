from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from adjudication import actions, tallies
from adjudication.models import Case
from adjudication.queue import listed
from adjudication.urgency import stretch
from bouts.models import Match, User
from tests.adjudication.making import AGREEING, CHAINED, finding, make_match
from tests.factories import make_user

QUEUE = "/queue/"


def chips(page: str) -> dict[str, int]:
    found = re.findall(r'class="chip".*?>([A-Za-z ]+) <span class="count">(\d+)<', page)
    return {label.strip(): int(count) for label, count in found}


def listed_names(page: str) -> list[str]:
    return re.findall(r'<span class="sub">(C-\d+) ·', page)


def test_the_queue_lists_cases_with_their_reason_clock_and_state(
    case: Case, reviewer: User, client_of
) -> None:
    page = client_of(reviewer).get(QUEUE).content.decode()
    for words in ("Panel disagrees", str(case), "Retry safe refunds", "to target", "Open", "Claim"):
        assert words in page


def test_whoever_is_not_signed_in_is_sent_to_sign_in(case: Case) -> None:
    assert Client().get(QUEUE)["Location"].startswith("/sign-in/")


def test_a_competitor_finds_no_queue(case: Case, competitor: User, client_of) -> None:
    assert client_of(competitor).get(QUEUE).status_code == 404
    assert client_of(competitor).post("/queue/next/").status_code == 404


def test_ops_read_the_queue_and_claim_nothing(case: Case, operator: User, client_of) -> None:
    client = client_of(operator)
    page = client.get(QUEUE).content.decode()
    assert str(case) in page
    assert "data-claim" not in page
    assert client.post("/queue/next/").status_code == 403


def test_only_leads_see_the_spread(case: Case, reviewer: User, lead: User, client_of) -> None:
    assert "32.00" not in client_of(reviewer).get(QUEUE).content.decode()
    assert "32.00" in client_of(lead).get(QUEUE).content.decode()


def test_each_count_at_the_head_leads_to_as_many_cases(case: Case, lead: User, client_of) -> None:
    make_match("m-2", votes=CHAINED)
    make_match("m-3", votes=CHAINED)
    Case.objects.filter(match__slug="m-3").update(opened_at=timezone.now() - timedelta(hours=50))
    client = client_of(lead)
    page = html.unescape(client.get(QUEUE).content.decode())
    counts = re.findall(r'<dt class="label">([^<]+)</dt><dd><a href="(\?[^"]+)">(\d+)<', page)
    assert {label: int(count) for label, _, count in counts} == {
        "Over limit": 1, "Past target": 0, "Blocking": 1, "Advisory": 2, "Yours": 0,
    }  # fmt: skip
    for label, query, count in counts:
        found = client.get(f"{QUEUE}{query}")
        assert len(listed_names(found.content.decode())) == int(count), label
        assert f'<a href="{query}" aria-current="page">' in html.unescape(found.content.decode())


def test_htmx_gets_the_list_alone(case: Case, reviewer: User, client_of) -> None:
    response = client_of(reviewer).get(QUEUE, headers={"HX-Request": "true"})
    page = response.content.decode()
    assert page.lstrip().startswith('<div class="stack" id="cases">')
    assert "<html" not in page


def test_next_claims_the_most_urgent_case_and_opens_it(
    case: Case, reviewer: User, client_of
) -> None:
    response = client_of(reviewer).post("/queue/next/")
    assert response["Location"] == case.get_absolute_url()
    assert case.claim_of(reviewer)


def test_next_says_when_nothing_is_left(reviewer: User, client_of) -> None:
    response = client_of(reviewer).post("/queue/next/", follow=True)
    assert "No case is left" in response.content.decode()
    assert "Every card is signed" in response.content.decode()


def test_chips_agree_with_the_list_under_every_filter(
    reviewer: User, second: User, client_of
) -> None:
    make_match("m-1", findings=[finding()])
    make_match("m-2", votes=CHAINED, challenge="live-migration", stakes="high")
    make_match("m-3", votes=CHAINED)
    actions.claim_next(by=second)
    client = client_of(reviewer)
    for query in (
        {},
        {"reason": "panel_chained"},
        {"challenge": "live-migration"},
        {"stakes": "high"},
        {"holder": "nobody"},
        {"holder": "me"},
        {"reason": "panel_chained", "stakes": "standard"},
    ):
        counts = chips(client.get(QUEUE, query).content.decode())
        unsettled = counts.pop("Unsettled")
        assert counts["All"] == sum(counts.values()) - counts["All"]
        assert unsettled == counts["All"] - counts["Decided"] - counts["Void"]
        for state in Case.State:
            page = client.get(QUEUE, {**query, "state": state.value}).content.decode()
            assert len(listed_names(page)) == counts[state.label], (query, state)
        api = client.get("/api/cases/counts/", query).json()
        assert api.pop("total") == counts["All"]
        assert {Case.State(state).label: count for state, count in api.items()} == {
            label: count for label, count in counts.items() if label != "All"
        }


def test_odd_values_in_the_address_filter_nothing(case: Case, reviewer: User, client_of) -> None:
    query = {"state": "x", "reason": "y", "challenge": "z", "stakes": "q", "page": "-7"}
    page = client_of(reviewer).get(QUEUE, query).content.decode()
    assert listed_names(page) == [str(case)]


def test_filters_that_nothing_fits_say_so(case: Case, reviewer: User, client_of) -> None:
    page = client_of(reviewer).get(QUEUE, {"stakes": "high"}).content.decode()
    assert "No case fits these filters" in page
    assert "Stakes: High" in page


def test_a_conflicted_reviewer_sees_neither_the_case_nor_its_count(case: Case, client_of) -> None:
    member = make_user("nils", User.Role.REVIEWER, teams=("northbank",))
    page = client_of(member).get(QUEUE).content.decode()
    assert not listed_names(page)
    assert set(chips(page).values()) == {0}


def test_the_queue_tells_who_holds_a_case(
    case: Case, reviewer: User, second: User, client_of
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    assert "You, " in client_of(reviewer).get(QUEUE).content.decode()
    page = client_of(second).get(QUEUE).content.decode()
    assert "rosa, " in page
    assert "held" in page


def fill(match: Match, count: int) -> None:
    now = timezone.now()
    bundle, scorecard = match.bundles.get(), match.scorecards.get()
    Case.objects.bulk_create(
        Case(
            match=match,
            challenge=match.challenge,
            team=match.agent.team,
            bundle=bundle,
            scorecard=scorecard,
            reason="integrity_review",
            blocking=bool(number % 3),
            finding_key=str(number),
            evidence_digest=str(number),
            stakes="high" if number % 7 == 0 else "standard",
            state=Case.State.OPEN if number % 4 else Case.State.DECIDED,
            closed_at=None if number % 4 else now,
            opened_at=now - timedelta(minutes=number),
        )
        for number in range(count)
    )


@pytest.mark.parametrize("path", [QUEUE, "/api/cases/"])
def test_ten_thousand_cases_cost_as_many_queries_as_ten(lead: User, client_of, path: str) -> None:
    match = make_match(votes=AGREEING)
    client = client_of(lead)
    fill(match, 10)
    client.get(path)
    with CaptureQueriesContext(connection) as few:
        client.get(path)
    Case.objects.all().delete()
    fill(match, 10_000)
    with CaptureQueriesContext(connection) as many:
        page = client.get(path)
    assert page.status_code == 200
    assert len(many) == len(few) <= 14


@pytest.mark.parametrize("query", [{}, {"state": "open"}, {"state": "decided"}])
def test_a_page_reads_its_own_rows_of_the_index_and_no_others(
    lead: User, query: dict[str, str]
) -> None:
    match = make_match(votes=AGREEING)
    fill(match, 5_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE adjudication_case")
    at = timezone.now()
    cases = listed(Case.objects.visible_to(lead), query.get("state", ""), at)
    with CaptureQueriesContext(connection) as asked:
        part = stretch(cases, lead, at, size=50)
    assert len(part.cases) == 50
    union = next(each["sql"] for each in asked if "UNION ALL" in each["sql"])
    with connection.cursor() as cursor:
        # Of so few rows all may be cheaper to read; it must be possible not to.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {union}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Seq Scan on adjudication_case" not in plan
    assert "unsettled_cases" in plan


def test_a_saved_view_is_ones_own_and_leads_to_its_filters(
    case: Case, reviewer: User, second: User, client_of
) -> None:
    client = client_of(reviewer)
    page = client.get(QUEUE, {"stakes": "standard", "odd": "x"}).content.decode()
    assert "Save view" in page
    form = {"name": "Everyday", "query": "stakes=standard&odd=x&after=1-1-1-1"}
    page = client.post("/queue/views/", form, follow=True).content.decode()
    assert reviewer.saved_views.get().query == "stakes=standard"
    assert "Everyday" in page
    assert "Everyday" not in client_of(second).get(QUEUE).content.decode()
    view = reviewer.saved_views.get()
    assert client_of(second).post(f"/queue/views/{view.pk}/drop/").status_code == 404
    client.post("/queue/views/", {"name": "Everyday", "query": "stakes=high"})
    assert reviewer.saved_views.get().query == "stakes=high"
    client.post(f"/queue/views/{view.pk}/drop/")
    assert not reviewer.saved_views.exists()


def test_next_gives_back_what_one_holds_and_says_so(case: Case, reviewer: User, client_of) -> None:
    make_match("m-2")
    client = client_of(reviewer)
    first = client.post("/queue/next/")["Location"]
    answer = client.post("/queue/next/", follow=True)
    assert answer.redirect_chain[0][0] == first
    assert "already. Settle or release it" in answer.content.decode()


def test_the_switch_of_the_keys_is_remembered_with_the_person(reviewer: User, client_of) -> None:
    client = client_of(reviewer)
    assert 'data-keys="off"' not in client.get(QUEUE).content.decode()
    assert client.post("/queue/keys/", {"on": "0"}).status_code == 204
    assert 'data-keys="off"' in client.get(QUEUE).content.decode()
    client.post("/queue/keys/", {"on": "1"})
    assert 'data-keys="off"' not in client.get(QUEUE).content.decode()


def test_the_csv_has_the_rows_of_the_list_in_its_order(
    case: Case, reviewer: User, lead: User, client_of
) -> None:
    make_match("m-2", votes=CHAINED)
    lines = b"".join(client_of(reviewer).get("/queue/cases.csv")).decode().splitlines()
    names = listed_names(client_of(reviewer).get(QUEUE).content.decode())
    assert [line.partition(",")[0] for line in lines] == ["case", *names]
    assert "spread" not in lines[0]
    leads = b"".join(client_of(lead).get("/queue/cases.csv")).decode().splitlines()
    assert leads[0].endswith(",rule,spread")
    assert leads[1].endswith(",disagree,32.00")


def test_the_csv_is_closed_to_competitors(case: Case, competitor: User, client_of) -> None:
    assert client_of(competitor).get("/queue/cases.csv").status_code == 404


def test_a_void_case_leaves_the_lists_of_what_waits_and_says_why(
    case: Case, reviewer: User, client_of
) -> None:
    Case.objects.update(
        state=Case.State.VOID, closed_at=timezone.now(), closed_reason="A new upload came."
    )
    tallies.recount()
    client = client_of(reviewer)
    assert chips(client.get(QUEUE).content.decode())["Void"] == 1
    assert "A new upload came." in client.get(QUEUE, {"state": "void"}).content.decode()
    assert actions.claim_next(by=reviewer) is None
