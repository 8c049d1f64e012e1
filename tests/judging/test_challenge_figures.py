"""What the matches of a challenge tell of its tests: pass rates, and which tell agents apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.utils.html import strip_tags

from bouts.models import Artifact, Blob, Bundle, ChallengeVersion, Match, TestResult, User
from judging.challenge_figures import FEWEST_TO_TELL, Figures, figures_of, published_figures
from tests import matches
from tests.judging.cards import make_agent, make_version, record

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


def results(bundle: Bundle, suite: str, **passed: bool) -> None:
    stored = Blob.objects.create(digest=f"{suite}{bundle.pk}", size=1)
    file = Artifact.objects.create(
        bundle=bundle, path=f"{suite}.xml", kind="tests", suite=suite, blob=stored, state="read"
    )
    TestResult.objects.bulk_create(
        TestResult(artifact=file, ordinal=at, test_id=name, outcome="passed" if ok else "failed")
        for at, (name, ok) in enumerate(passed.items())
    )


def play(version: ChallengeVersion, numbers: range, teams: int) -> ChallengeVersion:
    """The better half passes ``telling``; ``always`` and ``never`` say nothing of anybody."""
    for number in numbers:
        card = record(make_agent(f"A{number}", f"t{number % teams}"), version, 5 * number)
        is_good = number - numbers.start >= len(numbers) / 2
        results(card.bundle, "static", telling=is_good, always=True, never=False)
        results(card.bundle, "hidden", test_zanzibar=not is_good)
    return version


def played(count: int, teams: int) -> ChallengeVersion:
    return play(make_version(), range(count), teams)


def by_id(figures: Figures) -> dict[str, object]:
    return {test.id: test for test in figures.tests}


def test_a_test_that_the_better_pass_tells_apart_and_one_that_all_pass_does_not() -> None:
    figures = figures_of(played(FEWEST_TO_TELL, 3), {"telling": "critical"})
    tests = by_id(figures)
    assert tests["telling"].rate == 0.5
    assert tests["telling"].severity == "critical"
    assert 0.8 < tests["telling"].tells <= 1
    assert tests["test_zanzibar"].tells < -0.8
    assert tests["always"].tells is tests["never"].tells is None
    assert figures.tests[0].id == "telling"


def test_of_few_matches_no_correlation_is_told() -> None:
    tests = by_id(figures_of(played(FEWEST_TO_TELL - 1, 3), {}))
    assert {test.tells for test in tests.values()} == {None}


def test_other_teams_see_rates_only_where_nobody_can_tell_whose_they_are(
    client_of: ClientOf, competitor: User, operator: User
) -> None:
    played(10, 2)
    page = client_of(competitor).get("/challenges/refunds/").content.decode()
    assert "telling" not in page
    assert "Shown from 5 matches of 3 teams on" in page
    assert "telling" in client_of(operator).get("/challenges/refunds/").content.decode()


def test_no_difference_between_two_days_tells_of_less_than_what_is_told_at_first(
    client_of: ClientOf, competitor: User, operator: User
) -> None:
    def told(user: User) -> str:
        page = strip_tags(client_of(user).get("/challenges/refunds/").content.decode())
        return page[page.index("What its matches tell of it") : page.index("The figures follow")]

    version = played(5, 3)
    first = told(competitor)
    assert "5 matches of 3 teams" in first
    # One match more, or many of a team, or one that is withdrawn: all would tell whose it is.
    play(version, range(5, 6), 3)
    assert told(competitor) == first
    play(version, range(6, 12), 1)
    assert told(competitor) == first
    Match.objects.filter(agent__name="A0").update(exclusion=Match.Exclusion.WITHDRAWN)
    assert told(competitor) == first
    assert figures_of(version, {}).matches == 11
    # A0 of t0 is gone, and A5 of t2 has come: with another of t1 that makes three teams.
    play(version, range(13, 14), 2)
    assert "12 matches of 3 teams" in told(competitor)
    # So few are left that their rates would tell whose they are: those of before stay.
    Match.objects.exclude(agent__name="A1").update(exclusion=Match.Exclusion.EXCLUDED)
    assert "12 matches of 3 teams" in told(competitor)
    assert "1 match of 1 team" in strip_tags(
        client_of(operator).get("/challenges/refunds/").content.decode()
    )


def test_what_is_published_is_what_was_counted() -> None:
    version = played(FEWEST_TO_TELL, 3)
    assert published_figures(version, {}) == figures_of(version, {})
    assert published_figures(version, {}) == figures_of(version, {})  # as it was stored


def test_hidden_tests_are_listed_for_ops_alone(
    client_of: ClientOf, competitor: User, reviewer: User, operator: User
) -> None:
    played(10, 3)
    for user in (competitor, reviewer):
        page = client_of(user).get("/challenges/refunds/").content.decode()
        assert "telling" in page
        assert "zanzibar" not in page
    assert "zanzibar" in client_of(operator).get("/challenges/refunds/").content.decode()


def test_the_panel_is_measured_on_all_matches_and_withheld_below_ten(
    tmp_path: Path, client_of: ClientOf, operator: User
) -> None:
    for number, scores in enumerate(((60, 76, 92), (70, 70, 70))):
        folder = tmp_path / str(number)
        matches.judge(folder, match=f"m-{number}", verdicts=matches.panel(*scores))
    version = ChallengeVersion.objects.get(is_live=True)
    figures = figures_of(version, {})
    assert figures.agreement.units == 2  # the flagged one and the other
    assert figures.with_case == 1
    page = strip_tags(client_of(operator).get("/challenges/refunds/").content.decode())
    assert "not printed below 10 matches with two votes; there are 2" in page
    assert "0.5000: 1 of 2 gave a question to a reviewer" in page
