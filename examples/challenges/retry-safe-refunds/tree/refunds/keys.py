"""Request keys: the shop's own name for a request, which it may send again."""

import hashlib

LIFETIME_S = 24 * 60 * 60
LONGEST = 64


class BadKey(ValueError):
    """A request key is empty or too long."""


class KeyReused(Exception):
    """The same key came with another payment or another amount."""


def normalise(key):
    """Strip what copying and pasting adds. Empty and over-long keys are refused."""
    if not key:
        raise BadKey("a request needs a key")
    return key


def fingerprint(payment_id, amount):
    """What a key stands for: one digest for one payment and amount."""
    return hashlib.md5(f"{payment_id}{amount}".encode()).hexdigest()


def is_expired(created_at, now):
    """Whether a key first seen at `created_at` is worth nothing any more (seconds)."""
    return (now - created_at) / 1000 >= LIFETIME_S
