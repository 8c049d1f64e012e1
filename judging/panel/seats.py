"""Seats: a seat is a vendor; which model sits on it is data, pinned and versioned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bouts.rules import Seat as SeatName
from judging.panel.answers import Wire


class BadSeats(Exception):
    """The settings of the seats cannot be used; the message names the variable."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens. Without ``cached``, what cached tokens cost is unknown."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat as it is configured.

    ``vendor`` is who made the model, ``wire`` how its server speaks: a gateway may speak
    another vendor's format. ``timeout_s`` is for one attempt, its slow answer included.
    """

    name: SeatName
    vendor: str
    wire: Wire
    model: str
    key: str = field(repr=False)
    base_url: str = ""  # the vendor's own where empty
    price: Price | None = None
    timeout_s: int = 120
    temperature: Decimal | None = None  # not sent where None: newer models refuse it
    most_tokens: int = 8_000  # of an answer


@dataclass(frozen=True, slots=True)
class Panel:
    """The configured seats, in the order of the policy, and the one that reads alone.

    ``reader`` is asked for the model half of Process and Recovery and for Integrity's reading.
    """

    seats: tuple[Seat, ...]
    reader: Seat | None

    def seat(self, name: str) -> Seat | None:
        return next((seat for seat in self.seats if seat.name == name), None)


def panel_of(
    values: Mapping[str, Mapping[str, Any]],
    *,
    reader: str = "",
    allow_same_vendor: bool = False,
    order: Sequence[str] = tuple(SeatName),
) -> Panel:
    """Make the panel of the settings' values; a seat without a key is not configured.

    Raises `BadSeats` where two seats have one vendor, unless that is allowed, and where a
    value is odd.
    """
    raise NotImplementedError
