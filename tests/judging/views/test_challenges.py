from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from bouts.models import Challenge, User
from tests.judging.views.making import TESTS, retire
from tests.judging.views.test_match_detail import text_of
from tests.matches import store_challenge

BRIEFING = "# Refunds\n\nDo **not** pay twice.\n\n<script>alert(1)</script>"


@pytest.fixture
def challenge(db: None, tmp_path: Path) -> Challenge:
    store_challenge(
        tmp_path,
        tests=TESTS,
        briefing=BRIEFING,
        known_deceptions=["The spec lies about rounding."],
        weights={"objective": 50, "process": 15, "strategy": 20, "recovery": 15},
    )
    return Challenge.objects.get()


@pytest.fixture
def as_competitor(
    challenge: Challenge, competitor: User, client_of: Callable[[User], Client]
) -> Client:
    return client_of(competitor)


def test_the_list_names_each_challenge_with_its_disclosure(as_competitor: Client) -> None:
    said = text_of(as_competitor.get("/challenges/").content.decode())
    assert "Retry-safe refunds" in said
    assert "by count" in said


def test_hidden_tests_are_counts_by_severity(as_competitor: Client) -> None:
    html = as_competitor.get("/challenges/refunds/").content.decode()
    assert "zanzibar" not in html
    hidden = html.partition('<th scope="row">Hidden</th>')[2].partition("</tr>")[0]
    assert text_of(f"<main {hidden}</main>").split() == ["1", "1", "0", "2"]
    assert "by category" not in html.partition('<h2 id="tests"')[2]


def test_weights_and_briefing_are_shown_and_markup_in_it_is_text(as_competitor: Client) -> None:
    html = as_competitor.get("/challenges/refunds/").content.decode()
    assert "Objective 50 · Process 15 · Strategy 20 · Recovery 15" in text_of(html)
    assert "<strong>not</strong>" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert" not in html


def test_what_an_agent_must_see_through_is_for_ops(
    as_competitor: Client, operator: User, client_of: Callable[[User], Client]
) -> None:
    for client, is_shown in ((as_competitor, False), (client_of(operator), True)):
        html = client.get("/challenges/refunds/").content.decode()
        assert "rounding" not in html
        assert ("Forbidden paths" in html) is is_shown


def test_a_retired_open_challenge_says_that_all_is_shown(
    as_competitor: Client, tmp_path: Path
) -> None:
    store_challenge(tmp_path / "v2", tests=TESTS, disclosure="open")
    said = text_of(as_competitor.get("/challenges/refunds/").content.decode())
    assert "until the challenge is retired" in said
    assert "Version 2." in said and "Version 1." in said
    retire()
    said = text_of(as_competitor.get("/challenges/refunds/").content.decode())
    assert "shown in full: the challenge is retired" in said
    assert "Hidden tests by category: keys 1, locks 1." in said


def test_what_is_not_there_is_not_found_and_strangers_sign_in(as_competitor: Client) -> None:
    assert as_competitor.get("/challenges/nothing/").status_code == 404
    assert Client().get("/challenges/").status_code == 302
    assert Client().get("/challenges/refunds/").status_code == 302
