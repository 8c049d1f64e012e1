import pytest

from finder import Index, QueryError, search


@pytest.fixture
def find():
    index = Index()
    for number, text in {"a": "red", "b": "blue", "c": "red blue", "d": "green"}.items():
        index.add(number, text)
    return lambda query: {result.number for result in search(index, query)}


@pytest.mark.parametrize(
    "query",
    ["", "  ", "AND", "red AND", "OR red", "NOT", "(red", "red)", "()", '"red', '""'],
    ids=["empty", "blank", "and", "trailing-and", "leading-or", "not", "open", "close", "hollow", "quote", "no-phrase"],
)
def test_what_cannot_be_read_is_a_query_error(find, query):
    with pytest.raises(QueryError):
        find(query)


def test_not_binds_tightest(find):
    assert find("NOT red AND blue") == {"b"}, "zanzibar: NOT took too much"


def test_and_before_or_on_both_sides(find):
    assert find("red blue OR green NOT red") == {"c", "d"}, "zanzibar: OR took too much"


def test_two_nots_cancel(find):
    assert find("NOT NOT red") == {"a", "c"}


def test_lower_case_operators_are_words(find):
    assert find("red and blue") == set(), "zanzibar: 'and' was read as AND"
