"""Secrets that travel in links and headers. Only their SHA-256 is ever stored."""

from __future__ import annotations

import hashlib
import secrets

API_PREFIX = "bouts_"


def new_secret(prefix: str = "") -> str:
    """Return a secret with 256 bits of chance."""
    return prefix + secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    # A fast hash is right here: nobody can guess 256 bits, however fast they try.
    return hashlib.sha256(secret.encode()).hexdigest()
