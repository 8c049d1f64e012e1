from __future__ import annotations

from adjudication import actions
from adjudication.models import Case, Conflict
from bouts.models import AuditEntry, User
from tests.factories import make_team, make_user

CONFLICTS = "/conflicts/"


def test_a_reviewer_declares_a_conflict_and_sees_it(case: Case, reviewer: User, client_of) -> None:
    actions.claim_case(case.pk, by=reviewer)
    client = client_of(reviewer)
    form = {"team": "northbank", "note": "My sister works there."}
    page = client.post(CONFLICTS, form, follow=True).content.decode()
    assert "My sister works there." in page
    assert Conflict.objects.get().reviewer == reviewer
    assert not case.claims.live().exists()
    assert AuditEntry.objects.filter(action="declare_conflict", actor=reviewer).exists()
    assert client.get(case.get_absolute_url()).status_code == 404


def test_declaring_the_same_twice_is_one_conflict(reviewer: User, client_of) -> None:
    make_team("halyard")
    for _ in range(2):
        client_of(reviewer).post(CONFLICTS, {"team": "halyard"})
    assert Conflict.objects.count() == 1


def test_membership_is_shown_as_a_conflict_by_itself(db: None, client_of) -> None:
    member = make_user("nils", User.Role.REVIEWER, teams=("northbank",))
    assert "You are a member." in client_of(member).get(CONFLICTS).content.decode()


def test_a_reviewer_sees_only_their_own_conflicts(reviewer: User, second: User, client_of) -> None:
    actions.declare_conflict(by=reviewer, team=make_team("halyard"), note="QUINCE")
    assert "QUINCE" not in client_of(second).get(CONFLICTS).content.decode()


def test_an_unknown_team_is_refused(reviewer: User, client_of) -> None:
    response = client_of(reviewer).post(CONFLICTS, {"team": "nobody"})
    assert response.status_code == 422
    assert not Conflict.objects.exists()


def test_competitors_find_no_such_page(competitor: User, client_of) -> None:
    assert client_of(competitor).get(CONFLICTS).status_code == 404
