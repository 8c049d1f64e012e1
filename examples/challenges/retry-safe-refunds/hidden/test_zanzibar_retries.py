import pytest

from refunds import keys
from refunds.service import GatewayTimeout


def test_two_time_outs_in_a_row_move_the_money_once(service, gateway, store):
    gateway.mood = ["time out", "lost"]
    for _ in range(2):
        with pytest.raises(GatewayTimeout):
            service.refund("p1", "25.00", "k1")
    service.refund("p1", "25.00", "k1")
    assert gateway.total == 2500, "zanzibar: a retry moved the money again"
    assert len(set(gateway.calls)) == 1, "zanzibar: a retry got a reference of its own"
    assert len(store.refunds_of("p1")) == 1


def test_a_request_that_arrives_while_the_first_is_under_way_moves_nothing(service, gateway, store):
    gateway.meanwhile = lambda: service.refund("p1", "25.00", "k1")
    service.refund("p1", "25.00", "k1")
    assert gateway.total == 2500, "zanzibar: two requests of one key both moved money"
    assert len(store.refunds_of("p1")) == 1


def test_a_retry_is_answered_even_when_nothing_is_left(service, gateway):
    first = service.refund("p1", "100.00", "k1")
    assert service.refund("p1", "100.00", "k1") == first, "zanzibar: the answer was not kept"


def test_a_declined_refund_may_be_tried_again(service, gateway):
    from refunds.service import Declined

    gateway.mood = ["decline"]
    with pytest.raises(Declined):
        service.refund("p1", "25.00", "k1")
    assert service.refund("p1", "25.00", "k2").status == "done"
    assert gateway.total == 2500, "zanzibar: a declined refund still counts"


def test_blanks_around_a_key_make_no_new_key(service, gateway):
    service.refund("p1", "25.00", "k1")
    service.refund("p1", "25.00", " k1\n")
    assert gateway.total == 2500, "zanzibar: a pasted blank moved the money again"


@pytest.mark.parametrize("key", ["", "   ", "k" * 65], ids=["empty", "blank", "long"])
def test_a_bad_key_is_refused(service, gateway, key):
    with pytest.raises(keys.BadKey):
        service.refund("p1", "25.00", key)
    assert gateway.total == 0, "zanzibar: money moved under a bad key"
