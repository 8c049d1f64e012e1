from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from adjudication import actions
from adjudication.models import BlindScore, Case, Draft, Ruling
from bouts.actions.people import create_token
from bouts.models import User
from tests.adjudication.conftest import lapse
from tests.adjudication.making import AGREEING, GOOD_LEVELS, case_of, finding, make_match

CASES = "/api/cases/"
BECAUSE = "The three votes together say it fairly."


def post(client: Client, path: str, data: Any = None, **headers: str) -> Any:
    return client.post(
        path, data=data or {}, content_type="application/json", headers=headers or None
    )


@pytest.fixture
def mine(reviewer: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(reviewer)


def test_the_list_is_in_order_and_tells_the_clock(case: Case, mine: Client) -> None:
    (row,) = mine.get(CASES).json()["results"]
    assert row["case"] == str(case)
    assert (row["reason"], row["state"], row["may_claim"]) == ("panel_disagreement", "open", True)
    assert row["opened_at"] < row["target_at"] < row["limit_at"]
    assert "spread" not in row


def test_filters_narrow_the_list_and_odd_ones_are_refused(case: Case, mine: Client) -> None:
    assert mine.get(CASES, {"reason": "panel_chained"}).json()["count"] == 0
    assert mine.get(CASES, {"state": "open"}).json()["count"] == 1
    assert mine.get(CASES, {"reason": "weather"}).status_code == 400


def test_a_case_goes_all_the_way_over_the_api(case: Case, mine: Client, reviewer: User) -> None:
    claimed = post(mine, f"{CASES}next/")
    assert (claimed.status_code, claimed.json()["case"]) == (201, case.pk)
    assert post(mine, f"{CASES}{case.pk}/renew/").json()["expires_at"]
    blind = mine.get(f"{CASES}{case.pk}/").json()
    assert (blind["phase"], blind["is_revealed"]) == ("score", False)
    assert set(blind["seats"][0]) == {"letter", "rationale"}
    own = {"levels": GOOD_LEVELS, "reason": "A clean second idea."}
    revealed = post(mine, f"{CASES}{case.pk}/commit/", own).json()
    assert revealed["own"]["score"] == "75.00"
    assert {seat["score"] for seat in revealed["seats"]} == {"92.00", "60.00", "76.00"}
    assert revealed["agent"] == "Heron 2.3"
    ruling = {"version": revealed["version"], "kind": "average", "public_reason": BECAUSE}
    decided = post(mine, f"{CASES}{case.pk}/rule/", ruling)
    assert decided.status_code == 201
    assert decided.json()["state"] == "decided"
    assert decided.json()["total"] == str(Ruling.objects.get().after.total)
    assert decided.json()["rulings"][0]["reviewer"] == "rosa"


def test_none_left_is_204(mine: Client) -> None:
    assert post(mine, f"{CASES}next/").status_code == 204


@pytest.mark.parametrize("kind", ["average", "uphold"])
def test_one_decision_too_many_is_409_and_writes_nothing(
    case: Case, mine: Client, second: User, client_of: Callable[[User], Client], kind: str
) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    post(mine, f"{CASES}{case.pk}/commit/", {"levels": GOOD_LEVELS, "reason": "So."})
    ruling = {"version": case.version, "kind": kind, "public_reason": BECAUSE}
    assert post(mine, f"{CASES}{case.pk}/rule/", ruling).status_code == 201
    for client in (mine, client_of(second)):
        late = post(client, f"{CASES}{case.pk}/rule/", {**ruling, "version": case.version + 1})
        assert (late.status_code, late.json()["code"]) == (409, "case_closed")
    assert Ruling.objects.count() == 1


def test_a_stale_version_is_409(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    post(mine, f"{CASES}{case.pk}/commit/", {"levels": GOOD_LEVELS, "reason": "So."})
    stale = {"version": case.version - 1, "kind": "average", "public_reason": BECAUSE}
    answer = post(mine, f"{CASES}{case.pk}/rule/", stale)
    assert (answer.status_code, answer.json()["code"]) == (409, "case_changed")


def test_a_ruling_before_the_own_score_is_409(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    early = {"version": case.version, "kind": "average", "public_reason": BECAUSE}
    answer = post(mine, f"{CASES}{case.pk}/rule/", early)
    assert (answer.status_code, answer.json()["code"]) == (409, "not_blind_yet")


@pytest.mark.parametrize(
    ("path", "data", "field"),
    [
        ("commit/", {"levels": {**GOOD_LEVELS, "search": 6}, "reason": "So."}, "search"),
        ("commit/", {"levels": {**GOOD_LEVELS, "search": True}, "reason": "So."}, "levels"),
        ("commit/", {"levels": GOOD_LEVELS, "reason": " "}, "reason"),
        ("commit/", {"reason": "So."}, "decomposition"),
        ("rule/", {"version": 1, "kind": "ask", "public_reason": "x"}, "kind"),
        ("rule/", {"version": 1, "kind": "average", "public_reason": ""}, "public_reason"),
        ("rule/", {"kind": "average", "public_reason": "x"}, "version"),
        ("rule/", {"version": 1, "kind": "set", "score": "NaN", "public_reason": "x"}, "score"),
    ],
)
def test_what_the_rules_do_not_know_is_400_and_names_the_field(
    case: Case, mine: Client, path: str, data: dict[str, Any], field: str
) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    answer = post(mine, f"{CASES}{case.pk}/{path}", data)
    assert answer.status_code == 400
    assert field in answer.json()
    assert not BlindScore.objects.exists()


def test_what_is_nested_too_deep_is_400(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    answer = mine.post(
        f"{CASES}{case.pk}/commit/",
        '{"levels": ' + "[" * 5000 + "]" * 5000 + "}",
        content_type="application/json",
    )
    assert answer.status_code == 400
    assert "nested too deep" in answer.json()["detail"]


def test_a_correction_names_what_it_supersedes(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    post(mine, f"{CASES}{case.pk}/commit/", {"levels": GOOD_LEVELS, "reason": "So."})
    ruling = {"version": case.version, "kind": "average", "public_reason": BECAUSE}
    shown = post(mine, f"{CASES}{case.pk}/rule/", ruling).json()
    first = shown["rulings"][0]["id"]
    again = {**ruling, "version": shown["version"], "kind": "set", "score": "40.00"}
    corrected = post(mine, f"{CASES}{case.pk}/rule/", {**again, "supersedes": first})
    assert corrected.status_code == 201
    assert corrected.json()["rulings"][-1]["supersedes"] == first
    elsewhere = post(mine, f"{CASES}999/rule/", {**again, "supersedes": first})
    assert elsewhere.status_code == 404


def test_a_finding_is_judged_by_opinion(mine: Client, reviewer: User) -> None:
    case = case_of(make_match(votes=AGREEING, findings=[finding()]), "integrity_review")
    post(mine, f"{CASES}{case.pk}/claim/")
    shown = post(
        mine, f"{CASES}{case.pk}/commit/", {"opinion": "confirm", "reason": "It is there."}
    ).json()
    assert shown["finding"]["trigger"] == "output_spoofing"
    ruling = {"version": shown["version"], "kind": "confirm", "public_reason": BECAUSE}
    assert post(mine, f"{CASES}{case.pk}/rule/", ruling).json()["state"] == "decided"


def put(client: Client, path: str, data: Any) -> Any:
    return client.put(path, data=data, content_type="application/json")


def test_a_draft_is_one_for_page_and_api(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    typed = {"reason": "The lock came late,\n", "search": "4"}
    saved = put(mine, f"{CASES}{case.pk}/draft/", {"fields": typed})
    assert (saved.status_code, saved.json()["fields"]) == (200, typed)
    assert mine.get(f"{CASES}{case.pk}/").json()["draft"] == typed
    assert "The lock came late," in mine.get(case.get_absolute_url()).content.decode()
    mine.post(f"{case.get_absolute_url()}draft/", {"reason": "The lock came late, but"})
    assert mine.get(f"{CASES}{case.pk}/").json()["draft"] == {"reason": "The lock came late, but"}


def test_a_draft_outlives_the_claim_and_is_nobody_elses(
    case: Case, mine: Client, second: User, client_of: Callable[[User], Client]
) -> None:
    put(mine, f"{CASES}{case.pk}/draft/", {"fields": {"reason": "Not held, and kept."}})
    assert mine.get(f"{CASES}{case.pk}/").json()["draft"] == {"reason": "Not held, and kept."}
    assert client_of(second).get(f"{CASES}{case.pk}/").json()["draft"] == {}


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"fields": "x"},
        {"fields": {"charm": "5"}},
        {"fields": {"reason": "x" * 20_001}},
        {"fields": {"reason": "\0"}},
        {"fields": {"reason": ["x"]}},
    ],
)
def test_a_draft_that_no_form_could_have_is_400(case: Case, mine: Client, data: Any) -> None:
    answer = put(mine, f"{CASES}{case.pk}/draft/", data)
    assert answer.status_code == 400
    assert "fields" in answer.json()
    assert not Draft.objects.exists()


def test_only_reviewers_who_may_know_of_the_case_keep_drafts(
    case: Case, reviewer: User, mine: Client, operator: User, client_of: Callable[[User], Client]
) -> None:
    draft = {"fields": {"reason": "So."}}
    assert put(client_of(operator), f"{CASES}{case.pk}/draft/", draft).status_code == 403
    actions.declare_conflict(by=reviewer, match=case.match)
    assert put(mine, f"{CASES}{case.pk}/draft/", draft).status_code == 404


def test_what_a_refused_ruling_said_is_kept_and_handed_back(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    post(mine, f"{CASES}{case.pk}/commit/", {"levels": GOOD_LEVELS, "reason": "So."})
    stale = {
        "version": case.version - 1,
        "kind": "adopt",
        "seat": "openai",
        "public_reason": BECAUSE,
        "private_note": "Between us.",
    }
    answer = post(mine, f"{CASES}{case.pk}/rule/", stale)
    assert (answer.status_code, answer.json()["code"]) == (409, "case_changed")
    written = {
        "ruling": "adopt:openai",
        "public_reason": BECAUSE,
        "private_note": "Between us.",
    }
    assert answer.json()["draft"] == written
    assert mine.get(f"{CASES}{case.pk}/").json()["draft"] == written
    page = mine.get(case.get_absolute_url()).content.decode()
    assert re.search(r'value="adopt:openai"[^>]* checked', page)
    assert "Between us." in page


def test_what_is_refused_in_one_tab_leaves_what_is_typed_in_another(
    case: Case, mine: Client, reviewer: User
) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    post(mine, f"{CASES}{case.pk}/commit/", {"levels": GOOD_LEVELS, "reason": "So."})
    typed = {"ruling": "set", "score": "64", "public_reason": "Half a sentence"}
    put(mine, f"{CASES}{case.pk}/draft/", {"fields": typed})
    other = {**GOOD_LEVELS, "search": 1}
    late = post(mine, f"{CASES}{case.pk}/commit/", {"levels": other, "reason": "Or so."})
    assert (late.status_code, late.json()["code"]) == (409, "already_committed")
    page = {**{name: str(level) for name, level in other.items()}, "reason": "Or so."}
    assert late.json()["draft"] == Draft.objects.get().fields == {**typed, **page}
    assert mine.post(f"{case.get_absolute_url()}commit/", page).status_code == 409
    assert Draft.objects.get().fields == {**typed, **page}
    shown = mine.get(case.get_absolute_url()).content.decode()
    assert "Half a sentence" in shown
    assert BlindScore.objects.get().levels == GOOD_LEVELS


def test_what_was_committed_on_a_lapsed_claim_is_kept(case: Case, mine: Client) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    lapse(case.claims.get())
    own = {"levels": GOOD_LEVELS, "reason": "A clean second idea."}
    answer = post(mine, f"{CASES}{case.pk}/commit/", own)
    assert (answer.status_code, answer.json()["code"]) == (409, "claim_lapsed")
    kept = {**dict.fromkeys(GOOD_LEVELS, "4"), "reason": "A clean second idea."}
    assert Draft.objects.get().fields == answer.json()["draft"] == kept
    assert not BlindScore.objects.exists()


def test_escalating_puts_the_case_before_a_second_reviewer(
    case: Case, mine: Client, second: User, client_of: Callable[[User], Client]
) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    post(mine, f"{CASES}{case.pk}/commit/", {"levels": GOOD_LEVELS, "reason": "So."})
    escalated = {"version": case.version, "kind": "escalate", "public_reason": BECAUSE}
    shown = post(mine, f"{CASES}{case.pk}/rule/", escalated).json()
    assert (shown["state"], shown["phase"]) == ("awaiting_second", "wait")
    other = client_of(second)
    assert post(other, f"{CASES}next/").json()["case"] == case.pk
    blind = other.get(f"{CASES}{case.pk}/").json()
    assert (blind["phase"], blind["rulings"], blind["draft"]) == ("score", [], {})


def test_nobody_waits_for_a_panel_that_was_not_asked(
    case: Case, mine: Client, lead: User, client_of: Callable[[User], Client]
) -> None:
    ended = {"reason": "The vendor is down."}
    assert post(mine, f"{CASES}{case.pk}/end-wait/", ended).status_code == 403
    answer = post(client_of(lead), f"{CASES}{case.pk}/end-wait/", ended)
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_wait_for")
    assert post(client_of(lead), f"{CASES}{case.pk}/end-wait/", {}).status_code == 400


def test_releasing_declining_and_taking_over(
    case: Case, mine: Client, lead: User, client_of: Callable[[User], Client]
) -> None:
    post(mine, f"{CASES}{case.pk}/claim/")
    assert post(mine, f"{CASES}{case.pk}/release/").status_code == 204
    post(mine, f"{CASES}{case.pk}/claim/")
    claim = case.claims.live().get()
    over = post(
        client_of(lead), f"{CASES}{case.pk}/take-over/", {"claim": claim.pk, "reason": "Asleep."}
    )
    assert over.status_code == 201
    assert post(mine, f"{CASES}{case.pk}/renew/").json()["code"] == "claim_lapsed"
    assert post(mine, f"{CASES}{case.pk}/decline/").status_code == 204
    assert mine.get(CASES).json()["results"][0]["may_claim"] is False


def test_who_may_do_what(
    case: Case,
    competitor: User,
    operator: User,
    client_of: Callable[[User], Client],
) -> None:
    assert Client().get(CASES).status_code == 401
    assert client_of(competitor).get(CASES).status_code == 403
    assert client_of(competitor).get(f"{CASES}{case.pk}/").status_code == 403
    ops = client_of(operator)
    assert ops.get(f"{CASES}{case.pk}/").json()["match"] == "m-1"
    assert post(ops, f"{CASES}next/").status_code == 403
    assert post(ops, f"{CASES}{case.pk}/claim/").status_code == 403


def test_a_conflicted_reviewer_gets_404_and_counts_of_nothing(
    case: Case, reviewer: User, mine: Client
) -> None:
    actions.declare_conflict(by=reviewer, match=case.match)
    assert mine.get(f"{CASES}{case.pk}/").status_code == 404
    assert post(mine, f"{CASES}{case.pk}/claim/").status_code == 404
    assert mine.get(f"{CASES}counts/").json()["total"] == 0


def test_a_token_needs_the_scope_to_change_a_case(case: Case, reviewer: User) -> None:
    client = Client()
    for scopes, expected in ((["read"], 403), (["read", "adjudicate"], 201)):
        secret = token(reviewer, scopes)
        bearer = {"Authorization": f"Bearer {secret}"}
        assert client.get(CASES, headers=bearer).status_code == 200
        assert post(client, f"{CASES}{case.pk}/claim/", **bearer).status_code == expected


def token(owner: User, scopes: list[str]) -> str:
    _, secret = create_token(
        owner, name=f"for {scopes[-1]}", scopes=scopes, lifetime=timedelta(days=1)
    )
    return secret
