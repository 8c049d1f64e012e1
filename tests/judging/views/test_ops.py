"""What ops decide about a match or a challenge: with a reason, in the log, and back again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from bouts.actions import uploads
from bouts.bundles.errors import Refused
from bouts.models import AuditEntry, Bundle, Challenge, User
from judging import actions
from judging.models import Standing
from tests.matches import CANARY, judge, write_bundle

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
EXCLUSION = "/matches/m-1/exclusion/"
STATE = "/challenges/refunds/state/"


@pytest.fixture
def ops(client_of: SignedIn, operator: User) -> Client:
    return client_of(operator)


@pytest.fixture
def match(tmp_path: Path) -> Bundle:
    return judge(tmp_path, challenge={"judges": ["objective", "strategy", "integrity"]})


def text_of(client: Client, address: str) -> str:
    return client.get(address).content.decode()


@pytest.mark.parametrize("exclusion", ["withdrawn", "excluded"])
def test_a_match_is_taken_off_the_boards_and_put_back(
    exclusion: str, match: Bundle, ops: Client, operator: User, client_of: SignedIn, rival: User
) -> None:
    answer = ops.post(
        EXCLUSION, {"exclusion": exclusion, "reason": "the wrong commit"}, follow=True
    )
    assert answer.redirect_chain == [("/matches/m-1/", 302)]
    assert f"m-1: {exclusion}, it counts on no leaderboard." in answer.content.decode()
    assert "the wrong commit" in text_of(client_of(rival), "/matches/m-1/")
    assert set(Standing.objects.values_list("total", flat=True)) == {None}

    ops.post(EXCLUSION, {"exclusion": "", "reason": "it was the right one"})
    assert "counts on no leaderboard" not in text_of(client_of(rival), "/matches/m-1/")
    assert None not in Standing.objects.values_list("total", flat=True)
    first, second = AuditEntry.objects.filter(action="exclude_match").order_by("pk")
    assert (first.actor, first.subject, first.reason) == (operator, "match:m-1", "the wrong commit")
    assert second.before == {"exclusion": exclusion, "reason": "the wrong commit"}
    assert "the wrong commit" in text_of(ops, EXCLUSION)  # the log stands below the form


def test_no_reason_changes_nothing_and_keeps_what_was_chosen(match: Bundle, ops: Client) -> None:
    answer = ops.post(EXCLUSION, {"exclusion": "excluded", "reason": "  "})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "This field is required." in page
    assert 'value="excluded"' in page
    assert page.count("checked") >= 1
    match.match.refresh_from_db()
    assert match.match.exclusion == ""


@pytest.mark.parametrize("state", ["retired", "frozen"])
def test_a_challenge_is_put_into_another_state_and_back(
    state: str, match: Bundle, ops: Client, operator: User
) -> None:
    answer = ops.post(STATE, {"state": state, "reason": "the season is over"}, follow=True)
    assert answer.redirect_chain == [("/challenges/refunds/", 302)]
    assert f"refunds is {state} now." in answer.content.decode()
    ops.post(STATE, {"state": "active", "reason": "it is not"})
    assert Challenge.objects.get().state == Challenge.State.ACTIVE
    entries = AuditEntry.objects.filter(action="change_challenge_state").order_by("pk")
    assert [(entry.before, entry.after) for entry in entries] == [
        ({"state": "active"}, {"state": state}),
        ({"state": state}, {"state": "active"}),
    ]
    assert {entry.actor for entry in entries} == {operator}


def test_the_state_that_it_is_in_is_no_change(match: Bundle, ops: Client) -> None:
    ops.post(STATE, {"state": "active", "reason": "to be sure"})
    assert not AuditEntry.objects.filter(action="change_challenge_state").exists()


def test_a_frozen_challenge_refuses_uploads_and_rulings_until_it_is_thawed(
    match: Bundle, ops: Client, reviewer: User, tmp_path: Path
) -> None:
    ops.post(STATE, {"state": "frozen", "reason": "certificates are printed"})
    another = write_bundle(tmp_path / "another", match="m-2")
    with pytest.raises(Refused, match="not frozen"):
        uploads.upload(another, name="another", by=None)
    with pytest.raises(actions.ChallengeFrozen):
        actions.rule_strategy(match, None, by=reviewer, reason="it stands")
    ops.post(STATE, {"state": "active", "reason": "a mistake in them"})
    assert uploads.upload(another, name="another", by=None).bundle is not None
    actions.rule_strategy(match, None, by=reviewer, reason="it stands")


@pytest.mark.parametrize("address", [EXCLUSION, STATE])
def test_only_ops_and_admins_decide(
    address: str,
    match: Bundle,
    client_of: SignedIn,
    competitor: User,
    reviewer: User,
    lead: User,
    admin: User,
) -> None:
    given = {"exclusion": "excluded", "state": "frozen", "reason": "because"}
    for user in (competitor, reviewer, lead):
        client = client_of(user)
        assert client.get(address).status_code == client.post(address, given).status_code == 403
    assert Client().post(address, given).status_code == 302
    match.match.refresh_from_db()
    assert (match.match.exclusion, match.match.challenge.state) == ("", "active")
    assert client_of(admin).get(address).status_code == 200


@pytest.mark.parametrize("address", ["/matches/m-9/exclusion/", "/challenges/nothing/state/"])
def test_what_is_not_there_is_404(address: str, ops: Client) -> None:
    assert ops.get(address).status_code == 404


def test_ops_alone_find_the_ways_there(
    match: Bundle, ops: Client, client_of: SignedIn, competitor: User
) -> None:
    for page, way in (("/matches/m-1/", EXCLUSION), ("/challenges/refunds/", STATE)):
        assert f'href="{way}"' in text_of(ops, page)
        assert f'href="{way}"' not in text_of(client_of(competitor), page)
    assert EXCLUSION not in text_of(ops, "/matches/m-1/?as=others")


def test_a_public_reason_must_not_tell_of_a_hidden_test(match: Bundle, ops: Client) -> None:
    answer = ops.post(EXCLUSION, {"exclusion": "excluded", "reason": f"it broke {CANARY}_lock"})
    assert answer.status_code == 422
    assert "hidden test" in answer.content.decode()
    match.match.refresh_from_db()
    assert match.match.exclusion == ""
