"""The day of a reviewer: two at once, a lease that lapses, a login that expires, keys alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone
from playwright.sync_api import expect

from adjudication import actions
from adjudication.models import BlindScore, Case, Claim, Ruling
from bouts.models import AuditEntry, User
from tests.adjudication.making import CHAINED, GOOD_LEVELS, case_of, finding, make_match
from tests.e2e.conftest import Look, OpenPage, Problems
from tests.e2e.desk import BECAUSE, THOUGHT, WHY, claim, commit, fill_card, sign, tab_to
from tests.factories import PASSWORD, make_user


@pytest.fixture
def case(worker: None) -> Case:
    return case_of(make_match())


@pytest.fixture
def reviewer(worker: None) -> User:
    return make_user("rosa", User.Role.REVIEWER)


@pytest.fixture
def second(worker: None) -> User:
    return make_user("silas", User.Role.REVIEWER)


def end_lease(case: Case) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Claim.objects.filter(case=case).update(expires_at=past)
    Case.objects.filter(pk=case.pk).update(held_until=past, full_until=past)


def test_of_two_who_claim_one_case_one_gets_it_and_the_other_is_told(
    case: Case, reviewer: User, second: User, page_as: OpenPage, problems: Problems
) -> None:
    pages = [page_as(person) for person in (reviewer, second)]
    for page in pages:
        page.goto(case.get_absolute_url())
    for page in pages:
        page.get_by_role("button", name="Claim").click(no_wait_after=True)
    for page in pages:
        expect(
            page.get_by_text(re.compile("is yours|Someone else holds this case"))
        ).to_be_visible()
    holders = [page for page in pages if page.get_by_text("is yours").count()]
    assert len(holders) == 1
    assert Claim.objects.count() == 1
    problems.expect("409")


def test_a_case_is_settled_by_keys_alone(case: Case, reviewer: User, page_as: OpenPage) -> None:
    page = page_as(reviewer)
    page.goto("/queue/")
    page.keyboard.press("n")
    expect(page.get_by_text(f"{case} is yours")).to_be_visible()
    for level in "4435443":
        page.keyboard.press("j")
        page.keyboard.press(level)
    expect(page.locator("[data-own-score]")).to_have_text("71.43")
    tab_to(page, WHY)
    page.keyboard.type("njkc?12 none of these is a key while I type")
    expect(page.locator("#keys")).not_to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Committed: 71.43")).to_be_visible()
    assert BlindScore.objects.get().levels == dict(
        zip(GOOD_LEVELS, [4, 4, 3, 5, 4, 4, 3], strict=True)
    )
    tab_to(page, "Uphold the rule")  # the first of the choices; arrows lead to the others
    page.keyboard.press("ArrowDown")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("If you sign: Average the votes")
    promised = preview.locator("tr", has_text="Total").locator("td").last.inner_text()
    tab_to(page, "Public reason")
    page.keyboard.type(BECAUSE)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(f"The total is now {promised}")).to_be_visible()
    effect = page.get_by_role("region", name="Effect").locator("tr", has_text="Total")
    expect(effect.locator("td").last).to_have_text(promised)


def test_keys_move_through_the_queue_and_can_be_switched_off(
    case: Case, reviewer: User, page_as: OpenPage
) -> None:
    make_match("m-2", votes=CHAINED)
    page = page_as(reviewer)
    page.goto("/queue/")
    for key, row in (("j", 0), ("j", 1), ("k", 0)):
        page.keyboard.press(key)
        expect(page.locator("[data-rows] tbody tr").nth(row)).to_have_class(re.compile("is-next"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    with page.expect_response("**/queue/keys/"):
        page.get_by_label("Use keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).not_to_be_visible()
    assert not Claim.objects.exists()


def test_one_key_quotes_the_marked_evidence_with_its_place(
    case: Case, reviewer: User, page_as: OpenPage
) -> None:
    page = page_as(reviewer)
    claim(page, case)
    page.goto(f"{case.get_absolute_url()}?tab=diff")
    page.locator("tr[data-quote]").nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("q")
    reason = page.get_by_label(WHY)
    expect(reason).to_have_value(re.compile(r"^> .+ \[final\.diff diff:refunds/store\.py:2\]\n$"))
    expect(page.get_by_text("Draft saved")).to_be_visible()
    # The mouse does it too, and while somebody types the key is a letter.
    page.keyboard.type("q")
    page.get_by_role("button", name=re.compile("Quote what is marked")).click()
    assert reason.input_value().count("[final.diff diff:refunds/store.py:2]") == 2


def test_whoever_is_taken_over_is_told_and_keeps_the_text(
    case: Case, reviewer: User, page_as: OpenPage, problems: Problems
) -> None:
    lead = make_user("lena", User.Role.LEAD)
    page, other = page_as(reviewer), page_as(lead)
    claim(page, case)
    other.goto(case.get_absolute_url())
    other.get_by_text("Take it over", exact=True).click()
    expect(other.get_by_text("loses the slot at once")).to_be_visible()
    other.get_by_label("Why you take it over").fill("Away today.")
    other.get_by_role("button", name=re.compile("Take over from")).click()
    expect(other.get_by_text(f"{case} is yours")).to_be_visible()
    fill_card(page)
    expect(page.get_by_text("Your claim on this case has ended")).to_be_visible()
    problems.expect("409")
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_role("heading", name="Nothing was signed")).to_be_visible()
    expect(page.get_by_text(THOUGHT)).to_be_visible()
    problems.expect("409")
    assert not BlindScore.objects.exists()
    assert Claim.objects.live().get().reviewer == lead
    logged = AuditEntry.objects.get(action="take_over")
    assert (logged.actor, logged.reason) == (lead, "Away today.")


def test_what_was_chosen_and_typed_is_there_in_another_browser(
    case: Case, reviewer: User, page_as: OpenPage
) -> None:
    page = page_as(reviewer)
    claim(page, case)
    fill_card(page, level=2)
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.context.close()
    again = page_as(reviewer)
    again.goto(case.get_absolute_url())
    expect(again.get_by_label(WHY)).to_have_value(THOUGHT)
    assert again.locator("[data-levels] input:checked").count() == 7
    expect(again.locator("[data-own-score]")).to_have_text("25.00")


def test_a_lapsed_lease_is_told_while_typing_and_nothing_typed_is_lost(
    case: Case, reviewer: User, second: User, page_as: OpenPage, problems: Problems
) -> None:
    page = page_as(reviewer)
    claim(page, case)
    end_lease(case)
    fill_card(page)
    expect(page.get_by_text("Your claim on this case has ended")).to_be_visible()
    problems.expect("409")
    actions.claim_case(case.pk, by=second)
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_role("heading", name="Nothing was signed")).to_be_visible()
    expect(page.get_by_text(THOUGHT)).to_be_visible()
    problems.expect("409")
    actions.release(case.pk, by=second)
    claim(page, case)
    expect(page.get_by_label(WHY)).to_have_value(THOUGHT)
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_text("Committed: 75.00")).to_be_visible()


def test_an_expired_login_loses_nothing(case: Case, reviewer: User, page_as: OpenPage) -> None:
    page = page_as(reviewer)
    claim(page, case)
    Session.objects.all().delete()
    fill_card(page)
    expect(page.get_by_text("You are signed out")).to_be_visible()
    page.get_by_role("button", name="Commit and reveal").click()
    page.get_by_label("Name or email").fill("rosa")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label(WHY)).to_have_value(THOUGHT)
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_text("Committed: 75.00")).to_be_visible()
    assert BlindScore.objects.count() == 1


def test_an_answer_that_gets_lost_leaves_the_text_and_one_ruling(
    case: Case, reviewer: User, page_as: OpenPage, problems: Problems
) -> None:
    page = page_as(reviewer)
    claim(page, case)
    commit(page)
    page.get_by_label(re.compile("Average the votes")).check()
    page.get_by_label("Public reason").fill(BECAUSE)
    page.route("**/rule/", lambda route: route.fetch() and route.abort())
    with page.expect_event("requestfailed"):
        page.get_by_role("button", name="Sign the ruling").click(no_wait_after=True)
    page.unroute("**/rule/")
    page.goto(case.get_absolute_url())
    expect(page.get_by_text(BECAUSE)).to_be_visible()
    assert Ruling.objects.count() == 1
    problems.found.clear()


@contextmanager
def without_table(name: str) -> Iterator[None]:
    """Let the database fail whoever reads or writes a table."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {name} RENAME TO {name}_away")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE {name}_away RENAME TO {name}")


