"""A case that is opened on an old revision hides the models of every revision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from adjudication.models import Case
from bouts.models import User
from judging.models import Scorecard
from tests.matches import judge

pytestmark = pytest.mark.django_db


def test_a_review_asked_for_hides_who_said_what_on_every_revision(
    tmp_path: Path, competitor: User, client_of: Callable[[User], Client]
) -> None:
    bundle = judge(tmp_path)
    card = Scorecard.objects.live().get(bundle=bundle)
    client = client_of(competitor)
    addresses = ("/matches/m-1/", "/matches/m-1/revisions/1/", "/api/matches/m-1/breakdown/")
    for address in addresses:
        assert "sample-google" in client.get(address).content.decode(), address
    case = Case.objects.create(
        match=bundle.match,
        challenge=bundle.match.challenge,
        team=bundle.match.agent.team,
        bundle=bundle,
        scorecard=card,
        reason=Case.Reason.REVIEW_REQUESTED,
        blocking=False,
        evidence_digest=bundle.verdicts.get(judge="strategy", seat="").evidence_digest,
        stakes="standard",
    )
    for address in addresses:
        assert "sample-" not in client.get(address).content.decode(), address
    case.state, case.closed_at = Case.State.DECIDED, case.opened_at
    case.save()
    assert "sample-google" in client.get("/matches/m-1/revisions/1/").content.decode()
