from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudication.outcomes import Vote, Waits, settle
from judging.scoring.policy import CURRENT

scores = st.fractions(min_value=0, max_value=100, max_denominator=21)
answers = st.tuples(st.sampled_from(["applied", "dismissed"]), st.none() | st.integers(-10, -3))


def votes(*given_scores: object) -> list[Vote]:
    return [Vote(score=Fraction(score)) for score in given_scores]


def test_one_vote_decides_where_one_is_needed() -> None:
    assert settle(votes(64), 1, CURRENT) == Vote(score=Fraction(64))


def test_a_case_for_two_waits_for_the_second() -> None:
    assert settle(votes(64), 2, CURRENT) == Waits(2)


def test_two_scores_exactly_fifteen_apart_give_their_mean() -> None:
    assert settle(votes(60, 75), 2, CURRENT) == Vote(score=Fraction(135, 2))


def test_two_scores_further_apart_want_a_third() -> None:
    assert settle(votes(60, Fraction("75.01")), 2, CURRENT) == Waits(3)


def test_of_three_scores_the_median_counts() -> None:
    assert settle(votes(90, 10, 40), 3, CURRENT) == Vote(score=Fraction(40))


def test_two_equal_answers_on_a_finding_settle_it() -> None:
    dismissed = Vote(answer="dismissed")
    assert settle([dismissed, dismissed], 2, CURRENT) == dismissed


def test_two_that_split_on_a_finding_want_a_third_who_decides() -> None:
    applied, dismissed = Vote(answer="applied", points=-20), Vote(answer="dismissed")
    assert settle([applied, dismissed], 2, CURRENT) == Waits(3)
    assert settle([applied, dismissed, dismissed], 3, CURRENT) == dismissed
    assert settle([applied, dismissed, applied], 3, CURRENT) == applied


def test_two_who_apply_a_finding_at_different_points_have_split() -> None:
    mild, grave = Vote(answer="applied", points=-3), Vote(answer="applied", points=-8)
    assert settle([mild, grave], 2, CURRENT) == Waits(3)


def test_the_rule_is_upheld_only_where_all_uphold_it() -> None:
    upheld = Vote(score=Fraction(66), upholds=True)
    assert settle([upheld, upheld], 2, CURRENT).upholds
    assert not settle([upheld, Vote(score=Fraction(66))], 2, CURRENT).upholds


def test_a_fourth_reviewer_is_one_too_many() -> None:
    with pytest.raises(ValueError, match="at most 3"):
        settle(votes(1, 2, 3, 4), 3, CURRENT)


@given(st.lists(scores, min_size=2, max_size=2))
def test_the_order_of_two_reviewers_never_matters(pair: list[Fraction]) -> None:
    assert settle(votes(*pair), 2, CURRENT) == settle(votes(*reversed(pair)), 2, CURRENT)


@given(st.lists(scores, min_size=3, max_size=3))
def test_three_reviewers_always_settle_on_one_of_their_scores(three: list[Fraction]) -> None:
    assert settle(votes(*three), 3, CURRENT).score in three


@given(st.lists(scores, min_size=1, max_size=3))
def test_an_outcome_lies_between_the_lowest_and_the_highest_vote(some: list[Fraction]) -> None:
    outcome = settle(votes(*some), len(some), CURRENT)
    if not isinstance(outcome, Waits):
        assert min(some) <= outcome.score <= max(some)
