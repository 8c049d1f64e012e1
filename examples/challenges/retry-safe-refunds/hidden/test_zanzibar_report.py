import logging

import pytest

from refunds import report
from refunds.service import GatewayTimeout

DAY = 950_400


def test_a_quote_in_a_name_is_only_a_quote(service, store):
    store.add_payment("p2", "O'Hara's", 5_000)
    service.refund("p2", "2.50", "k2")
    assert report.daily_totals(store, "O'Hara's", DAY) == {"EUR": 250}
    assert report.daily_totals(store, "x' OR '1'='1", DAY) == {}, "zanzibar: a name became SQL"


def test_midnight_belongs_to_one_day(service, store, clock):
    clock.now = float(DAY + 86_400)
    service.refund("p1", "2.50", "k1")
    assert report.daily_totals(store, "Fig & Sons", DAY) == {}, "zanzibar: midnight counted twice"
    assert report.daily_totals(store, "Fig & Sons", DAY + 86_400) == {"EUR": 250}


def test_only_what_is_done_counts(service, store, gateway):
    gateway.mood = ["time out"]
    with pytest.raises(GatewayTimeout):
        service.refund("p1", "2.50", "k1")
    assert report.daily_totals(store, "Fig & Sons", DAY) == {}, "zanzibar: a pending refund is in the report"


def test_currencies_stand_in_order(service, store):
    store.add_payment("p0", "Zest", 50_000, currency="JPY")
    store.add_payment("p9", "Zest", 50_000, currency="EUR")
    service.refund("p0", "5", "k1")
    service.refund("p9", "5", "k2")
    assert report.as_csv(store, "Zest", DAY) == "currency,minor_units\nEUR,500\nJPY,5\n", "zanzibar"


def test_no_card_number_reaches_the_log(service, caplog):
    with caplog.at_level(logging.DEBUG):
        service.refund("p1", "2.50", "k1")
    assert "4000000000000002" not in caplog.text, "zanzibar: a card number in the log"
