"""What nobody sends by accident is answered calmly: no address answers it with an error of ours."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.test import Client

from adjudication import actions
from adjudication.models import Case, Draft
from bouts.models import Artifact, User
from tests.adjudication.making import GOOD_LEVELS
from tests.pages import without_tokens

ClientOf = Callable[[User], Client]

# Each address with the parameters that it reads.
READ = {
    "/leaderboard/": "family window page order q status",
    "/leaderboard.csv": "family window order",
    "/leaderboard/retry-safe-refunds/": "version window page order",
    "/api/leaderboard/": "family window order page q",
    "/api/leaderboard/retry-safe-refunds/": "version window",
    "/matches/": "q page challenge team agent status",
    "/matches.csv": "q challenge team",
    "/api/matches/": "q page page_size challenge",
    "/search/": "q page",
    "/compare/": "m agent challenge",
    "/compare.json": "m",
    "/matches/m-1/": "as",
    "/api/matches/m-1/breakdown/": "revision",
    "/matches/m-1/likeness/": "with",
    "/matches/m-1/evidence/tests/": "show page revision",
    "/matches/m-1/evidence/timeline/": "at window phase kind file",
    "/matches/m-1/evidence/diff/": "only line file page",
    "/matches/m-1/evidence/logs/": "file line page",
    "/matches/m-1/evidence/sandbox/": "show file page",
    "/queue/": "after before holder challenge state reason kind overdue stakes",
    "/queue/cases.csv": "holder challenge state",
    "/api/cases/": "after before page_size holder challenge state",
    "/api/cases/counts/": "holder challenge",
    "/figures/": "challenge since until",
    "/figures/decisions.csv": "challenge since until",
    "/notices/": "show page",
    "/work/": "page",
    "/people/": "q page role",
    "/audit/": "actor page action subject before",
}
NULS = ["%00", "a%00b"]
ODD = ["9" * 30, "%C2%B2", "%ED%A0%80", "-1", "9" * 17 + "-12-" + "9" * 17 + "-1"]


@pytest.mark.parametrize("odd", ODD)
def test_no_value_of_a_parameter_breaks_a_page(
    case: Case, competitor: User, lead: User, operator: User, client_of: ClientOf, odd: str
) -> None:
    for client in map(client_of, (competitor, lead, operator)):
        for address, names in READ.items():
            query = "&".join(f"{name}={odd}" for name in names.split())
            assert client.get(f"{address}?{query}").status_code < 500


@pytest.mark.parametrize("nul", NULS)
def test_an_address_with_a_nul_in_it_is_that_of_nothing(
    case: Case, operator: User, client_of: ClientOf, nul: str
) -> None:
    client = client_of(operator)
    for address, names in READ.items():
        assert client.get(address).status_code < 400 or address == "/compare.json", address
        for query in (*(f"{name}={nul}" for name in names.split()), f"{nul}=1"):
            answer = client.get(f"{address}?{query}")
            assert answer.status_code == 404, f"{address}?{query}"
            if address.startswith("/api/"):
                assert answer.json() == {"detail": "The API has no such address."}
    for path in (f"/people/{nul}/", f"/matches/{nul}/", f"/api/{nul}/"):
        assert client.get(path).status_code == 404


@pytest.mark.django_db
def test_a_stranger_with_a_nul_is_asked_to_sign_in_first() -> None:
    assert Client().get("/leaderboard/?q=%00").status_code == 302
    assert Client().get("/api/matches/?q=%00").status_code in {401, 403}
    assert Client().get("/sign-in/?next=%00").status_code == 404


@pytest.mark.parametrize("odd", ["line:" + "9" * 30, "event:" + "9" * 30])
def test_no_place_breaks_the_page_of_a_file(
    case: Case, competitor: User, client_of: ClientOf, odd: str
) -> None:
    diff = Artifact.objects.get(kind="diff")
    for name in ("at", "go", "find"):
        address = f"/matches/m-1/evidence/{diff.blob_id}/?{name}={odd}"
        assert client_of(competitor).get(address).status_code < 500


@pytest.mark.django_db
def test_a_session_key_with_a_nul_in_it_is_that_of_no_session() -> None:
    cookie = {"cookie": 'sessionid="\\000aaaaaaaaaaaaaaa"'}
    for address in ("/sign-in/", "/leaderboard/", "/api/cases/"):
        without = Client().get(address).status_code
        assert Client().get(address, headers=cookie).status_code == without


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("draft/", {"fields": {"\ud800": "x"}}),
        ("draft/", {"fields": {"reason": "\udfff"}}),
        ("commit/", {"levels": {**GOOD_LEVELS, "\ud800": 1}, "reason": "x"}),
        ("commit/", {"opinion": "\ud800", "reason": "x"}),
        ("rule/", {"version": 1, "kind": "\ud800", "public_reason": "x"}),
        ("end-wait/", {"reason": "\ud800"}),
    ],
)
def test_half_a_character_is_400_wherever_in_the_json_it_stands(
    case: Case, lead: User, client_of: ClientOf, path: str, data: object
) -> None:
    client = client_of(lead)
    send = client.put if path == "draft/" else client.post
    answer = send(f"/api/cases/{case.pk}/{path}", json.dumps(data), content_type="application/json")
    assert answer.status_code == 400
    assert "half a character" in answer.json()["detail"]


def test_a_whole_character_outside_the_basic_plane_is_none_of_them(
    case: Case, lead: User, client_of: ClientOf
) -> None:
    typed = json.dumps({"fields": {"reason": "\U0001d11e"}})  # as two escapes, of a pair
    address = f"/api/cases/{case.pk}/draft/"
    saved = client_of(lead).put(address, typed, content_type="application/json")
    assert saved.json()["fields"] == {"reason": "\U0001d11e"}


@pytest.mark.parametrize("path", ["draft", "commit", "rule"])
def test_a_field_that_no_form_of_ours_has_is_not_kept(
    case: Case, reviewer: User, client_of: ClientOf, path: str
) -> None:
    actions.claim_case(case.pk, by=reviewer)
    client_of(reviewer).post(
        f"{case.get_absolute_url()}{path}/",
        "a%00b=1&%00=1&charm=1&reason=typed%00here",
        content_type="application/x-www-form-urlencoded",
    )
    kept = [draft.fields for draft in Draft.objects.all()]
    assert kept in ([{"reason": "typed␀here"}], [])
    assert kept or path == "commit"  # which shows its form again, with all that was typed


def test_whoever_comes_blind_cannot_count_the_revisions(
    case: Case, reviewer: User, operator: User, client_of: ClientOf
) -> None:
    ops, blind = client_of(operator), client_of(reviewer)
    for address in (
        "/matches/m-1/revisions/{}/",
        "/api/matches/m-1/breakdown/?revision={}",
        "/matches/m-1/evidence/tests/?revision={}",
    ):
        there, not_there = address.format(1), address.format(2)
        assert [ops.get(each).status_code for each in (there, not_there)] == [200, 404]
        answers = [blind.get(each) for each in (there, not_there)]
        assert len({answer.status_code for answer in answers}) == 1
        assert len({without_tokens(answer.content.decode()) for answer in answers}) == 1
