import pytest

from refunds.service import GatewayTimeout, OverRefund


def test_a_refund_moves_the_money(service, gateway):
    refund = service.refund("p1", "25.00", "k1")
    assert refund.status == "done"
    assert gateway.total == 2500


def test_the_same_key_refunds_once(service, gateway):
    first = service.refund("p1", "25.00", "k1")
    again = service.refund("p1", "25.00", "k1")
    assert again == first
    assert gateway.total == 2500


def test_a_retry_after_a_time_out_refunds_once(service, gateway, store):
    gateway.mood = ["time out"]
    with pytest.raises(GatewayTimeout):
        service.refund("p1", "25.00", "k1")
    refund = service.refund("p1", "25.00", "k1")
    assert refund.status == "done"
    assert gateway.total == 2500
    assert len(store.refunds_of("p1")) == 1


def test_more_than_was_paid_is_refused(service, gateway):
    with pytest.raises(OverRefund):
        service.refund("p1", "100.01", "k1")
    assert gateway.total == 0


def test_parts_never_exceed_what_was_paid(service, gateway):
    service.refund("p1", "60.00", "k1")
    with pytest.raises(OverRefund):
        service.refund("p1", "60.00", "k2")
    assert gateway.total == 6000


def test_an_old_key_is_a_new_request(service, gateway, clock):
    service.refund("p1", "10.00", "k1")
    clock.now += 25 * 60 * 60
    service.refund("p1", "10.00", "k1")
    assert gateway.total == 2000
