"""The log of who changed what, for ops."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from bouts import audit
from bouts.models import AuditEntry, User

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


def subjects_on(response: object) -> list[str]:
    return [entry.subject for entry in response.context["entries"]]


def test_an_entry_tells_who_what_before_after_and_why(
    client_of: ClientOf, operator: User, admin: User
) -> None:
    before, after = (
        {"total": Decimal("60.00"), "held": True},
        {"total": Decimal("64.80"), "held": False},
    )
    audit.record(admin, "rule", "case:12", before, after, "The third seat erred.")
    page = client_of(operator).get("/audit/").content.decode()
    for shown in ("Rule", "case:12", "60.00", "64.80", "yes", "no", "The third seat erred.", "ada"):
        assert shown in page


def test_times_in_an_entry_are_told_with_their_zone(client_of: ClientOf, operator: User) -> None:
    audit.record(None, "renew", "case:12", after={"expires_at": timezone.now()})
    page = client_of(operator).get("/audit/").content.decode()
    assert page.count("UTC</time>") == 2
    assert "the system" in page


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["team:orrery", "case:12", "person:ines"]),
        ({"subject": "case:"}, ["case:12"]),
        ({"action": "change role"}, ["person:ines"]),
        ({"person": "ADA"}, ["case:12", "person:ines"]),
        ({"person": "ada", "action": "rule"}, ["case:12"]),
        ({"before": "x"}, ["team:orrery", "case:12", "person:ines"]),
        ({"before": "9" * 30}, ["team:orrery", "case:12", "person:ines"]),
        ({"subject": "nothing"}, []),
    ],
)
def test_filters(
    asked: dict[str, str], found: list[str], client_of: ClientOf, operator: User, admin: User
) -> None:
    audit.record(admin, "change_role", "person:ines")
    audit.record(admin, "rule", "case:12")
    audit.record(operator, "create_team", "team:orrery")
    assert subjects_on(client_of(operator).get("/audit/", asked)) == found


def test_a_long_log_is_cut_into_pages_without_counting_it(
    client_of: ClientOf, operator: User, django_assert_num_queries: Callable[..., object]
) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(actor=operator, action="rule", subject=f"case:{number}") for number in range(120)
    )
    client, seen, older = client_of(operator), [], {}
    for size in (50, 50, 20):
        with django_assert_num_queries(3):  # session, person, entries
            response = client.get("/audit/", older)
        assert len(subjects_on(response)) == size
        seen += subjects_on(response)
        older = {"before": response.context["older"]}
    assert seen == [f"case:{number}" for number in reversed(range(120))]
    assert older == {"before": None}


def test_htmx_gets_the_entries_alone(client_of: ClientOf, operator: User) -> None:
    response = client_of(operator).get("/audit/", headers={"HX-Request": "true"})
    assert response.content.decode().lstrip().startswith('<div class="stack" id="log">')


def test_only_ops_read_the_log(
    client_of: ClientOf, client: Client, competitor: User, lead: User
) -> None:
    for person in (competitor, lead):
        assert client_of(person).get("/audit/").status_code == 403
    assert client.get("/audit/").url == "/sign-in/?next=/audit/"
