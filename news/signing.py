"""How what is sent is signed, by the rules of Standard Webhooks: plain Python.

Signed are the event's id, the moment of sending in seconds and the body, joined by dots, with
HMAC-SHA256. ``webhook-signature`` holds one ``v1,BASE64`` for each secret in force.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

from django.conf import settings

PREFIX = "whsec_"


def new_nonce() -> str:
    return secrets.token_hex(32)


def secret_of(nonce: str) -> str:
    """Return the secret of a nonce, as a receiver holds it.

    It is made of the nonce and the key of this installation: whoever reads the database
    alone can sign nothing.
    """
    key = hmac.new(settings.SECRET_KEY.encode(), f"webhook {nonce}".encode(), hashlib.sha256)
    return PREFIX + base64.b64encode(key.digest()).decode()


def headers_of(event_id: str, sent_at: int, body: bytes, held: Sequence[str]) -> dict[str, str]:
    """Return the three headers that a receiver verifies; `held` are the secrets in force."""
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": " ".join(
            f"v1,{signature(event_id, sent_at, body, secret)}" for secret in held
        ),
    }


def signature(event_id: str, sent_at: int, body: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{event_id}.{sent_at}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
