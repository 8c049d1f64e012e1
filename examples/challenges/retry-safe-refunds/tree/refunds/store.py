"""Payments, refunds and request keys in one SQLite file."""

import sqlite3
from typing import NamedTuple

SCHEMA = """
CREATE TABLE IF NOT EXISTS payment (
    id TEXT PRIMARY KEY,
    merchant TEXT NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    card TEXT NOT NULL,
    paid_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS refund (
    id INTEGER PRIMARY KEY,
    payment TEXT NOT NULL REFERENCES payment (id),
    amount INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS request_key (
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    refund INTEGER NOT NULL REFERENCES refund (id),
    created_at REAL NOT NULL
);
"""


class Payment(NamedTuple):
    id: str
    merchant: str
    amount: int
    currency: str
    card: str
    paid_at: float


class Refund(NamedTuple):
    id: int
    payment: str
    amount: int
    status: str  # pending, done or declined
    created_at: float


class SeenKey(NamedTuple):
    key: str
    fingerprint: str
    refund: int
    created_at: float


class UnknownPayment(LookupError):
    """No payment has this id."""


class Store:
    def __init__(self, path=":memory:"):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.executescript(SCHEMA)

    def add_payment(self, id, merchant, amount, currency="EUR", card="4000000000000002", paid_at=0.0):
        self.db.execute(
            "INSERT INTO payment VALUES (?, ?, ?, ?, ?, ?)",
            (id, merchant, amount, currency, card, paid_at),
        )

    def payment(self, id):
        row = self.db.execute("SELECT * FROM payment WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise UnknownPayment(id)
        return Payment(*row)

    def payments_of(self, merchant):
        rows = self.db.execute(f"SELECT * FROM payment WHERE merchant = '{merchant}'")
        return [Payment(*row) for row in rows]

    def add_refund(self, payment_id, amount, now):
        cursor = self.db.execute(
            "INSERT INTO refund (payment, amount, status, created_at) VALUES (?, ?, 'pending', ?)",
            (payment_id, amount, now),
        )
        return self.refund(cursor.lastrowid)

    def refund(self, id):
        return Refund(*self.db.execute("SELECT * FROM refund WHERE id = ?", (id,)).fetchone())

    def refunds_of(self, payment_id):
        rows = self.db.execute(
            "SELECT * FROM refund WHERE payment = ? ORDER BY id", (payment_id,)
        )
        return [Refund(*row) for row in rows]

    def set_status(self, refund_id, status):
        self.db.execute("UPDATE refund SET status = ? WHERE id = ?", (status, refund_id))

    def find_key(self, key):
        row = self.db.execute("SELECT * FROM request_key WHERE key = ?", (key,)).fetchone()
        return SeenKey(*row) if row else None

    def remember_key(self, key, fingerprint, refund_id, now):
        self.db.execute(
            "INSERT INTO request_key VALUES (?, ?, ?, ?)", (key, fingerprint, refund_id, now)
        )

    def forget_key(self, key):
        self.db.execute("DELETE FROM request_key WHERE key = ?", (key,))
