import pytest

from finder import Index, search


@pytest.fixture
def index():
    index = Index()
    for number in range(1, 9):
        index.add(f"T-{number}", "printer jam " * number)
    index.add("T-9", "paper tray")
    return index


def test_a_removed_ticket_leaves_no_statistics(index):
    fresh = Index()
    for number in ("T-1", "T-9"):
        fresh.add(number, index.texts[number])
    for number in range(2, 9):
        index.remove(f"T-{number}")
    assert index.average_length() == fresh.average_length(), "zanzibar: lengths of the removed remain"
    assert search(index, "printer") == search(fresh, "printer"), "zanzibar: the removed still weigh"


def test_adding_twice_counts_once(index):
    once = search(index, "paper")
    index.add("T-9", "paper tray")
    assert search(index, "paper") == once, "zanzibar: a ticket was counted twice"


def test_removing_what_is_not_there_is_fine(index):
    index.remove("T-404")
    assert len(index) == 9


def test_a_phrase_with_a_repeated_word():
    index = Index()
    index.add("a", "very very slow")
    index.add("b", "very slow, very")
    assert [r.number for r in search(index, '"very very"')] == ["a"], "zanzibar: a repeated word"


def test_an_empty_index_finds_nothing():
    assert search(Index(), "NOT refund") == [], "zanzibar: an empty index broke search"
