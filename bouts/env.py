"""Typed reads of environment variables that fail loudly and name the variable."""

from __future__ import annotations

import os
from decimal import Decimal, InvalidOperation


class BadSetting(Exception):
    """An environment variable is missing or odd; start-up stops here."""


def text(name: str, default: str) -> str:
    """Return the variable, or the default where it is unset or empty."""
    return os.environ.get(name) or default


def required(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise BadSetting(f"{name} is not set.")
    return value


def flag(name: str, *, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise BadSetting(f"{name} is {value!r}; expected one of 1, 0, true, false, yes, no, on, off.")


def whole(name: str, default: int, *, least: int = 0) -> int:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if not value.isdecimal() or int(value) < least:
        raise BadSetting(f"{name} is {value!r}; expected a whole number from {least} on.")
    return int(value)


def amount(name: str, default: str) -> Decimal:
    """Return a sum of money, 0 or more."""
    value = os.environ.get(name, "").strip() or default
    try:
        found = Decimal(value)
    except InvalidOperation:
        found = Decimal("NaN")
    if not (found.is_finite() and found >= 0):
        raise BadSetting(f"{name} is {value!r}; expected an amount such as 2.50.")
    return found


def items(name: str, default: list[str]) -> list[str]:
    """Return a comma-separated list."""
    value = os.environ.get(name, "")
    return [item.strip() for item in value.split(",") if item.strip()] or default
