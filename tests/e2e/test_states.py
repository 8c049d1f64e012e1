"""Pages with nothing on them yet, and pages that say what went wrong: read as carefully as the others."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from bouts.models import Bundle, Match, User
from judging.models import Step
from tests.e2e.conftest import Look, OpenPage, Problems
from tests.judging.cards import make_agent, make_version, record

# Those of ops are looked at where they upload (test_upload.py).
EMPTY = {
    "competitor": ("/leaderboard/", "/matches/", "/challenges/", "/notices/", "/search/?q=heron"),
    "reviewer": ("/queue/",),
    "operator": ("/audit/",),
    "lead": ("/figures/",),
}


@pytest.mark.parametrize("person", EMPTY)
def test_a_site_without_a_match_says_what_will_be_where(
    person: str, request: pytest.FixtureRequest, page_as: OpenPage, look: Look
) -> None:
    page = page_as(request.getfixturevalue(person))
    for address in EMPTY[person]:
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        look(page, f"empty-{person}{address.split('?')[0].replace('/', '-')}")


@pytest.mark.parametrize(
    ("status", "address", "title"),
    [
        (404, "/nowhere/", "Nothing at this address"),
        (403, "/work/", "This is not open to you"),
        (400, f"/matches/?{'a&' * 1_100}", "We could not read"),
        (500, "/matches/broken/", "Something failed on our side"),
    ],
)
def test_what_went_wrong_is_said_in_whole_sentences(
    status: int,
    address: str,
    title: str,
    competitor: User,
    page_as: OpenPage,
    look: Look,
    problems: Problems,
) -> None:
    """The 500 is a real one: of a card whose breakdown is not as ours are."""
    record(make_agent(), make_version(), 50, match="broken", breakdown={"not": "one of ours"})
    page = page_as(competitor)
    answer = page.goto(address)
    assert answer is not None and answer.status == status
    expect(page.locator("h1")).to_contain_text(title)
    look(page, f"state-{status}")
    problems.expect(str(status))


def test_a_form_whose_token_is_gone_says_so(
    competitor: User, page_as: OpenPage, look: Look, problems: Problems
) -> None:
    page = page_as(competitor)
    page.goto("/account/")
    page.context.clear_cookies(name="csrftoken")
    page.evaluate(
        "document.querySelectorAll('[name=csrfmiddlewaretoken]').forEach((one) => one.remove())"
    )
    page.evaluate(
        "HTMLFormElement.prototype.submit.call(document.querySelector('form[method=post]'))"
    )
    expect(page.locator("h1")).to_be_visible()
    look(page, "state-403-csrf")
    problems.expect("403")


@pytest.mark.parametrize("person", ["rival", "operator"])
def test_a_match_that_broke_off_before_its_first_score_says_so_everywhere(
    person: str, request: pytest.FixtureRequest, page_as: OpenPage, look: Look
) -> None:
    agent, version = make_agent(), make_version()
    match = Match.objects.create(slug="broke-off", agent=agent, challenge=version.challenge)
    moment = timezone.now()
    bundle = Bundle.objects.create(
        match=match, number=1, digest="d", manifest={}, challenge_version=version,
        started_at=moment, finished_at=moment,
    )  # fmt: skip
    Step.objects.create(
        bundle=bundle, name="objective", state=Step.State.FAILED, attempts=3,
        reason="MemoryError: the reader of junit gave up",
    )  # fmt: skip
    page = page_as(request.getfixturevalue(person))
    page.goto(f"/agents/{agent.pk}/")
    expect(page.get_by_text("None of its matches was scored yet")).to_be_visible()
    page.goto("/matches/")
    expect(page.get_by_role("table").get_by_text("Failed")).to_be_visible()
    page.get_by_role("link", name="broke-off").click()
    expect(page.get_by_text("The work broke off")).to_be_visible()
    look(page, f"broke-off-{person}")
    assert page.get_by_role("link", name="list of work").count() == (person == "operator")


def test_no_badge_of_the_work_is_cut_on_a_narrow_screen(
    operator: User, page_as: OpenPage, look: Look
) -> None:
    agent, version = make_agent("An agent with quite a name"), make_version("a-long-slug-of-one")
    moment = timezone.now()
    match = Match.objects.create(
        slug="season-2026-northbank-heron-17", agent=agent, challenge=version.challenge
    )
    bundle = Bundle.objects.create(
        match=match, number=1, digest="d", manifest={}, challenge_version=version,
        started_at=moment, finished_at=moment,
    )  # fmt: skip
    # Of a seat whose worker went a moment ago: the sweep has not come by yet.
    Step.objects.create(
        bundle=bundle, name="strategy", seat="anthropic", state=Step.State.RUNNING, attempts=1,
        lease_expires_at=moment - timedelta(seconds=1),
    )  # fmt: skip
    page = page_as(operator)
    page.goto("/work/")
    look(page, "work-badges")
    page.set_viewport_size({"width": 360, "height": 900})
    frame = page.get_by_role("region", name="Table of steps").bounding_box()
    assert frame
    for badge in page.locator("#work .badge").all():
        box = badge.bounding_box()
        assert box and box["x"] + box["width"] <= frame["x"] + frame["width"]
