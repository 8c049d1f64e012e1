"""Numbers as SVG attributes."""

from __future__ import annotations


def percent(value: float) -> str:
    """Return a position as ``26.98%``, kept within the picture."""
    return f"{trimmed(min(max(value, 0.0), 100.0))}%"


def trimmed(value: float) -> str:
    """Return a number with at most two places and no idle zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
