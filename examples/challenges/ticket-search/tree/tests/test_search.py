import pytest

from finder import QueryError


def test_a_word_finds_its_tickets(find):
    assert find("refund") == {"T-1", "T-2", "T-4"}


def test_case_does_not_matter(find):
    assert find("REFUND") == find("refund")


def test_accents_do_not_matter(find):
    assert find("cafe") == {"T-3"}


def test_numbers_are_words(find):
    assert find("502") == {"T-4"}


def test_two_words_side_by_side_mean_and(find):
    assert find("card refund") == {"T-2"}


def test_or_binds_less_than_and(find):
    assert find("ignore OR card AND refund") == {"T-2", "T-5"}


def test_not_leaves_out(find):
    assert find("refund NOT bank") == {"T-4"}


def test_brackets_group(find):
    assert find("refund AND (bank OR page)") == {"T-1", "T-2", "T-4"}


def test_a_phrase_stands_in_order(find):
    assert find('"bank transfer"') == {"T-1"}


def test_an_open_bracket_is_an_error(find):
    with pytest.raises(QueryError):
        find("(refund")
