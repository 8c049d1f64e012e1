"""Tries three quick ways, takes two of them back, then stops, plans and gets there."""

from examples.agent import Agent

NOTES = """\
# Notes

I lost time at first: I remembered the key before the refund existed, then kept answers in memory. Both
broke tests that had passed, so I took both back. What is in now is the third way: the refund row is the
reservation, the key is written with it, and a retry picks the row up again.

Not done: the report is only mended where a test pointed (a day is still summed refund by refund), and I did
not look at odd number formats beyond what Decimal refuses by itself.
"""

SERVICE_RETRY = """\
        now = self.clock()
        fingerprint = keys.fingerprint(payment.id, minor)
        seen = self.store.find_key(key)
        if seen and keys.is_expired(seen.created_at, now):
            self.store.forget_key(key)
            seen = None
        if seen:
            if seen.fingerprint != fingerprint:
                raise keys.KeyReused(key)
            refund = self.store.refund(seen.refund)
            if refund.status == "done":
                return refund
        else:
            left = payment.amount - sum(
                r.amount for r in self.store.refunds_of(payment.id) if r.status != "declined"
            )
            if minor > left:
                raise OverRefund(f"{amount} is more than is left")
            refund = self.store.add_refund(payment.id, minor, now)
            self.store.remember_key(key, fingerprint, refund.id, now)

        try:
            self.gateway.send(f"refund-{refund.id}", minor)
        except Declined:
            self.store.set_status(refund.id, "declined")
            self.store.forget_key(key)
            raise
        self.store.set_status(refund.id, "done")
"""

OLD_MIDDLE = """\
        seen = self.store.find_key(key)
        if seen and not keys.is_expired(seen.created_at, self.clock()):
            return self.store.refund(seen.refund)

        if minor > payment.amount:
            raise OverRefund(f"{amount} is more than was paid")

        refund = self.store.add_refund(payment.id, minor, self.clock())
        self.gateway.send(f"refund-{refund.id}", minor)
        self.store.set_status(refund.id, "done")
        self.store.remember_key(key, keys.fingerprint(payment.id, minor), refund.id, self.clock())
"""


def play(agent: Agent) -> None:
    agent.run("ls refunds tests")
    agent.read("refunds/service.py", "refunds/store.py", "refunds/keys.py")
    agent.test("tests -v --tb=line", mark="baseline")

    agent.edit(
        "refunds/service.py",
        "        if minor > payment.amount:",
        "        self.store.remember_key(key, keys.fingerprint(payment.id, minor), 0, self.clock())\n"
        "        if minor > payment.amount:",
        why="Remember the key first, then a retry finds it.",
        mark="first-try",
    )
    agent.test("tests -v --tb=line", mark="first-failure")
    agent.revert(
        "refunds/service.py",
        why="A key that points at no refund breaks every retry. Back.",
        mark="first-revert",
    )
    agent.edit(
        "refunds/service.py",
        "        if minor > payment.amount:",
        "        if key in self.answers:\n            return self.answers[key]\n        if minor > payment.amount:",
        why="Then keep the answers in memory.",
        mark="second-try",
    )
    agent.edit(
        "refunds/service.py",
        "        self.clock = clock\n",
        "        self.clock = clock\n        self.answers = {}\n",
    )
    agent.edit(
        "refunds/service.py",
        "        return self.store.refund(refund.id)\n",
        "        self.answers[key] = self.store.refund(refund.id)\n        return self.answers[key]\n",
    )
    agent.test("tests -v --tb=line", mark="second-failure")
    agent.edit(
        "refunds/keys.py",
        "return (now - created_at) / 1000 >= LIFETIME_S",
        "return now - created_at >= 0",
        why="Maybe expiry is in the way of the time-out test?",
        mark="wild-guess",
    )
    agent.test("tests -v --tb=line", mark="third-failure")
    agent.revert("refunds/keys.py", why="Worse: now no key lives at all.", mark="second-revert")
    agent.revert(
        "refunds/service.py", why="And an answer in memory is gone after a time-out anyway."
    )
    agent.plan(
        "Stop guessing. What must be true when the gateway times out? The refund row and the key are both in "
        "the store, pending. So: write both before sending; on a retry load the row and send the same reference; "
        "mark it done only afterwards. The rest (sum of parts, expiry, cents) is independent and small; do it after.",
        why="Two dead ends. Thinking instead of typing.",
        mark="plan",
    )
    agent.think(2)
    agent.read(
        "tests/test_refunds.py",
        "tests/conftest.py",
        why="What exactly does the gateway do on a time-out?",
    )
    agent.edit("refunds/service.py", OLD_MIDDLE, SERVICE_RETRY, mark="third-try")
    agent.test("tests -v --tb=line", mark="turn")
    agent.edit(
        "refunds/keys.py",
        "return (now - created_at) / 1000 >= LIFETIME_S",
        "return now - created_at >= LIFETIME_S",
    )
    agent.edit("refunds/keys.py", 'f"{payment_id}{amount}"', 'f"{payment_id}/{amount}"')
    agent.edit(
        "refunds/keys.py",
        "    if not key:\n",
        "    key = key.strip()\n    if not key or len(key) > LONGEST:\n",
    )
    agent.test("tests -v --tb=line")
    agent.commit("Write refund and key before the gateway is asked", mark="commit")
    agent.read("refunds/money.py")
    agent.edit(
        "refunds/money.py",
        """\
    try:
        return int(float(text) * 10 ** EXPONENTS[currency])
    except ValueError as error:
        raise BadAmount(f"not an amount: {text!r}") from error
""",
        """\
    try:
        minor = Decimal(text) * 10 ** EXPONENTS[currency]
    except InvalidOperation as error:
        raise BadAmount(f"not an amount: {text!r}") from error
    if minor != int(minor):
        raise BadAmount(f"{text!r} is no whole number of minor units")
    return int(minor)
""",
    )
    agent.edit(
        "refunds/money.py",
        "EXPONENTS = {",
        "from decimal import Decimal, InvalidOperation\n\nEXPONENTS = {",
    )
    agent.edit(
        "refunds/money.py",
        "    return [minor // parts for _ in range(parts)]",
        "    return [minor // parts + (1 if n < minor % parts else 0) for n in range(parts)]",
    )
    agent.test("tests -v --tb=line", mark="all-green")
    agent.edit(
        "refunds/report.py",
        "if refund.created_at >= day_start and refund.created_at <= day_start + DAY_S:",
        'if refund.status == "done" and day_start <= refund.created_at < day_start + DAY_S:',
    )
    agent.test("tests -v --tb=line")
    agent.commit("Exact amounts; a day without its last midnight")
    agent.hand_in("NOTES.md", NOTES, mark="notes")
    agent.submit("All visible tests pass; see NOTES.md for what I left.")
