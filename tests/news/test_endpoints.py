"""Webhooks as ops see them."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from bouts.models import AuditEntry, User
from news import actions, delivering
from news.models import Endpoint
from tests.news.receiver import Receiver

pytestmark = pytest.mark.django_db
SignedIn = Callable[[User], Client]
NEW = {"name": "Dashboard", "url": "http://127.0.0.1:9/hook", "events": ["match.scored"]}


@pytest.fixture
def ops(client_of: SignedIn, operator: User) -> Client:
    return client_of(operator)


def test_an_endpoint_is_made_and_its_secret_shown_once(ops: Client, settings: Settings) -> None:
    settings.WEBHOOK_HTTP = settings.WEBHOOK_PRIVATE = True
    answer = ops.post("/webhooks/", NEW)
    assert answer.status_code == 201
    assert "no-store" in answer.headers["Cache-Control"]
    page = unescape(answer.content.decode())
    assert "whsec_" in page
    secret = page[page.index("whsec_") :].partition('"')[0]
    endpoint = Endpoint.objects.get()
    assert secret not in str(Endpoint.objects.values())
    for address in ("/webhooks/", endpoint.get_absolute_url(), "/audit/"):
        assert "whsec_" not in ops.get(address).content.decode()
    assert AuditEntry.objects.get(action="create_endpoint").after["events"] == ["match.scored"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "must begin with https://"),
        ({"url": "https://127.0.0.1/x"}, "private network"),
        ({"url": "https://nowhere.invalid/x"}, "not known"),
        ({"url": ""}, "required"),
        ({"events": []}, "required"),
        ({"events": ["match.deleted"]}, "not one of the available choices"),
    ],
)
def test_what_is_odd_is_refused_and_kept(
    changes: dict[str, object], said: str, ops: Client
) -> None:
    answer = ops.post("/webhooks/", {**NEW, **changes})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page and 'value="Dashboard"' in page
    assert not Endpoint.objects.exists()


def test_a_name_is_given_once(ops: Client, endpoint: Endpoint) -> None:
    assert ops.post("/webhooks/", {**NEW, "name": endpoint.name}).status_code == 422


def test_ops_change_test_rotate_and_turn_off(
    ops: Client, endpoint: Endpoint, receiver: Receiver
) -> None:
    address = endpoint.get_absolute_url()
    changed = {"name": "Board", "url": endpoint.url, "events": ["match.flagged"]}
    assert ops.post(address, changed, follow=True).status_code == 200
    ops.post(f"{address}test/")
    receiver.does = 500
    for delivery in delivering.due():
        delivering.deliver(delivery)
    page = ops.get(address).content.decode()
    assert "Board" in page and "status 500" in page
    assert "&lt;b&gt;no&lt;/b&gt;" in page and "<b>no</b>" not in page
    assert "Failing since" in page
    assert "whsec_" in ops.post(f"{address}rotate/").content.decode()
    assert "Two secrets sign until" in ops.get(address).content.decode()
    ops.post(f"{address}off/")
    assert "Off since" in ops.get(address).content.decode()
    assert delivering.due() == []
    ops.post(f"{address}on/")
    delivery = endpoint.deliveries.get()
    ops.post(f"/webhooks/deliveries/{delivery.pk}/again/")
    assert delivering.due() == [delivery.pk]
    actions_done = set(AuditEntry.objects.values_list("action", flat=True))
    assert actions_done >= {
        "change_endpoint", "rotate_secret", "turn_off_endpoint", "turn_on_endpoint", "redeliver",
    }  # fmt: skip


def test_the_log_asks_as_often_however_long_it_is(ops: Client, endpoint: Endpoint) -> None:
    def asked(count: int) -> int:
        for _ in range(count):
            actions.send_test(endpoint)
        with CaptureQueriesContext(connection) as queries:
            ops.get(endpoint.get_absolute_url())
        return len(queries)

    assert asked(1) == asked(20) <= 6


def test_others_than_ops_find_nothing(
    endpoint: Endpoint, client_of: SignedIn, competitor: User, reviewer: User, lead: User
) -> None:
    address = endpoint.get_absolute_url()
    posts = ("test/", "rotate/", "off/", "on/")
    for user in (competitor, reviewer, lead):
        client = client_of(user)
        assert client.get("/webhooks/").status_code == client.get(address).status_code == 403
        assert {client.post(address + part).status_code for part in posts} == {403}
    assert Client().get("/webhooks/").status_code == 302
