"""Sound work in small steps, and a page of probabilities about what may still be wrong."""

from examples.agent import Agent
from examples.agents.refunds_thrash import OLD_MIDDLE

FLOW = """\
        if minor <= 0:
            raise money.BadAmount(f"{amount!r} gives nothing back")

        refund = self.known(payment, minor, key) or self.begin(payment, minor, key)
        if refund.status == "done":
            return refund
        try:
            self.gateway.send(f"refund-{refund.id}", minor)
        except Declined:
            self.store.set_status(refund.id, "declined")
            self.store.forget_key(key)
            raise
        self.store.set_status(refund.id, "done")
"""

METHODS = '''\

    def known(self, payment, minor, key):
        """The refund that a living key stands for, or None. A key says one thing only."""
        seen = self.store.find_key(key)
        if seen is None:
            return None
        if keys.is_expired(seen.created_at, self.clock()):
            self.store.forget_key(key)
            return None
        if seen.fingerprint != keys.fingerprint(payment.id, minor):
            raise keys.KeyReused(key)
        return self.store.refund(seen.refund)

    def begin(self, payment, minor, key):
        """Write the refund and its key down before any money moves."""
        under_way = sum(r.amount for r in self.store.refunds_of(payment.id) if r.status != "declined")
        if under_way + minor > payment.amount:
            raise OverRefund(f"payment {payment.id}: {under_way} of {payment.amount} is given back already")
        refund = self.store.add_refund(payment.id, minor, self.clock())
        self.store.remember_key(key, keys.fingerprint(payment.id, minor), refund.id, self.clock())
        return refund
'''

NOTES = """\
# Notes

**What it does now.** A refund and its key are written before the gateway is asked. A retry finds them and
sends the same reference. Parts are summed with what is pending. Amounts are decimals.

**What I am not sure of.** The check of the sum and the insert are two statements. In one process that is
fine; with two processes on one file somebody could slip in between. I could not try that here, so I put
0.4 on it in claims.json and not more. I also did not make the report fast: it has no test that I can see, and
I did not want to touch SQL that I cannot measure. The quoting of the merchant's name there looks wrong to me; I
bound the parameter, but nothing I ran proves that it was a fault.
"""


def play(agent: Agent) -> None:
    agent.read("README.md", "docs/OPERATIONS.md")
    agent.read("refunds/service.py", "refunds/store.py", "refunds/keys.py", "refunds/money.py")
    agent.test(why="The state of things.", mark="baseline")
    agent.plan(
        "Two kinds of faults. (a) Order: the key is remembered after the money moved. (b) Arithmetic: floats, "
        "milliseconds, a sum that leaves out earlier parts. (a) decides the shape, so first. For each I note "
        "how sure I am, and why.",
        mark="plan",
    )
    agent.edit("refunds/service.py", OLD_MIDDLE, FLOW, mark="order")
    agent.edit(
        "refunds/service.py",
        "        return self.store.refund(refund.id)\n",
        "        return self.store.refund(refund.id)\n" + METHODS,
    )
    agent.test(mark="order-tested")
    agent.edit(
        "refunds/keys.py",
        "(now - created_at) / 1000 >= LIFETIME_S",
        "now - created_at >= LIFETIME_S",
        why="A day in seconds, not in milliseconds.",
    )
    agent.test()
    agent.commit("Write a refund down before its money moves")
    agent.edit(
        "refunds/money.py",
        """\
    try:
        return int(float(text) * 10 ** EXPONENTS[currency])
    except ValueError as error:
        raise BadAmount(f"not an amount: {text!r}") from error
""",
        """\
    whole, _, part = text.partition(".")
    exponent = EXPONENTS[currency]
    if not (whole.lstrip("-") + part).isdecimal() or len(part) > exponent:
        raise BadAmount(f"not an amount of {currency}: {text!r}")
    return int(whole + part.ljust(exponent, "0"))
""",
        why="Digits are enough; no number type between text and cents.",
        mark="digits",
    )
    agent.test(mark="digits-tested")
    agent.edit(
        "refunds/money.py",
        "    return [minor // parts for _ in range(parts)]",
        "    return [(minor + parts - 1 - n) // parts for n in range(parts)]",
    )
    agent.test(mark="split-tested")
    agent.commit("Read amounts digit by digit and share them whole")
    agent.edit(
        "refunds/keys.py",
        "    if not key:\n",
        "    key = key.strip()\n    if not key or len(key) > LONGEST:\n",
    )
    agent.edit(
        "refunds/keys.py", 'f"{payment_id}{amount}"', 'f"{len(payment_id)}:{payment_id}:{amount}"'
    )
    agent.edit(
        "refunds/store.py",
        """self.db.execute(f"SELECT * FROM payment WHERE merchant = '{merchant}'")""",
        'self.db.execute("SELECT * FROM payment WHERE merchant = ?", (merchant,))',
    )
    agent.test(mark="last-test")
    agent.commit("Bound keys and bind the merchant's name")
    agent.say("Now what I would bet on each of these, before anybody checks.", mark="doubt")
    agent.claim("A retry after a time-out moves the money once.", 0.97, "R1")
    agent.claim("Parts never exceed what was paid, pending ones included.", 0.95, "R2")
    agent.claim("A key that comes with another amount is refused.", 0.95, "R3")
    agent.claim("Amounts are exact in every currency we list.", 0.9, "R5")
    agent.claim("Two processes on one file cannot over-refund between check and insert.", 0.4)
    agent.claim("The daily report is right at midnight and for pending refunds.", 0.1, "R6")
    agent.hand_in_claims(mark="claims")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Done; claims.json says how sure I am of each part.")
