import pytest

from refunds.service import Declined, GatewayTimeout, RefundService
from refunds.store import Store


class Gateway:
    """A gateway that keeps its books: what moved, by reference."""

    def __init__(self):
        self.moved = {}
        self.calls = []
        self.mood = []

    def send(self, reference, amount):
        self.calls.append(reference)
        mood = self.mood.pop(0) if self.mood else "fine"
        if mood == "decline":
            raise Declined(reference)
        self.moved.setdefault(reference, amount)
        if mood == "time out":
            raise GatewayTimeout(reference)

    @property
    def total(self):
        return sum(self.moved.values())


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def gateway():
    return Gateway()


@pytest.fixture
def store():
    store = Store()
    store.add_payment("p1", "Fig & Sons", 10_000)
    return store


@pytest.fixture
def service(store, gateway, clock):
    return RefundService(store, gateway, clock)
