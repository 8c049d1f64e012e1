import pytest

from finder import Index, search
from finder.rank import idf


@pytest.mark.parametrize("pair", [("T-1", "T-2"), ("T-20", "T-31"), ("A-7", "B-3"), ("Q-5", "Q-6")], ids="-".join)
def test_ties_come_by_number(pair):
    index = Index()
    for number in reversed(pair):
        index.add(number, "printer jam")
    assert [r.number for r in search(index, "printer")] == list(pair), "zanzibar: ties in no order"


def test_a_common_word_never_counts_against():
    index = Index()
    for number in range(6):
        index.add(str(number), "login failed")
    assert idf(index, "login") >= 0, "zanzibar: a common word tells less than nothing"


def test_more_of_a_common_word_ranks_higher():
    index = Index()
    index.add("a", "login page slow")
    index.add("b", "login login login")
    index.add("c", "login form broken")
    assert search(index, "login")[0].number == "b", "zanzibar: the best came last"
