"""What the hidden tests need. The agents never see this folder."""

import pytest

from refunds.service import Declined, GatewayTimeout, RefundService
from refunds.store import Store


class Gateway:
    """Keeps its books by reference, and can answer late, decline or let others in first."""

    def __init__(self):
        self.moved = {}
        self.calls = []
        self.mood = []
        self.meanwhile = None

    def send(self, reference, amount):
        self.calls.append(reference)
        mood = self.mood.pop(0) if self.mood else "fine"
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        if mood == "decline":
            raise Declined(reference)
        if mood == "lost":
            raise GatewayTimeout(reference)
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
