"""A board's rows equal a recount, order on exact values, and rank only what may be ranked."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from bouts.models import Challenge, ChallengeVersion, Match, User
from judging import actions, narrow, standings
from judging.models import Standing
from tests import matches
from tests.judging.cards import make_agent, make_version, record
from tests.matches import judge

pytestmark = pytest.mark.django_db

FIELDS = [
    field.attname for field in Standing._meta.fields if field.attname not in {"id", "updated_at"}
]


def rows() -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in Standing.objects.values_list(*FIELDS)}


def settle() -> None:
    """Do what the sweep does for the boards."""
    standings.settle_bands()
    narrow.settle()


def row(name: str, *, overall: bool = False) -> Standing:
    return Standing.objects.default().get(agent__name=name, challenge_version__isnull=overall)


# Telemetry is absent in these bundles: without Process and Recovery the total is complete.
TWO_JUDGES = {"judges": ["objective", "strategy", "integrity"]}


def play(tmp_path: Path, name: str, match: str, *, static: bool = True, **options: object) -> None:
    results = {**matches.STATIC, "tests.test_a::test_twice": static}
    judge(
        tmp_path / match,
        match=match,
        agent={"name": name},
        static=[results],
        challenge=TWO_JUDGES,
        **options,
    )


def test_a_row_is_the_mean_of_the_ranked_matches(tmp_path: Path) -> None:
    play(tmp_path, "Heron", "m-1")
    play(tmp_path, "Heron", "m-2", static=False)
    heron = row("Heron")
    # 75 in Strategy at 20 of 65 parts; Objective 100, and (75 + 2 × 100) ÷ 3 at 45 of 65.
    assert heron.total == Decimal("89.42")
    assert (heron.matches, heron.ranked_matches) == (2, 2)


def test_rows_equal_a_recount_after_every_kind_of_change(
    tmp_path: Path, reviewer: User, operator: User
) -> None:
    play(tmp_path, "Heron", "m-1", verdicts=matches.panel(60, 76, 92))
    play(tmp_path, "Wren", "m-2", static=False)
    play(tmp_path, "Wren", "m-3")
    bundle = Match.objects.get(slug="m-1").bundles.get()
    actions.rule_strategy(bundle, None, by=reviewer, reason="stands")
    actions.exclude_match(Match.objects.get(slug="m-3"), "excluded", by=operator, reason="twice")
    settle()
    before = rows()
    assert narrow.recount() == 2
    assert rows() == before


def test_an_excluded_match_does_not_count_and_comes_back(tmp_path: Path, operator: User) -> None:
    play(tmp_path, "Heron", "m-1")
    match = Match.objects.get()
    total = row("Heron").total
    actions.exclude_match(match, Match.Exclusion.WITHDRAWN, by=operator, reason="asked to")
    assert row("Heron").total is None
    assert row("Heron").marks == ["withdrawn"]
    actions.exclude_match(match, Match.Exclusion.NONE, by=operator, reason="asked again")
    assert row("Heron").total == total


def test_an_incomplete_match_is_shown_and_not_ranked(tmp_path: Path) -> None:
    judge(tmp_path)  # a challenge with five judges, and no telemetry
    heron = row("Heron")
    assert (heron.total, heron.matches, heron.ranked_matches) == (None, 1, 0)
    assert "incomplete" in heron.marks


def test_a_held_match_leaves_the_board_until_it_is_decided(tmp_path: Path, reviewer: User) -> None:
    finding = matches.found("plagiarism", "final.diff", "diff:refunds.py:1", confidence="high")
    play(tmp_path, "Heron", "m-1", findings=[finding])
    assert row("Heron").total is None
    bundle = Match.objects.get().bundles.get()
    key = bundle.findings.get().key
    actions.decide_finding(bundle, key, status="applied", by=reviewer, reason="it is")
    assert row("Heron").total is not None
    assert "flagged" in row("Heron").marks


def test_equal_at_two_places_shares_a_rank(tmp_path: Path) -> None:
    for name, match in (("Heron", "m-1"), ("Wren", "m-2"), ("Kite", "m-3")):
        play(tmp_path, name, match, static=name != "Kite")
    board = standings.ranked_rows(row("Heron").challenge_version)
    ranks = {r.agent.name: standings.rank_of(r.rounded, board) for r in board}
    assert ranks == {"Heron": 1, "Wren": 1, "Kite": 3}


def test_overall_needs_three_challenges_or_all_where_there_are_fewer(tmp_path: Path) -> None:
    play(tmp_path, "Heron", "m-1")
    assert standings.challenges_needed() == 1
    assert list(standings.ranked_rows(None)) == [row("Heron", overall=True)]
    for slug in ("b", "c", "d"):
        challenge = Challenge.objects.create(slug=slug)
        Match.objects.create(slug=slug, challenge=challenge, agent=row("Heron").agent)
    assert standings.challenges_needed() == 3
    assert not standings.ranked_rows(None).exists()


# Spread, triggers, intervals and bands


def test_the_spread_is_that_of_the_ranked_matches_and_of_one_match_there_is_none() -> None:
    version, heron = make_version(), make_agent()
    record(heron, version, 50, objective=Fraction(40), process=None)
    assert row("Heron").spread == {}
    record(heron, version, 60, objective=Fraction(85, 2), process=Fraction(70))
    record(heron, version, 10, objective=Fraction(1), marks=["incomplete"])
    assert row("Heron").spread == {"objective": ["40.00", "42.50"]}


def test_applied_findings_stand_on_the_row_and_proposed_ones_do_not(
    tmp_path: Path, reviewer: User
) -> None:
    findings = [
        matches.found("reward_hacking", "final.diff", "diff:refunds.py:1"),
        matches.found("process_abuse", "final.diff", "diff:refunds.py:1"),
    ]
    play(tmp_path, "Heron", "m-1", findings=findings)
    assert row("Heron").triggers == {}
    bundle = Match.objects.get().bundles.get()
    key = bundle.findings.get(trigger="reward_hacking").key
    actions.decide_finding(bundle, key, status="applied", by=reviewer, reason="it is")
    assert row("Heron").triggers == {"reward_hacking": 1}


def fight(name: str, scores: Sequence[int]) -> None:
    for number, score in enumerate(scores):
        version = ChallengeVersion.objects.filter(challenge__slug=f"c-{number}").first()
        record(make_agent(name), version or make_version(f"c-{number}"), score)


def test_an_interval_needs_five_challenges() -> None:
    fight("Heron", [50, 60, 70, 80])
    assert row("Heron", overall=True).interval_low is None
    fight("Wren", [50, 60, 70, 80, 90])
    wren = row("Wren", overall=True)
    assert 50 < wren.interval_low < wren.total < wren.interval_high < 90


def test_what_the_challenges_do_not_tell_apart_shares_a_band() -> None:
    """Wren leads Heron by noise; both lead Kite on every challenge."""
    fight("Wren", [50, 71, 60, 82, 70, 91])
    fight("Heron", [55, 66, 65, 76, 75, 86])
    fight("Kite", [10, 20, 20, 30, 30, 40])
    assert standings.awaiting_bands().exists()
    assert standings.settle_bands()
    assert not standings.awaiting_bands().exists()
    bands = {name: row(name, overall=True).band for name in ("Wren", "Heron", "Kite")}
    assert bands == {"Wren": 1, "Heron": 1, "Kite": 2}
    assert not standings.settle_bands()  # nothing changed since


def test_bands_follow_every_change_as_a_recount_would(operator: User) -> None:
    fight("Wren", [50, 71, 60, 82, 70, 91])
    fight("Heron", [55, 66, 65, 76, 75, 86])
    standings.settle_bands()
    for match in Match.objects.filter(agent__name="Wren"):
        actions.exclude_match(match, "excluded", by=operator, reason="asked")
    standings.settle_bands()
    assert row("Wren", overall=True).band is None
    assert row("Heron", overall=True).band == 1
    settle()
    settled = rows()
    narrow.recount()
    assert rows() == settled
