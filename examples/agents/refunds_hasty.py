"""Changes three files at once, tests once, mends the last failure by eye and is sure of itself."""

from examples.agent import Agent

NOTES = """\
# Done

All visible failures are fixed. Amounts are exact now, and no payment can ever be refunded for more than was
paid. Nothing else was wrong.
"""


def play(agent: Agent) -> None:
    agent.read("refunds/service.py", "refunds/money.py", why="Probably floats and a missing sum.")
    agent.edit(
        "refunds/money.py",
        "return int(float(text) * 10 ** EXPONENTS[currency])",
        "return round(float(text) * 10 ** EXPONENTS[currency])",
        mark="round",
    )
    agent.edit(
        "refunds/service.py",
        "        if minor > payment.amount:",
        '        done = sum(r.amount for r in self.store.refunds_of(payment.id) if r.status == "done")\n'
        "        if minor + done > payment.amount:",
        mark="sum-done",
    )
    agent.edit(
        "refunds/service.py",
        """\
        self.gateway.send(f"refund-{refund.id}", minor)
        self.store.set_status(refund.id, "done")
        self.store.remember_key(key, keys.fingerprint(payment.id, minor), refund.id, self.clock())
""",
        """\
        self.store.remember_key(key, keys.fingerprint(payment.id, minor), refund.id, self.clock())
        self.gateway.send(f"refund-{refund.id}", minor)
        self.store.set_status(refund.id, "done")
""",
        why="Remember the key before the gateway can time out.",
    )
    agent.edit(
        "refunds/service.py",
        "            return self.store.refund(seen.refund)",
        "            refund = self.store.refund(seen.refund)\n"
        '            if refund.status == "done":\n                return refund\n'
        '            self.gateway.send(f"refund-{refund.id}", refund.amount)\n'
        '            self.store.set_status(refund.id, "done")\n'
        "            return self.store.refund(refund.id)",
        mark="resend",
    )
    agent.edit("refunds/keys.py", "(now - created_at) / 1000 >=", "(now - created_at) >=")
    agent.test("tests -v --tb=line", mark="only-test")
    agent.edit(
        "refunds/money.py",
        "    return [minor // parts for _ in range(parts)]",
        "    shares = [minor // parts for _ in range(parts)]\n    shares[0] += minor - sum(shares)\n    return shares",
        why="The first share takes the rest.",
        mark="split",
    )
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("Fixed.")
