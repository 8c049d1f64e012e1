"""The person behind a session, fetched by a statement that is written once."""

from __future__ import annotations

import pytest
from django.forms import model_to_dict
from pytest_django import DjangoAssertNumQueries

from adjudication.models import Case
from bouts.backends import PersonBackend, counted
from bouts.models import User
from tests.adjudication.making import case_of, make_match

pytestmark = pytest.mark.django_db


def test_a_person_comes_as_a_query_set_would_give_them(
    competitor: User,
    reviewer: User,
    operator: User,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    case_of(make_match())
    counts = {name: count() for name, count in counted.items()}
    assert {"unsettled_cases", "unread_notices"} <= counts.keys()
    found = []
    for person in (competitor, reviewer, operator):
        with django_assert_num_queries(1):
            user = PersonBackend().get_user(person.pk)
            assert user is not None
            found.append((sorted(user.team_ids), *(getattr(user, name) for name in counts)))
        expected = User.objects.with_team_ids().annotate(**counts).get(pk=person.pk)
        assert model_to_dict(user) == model_to_dict(expected)
        assert found[-1] == (
            sorted(expected.fetched_team_ids),
            *(getattr(expected, name) for name in counts),
        )
    # Each differs from the others, so that none can be taken for another.
    assert found[0][0] and not found[1][0]
    assert [cases for _, cases, _ in found] == [0, Case.objects.count(), 0]


def test_nobody_is_behind_a_key_that_is_none_or_an_account_that_is_closed(competitor: User) -> None:
    assert PersonBackend().get_user(0) is None
    User.objects.filter(pk=competitor.pk).update(is_active=False)
    assert PersonBackend().get_user(competitor.pk) is None
    User.objects.filter(pk=competitor.pk).update(is_active=True)
    assert PersonBackend().get_user(competitor.pk) == competitor
