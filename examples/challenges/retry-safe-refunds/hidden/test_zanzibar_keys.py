import pytest

from refunds import keys


def test_a_key_with_another_amount_is_refused(service, gateway):
    service.refund("p1", "25.00", "k1")
    with pytest.raises(keys.KeyReused):
        service.refund("p1", "26.00", "k1")
    assert gateway.total == 2500, "zanzibar: one key stood for two amounts"


def test_a_key_with_another_payment_is_refused(service, store, gateway):
    store.add_payment("p2", "Fig & Sons", 10_000)
    service.refund("p1", "25.00", "k1")
    with pytest.raises(keys.KeyReused):
        service.refund("p2", "25.00", "k1")


def test_payment_and_amount_do_not_run_together(service, store):
    store.add_payment("p11", "Fig & Sons", 10_000)
    assert keys.fingerprint("p1", 1500) != keys.fingerprint("p11", 500), "zanzibar: p1 + 1500 is p11 + 500"


def test_a_key_lives_to_the_end_of_its_day(service, gateway, clock):
    service.refund("p1", "10.00", "k1")
    clock.now += 24 * 60 * 60 - 1
    service.refund("p1", "10.00", "k1")
    assert gateway.total == 1000, "zanzibar: a key died early"


def test_an_old_key_may_stand_for_something_else(service, gateway, clock):
    service.refund("p1", "10.00", "k1")
    clock.now += 24 * 60 * 60
    service.refund("p1", "20.00", "k1")
    service.refund("p1", "20.00", "k1")
    assert gateway.total == 3000, "zanzibar: a key was not renewed"
