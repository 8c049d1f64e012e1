import pytest

from refunds import money


@pytest.mark.parametrize("text, cents", [("12.30", 1230), ("0.29", 29), ("19.99", 1999), ("5", 500)])
def test_text_becomes_cents(text, cents):
    assert money.parse(text) == cents


@pytest.mark.parametrize("minor, text", [(1230, "12.30"), (5, "0.05"), (-250, "-2.50")])
def test_cents_become_text(minor, text):
    assert money.show(minor) == text


def test_words_are_no_amount():
    with pytest.raises(money.BadAmount):
        money.parse("twelve")


def test_shares_sum_to_the_amount():
    assert money.split(1000, 3) == [334, 333, 333]
