"""Tokens that a record tells as running totals: what each adds to the one before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bouts.formats.telemetry.parts import token_count

_NAMES = ("prompt_tokens", "completion_tokens")


class Growth:
    """Follows the totals of each model or use of one; a total that falls adds nothing.

    Totals are told again and again (FORMATS.md, rule 7): the same one twice adds nothing either.
    """

    def __init__(self) -> None:
        self._highest: dict[str, list[int]] = {}

    def since(self, totals: Mapping[str, Mapping[str, Any]]) -> tuple[int | None, int | None]:
        """Return the tokens in and out by which the totals have grown; None where by nothing."""
        grown = [0, 0]
        for use, total in totals.items():
            highest = self._highest.setdefault(use, [0, 0])
            for index, name in enumerate(_NAMES):
                count = token_count(total.get(name)) or 0
                grown[index] += max(count - highest[index], 0)
                highest[index] = max(count, highest[index])
        return grown[0] or None, grown[1] or None
