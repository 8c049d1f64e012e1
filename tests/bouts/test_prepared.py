"""A prepared query gives what the same query would, and refuses to keep what does not keep."""

from __future__ import annotations

from datetime import datetime, timedelta

import psycopg
import pytest
from django.db import (
    DataError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    connection,
    transaction,
)
from django.db.models import Count, Q, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from bouts import audit
from bouts.models import AuditEntry, Team, User
from bouts.prepared import Prepared, Unfit, save_new, together

pytestmark = pytest.mark.django_db


def test_it_finds_the_same_each_time_with_other_values(competitor: User, reviewer: User) -> None:
    person = Prepared(lambda pk: User.objects.with_team_ids().filter(pk=pk), pk=int)
    for user in (competitor, reviewer, competitor):
        plain = User.objects.with_team_ids().get(pk=user.pk)
        (found,) = person.rows(pk=user.pk)
        assert {**found.__dict__, "_state": None} == {**plain.__dict__, "_state": None}
        assert not found._state.adding
    assert person.first(pk=0) is None


def test_it_takes_one_query(
    competitor: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    person = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)
    for _ in range(2):
        with django_assert_num_queries(1):
            person.first(pk=competitor.pk)


def test_values_come_in_their_order_and_a_hole_may_stand_twice(competitor: User) -> None:
    def build(text: str, least: int) -> QuerySet:
        teams = Team.objects.filter(Q(slug=text) | Q(name=text), pk__gte=least)
        return teams.annotate(people=Count("members")).values_list("people", "slug")

    teams = Prepared(build, text=str, least=int)
    (team,) = competitor.teams.all()
    for text in (team.slug, team.name):
        assert teams.rows(text=text, least=team.pk) == [(1, team.slug)]
        assert teams.rows(text=text, least=team.pk + 1) == []


def test_what_is_put_in_is_a_value_and_never_sql(competitor: User) -> None:
    people = Prepared(lambda name: User.objects.filter(username=name), name=str)
    assert people.rows(name="' OR true --") == []
    assert people.rows(name="%s") == []


def test_a_time_that_would_be_kept_is_refused_and_one_that_is_a_hole_is_not(
    competitor: User,
) -> None:
    since = timezone.now() - timedelta(days=1)
    with pytest.raises(Unfit, match="would be set for good"):
        Prepared(lambda: User.objects.filter(date_joined__gt=since)).rows()
    joined = Prepared(lambda since: User.objects.filter(date_joined__gt=since), since=datetime)
    assert joined.rows(since=since) == [competitor]
    assert joined.rows(since=timezone.now() + timedelta(days=1)) == []


def test_a_hole_that_is_not_in_the_query_is_refused() -> None:
    with pytest.raises(Unfit, match="no place for pk"):
        Prepared(lambda pk: User.objects.all(), pk=int).rows(pk=1)


def test_what_would_come_without_its_related_rows_is_refused() -> None:
    for rows in (User.objects.prefetch_related("teams"), User.objects.values("pk")):
        with pytest.raises(Unfit):
            Prepared(lambda rows=rows: rows).rows()


def test_related_rows_come_along_where_there_are_any(
    competitor: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for actor in (competitor, None):
        audit.record(actor, "test", "nothing", None, {"at": 1})
    entries = Prepared(
        lambda subject: (
            AuditEntry.objects.filter(subject=subject).select_related("actor").order_by("pk")
        ),
        subject=str,
    )
    with django_assert_num_queries(1):
        by, nobody = entries.rows(subject="nothing")
        assert (by.actor, nobody.actor) == (competitor, None)
        assert by.after == {"at": 1}


def test_a_new_row_is_stored_with_what_save_would_give_it() -> None:
    saved, kept = (Team(slug=slug, name=slug.title()) for slug in ("saved", "kept"))
    saved.save()
    assert save_new(kept)
    for team in (saved, kept):
        assert Team.objects.get(pk=team.pk).__dict__ | {"_state": None} == team.__dict__ | {
            "_state": None
        }
    assert kept._state.__dict__ == saved._state.__dict__


def test_of_two_new_rows_that_are_one_the_second_is_not_stored() -> None:
    first, second = Team(slug="one", name="One"), Team(slug="one", name="Other")
    assert save_new(first, unless_there=True)
    assert not save_new(second, unless_there=True)
    assert second.pk is None
    assert Team.objects.get(slug="one").name == "One"
    with pytest.raises(IntegrityError):
        save_new(second)


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ended_is_replaced_at_the_next_request(
    competitor: User,
) -> None:
    person = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)
    assert person.first(pk=competitor.pk) == competitor
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
    connection.close_if_unusable_or_obsolete()  # as before each request
    assert person.first(pk=competitor.pk) == competitor


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ends_in_the_middle_of_a_request_is_not_replaced(
    competitor: User,
) -> None:
    find = "SELECT username FROM bouts_user WHERE id = %(pk)s"
    assert together((find, {"pk": competitor.pk}))
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
    # Nobody knows how much of what was asked for has been done.
    with pytest.raises(OperationalError):
        together((find, {"pk": competitor.pk}), (find, {"pk": competitor.pk}))
    connection.close_if_unusable_or_obsolete()  # as before each request
    assert together((find, {"pk": competitor.pk}))


@pytest.mark.django_db(transaction=True)
def test_a_migration_under_a_running_server_breaks_no_statement(competitor: User) -> None:
    person = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)
    length = User._meta.get_field("username").max_length
    assert person.first(pk=competitor.pk) == competitor
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        change = "ALTER TABLE bouts_user ALTER username TYPE varchar({})"
        other.execute(change.format(length + 10))
        try:
            assert person.first(pk=competitor.pk) == competitor
            other.execute(change.format(length + 20))
            # What a transaction has done cannot be done again on another connection.
            with pytest.raises(NotSupportedError), transaction.atomic():
                person.first(pk=competitor.pk)
            connection.close_if_unusable_or_obsolete()  # as before each request
            with transaction.atomic():
                assert person.first(pk=competitor.pk) == competitor
        finally:
            other.execute(change.format(length))


@pytest.mark.django_db(transaction=True)
def test_the_first_question_of_a_request_finds_out_whether_the_connection_stands(
    competitor: User,
) -> None:
    person = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)
    assert person.first(pk=competitor.pk) == competitor
    connection.health_check_enabled = True
    connection.close_if_unusable_or_obsolete()  # as before each request
    with CaptureQueriesContext(connection) as captured:
        assert person.first(pk=competitor.pk) == competitor
    assert len(captured) == 1
    assert connection.health_check_done


def test_what_is_done_together_is_one_transaction_and_sees_what_came_before(
    competitor: User,
) -> None:
    rename = "UPDATE bouts_user SET first_name = %(name)s WHERE id = %(pk)s"
    find = "SELECT first_name, '100%%' FROM bouts_user WHERE id = %(pk)s"
    values = {"name": "Ines", "pk": competitor.pk}
    assert together((rename, values), (find, values)) == [("Ines", "100%")]
    wrong = "SELECT 1 / (%(pk)s::int - id) FROM bouts_user WHERE id = %(pk)s"
    with pytest.raises(DataError), transaction.atomic():
        together((rename, {**values, "name": "Nobody"}), (wrong, values))
    competitor.refresh_from_db()
    assert competitor.first_name == "Ines"
