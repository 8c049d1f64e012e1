"""The work page: what is stuck, how old, at which stage, why; and starting it again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from bouts.models import AuditEntry, Upload, User
from judging import steps
from judging.models import Scorecard, Step
from tests import matches

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]


@pytest.fixture
def ops(client_of: SignedIn, operator: User) -> Client:
    return client_of(operator)


def fail(**which: str) -> Step:
    Step.objects.filter(**which).update(
        state=Step.State.FAILED, attempts=3, reason="ValueError('odd')"
    )
    return Step.objects.filter(**which).get()


def test_nothing_that_waits_is_said(ops: Client) -> None:
    page = ops.get("/work/").content.decode()
    assert "Nothing waits" in page
    assert "hx-trigger" not in page


def test_what_failed_comes_first_with_age_and_reason(ops: Client, tmp_path: Path) -> None:
    matches.store(tmp_path)
    fail(name="strategy")
    Step.objects.update(created_at=timezone.now() - timedelta(hours=3, minutes=12))
    page = ops.get("/work/").content.decode()
    assert page.index(">Strategy<") < page.index(">Objective<")
    assert "3 h 12 min" in page
    assert "ValueError(&#x27;odd&#x27;)" in page
    assert "m-1" in page


def test_the_part_is_the_table_alone(ops: Client, tmp_path: Path) -> None:
    matches.store(tmp_path)
    part = ops.get("/work/", headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<div class="stack is-wide" id="work" hx-get="/work/"')


def test_a_step_is_started_again_and_the_log_says_by_whom(
    ops: Client, operator: User, tmp_path: Path
) -> None:
    bundle = matches.judge(tmp_path)
    step = fail(name="process")
    answer = ops.post(f"/work/steps/{step.pk}/requeue/", follow=True)
    assert b"Process of m-1 is queued again." in answer.content
    entry = AuditEntry.objects.get(action="requeue_step")
    assert (entry.actor, entry.subject) == (operator, "match:m-1")
    assert entry.before == {"state": "failed", "attempts": 3, "reason": "ValueError('odd')"}
    steps.run_steps(bundle)
    step.refresh_from_db()
    assert step.state == Step.State.DONE
    assert Scorecard.objects.count() == 1  # it says the same


def test_pressing_twice_changes_nothing_more(ops: Client, tmp_path: Path) -> None:
    bundle = matches.judge(tmp_path)
    step = fail(name="process")
    ops.post(f"/work/steps/{step.pk}/requeue/")
    steps.run_steps(bundle)
    verdicts = bundle.verdicts.count()
    again = ops.post(f"/work/steps/{step.pk}/requeue/", follow=True)
    assert b"Process is done by now. Nothing was changed." in again.content
    assert AuditEntry.objects.filter(action="requeue_step").count() == 1
    assert bundle.verdicts.count() == verdicts


def test_uploads_that_are_not_through_are_listed(ops: Client, operator: User) -> None:
    for state in Upload.State:
        Upload.objects.create(name=f"{state}.zip", size=1, by=operator, state=state)
    page = ops.get("/work/").content.decode()
    assert [state for state in Upload.State if f"{state}.zip" in page] == [
        "received",
        "working",
        "failed",
    ]


def test_others_cannot_start_anything(
    client_of: SignedIn, competitor: User, lead: User, tmp_path: Path
) -> None:
    matches.judge(tmp_path)
    step = fail(name="process")
    for user in (competitor, lead):
        assert client_of(user).post(f"/work/steps/{step.pk}/requeue/").status_code == 403
    assert Step.objects.get(pk=step.pk).state == Step.State.FAILED


def test_ten_times_the_work_needs_no_more_queries(
    ops: Client, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    matches.store(tmp_path / "0", match="m-0")
    with django_assert_num_queries(
        9
    ):  # session, person, states, count, steps, uploads, count, cost, rejudgings
        ops.get("/work/")
    for number in range(1, 6):
        matches.store(tmp_path / str(number), match=f"m-{number}")
    with django_assert_num_queries(9):
        ops.get("/work/")
