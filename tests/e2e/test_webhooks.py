"""Ops and a receiver of webhooks: it is told, it fails, it is told again, its secret changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from bouts.models import User
from news.models import Attempt, Delivery
from tests.adjudication.making import AGREEING, make_match
from tests.e2e.conftest import Look, OpenPage
from tests.live import wait_until
from tests.news.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def shown_secret(page: Page) -> str:
    field = page.locator("#new-secret")
    expect(field).to_be_visible()
    return field.input_value()


def test_an_endpoint_from_its_first_test_to_its_second_secret(
    operator: User, page_as: OpenPage, receiver: Receiver, look: Look
) -> None:
    page = page_as(operator)
    page.goto("/webhooks/")
    page.get_by_label("Name").fill("Dashboard")
    page.get_by_label("Address").fill(f"{receiver.address}/hook")
    page.get_by_role("button", name="Make the endpoint").click()
    receiver.secret = first = shown_secret(page)
    page.get_by_role("link", name=re.compile("Open Dashboard")).click()
    expect(page.locator("#new-secret")).to_have_count(0)  # it was shown the once

    def press(button: str) -> None:
        page.get_by_role("button", name=button).first.click()

    def log_after(done: Callable[[], bool]) -> None:
        wait_until(done, "the attempt")
        page.reload()

    press("Send a test")
    log_after(lambda: Delivery.objects.filter(state=Delivery.State.DELIVERED).count() == 1)
    log = page.get_by_role("region", name="Table of deliveries")
    expect(log.locator("tbody tr")).to_have_count(1)
    expect(log).to_contain_text("Delivered")
    assert [heard["event"] for heard in receiver.heard] == ["test"]

    receiver.does = 500
    make_match(votes=AGREEING)
    log_after(lambda: Attempt.objects.filter(status=500).exists())
    expect(log.locator("tbody tr").first).to_contain_text("match.scored")
    expect(log.locator("tbody tr").first).to_contain_text("status 500")
    log.get_by_text("What it said").first.click()
    expect(log).to_contain_text("<b>no</b>")  # what strangers answer is text
    expect(page.get_by_text("Failing since")).to_be_visible()
    look(page, "webhook")

    press("New secret")
    second = shown_secret(page)
    assert second != first
    receiver.does, receiver.secret = 204, second
    expect(page.get_by_text("Two secrets sign until")).to_be_visible()
    press("Send again")
    log_after(lambda: Delivery.objects.filter(state=Delivery.State.DELIVERED).count() == 2)
    expect(page.get_by_text("Failing since")).to_have_count(0)
    assert receiver.heard[-1]["data"]["match"] == "m-1"

    press("Turn off")
    expect(page.get_by_text("Off since")).to_be_visible()
    page.goto("/webhooks/")
    expect(page.get_by_role("region", name="Table of endpoints")).to_contain_text("Off")
    look(page, "webhooks")
