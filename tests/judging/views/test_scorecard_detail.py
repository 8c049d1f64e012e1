from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from django.test import Client

from bouts.models import Bundle, User
from judging.actions import rule_strategy
from judging.models import Scorecard
from judging.scoring.exact import score_text
from judging.showing.history import Revision, changes
from tests.judging.views.making import rich
from tests.judging.views.test_match_detail import page, text_of


def test_a_revision_keeps_its_address_and_its_words(
    bundle: Bundle, as_team: Client, lead: User
) -> None:
    before = page(as_team, "/matches/m-1/revisions/1/")
    rule_strategy(bundle, None, by=lead, reason="So.")
    after = page(as_team, "/matches/m-1/revisions/1/")
    assert "Superseded" not in text_of(before)
    assert "Superseded by a later revision on the same bundle." in text_of(after)
    total = str(Scorecard.objects.get(number=1).total)
    assert total in text_of(after)
    # It tells of nothing that came later, but for the banner above it.
    assert "A reviewer ruled" not in text_of(after)
    assert "Revision 2" not in text_of(after)


def test_a_card_of_an_old_bundle_says_that_a_new_one_was_uploaded(
    bundle: Bundle, as_team: Client, tmp_path: Path
) -> None:
    rich(tmp_path / "again", hidden_log="another run\n")
    said = text_of(page(as_team, "/matches/m-1/revisions/1/"))
    assert "Superseded: a new bundle was uploaded for this match." in said
    assert "New upload, bundle 2" in text_of(page(as_team))


def test_evidence_of_an_old_card_is_that_of_its_bundle(
    bundle: Bundle, as_team: Client, tmp_path: Path
) -> None:
    rich(tmp_path / "again", diff="", verdicts=[], findings=[])
    old = page(as_team, "/matches/m-1/revisions/1/")
    assert "/matches/m-1/evidence/diff/?revision=1" in old
    assert "refunds/store.py" in page(as_team, "/matches/m-1/evidence/diff/?revision=1")
    assert "nothing was changed" in page(as_team, "/matches/m-1/evidence/diff/")


def test_the_history_says_what_changed_and_to_staff_who_caused_it(
    bundle: Bundle, as_team: Client, as_rival: Client, as_staff: Client, lead: User
) -> None:
    rule_strategy(bundle, Fraction(40), by=lead, reason="So.")
    first, second = Scorecard.objects.order_by("number")
    was = f"Strategy {score_text(first.strategy)} → {score_text(second.strategy)}"
    for client in (as_team, as_rival, as_staff):
        said = text_of(page(client)).partition("Revisions")[2].rpartition("Card digest")[0]
        assert f"A reviewer ruled; was {first.total}." in said
        assert was in said
        assert ("lena" in said) is (client is as_staff)
    assert "First scorecard, by the judges." in text_of(page(as_team))


def test_what_rests_on_the_same_has_no_changes_to_tell() -> None:
    at = datetime(2026, 3, 12, tzinfo=UTC)
    one = Revision(1, 1, Decimal(50), "final", "first scorecard", "", "", at, adjustment=-5)
    assert list(changes(one, replace(one, number=2))) == []
    other = replace(one, number=2, adjustment=3, policy="2026.2", challenge_version=2)
    assert list(changes(one, other)) == [
        "Integrity −5 → +3",
        "policy  → 2026.2",
        "challenge version 0 → 2",
    ]


def test_a_revision_that_is_not_there_is_not_found(as_team: Client) -> None:
    assert as_team.get("/matches/m-1/revisions/2/").status_code == 404


def test_a_blind_reviewer_gets_no_revision(as_blind: Client) -> None:
    html = page(as_blind, "/matches/m-1/revisions/1/")
    assert "Nothing of this match is shown to you yet." in text_of(html)
    assert "Heron" not in html


def test_a_stranger_is_sent_to_sign_in(bundle: Bundle) -> None:
    assert Client().get("/matches/m-1/revisions/1/").status_code == 302


def test_a_part_of_a_page_is_never_sent_for_a_whole_one(
    bundle: Bundle, competitor: User, client_of: Callable[[User], Client]
) -> None:
    response = client_of(competitor).get("/matches/m-1/revisions/1/")
    assert response.content.decode().startswith("<!doctype html>")