def test_a_database_that_fails_at_the_commit_is_said_and_trying_again_writes_one_score(
    case: Case, reviewer: User, page_as: OpenPage, problems: Problems
) -> None:
    page = page_as(reviewer)
    claim(page, case)
    fill_card(page)
    with without_table(BlindScore._meta.db_table):
        page.get_by_role("button", name="Commit and reveal").click()
        expect(page.get_by_role("heading", name="Something failed on our side")).to_be_visible()
    problems.expect("500")
    assert not BlindScore.objects.exists()
    for come_back in (page.go_back, page.reload):
        come_back()
        expect(page.get_by_label(WHY)).to_have_value(THOUGHT)
        assert page.locator("[data-levels] input:checked").count() == 7
    page.get_by_role("button", name="Commit and reveal").click()
    expect(page.get_by_text("Committed: 75.00")).to_be_visible()
    assert BlindScore.objects.get().score == 75
    page.reload()  # what is shown is what is stored
    expect(page.get_by_text(THOUGHT)).to_be_visible()


def test_each_step_of_a_case_is_accessible_and_fits(
    case: Case, reviewer: User, page_as: OpenPage, look: Look
) -> None:
    page = page_as(reviewer)
    page.goto(case.get_absolute_url())
    look(page, "case-door")
    claim(page, case)
    fill_card(page)
    page.get_by_role("button", name="What each level means").click()
    look(page, "case-blind")
    for tab in ("diff", "writing"):
        page.goto(f"{case.get_absolute_url()}?tab={tab}")
        look(page, f"case-evidence-{tab}")
    page.get_by_role("button", name="Commit and reveal").click()
    page.get_by_label(re.compile("Average the votes")).check()
    expect(page.locator("#preview")).to_contain_text("If you sign")
    look(page, "case-ruling")
    sign(page, "Average the votes")
    expect(page.get_by_text("Effect of the ruling")).to_be_visible()
    look(page, "case-decided")


def test_the_pages_around_it_are_accessible_and_fit(
    case: Case, reviewer: User, page_as: OpenPage, look: Look
) -> None:
    review = case_of(make_match("m-2", votes=CHAINED, findings=[finding()]), "integrity_review")
    page = page_as(reviewer)
    page.goto("/queue/?kind=blocking")
    look(page, "queue")
    claim(page, review)
    look(page, "case-finding")
    page.goto("/conflicts/")
    look(page, "conflicts")
