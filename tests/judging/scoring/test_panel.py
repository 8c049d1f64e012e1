"""The strategy panel: every branch, that seats are interchangeable, and what does not hold."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.scoring.panel import Branch, PanelOutcome, settle
from judging.scoring.policy import CURRENT
from judging.scoring.reasons import Reason

from .making import bounded, scores

SEATS = CURRENT.panel.seats
votes_of_three = st.lists(scores | st.none(), min_size=3, max_size=3)


def panel(*votes: float | Fraction | None) -> PanelOutcome:
    exact = [None if vote is None else Fraction(str(vote)) for vote in votes]
    return settle(dict(zip(SEATS, exact, strict=False)), CURRENT)


@pytest.mark.parametrize(
    ("votes", "branch", "score", "case", "flagged"),
    [
        ((70, 75, 85), Branch.CONSENSUS, 75, None, False),
        ((60, 74, 88), Branch.CHAINED, 74, "panel_chained", False),
        ((60, 75, 91), Branch.OUTLIER_HIGH, Fraction(135, 2), None, False),
        ((30, 70, 72), Branch.OUTLIER_LOW, 71, None, False),
        ((60, 76, 92), Branch.DISAGREE, 66, "panel_disagreement", True),
        ((82, None, 70), Branch.PAIR_AGREE, 76, None, False),
        ((86, None, 70), Branch.PAIR_SPLIT, 68, "panel_disagreement", True),
        ((88, None, None), Branch.SINGLE, 88, "panel_incomplete", True),
        ((None, None, None), Branch.NO_PANEL, None, "panel_incomplete", True),
        ((), Branch.WAITING, None, None, False),
    ],
)
def test_each_branch_has_its_score_and_its_case(
    votes: tuple[int | None, ...],
    branch: Branch,
    score: Fraction | None,
    case: str | None,
    flagged: bool,
) -> None:
    outcome = panel(*votes)
    assert outcome.branch is branch
    assert outcome.score == score
    assert outcome.branch.case == case
    assert outcome.is_flagged is flagged
    assert outcome.why


@pytest.mark.parametrize(
    ("votes", "branch", "score"),
    [
        # Exactly 15 apart is within 15, whichever two it is; a hundredth more is not.
        ((70, 75, 85), Branch.CONSENSUS, "75"),
        ((70, 75, "85.01"), Branch.CHAINED, "75"),
        ((60, 75, 90), Branch.CHAINED, "75"),
        ((60, 75, "90.01"), Branch.OUTLIER_HIGH, "67.5"),
        (("59.99", 75, 90), Branch.OUTLIER_LOW, "82.5"),
        (("59.99", 75, "90.01"), Branch.DISAGREE, "65"),
        ((85, None, 70), Branch.PAIR_AGREE, "77.5"),
        (("85.01", None, 70), Branch.PAIR_SPLIT, "67.505"),
        ((0, 0, 100), Branch.OUTLIER_HIGH, "0"),
        ((100, 100, 85), Branch.CONSENSUS, "100"),
        ((75, 75, 91), Branch.OUTLIER_HIGH, "75"),
    ],
)
def test_the_edges_of_within(votes: tuple[object, ...], branch: Branch, score: str) -> None:
    outcome = panel(*votes)  # type: ignore[arg-type]
    assert (outcome.branch, outcome.score) == (branch, Fraction(score))


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ((85, 70, 75), "All three lie within 15 points: the middle one, 75."),
        (
            (60, 88, 74),
            "Neighbours lie within 15 points, the ends do not: the middle one, 74.",
        ),
        (
            (91, 60, 75),
            "91 lies more than 15 points above the other two and is discarded: "
            "the mean of 60 and 75.",
        ),
        (
            (72, 30, 70),
            "30 lies more than 15 points below the other two and is discarded: "
            "the mean of 70 and 72.",
        ),
        (
            (60, 76, 92),
            "All three lie more than 15 points apart: the mean, 76, less 10 until a reviewer rules.",
        ),
        ((82, None, 70), "2 of 3 seats answered, within 15 points: their mean."),
        (
            (86, None, 70),
            "2 of 3 seats answered, more than 15 points apart: the mean, 78, less 10 until a "
            "reviewer rules.",
        ),
        ((None, 88, None), "One seat of 3 answered: 88 stands until a reviewer rules."),
        ((None, None, None), "None of 3 seats answered: there is no score."),
        ((), "No seat is configured and no verdict was uploaded."),
    ],
)
def test_each_branch_says_which_votes_it_used_and_how(
    votes: tuple[int | None, ...], said: str
) -> None:
    assert panel(*votes).why == said


def test_the_discarded_vote_is_named_and_stays_in_the_mean_of_all() -> None:
    high = panel(60, 91, 75)
    assert high.discarded == SEATS[1]
    assert high.mean == Fraction(226, 3)
    assert (high.lowest, high.highest) == (60, 91)
    assert panel(70, 30, 72).discarded == SEATS[1]
    assert panel(60, 76, 92).discarded is None


def test_disagreement_never_takes_a_score_below_zero() -> None:
    assert panel(0, 16, None).score == 0


def test_a_panel_without_a_score_has_its_reason() -> None:
    assert panel(None, None, None).reason is Reason.NO_PANEL
    assert panel().reason is Reason.WAITING
    assert panel(50, 50, 50).reason is None


def test_a_fourth_seat_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 3 seats"):
        settle(dict.fromkeys("abcd", Fraction(50)), CURRENT)


@pytest.mark.parametrize("vote", [-1, 101])
def test_a_vote_outside_0_to_100_is_refused(vote: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        panel(vote, 50, 50)


@bounded
@given(votes_of_three, st.permutations(range(3)))
def test_the_order_of_the_seats_never_matters(
    votes: list[Fraction | None], order: list[int]
) -> None:
    seated = dict(zip(SEATS, votes, strict=True))
    reordered = {SEATS[place]: votes[place] for place in order}
    assert settle(reordered, CURRENT) == settle(seated, CURRENT)
    swapped = panel(*(votes[place] for place in order))
    assert (swapped.branch, swapped.score) == (
        settle(seated, CURRENT).branch,
        settle(seated, CURRENT).score,
    )


@bounded
@given(votes_of_three)
def test_the_score_lies_in_range_and_never_above_the_highest_vote(
    votes: list[Fraction | None],
) -> None:
    outcome = panel(*votes)
    if outcome.score is None:
        assert outcome.votes == 0
    else:
        assert outcome.highest is not None
        assert 0 <= outcome.score <= outcome.highest <= 100


@bounded
@given(votes_of_three)
def test_only_an_unsettled_panel_is_flagged(votes: list[Fraction | None]) -> None:
    outcome = panel(*votes)
    cast = sorted(vote for vote in votes if vote is not None)
    if len(cast) == 3 and min(cast[1] - cast[0], cast[2] - cast[1]) <= 15:
        assert not outcome.is_flagged


# What one might expect, and what the rule does not give -----------------------------------


def test_raising_one_seat_can_lower_the_panel() -> None:
    """75 makes three close enough to count the middle; 91 is an outlier and is discarded."""
    assert panel(60, 75, 90).score == 75
    assert panel(60, 75, 91).score == Fraction(135, 2)


def test_raising_one_seat_by_a_point_can_cost_the_panel_its_settlement() -> None:
    assert panel(60, 75, 91).score == Fraction(135, 2)
    assert panel(60, 76, 91).score == Fraction(167, 2)
    assert panel(60, 76, 92).score == 66


def test_a_second_and_higher_vote_can_lower_the_score() -> None:
    assert panel(60, None, None).score == 60
    assert panel(60, 76, None).score == 58


def test_a_split_pair_can_score_below_its_lowest_vote() -> None:
    outcome = panel(70, 86, None)
    assert outcome.lowest == 70
    assert outcome.score == 68


@bounded
@given(st.integers(0, 85), st.lists(st.integers(0, 15), min_size=3, max_size=4))
def test_within_a_consensus_raising_a_seat_never_lowers_the_panel(
    lowest: int, above: list[int]
) -> None:
    votes = [lowest + more for more in above[:3]]
    raised = [max(votes[0], lowest + above[-1]), *votes[1:]]
    before, after = panel(*votes), panel(*raised)
    assert before.branch is after.branch is Branch.CONSENSUS
    assert before.score is not None and after.score is not None
    assert after.score >= before.score
