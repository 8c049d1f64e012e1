"""One refund, from the shop's request to the gateway and back."""

import logging
import time

from refunds import keys, money

log = logging.getLogger(__name__)


class OverRefund(Exception):
    """More would be given back than was paid."""


class GatewayTimeout(Exception):
    """The gateway did not answer: it may or may not have given the money back."""


class Declined(Exception):
    """The gateway refused; no money moved."""


class RefundService:
    """`gateway.send(reference, amount)` moves the money.

    It raises `GatewayTimeout` or `Declined`. Two calls with the same reference move the
    money once.
    """

    def __init__(self, store, gateway, clock=time.time):
        self.store = store
        self.gateway = gateway
        self.clock = clock

    def refund(self, payment_id, amount, key):
        """Give back `amount` (decimal text) of a payment, once for each key."""
        payment = self.store.payment(payment_id)
        minor = money.parse(amount, payment.currency)
        key = keys.normalise(key)

        seen = self.store.find_key(key)
        if seen and not keys.is_expired(seen.created_at, self.clock()):
            return self.store.refund(seen.refund)

        if minor > payment.amount:
            raise OverRefund(f"{amount} is more than was paid")

        refund = self.store.add_refund(payment.id, minor, self.clock())
        self.gateway.send(f"refund-{refund.id}", minor)
        self.store.set_status(refund.id, "done")
        self.store.remember_key(key, keys.fingerprint(payment.id, minor), refund.id, self.clock())
        log.info("refunded %s of payment %s", money.show(minor, payment.currency), payment.id)
        return self.store.refund(refund.id)
