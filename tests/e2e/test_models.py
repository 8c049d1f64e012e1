"""What models were asked and said, in a real browser: the card, a call, the work, the seats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from django.db import connection
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from bouts.models import User
from judging import steps
from judging.models import ModelCall, Step
from tests import live
from tests.e2e.conftest import OpenPage
from tests.factories import make_user
from tests.judging import asking
from tests.vendors import replies
from tests.vendors.server import VendorServer


@pytest.fixture
def call(
    worker: None,
    vendor_server: VendorServer,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> ModelCall:
    """One of the calls about a match of Northbank, two of whose three seats answered."""
    settings.SEATS = asking.seats(vendor_server)
    asking.hurry(monkeypatch)
    vendor_server.play("google", replies.refusal)
    bundle = asking.store(tmp_path)

    def is_judged() -> bool:
        steps.run_steps(bundle)
        return not bundle.steps.exclude(state=Step.State.DONE).exists()

    def work() -> None:
        # The worker beside us has no seats; it may be at the steps that need none.
        live.wait_until(is_judged, "the end of judging", timeout_s=60)
        connection.close()

    # The browser keeps an event loop in this thread, and the client of the vendors wants its own.
    thread = Thread(target=work)
    thread.start()
    thread.join()
    return ModelCall.objects.get(judge="strategy", seat="openai")


@pytest.mark.timeout(300)  # six pages, all of them open, each looked at by axe
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_what_models_said_reads_well_and_is_open_to_all(
    call: ModelCall,
    page_as: OpenPage,
    accessible: Callable[[Page], None],
    shoot: Callable[[Page, str], Path],
    width: int,
    scheme: str,
) -> None:
    tomas = make_user("tomas", User.Role.OPS)
    page = page_as(tomas, width=width, color_scheme=scheme)
    addresses = {
        "card": "/matches/m-1/",
        "calls": "/matches/m-1/calls/",
        "call": call.get_absolute_url(),
        "judge-again": "/matches/m-1/judge-again/",
        "health": "/judges/",
        "work": "/work/",
    }
    for name, address in addresses.items():
        page.goto(address)
        for summary in page.locator("summary").all()[:12]:
            if summary.is_visible():
                summary.click()
        accessible(page)
        shoot(page, f"models-{name}-{width}-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    page.goto("/matches/m-1/")
    page.get_by_role("link", name="What it was asked, and what it said").first.click()
    expect(page.get_by_role("heading", name="Strategy, seat")).to_be_visible()
