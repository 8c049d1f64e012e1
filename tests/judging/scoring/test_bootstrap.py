"""Intervals and tie bands: reproducible, paired, and silent where there is too little to say."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from judging.scoring.bootstrap import FEWEST, bands, difference, interval
from judging.scoring.exact import mean

scores = st.integers(0, 10_000).map(lambda number: Fraction(number, 100))
names = st.text("abcdefgh", min_size=1, max_size=6)
KNOWN = (Fraction("28.75"), Fraction("61.25"))
boards = st.dictionaries(names, scores, min_size=FEWEST, max_size=12)


@given(st.dictionaries(names, scores, max_size=FEWEST - 1))
def test_below_the_fewest_challenges_nothing_is_said(few: dict[str, Fraction]) -> None:
    assert interval(few) is None
    assert bands([few, few]) == [None, None]


@given(boards)
def test_an_interval_lies_within_the_scores_and_around_their_mean(
    board: dict[str, Fraction],
) -> None:
    found = interval(board)
    assert found is not None
    assert min(board.values()) <= found.low <= mean(list(board.values())) <= found.high
    assert found.high <= max(board.values())


@given(boards)
def test_the_same_scores_give_the_same_interval_in_any_order(board: dict[str, Fraction]) -> None:
    assert interval(board) == interval(dict(reversed(board.items())))


@given(boards, scores)
def test_a_constant_lead_is_never_a_tie_however_uneven_the_challenges(
    board: dict[str, Fraction], lead: Fraction
) -> None:
    """That is what pairing is for: hard challenges are hard for both."""
    better = {name: score + lead for name, score in board.items()}
    found = difference(better, board)
    assert found is not None
    assert found.low == found.high == lead
    assert bands([better, board]) == ([1, 1] if lead == 0 else [1, 2])


def test_known_intervals() -> None:
    """As made once; a change of draws would be a change of every stored interval."""
    found = interval({f"c{n}": Fraction(10 * n) for n in range(1, 9)})
    assert found is not None
    assert (found.low, found.high) == KNOWN


def test_a_band_is_measured_from_the_row_that_opened_it() -> None:
    """Else a chain of close neighbours would tie the first with the last."""

    def row(base: int) -> dict[str, Fraction]:
        # Each differs from the others by its base, and by noise that is its own.
        return {f"c{n}": Fraction(base + (base * n * 7) % 11) for n in range(8)}

    found = bands([row(base) for base in (60, 58, 56, 54, 52, 50, 20)])
    assert found[0] == 1
    assert found[-1] == max(number for number in found if number)
    assert found[-1] > 1
    assert found == sorted(found, key=lambda number: number or 0)


def test_a_row_of_few_challenges_among_others_has_no_band() -> None:
    full = {f"c{n}": Fraction(50) for n in range(8)}
    assert bands([full, {"c1": Fraction(90)}, full]) == [1, None, 1]
