"""Sixteen programs at once ask a real server, with real tokens, for one case after another."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from adjudication.models import Claim
from bouts.actions.people import create_token
from bouts.models import AuditEntry, User
from tests import live
from tests.adjudication.test_races import at_once, make_cases
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)

CLIENTS, CASES = 16, 200

Ask = Callable[[str], tuple[int, bytes]]


@pytest.fixture
def ask() -> Iterator[Ask]:
    """A server on which nobody is told to settle a case before they get another; asks it once."""
    server = live.Server(live.environment(BOUTS_CASES_HELD=str(CASES)))

    def ask(token: str) -> tuple[int, bytes]:
        client = http.client.HTTPConnection(server.address, timeout=60)
        client.request("POST", "/api/cases/next/", headers={"Authorization": f"Bearer {token}"})
        answer = client.getresponse()
        body = answer.read()
        client.close()
        return answer.status, body

    server.start()
    yield ask
    server.stop()


def make_token(number: int) -> str:
    reviewer = make_user(f"reviewer-{number}", User.Role.REVIEWER)
    _, secret = create_token(
        reviewer, name="program", scopes=["read", "adjudicate"], lifetime=timedelta(days=1)
    )
    return secret


def test_each_case_is_claimed_exactly_once_and_then_none_is_left(ask: Ask) -> None:
    cases = make_cases(CASES)

    def claim_all(token: str) -> list[tuple[int, bytes]]:
        got = [ask(token)]
        while got[-1][0] == 201:
            got.append(ask(token))
        return got

    tokens = [make_token(number) for number in range(CLIENTS)]
    got = at_once([lambda token=token: claim_all(token) for token in tokens])
    given = [answer for each in got for answer in each]
    # Nothing but a case or a clean "none left", which ends each client's round.
    assert Counter(status for status, _ in given) == {201: CASES, 204: CLIENTS}
    claimed = [json.loads(body)["case"] for status, body in given if status == 201]
    assert sorted(claimed) == sorted(case.pk for case in cases)
    assert sorted(Claim.objects.live().values_list("case", flat=True)) == sorted(claimed)
    assert AuditEntry.objects.filter(action="claim_next").count() == CASES
