"""What the matches of a challenge tell of its tests: pass rates, and which tell agents apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.utils.html import strip_tags

from bouts.models import Artifact, Blob, Bundle, ChallengeVersion, TestResult, User
from judging.challenge_figures import FEWEST_TO_TELL, Figures, figures_of
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


def played(count: int, teams: int) -> ChallengeVersion:
    """The better half passes ``telling``; ``always`` and ``never`` say nothing of anybody."""
    version = make_version()
    for number in range(count):
        card = record(make_agent(f"A{number}", f"t{number % teams}"), version, 10 * number)
        is_good = number >= count / 2
        results(card.bundle, "static", telling=is_good, always=True, never=False)
        results(card.bundle, "hidden", test_zanzibar=not is_good)
    return version


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
