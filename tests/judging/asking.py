"""Seats whose models are played by a server of our own, and a bundle that they can judge."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bouts.models import Bundle
from judging.panel import client
from tests import matches
from tests.vendors.server import VendorServer

MODELS = {
    "anthropic": "claude-test-1",
    "openai": "gpt-test-2026-01-01",
    "google": "gemini-test-1",
}
# 1,000 tokens come in and 200 go out of what the server plays.
PRICE = "10/50"


def seats(vendors: VendorServer, **changes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the setting of the three seats; ``changes`` are of one seat each."""
    return {
        name: {
            "key": f"key-of-{name}",
            "model": model,
            "base_url": vendors.base_url(name),
            "price": PRICE,
            **changes.get(name, {}),
        }
        for name, model in MODELS.items()
    }


def environment(seats: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the same as variables, for a process of its own."""
    return {
        f"BOUTS_SEAT_{name}_{field}".upper(): str(value)
        for name, values in seats.items()
        for field, value in values.items()
    }


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for a vendor that has failed."""
    hurried = client.Clock(sleep=lambda seconds: None)
    monkeypatch.setattr(client, "ask", partial(client.ask, clock=hurried))


PLAN = "# Plan\n\nRead the store, take the lock first, test twice.\n"


def store(folder: Path, **options: Any) -> Bundle:
    """Store a bundle with something to show to every judge, and no uploaded verdicts."""
    return matches.store(
        folder,
        **{"verdicts": [], "files": {"plan.md": ("plan", PLAN)}, **options},
    )
