"""The pages of a rejudging: chosen, previewed, looked at, applied or dropped; ops alone."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bouts.models import Challenge, Match, User
from judging.actions import rule_strategy
from judging.models import Rejudging, Scorecard
from judging.rejudging import actions
from news.models import Notice
from tests import matches
from tests.judging.rejudging.making import apply, make_match, make_mended, preview, propose

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
LIST, NEW = "/rejudgings/", "/rejudgings/new/"
REASON = "The lock was graded too high."
JUDGES = ["objective", "process", "integrity"]
GIVEN = {"challenge": "refunds", "judges": JUDGES, "to_newest": "1", "reason": REASON}


@pytest.fixture
def ops(client_of: SignedIn, operator: User) -> Client:
    return client_of(operator)


@pytest.fixture
def mended(tmp_path: Path) -> None:
    make_mended(tmp_path)


@pytest.fixture
def rejudging(mended: None, operator: User) -> Rejudging:
    return preview(propose(operator))


def text_of(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def seen(rejudging: Rejudging) -> dict[str, str]:
    assert rejudging.ranked_at is not None
    return {"seen": rejudging.ranked_at.isoformat()}


def test_it_is_chosen_previewed_and_applied_without_script(mended: None, ops: Client) -> None:
    assert "Nothing has been rejudged" in text_of(ops, LIST)
    assert 'value="refunds" selected' in text_of(ops, f"{NEW}?challenge=refunds")
    answer = ops.post(NEW, GIVEN, follow=True)
    rejudging = Rejudging.objects.get()
    assert rejudging.judges == JUDGES
    assert answer.redirect_chain == [(rejudging.get_absolute_url(), 302)]
    page = answer.content.decode()
    assert "0 of 2 done" in page
    assert 'id="apply"' not in page
    preview(rejudging)
    page = text_of(ops, rejudging.get_absolute_url())
    assert "A preview: nothing of it counts" in page
    assert "Objective 73.33 → 83.33" in page
    assert "challenge version 1 → 2" in page
    assert "waits for you" in text_of(ops, LIST).lower()
    answer = ops.post(f"{rejudging.get_absolute_url()}apply/", seen(rejudging), follow=True)
    assert "is being applied" in answer.content.decode()
    assert actions.apply(rejudging.pk)
    assert "2 new scorecards" in text_of(ops, rejudging.get_absolute_url())


def test_what_is_shown_is_what_is_applied(rejudging: Rejudging, ops: Client) -> None:
    """Another preview than the one that was looked at is not applied."""
    address = f"{rejudging.get_absolute_url()}apply/"
    for stale in (
        {},
        {"seen": "2026-01-01T00:00:00+00:00"},
        {"seen": "yesterday"},
        {"seen": "2026-13-01"},
    ):
        answer = ops.post(address, stale, follow=True)
        assert "another preview by now" in answer.content.decode()
    rejudging.refresh_from_db()
    assert rejudging.state == Rejudging.State.OPEN


def test_it_is_dropped_and_can_still_be_read(rejudging: Rejudging, ops: Client) -> None:
    answer = ops.post(f"{rejudging.get_absolute_url()}drop/", follow=True)
    page = answer.content.decode()
    assert "is dropped. Nothing of it counts." in page
    assert "This is what it would have come to." in page
    assert "Objective 73.33 → 83.33" in page
    answer = ops.post(f"{rejudging.get_absolute_url()}apply/", seen(rejudging), follow=True)
    assert "was dropped. Nothing was applied." in answer.content.decode()
    answer = ops.post(f"{rejudging.get_absolute_url()}anew/", follow=True)
    assert "is settled. Nothing was changed." in answer.content.decode()
    assert Scorecard.objects.filter(cause="rejudge").count() == 0


def test_what_changed_since_is_said_and_previewed_anew(
    rejudging: Rejudging, ops: Client, reviewer: User
) -> None:
    rule_strategy(
        Match.objects.get(slug="m-1").bundles.get(), None, by=reviewer, reason="It stands."
    )
    page = text_of(ops, rejudging.get_absolute_url())
    assert "1 match has changed since the preview." in page
    assert "Applying records 1 new scorecard in" in page  # of two that would move
    assert "Changed since" in page
    assert "m-2" not in text_of(ops, f"{rejudging.get_absolute_url()}?show=since")
    answer = ops.post(f"{rejudging.get_absolute_url()}anew/", follow=True)
    assert "Previewed anew: 1." in answer.content.decode()
    preview(rejudging)
    assert "have changed since" not in text_of(ops, rejudging.get_absolute_url())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"match": "m-9"}, "No match fits this."),
        ({"reason": f"{matches.CANARY}_lock was too grave"}, "names or quotes a hidden test"),
        ({"reason": " "}, "This field is required."),
        ({"judges": []}, "This field is required."),
        ({"since": "yesterday"}, "Enter a valid date."),
        ({"since": "9999-12-31", "until": "9999-12-31"}, "No match fits this."),
        ({"since": "0001-01-01", "until": "0001-01-01"}, "No match fits this."),
    ],
)
def test_what_cannot_be_proposed_is_said_and_what_was_typed_is_kept(
    given: dict[str, str], said: str, mended: None, ops: Client
) -> None:
    answer = ops.post(NEW, {**GIVEN, **given})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert 'value="refunds" selected' in answer.content.decode()
    assert not Rejudging.objects.exists()


def test_a_frozen_challenge_says_so(mended: None, ops: Client) -> None:
    Challenge.objects.update(state=Challenge.State.FROZEN)
    answer = ops.post(NEW, GIVEN)
    assert answer.status_code == 422
    assert "The challenge is frozen" in answer.content.decode()


def test_its_files_hold_what_the_page_says(rejudging: Rejudging, ops: Client) -> None:
    address = rejudging.get_absolute_url().removesuffix("/")
    text = b"".join(ops.get(f"{address}.csv").streaming_content).decode()
    rows = {row["match"]: row for row in csv.DictReader(io.StringIO(text))}
    row = rows["m-1"]
    assert (row["outcome"], row["moved"], row["state"]) == ("up", "6.92", "open")
    assert (row["objective_before"], row["objective_after"]) == ("73.33", "83.33")
    assert (row["challenge_version_before"], row["challenge_version_after"]) == ("1", "2")
    assert row["changed_since"] == "False"
    document = json.loads(b"".join(ops.get(f"{address}.json").streaming_content))
    assert document["state"] == "open"
    assert {one["match"]: one["outcome"] for one in document["rows"]} == {
        "m-1": "up",
        "m-2": "changed",
    }
    assert document["ranks"] == rejudging.ranks


def test_the_team_reads_the_new_revision_and_why_and_nobody_reads_it_before(
    rejudging: Rejudging,
    operator: User,
    competitor: User,
    rival: User,
    client_of: SignedIn,
) -> None:
    team, others = client_of(competitor), client_of(rival)
    before = text_of(team, "/matches/m-1/")
    assert REASON not in before
    assert "Rejudged" not in before
    apply(rejudging, operator)
    after = text_of(team, "/matches/m-1/")
    assert "Rejudged; was 73.85." in after
    assert f"“{REASON}”" in after
    assert "challenge version 1 → 2" in after
    assert operator.username not in after
    assert REASON not in text_of(others, "/matches/m-1/")
    assert "73.33" in text_of(team, "/matches/m-1/revisions/1/")
    revisions = "/api/matches/m-1/revisions/"
    newest, first = team.get(revisions).json()["results"]
    assert (newest["cause"], newest["reason"], first["reason"]) == ("rejudge", REASON, "")
    assert others.get(revisions).json()["results"][0]["reason"] == "withheld"
    notice = Notice.objects.get(user=competitor, match__slug="m-1", text__contains="rejudged")
    assert REASON in notice.text


PAGES = (LIST, NEW, "{0}", "{0}?show=moved", "{1}.csv", "{1}.json")
ACTIONS = ("{0}apply/", "{0}drop/", "{0}anew/")


@pytest.mark.parametrize("person", ["competitor", "rival", "reviewer", "lead"])
def test_nobody_but_ops_sees_or_does_anything(
    person: str, rejudging: Rejudging, request: pytest.FixtureRequest, client_of: SignedIn
) -> None:
    client = client_of(request.getfixturevalue(person))
    address = rejudging.get_absolute_url()
    places = (address, address.removesuffix("/"))
    for page in PAGES:
        assert client.get(page.format(*places)).status_code == 403, page
        assert Client().get(page.format(*places)).status_code == 302, page
    for action in ACTIONS:
        assert client.post(action.format(*places), seen(rejudging)).status_code == 403, action
        assert Client().post(action.format(*places)).status_code == 302, action
    assert client.post(NEW, GIVEN).status_code == 403
    api = f"/api/rejudgings/{rejudging.pk}/"
    for page in ("/api/rejudgings/", api, f"{api}matches/"):
        assert client.get(page).status_code == 403, page
        assert Client().get(page).status_code == 401, page
    for action in ("apply/", "drop/", "preview-anew/"):
        assert client.post(f"{api}{action}", seen(rejudging)).status_code == 403, action
    rejudging.refresh_from_db()
    assert rejudging.state == Rejudging.State.OPEN
    assert Rejudging.objects.count() == 1


def test_admins_may_and_what_is_not_there_is_404(
    rejudging: Rejudging, admin: User, ops: Client, client_of: SignedIn
) -> None:
    assert client_of(admin).get(rejudging.get_absolute_url()).status_code == 200
    assert ops.get(f"/rejudgings/{rejudging.pk + 1}/").status_code == 404
    assert ops.get(f"/rejudgings/{rejudging.pk + 1}.csv").status_code == 404
    assert ops.get(f"{rejudging.get_absolute_url()}drop/").status_code == 405


def test_the_part_is_a_part_and_the_page_needs_no_more_queries_for_more_matches(
    rejudging: Rejudging, ops: Client, operator: User, tmp_path: Path
) -> None:
    part = ops.get(rejudging.get_absolute_url(), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert 'id="rejudging"' in part

    def queries(one: Rejudging) -> int:
        with CaptureQueriesContext(connection) as captured:
            ops.get(one.get_absolute_url())
        return len(captured)

    few = queries(preview(propose(operator, match="m-1")))
    for number in range(3, 7):
        make_match(
            tmp_path,
            f"m-{number}",
            name=f"Kite{number}",
            challenge={**Challenge.objects.get().versions.get(is_live=True).document},
        )
    many = queries(preview(propose(operator)))
    assert many == few


def test_head_is_answered_as_get(rejudging: Rejudging, ops: Client) -> None:
    address = rejudging.get_absolute_url()
    for page in PAGES:
        assert ops.head(page.format(address, address.removesuffix("/"))).status_code == 200, page


def test_ops_find_the_way_there_and_competitors_do_not(
    rejudging: Rejudging, ops: Client, competitor: User, client_of: SignedIn
) -> None:
    ways = {
        "/matches/m-1/": f"{NEW}?match=m-1",
        "/challenges/refunds/": f"{NEW}?challenge=refunds",
        "/work/": LIST,
    }
    for page, way in ways.items():
        assert f'href="{way}"' in text_of(ops, page)
        assert way not in text_of(client_of(competitor), page)
    assert "(1 not settled)" in text_of(ops, "/work/")


def test_over_the_api_it_is_the_same(mended: None, ops: Client) -> None:
    given = {"choice": {"challenge": "refunds"}, "reason": REASON}
    answer = ops.post("/api/rejudgings/", given, "application/json")
    assert answer.status_code == 202, answer.content
    number = answer.json()["rejudging"]
    assert answer.json()["previewed_at"] is None
    api = f"/api/rejudgings/{number}/"
    early = ops.post(f"{api}apply/", {"seen": "2026-01-01T00:00:00Z"}, "application/json")
    assert (early.status_code, early.json()["code"]) == (409, "not_ready")
    preview(Rejudging.objects.get())
    body = ops.get(api).json()
    assert body["judges"] == ["objective", "process", "recovery", "integrity"]
    assert body["counts"]["up"] == 1
    rows = ops.get(f"{api}matches/?show=moved").json()["results"]
    assert rows[0]["match"] == "m-1"
    assert rows[0]["moves"][0].startswith("Objective 73.33 → 83.33")
    stale = ops.post(f"{api}apply/", {"seen": "2026-01-01T00:00:00Z"}, "application/json")
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")
    answer = ops.post(f"{api}apply/", {"seen": body["previewed_at"]}, "application/json")
    assert (answer.status_code, answer.json()["state"]) == (200, "applying")
    assert actions.apply(number)
    assert ops.get(api).json()["counts"]["applied"] == 2
    late = ops.post(f"{api}drop/")
    assert (late.status_code, late.json()["code"]) == (409, "settled")
    assert ops.post("/api/rejudgings/999/drop/").status_code == 404


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"choice": {"match": "m-9"}, "reason": REASON}, "choice"),
        ({"choice": {"challenge": "refunds"}, "reason": f"{matches.CANARY}_lock"}, "reason"),
        ({"choice": {"challenge": "refunds"}, "reason": REASON, "judges": []}, "judges"),
    ],
)
def test_the_api_refuses_what_the_page_refuses(
    given: dict[str, object], field: str, mended: None, ops: Client
) -> None:
    answer = ops.post("/api/rejudgings/", given, "application/json")
    assert answer.status_code == 400
    assert field in answer.json()
