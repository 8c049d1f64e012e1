import pytest

from refunds.service import Declined, GatewayTimeout, OverRefund


def test_what_is_under_way_counts_as_given_back(service, gateway):
    gateway.mood = ["time out"]
    with pytest.raises(GatewayTimeout):
        service.refund("p1", "60.00", "k1")
    with pytest.raises(OverRefund):
        service.refund("p1", "60.00", "k2")
    assert gateway.total == 6000, "zanzibar: a pending refund was left out of the sum"


def test_what_was_declined_does_not(service, gateway):
    gateway.mood = ["decline"]
    with pytest.raises(Declined):
        service.refund("p1", "60.00", "k1")
    service.refund("p1", "60.00", "k2")
    assert gateway.total == 6000, "zanzibar: a declined refund was counted in the sum"


def test_the_last_cent_may_go_back(service, gateway):
    service.refund("p1", "99.99", "k1")
    service.refund("p1", "0.01", "k2")
    assert gateway.total == 10_000


@pytest.mark.parametrize("amount", ["0", "0.00", "-5.00"])
def test_nothing_and_less_is_refused(service, gateway, amount):
    with pytest.raises(ValueError):
        service.refund("p1", amount, "k1")
    assert gateway.calls == [], f"zanzibar: {amount} reached the gateway"
