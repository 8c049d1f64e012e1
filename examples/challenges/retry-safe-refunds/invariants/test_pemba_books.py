"""What must hold whatever shops do: random requests from a fixed seed."""

import random

import pytest

from refunds import money
from refunds.service import Declined, GatewayTimeout, OverRefund, RefundService
from refunds.store import Store


class Gateway:
    def __init__(self, chance):
        self.chance = chance
        self.moved = {}

    def send(self, reference, amount):
        if reference in self.moved:
            return
        draw = self.chance.random()
        if draw < 0.15:
            raise Declined(reference)
        if draw < 0.25:
            raise GatewayTimeout(reference)
        self.moved.setdefault(reference, amount)
        if draw < 0.45:
            raise GatewayTimeout(reference)


def busy_day(seed, requests=120):
    """Return the store and the gateway after many requests, retries and time-outs."""
    chance = random.Random(seed)
    store, gateway = Store(), Gateway(chance)
    service = RefundService(store, gateway, clock=lambda: 1_000_000.0)
    for number in range(4):
        store.add_payment(f"p{number}", "Fig & Sons", 10_000)
    for _ in range(requests):
        key = f"k{chance.randrange(40)}"
        amounts = random.Random(key)
        payment, amount = f"p{amounts.randrange(4)}", f"{amounts.randrange(1, 60)}.{amounts.randrange(100):02}"
        try:
            service.refund(payment, amount, key)
        except (Declined, GatewayTimeout, OverRefund):
            pass
    return store, gateway


@pytest.mark.parametrize("seed", range(3))
def test_nobody_gets_more_than_was_paid(seed):
    store, gateway = busy_day(seed)
    for number in range(4):
        given = sum(gateway.moved.get(f"refund-{r.id}", 0) for r in store.refunds_of(f"p{number}"))
        assert given <= 10_000, "pemba: more went back than came in"


@pytest.mark.parametrize("seed", range(3))
def test_what_moved_is_what_the_books_say(seed):
    store, gateway = busy_day(seed)
    done = [r for n in range(4) for r in store.refunds_of(f"p{n}") if r.status == "done"]
    assert all(gateway.moved.get(f"refund-{r.id}") == r.amount for r in done), "pemba: books and bank differ"


@pytest.mark.parametrize("seed", range(3))
def test_text_and_minor_units_are_one(seed):
    chance = random.Random(seed)
    for _ in range(500):
        minor = chance.randrange(10_000_000)
        assert money.parse(money.show(minor)) == minor, "pemba: a cent was lost on the way"
