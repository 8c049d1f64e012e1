import pytest

from refunds import money


@pytest.mark.parametrize(
    "text, cents", [("0.57", 57), ("1.15", 115), ("8.41", 841), ("1234567.89", 123456789), ("4.35", 435)]
)
def test_amounts_are_exact(text, cents):
    assert money.parse(text) == cents, f"zanzibar: {text} lost a cent"


@pytest.mark.parametrize(
    "text, currency, minor", [("700", "JPY", 700), ("1.255", "KWD", 1255), ("2.3", "KWD", 2300)]
)
def test_every_currency_has_its_own_minor_unit(text, currency, minor):
    assert money.parse(text, currency) == minor, "zanzibar: wrong minor unit"


@pytest.mark.parametrize("text", ["1.005", "0.001"])
def test_a_part_of_a_cent_is_refused(text):
    with pytest.raises(money.BadAmount):
        money.parse(text)


@pytest.mark.parametrize("text", ["nan", "inf", "1e3"])
def test_no_odd_numbers(text):
    with pytest.raises(money.BadAmount):
        money.parse(text)


@pytest.mark.parametrize("minor, parts", [(100, 7), (5, 3), (1, 4)])
def test_shares_lose_nothing(minor, parts):
    shares = money.split(minor, parts)
    assert sum(shares) == minor, "zanzibar: a share was lost"
    assert max(shares) - min(shares) <= 1
