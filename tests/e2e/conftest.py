"""A real browser at a real server, with a real worker behind it.

A test signs people in with `page_as` and looks at pages as they do. Whatever a page does wrong
by itself fails the test: an error in its console, a breach of its content security policy, a
request to another host, an answer of 500.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from bouts.models import User
from tests import chromium, live

# A folder for each user: what root's run left there, another user's could not write over.
SHOTS = Path(os.environ.get("BOUTS_SHOTS", f"/tmp/bouts-shots-{os.geteuid()}"))

OpenPage = Callable[..., Page]
Look = Callable[[Page, str], None]

# How long a page may take to show what is expected of it, on a machine that does much else.
expect.set_options(timeout=15_000)


@pytest.fixture(scope="package")
def worker_process(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A real Celery worker. It ends with this package, else it would take part in other tests."""
    with django_db_blocker.unblock():
        env = live.environment()
    log = live.logs() / "worker.log"
    command = ["celery", "--app", "bouts", "worker", "--concurrency", "1", "--loglevel", "INFO"]
    with live.running(*command, "--without-gossip", "--without-mingle", log=log, env=env):
        live.wait_until(lambda: " ready." in log.read_text(), "the worker")
        yield


@pytest.fixture(autouse=True)
def worker(transactional_db: None, worker_process: None) -> Iterator[None]:
    """Commit what a test writes, since server and worker are other processes.

    At the end of the test the worker finishes what it has begun; the rest of the queue is dropped.
    """
    yield
    live.drain_queue()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = chromium.path()
    assert found, "Chromium is missing; `make browser` installs it or says how."
    # Playwright keeps an event loop in this thread, which is no reason to refuse it the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(chromium.FLAGS))
        yield browser
        browser.close()


class Problems:
    """What pages did wrong. A test that provokes something names it with `expect`."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.found: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.found.append(f"uncaught: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)

    def expect(self, pattern: str) -> None:
        """Forgive what matches the pattern; fail where nothing does."""
        matching = [problem for problem in self.found if re.search(pattern, problem)]
        assert matching, f"Nothing like {pattern!r} among {self.found}."
        self.found = [problem for problem in self.found if problem not in matching]

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.found.append(f"console: {message.text}")

    def _asked(self, request: Any) -> None:
        if request.url.startswith(("http:", "https:", "ws:", "wss:")) and not (
            request.url.startswith(f"{self.site}/")
        ):
            self.found.append(f"request to another host: {request.url}")

    def _answered(self, response: Any) -> None:
        if response.status >= 500:
            self.found.append(f"status {response.status}: {response.url}")


@pytest.fixture
def problems(site: str) -> Iterator[Problems]:
    problems = Problems(site)
    yield problems
    assert problems.found == []


@pytest.fixture
def page_as(browser: Browser, site: str, problems: Problems) -> Iterator[OpenPage]:
    """Open a window of a person who is signed in, or of a stranger where there is none.

    ``page_as(user, width=360, height=800, color_scheme="dark")``: what else Playwright's
    ``new_context`` takes may be given too. Pages take addresses without the host.
    """
    contexts = []

    def open_page(
        user: User | None = None, *, width: int = 1280, height: int = 900, **options: Any
    ) -> Page:
        context = browser.new_context(
            base_url=site, viewport={"width": width, "height": height}, **options
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}
            context.add_cookies([cookie])
        page = context.new_page()
        problems.watch(page)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def accessible() -> Callable[..., None]:
    """Fail where axe finds something on the page."""

    def check(page: Page, *, only_colours: bool = False) -> None:
        options = {"runOnly": ["color-contrast"]} if only_colours else None
        violations = Axe().run(page, options=options)["violations"]
        told = [
            f"{violation['id']}: {violation['help']} at {node['target']}"
            for violation in violations
            for node in violation["nodes"]
        ]
        assert told == []

    return check


@pytest.fixture
def look(accessible: Callable[..., None], shoot: Callable[[Page, str], Path]) -> Look:
    """Fail where a page does not fit or is closed to somebody: wide, narrow, light and dark.

    One visit serves all of it: the window is resized and the scheme changed under the page.
    """

    def check(page: Page, name: str) -> None:
        for width, scheme in ((1440, "light"), (1440, "dark"), (360, "light")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            accessible(page, only_colours=scheme == "dark")  # the rest is the same in the dark
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, f"{name} is {over} px too wide for {width}"
            shoot(page, f"{name}-{width}-{scheme}")
        page.set_viewport_size({"width": 1280, "height": 900})

    return check


@pytest.fixture
def shoot() -> Callable[[Page, str], Path]:
    """Take a picture of the whole page, into `/tmp/bouts-shots-<uid>` or `$BOUTS_SHOTS`."""

    def take(page: Page, name: str) -> Path:
        SHOTS.mkdir(parents=True, exist_ok=True)
        file = SHOTS / f"{name}.png"
        page.screenshot(path=file, full_page=True)
        return file

    return take


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Show what server and worker had to say beside a test that failed."""
    report = yield
    if report.failed:
        for log in sorted(live.logs().glob("*.log")):
            last = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
            report.sections.append((log.name, last))
    return report
