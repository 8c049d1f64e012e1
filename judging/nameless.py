"""Seats of a panel without their names: while a case is open nobody learns which model said what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bouts.disclosure import WITHHELD
from judging.houses import TELLING

LETTERS = "ABCDEFGHIJ"


def letters_of(seats: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Call each seat by a letter: A, B and C by score, whoever sits there."""
    in_order = sorted(seats, key=_by_score)
    return {seat["seat"]: LETTERS[at] for at, seat in enumerate(in_order)}


def _by_score(seat: Mapping[str, Any]) -> tuple[bool, float, str, str]:
    """Order seats by what they said, never by who said it."""
    score = seat["score"]
    is_silent = score is None
    return (is_silent, 0.0 if is_silent else float(score), seat["state"], seat["rationale"])


def nameless(seat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a seat's answer without its model, and without its name in all that it said."""
    model = seat["model"]
    shown = {key: value for key, value in seat.items() if key != "model"}
    for part in ("rationale", "reason", "criteria", "remarks"):
        if part in shown:
            shown[part] = _renamed(shown[part], model)
    return shown


def _renamed(value: Any, model: str) -> Any:
    match value:
        case str():
            return _without_house_names(value, model)
        case Mapping():
            return {
                key: item if key in {"artifact", "place"} else _renamed(item, model)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_renamed(item, model) for item in value]
    return value


def _without_house_names(text: str, model: str) -> str:
    """Take a seat's own name out of what it said, and its house's.

    A rationale that opens with "As Claude" tells whose it is, and with it how the others voted.
    """
    spellings = (model, model.rpartition("/")[2])
    # A model called by a plain word would take that word out of every sentence.
    names = [name for name in spellings if re.search(r"[\d-]", name)]
    longest_first = sorted(map(re.escape, [*names, *TELLING]), key=len, reverse=True)
    pattern = rf"(?<![A-Za-z0-9])(?:{'|'.join(longest_first)})(?:[-\w.]*\w)?"
    return re.sub(pattern, f"[{WITHHELD}]", text, flags=re.IGNORECASE)
