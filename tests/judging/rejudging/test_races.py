"""Several workers at one rejudging, on a real PostgreSQL: one effect, whoever comes first."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bouts.models import AuditEntry, Match, User
from judging import tasks
from judging.actions import rule_strategy
from judging.models import RejudgedMatch, Rejudging, Scorecard, Verdict
from judging.rejudging import actions, work
from tests.judging.rejudging.making import make_mended, preview, propose
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ring nobody: these tests are their own workers."""
    monkeypatch.setattr(tasks, "_ring", lambda *arguments: None)


@pytest.fixture
def mended(tmp_path: Path) -> None:
    make_mended(tmp_path)


def test_five_workers_that_apply_at_once_have_one_effect(mended: None, operator: User) -> None:
    rejudging = preview(propose(operator))
    actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    answers = at_once([partial(actions.apply, rejudging.pk)] * 5)
    assert sorted(answers) == [False] * 4 + [True]
    assert Scorecard.objects.filter(cause="rejudge").count() == 2
    assert Scorecard.objects.filter(is_live=True).count() == 2
    assert Verdict.objects.filter(judge="objective").count() == 4
    assert AuditEntry.objects.filter(action="apply_rejudging").count() == 1
    rejudging.refresh_from_db()
    assert (rejudging.state, rejudging.attempts) == ("applied", 1)


def test_those_who_apply_and_drop_at_once_leave_one_of_both(mended: None, operator: User) -> None:
    rejudging = preview(propose(operator))
    ask = partial(actions.ask_to_apply, rejudging.pk, seen=rejudging.ranked_at, by=operator)
    at_once([ask, partial(actions.drop, rejudging.pk, by=operator)] * 3)
    actions.apply(rejudging.pk)
    rejudging.refresh_from_db()
    cards = Scorecard.objects.filter(cause="rejudge").count()
    assert (rejudging.state, cards) in {("applied", 2), ("dropped", 0)}


def test_five_workers_preview_each_match_once(mended: None, operator: User) -> None:
    rejudging = propose(operator)

    def all_of_it() -> None:
        while work.work_on(rejudging.pk):
            pass

    assert at_once([all_of_it] * 5) == [None] * 5
    work.work_on(rejudging.pk)  # whoever was last may have found the other at work
    rejudging.refresh_from_db()
    assert rejudging.ranked_at is not None
    rows = RejudgedMatch.objects.all()
    assert {(row.state, row.attempts) for row in rows} == {("done", 1)}
    assert Scorecard.objects.count() == 2


def test_a_ruling_at_the_same_moment_is_never_lost(
    mended: None, operator: User, reviewer: User
) -> None:
    rejudging = preview(propose(operator, match="m-1"))
    actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    bundle = Match.objects.get(slug="m-1").bundles.get()
    rule = partial(rule_strategy, bundle, None, by=reviewer, reason="It stands.")
    answers = at_once([partial(actions.apply, rejudging.pk), rule])
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    live = Scorecard.objects.get(match__slug="m-1", is_live=True)
    assert live.breakdown["judges"]["strategy"]["ruling"] is not None
    row = RejudgedMatch.objects.get()
    expected = "73.33" if row.state == "left out" else "83.33"
    assert live.breakdown["judges"]["objective"]["raw"] == expected


def test_two_rejudgings_of_the_same_matches_applied_at_once_count_once(
    mended: None, operator: User
) -> None:
    both = [preview(propose(operator)) for _ in range(2)]
    for rejudging in both:
        actions.ask_to_apply(rejudging.pk, seen=rejudging.ranked_at, by=operator)
    answers = at_once([partial(actions.apply, rejudging.pk) for rejudging in both])
    assert answers == [True, True]
    assert set(Rejudging.objects.values_list("state", flat=True)) == {"applied"}
    states = sorted(RejudgedMatch.objects.values_list("state", flat=True))
    assert states == ["done"] * 2 + ["left out"] * 2
    assert Scorecard.objects.filter(cause="rejudge").count() == 2
