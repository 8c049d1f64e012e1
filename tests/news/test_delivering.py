"""Webhooks, against a receiver that verifies, refuses, hangs, drips and redirects."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from adjudication import actions as adjudication
from adjudication.actions import Decision
from adjudication.models import Ruling
from bouts.models import AuditEntry, User
from judging import actions as judging
from news import actions, delivering, tasks
from news.models import Attempt, Delivery, Endpoint, Event, Notice
from tests.adjudication.making import AGREEING, GOOD_LEVELS, case_of, finding, make_match
from tests.news.receiver import Receiver

pytestmark = pytest.mark.django_db


def deliver_all() -> None:
    for delivery in delivering.due():
        delivering.deliver(delivery)


def names(receiver: Receiver) -> list[str]:
    return [told["event"] for told in receiver.heard]


def pass_time(**time: float) -> None:
    """Let what waits be due, as after so long a time."""
    Delivery.objects.update(next_at=timezone.now() - timedelta(**time))


def test_a_match_is_told_scored_flagged_and_adjudicated(
    endpoint: Endpoint, receiver: Receiver, reviewer: User
) -> None:
    match = make_match()
    deliver_all()
    assert sorted(names(receiver)) == ["match.flagged", "match.scored"]
    case = case_of(match)
    adjudication.claim_case(case.pk, by=reviewer)
    adjudication.commit_score(case.pk, by=reviewer, levels=GOOD_LEVELS, reason="Sound.")
    decision = Decision(kind=Ruling.Kind.AVERAGE, public_reason="All three see a part.")
    adjudication.rule(case.pk, decision, by=reviewer, version=case.version)
    deliver_all()
    assert names(receiver)[2:] == ["match.adjudicated"]
    told = receiver.heard[-1]["data"]
    before, after = match.scorecards.order_by("number")
    assert told["before"] == {"revision": 1, "status": "provisional", "total": str(before.total)}
    assert told["after"] == {"revision": 2, "status": "final", "total": str(after.total)}
    assert told["breakdown"]["total"] == told["after"]["total"]
    assert {delivery.state for delivery in Delivery.objects.all()} == {"delivered"}


def test_it_tells_no_more_than_other_teams_may_see(endpoint: Endpoint, receiver: Receiver) -> None:
    make_match(
        rationales={"openai": "test_quarrel is why"},
        findings=[finding("judge_injection", confidence="high")],
    )
    deliver_all()
    told = json.dumps(receiver.heard).lower()
    for word in ("quarrel", "vault", "rationale", "judge_injection", "claude", "gpt-4o", "seats"):
        assert f'"{word}' not in told and f" {word}" not in told, word
    assert "withheld" in receiver.heard[0]["data"]["breakdown"]


def test_an_endpoint_hears_only_of_what_it_chose(
    endpoint: Endpoint, receiver: Receiver, operator: User
) -> None:
    actions.change_endpoint(endpoint, {"events": ["match.adjudicated"]}, by=operator)
    make_match()
    assert not Event.objects.exists()


def test_the_row_is_written_with_the_scorecard_or_not_at_all(endpoint: Endpoint) -> None:
    match = make_match(votes=AGREEING)
    before = Event.objects.count(), Notice.objects.count()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        judging.rule_strategy(
            match.bundles.get(), None, by=endpoint.created_by, reason="It stands."
        )
        assert Event.objects.count() > before[0]
        raise ZeroDivisionError
    assert (Event.objects.count(), Notice.objects.count()) == before


@pytest.mark.django_db(transaction=True)
def test_a_real_task_delivers_what_is_committed(
    endpoint: Endpoint, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[int] = []
    monkeypatch.setattr(tasks, "ring", rung.append)
    actions.send_test(endpoint)
    assert len(rung) == 1
    tasks.deliver.apply(args=rung).get()
    tasks.deliver.apply(args=rung).get()  # the same message twice
    assert names(receiver) == ["test"]


@pytest.mark.parametrize(
    ("does", "status", "failure"),
    [
        (500, 500, "status 500"),
        ("redirect", 302, "status 302, a redirect: it is not followed"),
        ("hang", None, "no answer within 1 s"),
        ("drip", None, "no answer within 1 s"),
    ],
)
def test_what_is_not_taken_is_tried_again_under_the_same_id(
    does: int | str,
    status: int | None,
    failure: str,
    endpoint: Endpoint,
    receiver: Receiver,
    settings: Settings,
) -> None:
    settings.WEBHOOK_TIMEOUT_S = 1
    receiver.does = does
    delivery = actions.send_test(endpoint)
    deliver_all()
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.failure) == (status, failure)
    assert [path for path, _ in receiver.asked] == ["/hook?team=1"]
    delivery.refresh_from_db()
    assert delivery.state == Delivery.State.WAITING
    assert delivery.next_at > timezone.now()
    assert delivering.due() == []
    endpoint.refresh_from_db()
    assert endpoint.failing_since is not None

    receiver.does = 204
    pass_time(seconds=1)
    deliver_all()
    assert [headers["webhook-id"] for _, headers in receiver.asked] == [str(delivery.event_id)] * 2
    assert names(receiver) == ["test"]
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None


def test_nobody_there_is_an_attempt_without_a_status(endpoint: Endpoint) -> None:
    Endpoint.objects.update(url="http://127.0.0.1:9/")  # discard: nothing listens there
    actions.send_test(endpoint)
    deliver_all()
    attempt = Attempt.objects.get()
    assert attempt.status is None
    assert attempt.failure.startswith("no connection")


def test_waits_grow_and_then_it_is_given_up_and_can_be_sent_again(
    endpoint: Endpoint, receiver: Receiver, operator: User
) -> None:
    receiver.does = 500
    delivery = actions.send_test(endpoint)
    waits = []
    for _ in range(len(delivering.BACKOFF) + 1):
        pass_time(seconds=1)
        deliver_all()
        delivery.refresh_from_db()
        waits.append(delivery.next_at - timezone.now())
    assert delivery.state == Delivery.State.GIVEN_UP
    for wait, expected in zip(waits, delivering.BACKOFF, strict=False):
        assert expected - timedelta(minutes=2) < wait <= expected
    assert list(delivering.BACKOFF) == sorted(delivering.BACKOFF)
    assert delivery.attempts.count() == len(delivering.BACKOFF) + 1
    assert delivery.attempts.first().excerpt == "<b>no</b>␀ room"
    pass_time(days=9)
    assert delivering.due() == []
    receiver.does = 204
    assert actions.redeliver(delivery, by=operator)
    deliver_all()
    delivery.refresh_from_db()
    assert delivery.state == Delivery.State.DELIVERED
    assert receiver.heard[0]["id"] == str(delivery.event_id)


def test_a_dead_worker_loses_nothing(endpoint: Endpoint, receiver: Receiver) -> None:
    delivery = actions.send_test(endpoint)
    assert delivering._take(delivery.pk) is not None  # and then its power is cut
    assert delivering.due() == []
    delivering.deliver(delivery.pk)  # nobody sends it a second time meanwhile
    assert receiver.asked == []
    Delivery.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    deliver_all()
    assert names(receiver) == ["test"]


def test_rotation_leaves_both_secrets_in_force_for_a_while(
    endpoint: Endpoint, receiver: Receiver, operator: User
) -> None:
    old = receiver.secret
    rotated = actions.rotate_secret(endpoint, by=operator)
    new = rotated.secrets_at(timezone.now())[0]
    assert new != old
    for secret in (old, new):
        receiver.secret = secret
        actions.send_test(endpoint)
        deliver_all()
    assert names(receiver) == ["test", "test"]
    Endpoint.objects.update(before_until=timezone.now() - timedelta(seconds=1))
    receiver.secret = old
    actions.send_test(endpoint)
    deliver_all()
    assert len(receiver.heard) == 2
    assert Attempt.objects.latest("pk").status == 400
    told = AuditEntry.objects.get(action="rotate_secret")
    assert old not in str(told.after) and new not in str(told.after)


def test_after_long_failure_it_is_turned_off_and_ops_are_told(
    endpoint: Endpoint, receiver: Receiver, operator: User, admin: User, reviewer: User
) -> None:
    receiver.does = 500
    actions.send_test(endpoint)
    deliver_all()
    Endpoint.objects.update(failing_since=timezone.now() - timedelta(days=4))
    pass_time(seconds=1)
    deliver_all()
    endpoint.refresh_from_db()
    assert not endpoint.is_on
    assert "Last: status 500" in endpoint.off_reason
    assert set(Notice.objects.values_list("user__username", flat=True)) == {"tomas", "ada"}
    pass_time(seconds=1)
    assert delivering.due() == []
    receiver.does = 204
    actions.turn_on(endpoint, by=operator)
    deliver_all()
    assert names(receiver) == ["test"]


def test_an_address_is_looked_at_again_when_the_connection_is_made(
    endpoint: Endpoint, receiver: Receiver, settings: Settings
) -> None:
    settings.WEBHOOK_PRIVATE = False  # as after the name was pointed somewhere else
    actions.send_test(endpoint)
    deliver_all()
    assert receiver.asked == []
    assert Attempt.objects.get().failure == "refused: The host is in a private network."


def test_no_two_workers_send_one_delivery(endpoint: Endpoint) -> None:
    delivery = actions.send_test(endpoint)
    taken = delivering._take(delivery.pk)
    assert taken is not None
    assert delivering._take(delivery.pk) is None
