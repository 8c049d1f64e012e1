"""The room with several people in it: a third reviewer, conflicts, undo, an outage, no script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from adjudication import actions
from adjudication.actions import Decision
from adjudication.models import BlindScore, Case, Ruling
from bouts.models import User
from tests.adjudication.making import (
    AGREEING,
    CHAINED,
    GOOD_LEVELS,
    case_of,
    finding,
    make_match,
)
from tests.e2e.conftest import Look, OpenPage, Problems
from tests.e2e.desk import BECAUSE, THOUGHT, WHY, claim, commit, fill_card, sign
from tests.factories import make_user
from tests.live import Server


@pytest.fixture
def second(worker: None) -> User:
    return make_user("silas", User.Role.REVIEWER)


def ruled(case: Case, by: User, kind: Ruling.Kind, because: str = BECAUSE) -> Ruling:
    """Claim, commit and rule without a browser."""
    actions.claim_case(case.pk, by=by)
    own = {"opinion": "confirm"} if case.is_on_finding else {"levels": GOOD_LEVELS}
    actions.commit_score(case.pk, by=by, reason=THOUGHT, **own)
    case.refresh_from_db()
    return actions.rule(case.pk, Decision(kind, because), by=by, version=case.version)


def test_two_far_apart_call_a_third_and_nobody_is_primed(
    reviewer: User, second: User, page_as: OpenPage
) -> None:
    case = case_of(make_match(stakes="high"))
    third = make_user("mira", User.Role.REVIEWER)
    first_page, second_page = page_as(reviewer), page_as(second)
    claim(first_page, case)
    claim(second_page, case)  # the other slot, at the same time
    commit(first_page, level=5)
    sign(first_page, "Set a score", "All of it was thought through.")
    expect(first_page.get_by_text("Other reviewers are still to rule")).to_be_visible()

    commit(second_page, level=1)
    for told in ("100.00", "All of it was thought through.", "rosa"):
        expect(second_page.locator("main")).not_to_contain_text(told)
    sign(second_page, "Set a score", "There was no plan.")
    expect(second_page.get_by_text("Other reviewers are still to rule")).to_be_visible()

    page = page_as(third)
    page.goto("/queue/")
    row = page.get_by_role("row", name=re.compile(str(case)))
    expect(row).to_contain_text("Awaiting second")
    row.get_by_role("button", name="Claim").click()
    commit(page)
    expect(page.locator("main")).not_to_contain_text("There was no plan.")
    sign(page, "Set a score", "A plan, and late.")
    expect(page.get_by_text("The total is now")).to_be_visible()
    effect = page.get_by_role("region", name="Effect").locator("tr", has_text="Strategy, counted")
    expect(effect.locator("td").last).to_have_text("75.00")  # the middle one of 100, 0 and 75
    for reason in ("All of it was thought through.", "There was no plan.", "A plan, and late."):
        expect(page.get_by_text(reason)).to_be_visible()


def test_whoever_has_a_conflict_finds_nothing_of_the_case_anywhere(
    reviewer: User, page_as: OpenPage, problems: Problems
) -> None:
    case = case_of(make_match())
    page = page_as(reviewer)
    claim(page, case)
    page.get_by_label(WHY).fill(THOUGHT)
    page.get_by_text("I should not decide this").click()
    page.get_by_role("button", name="Declare a conflict of interest").click()
    expect(page.get_by_text(f"{case} is no longer yours to see")).to_be_visible()
    assert not case.claims.live().exists()

    member = page_as(make_user("nils", User.Role.REVIEWER, teams=("northbank",)))
    for conflicted in (page, member):
        conflicted.goto("/queue/")
        expect(conflicted.get_by_text("Every card is signed")).to_be_visible()
        expect(conflicted.locator(".chip .count").first).to_have_text("0")
        expect(conflicted.locator(".masthead .count")).to_have_count(0)
        missing = conflicted.goto(case.get_absolute_url())
        assert missing is not None and missing.status == 404
        for feed in ("/queue/cases.csv", "/api/cases/", "/notices/"):
            answer = conflicted.request.get(feed)
            assert answer.ok, feed
            assert str(case) not in answer.text(), feed
        counts = conflicted.request.get("/api/cases/counts/").json()
        assert set(counts.values()) == {0}
    problems.expect("404")


def test_undo_is_a_new_ruling_that_names_the_one_it_replaces(
    reviewer: User, competitor: User, page_as: OpenPage
) -> None:
    case = case_of(make_match())
    first = ruled(case, reviewer, Ruling.Kind.UPHOLD)
    page = page_as(reviewer)
    page.goto(case.get_absolute_url())
    page.get_by_role("link", name="Correct").click()
    expect(page.get_by_role("heading", name="A ruling in place of")).to_be_visible()
    sign(page, "Average the votes", "The −10 was too hard.")
    expect(page.get_by_text("The total is now")).to_be_visible()
    entries = page.locator(".entries > li")
    expect(entries).to_have_count(2)
    expect(entries.first).to_contain_text("Superseded")
    expect(entries.first).to_contain_text(BECAUSE)
    expect(entries.last).to_contain_text("in place of an earlier ruling")
    first.refresh_from_db()
    assert first.superseded_by.kind == Ruling.Kind.AVERAGE

    theirs = page_as(competitor)
    theirs.goto(case.match.get_absolute_url())
    expect(theirs.get_by_text("The −10 was too hard.").first).to_be_visible()


def test_a_decision_on_what_has_changed_meanwhile_is_refused_with_its_text(
    reviewer: User, second: User, page_as: OpenPage, problems: Problems
) -> None:
    match = make_match(findings=[finding()])
    case, review = case_of(match), case_of(match, "integrity_review")
    page = page_as(reviewer)
    claim(page, case)
    commit(page)
    ruled(review, second, Ruling.Kind.CONFIRM)  # the total is another one now
    sign(page, "Average the votes")
    expect(page.get_by_role("heading", name="Nothing was signed")).to_be_visible()
    expect(page.get_by_text(BECAUSE)).to_be_visible()
    problems.expect("409")
    page.get_by_role("link", name="Open the case").click()
    expect(page.get_by_label("Public reason")).to_have_value(BECAUSE)
    expect(page.get_by_label(re.compile("Average the votes"))).to_be_checked()
    page.get_by_role("button", name="Sign the ruling").click()
    expect(page.get_by_text(f"Signed on {case}")).to_be_visible()
    assert Ruling.objects.filter(case=case).count() == 1


@pytest.mark.timeout(300)  # a server takes its time to start where much else runs
def test_a_server_that_goes_away_takes_neither_the_text_nor_the_slot(
    reviewer: User, page_as: OpenPage, problems: Problems, server: Server
) -> None:
    case = case_of(make_match())
    page = page_as(reviewer)
    claim(page, case)
    with server.away():
        fill_card(page)
        expect(page.get_by_text("the draft stays in this browser")).to_be_visible()
    problems.expect("ERR_")
    page.get_by_label(WHY).press_sequentially(" And it is back.")
    expect(page.get_by_text("Draft saved")).to_be_visible()

    elsewhere = page_as(reviewer)
    elsewhere.goto(case.get_absolute_url())
    expect(elsewhere.get_by_text(f"{case} is yours")).to_be_visible()
    expect(elsewhere.get_by_label(WHY)).to_have_value(f"{THOUGHT} And it is back.")
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_text("Committed: 75.00")).to_be_visible()
    assert BlindScore.objects.count() == 1


def test_of_two_tabs_of_one_person_the_first_commits(
    reviewer: User, page_as: OpenPage, problems: Problems
) -> None:
    case = case_of(make_match())
    page = page_as(reviewer)
    claim(page, case)
    tab = page.context.new_page()
    problems.watch(tab)
    tab.goto(case.get_absolute_url())
    commit(page)
    fill_card(tab, level=1)
    tab.get_by_role("button", name="Commit and reveal").click()
    expect(tab.get_by_role("heading", name="Nothing was signed")).to_be_visible()
    expect(tab.get_by_text(THOUGHT)).to_be_visible()
    problems.expect("409")
    assert BlindScore.objects.get().score == 75
    tab.get_by_role("link", name="Open the case").click()
    expect(tab.get_by_role("heading", name="Your ruling")).to_be_visible()


def test_without_script_a_case_goes_from_the_queue_to_its_ruling(
    reviewer: User, page_as: OpenPage
) -> None:
    case = case_of(make_match())
    page = page_as(reviewer, java_script_enabled=False)
    page.goto("/queue/")
    page.get_by_label("Kind").select_option("blocking")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="Next case").click()
    expect(page.get_by_text(f"{case} is yours")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Diff")).click()
    expect(page.get_by_role("region", name="Diff of refunds/store.py")).to_be_visible()
    commit(page)
    expect(page.get_by_role("heading", name="Revealed")).to_be_visible()
    page.get_by_label(re.compile("Average the votes")).check()
    page.get_by_role("button", name="Preview").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("If you sign: Average the votes")
    promised = preview.locator("tr", has_text="Total").locator("td").last.inner_text()
    sign(page, "Average the votes")
    expect(page.get_by_text(f"The total is now {promised}")).to_be_visible()


def test_leads_read_figures_as_pictures_as_tables_and_as_a_file(
    reviewer: User, lead: User, page_as: OpenPage, look: Look
) -> None:
    case = case_of(make_match())
    ruled(case, reviewer, Ruling.Kind.AVERAGE)
    make_match("m-2", votes=CHAINED, challenge="other-work")
    page = page_as(lead)
    page.goto("/figures/")
    pictures = page.locator("[data-plot]")
    expect(pictures).to_have_count(3)
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_attribute("data-drawn", "")
    decisions = page.get_by_role("region", name="Table of decisions")
    expect(decisions).to_contain_text(BECAUSE)
    look(page, "figures")
    assert str(case) in text_of(downloaded(page))

    page.get_by_label("Challenge", exact=True).select_option("other-work")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No case is decided yet.")).to_be_visible()
    assert str(case) not in text_of(downloaded(page))


def downloaded(page: Page) -> Download:
    with page.expect_download() as download:
        page.get_by_role("link", name="Decisions as CSV").click()
    return download.value


def text_of(download: Download) -> str:
    return Path(download.path()).read_text()


def test_a_team_asks_for_a_review_and_reads_the_answer(
    competitor: User, reviewer: User, page_as: OpenPage, look: Look
) -> None:
    match = make_match(votes=AGREEING)
    words = "The plan names the lock; the votes overlook it."
    page = page_as(competitor)
    page.goto(match.get_absolute_url())
    page.get_by_role("link", name="Ask for a review").click()
    look(page, "review-form")
    page.get_by_label("What speaks against it?").fill(words)
    page.locator("fieldset.field .check input[type=checkbox]").first.check()
    page.get_by_role("button", name="Ask for the review").click()
    expect(page.get_by_text("The answer comes here.").first).to_be_visible()

    case = case_of(match, "review_requested")
    desk = page_as(reviewer)
    claim(desk, case)
    expect(desk.locator("main")).not_to_contain_text(words)
    commit(desk)
    expect(desk.get_by_text(words)).to_be_visible()
    sign(desk, "Uphold the rule")
    expect(desk.get_by_text(f"Signed on {case}")).to_be_visible()

    page.goto("/notices/")
    expect(page.locator(".count-new")).to_be_visible()
    look(page, "notices")
    answered = page.locator(".entries > li", has_text=BECAUSE).first
    answered.get_by_role("link", name="Open").click()
    expect(page.locator("#review")).to_contain_text("Answered")
    expect(page.locator("#review")).to_contain_text(BECAUSE)
    page.goto("/notices/")
    page.get_by_role("button", name="Mark all read").click()
    expect(page.locator(".count-new")).to_have_count(0)
