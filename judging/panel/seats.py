"""Seats: a seat is a vendor; which model sits on it is data, pinned and versioned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bouts.rules import Seat as SeatName
from judging.houses import HOUSES
from judging.panel.wires import Wire

# Where the vendors' own servers are.
BASE_URLS: Mapping[Wire, str] = {
    Wire.ANTHROPIC: "https://api.anthropic.com",
    Wire.OPENAI: "https://api.openai.com/v1",
    Wire.GOOGLE: "https://generativelanguage.googleapis.com",
}

TIMEOUT_S = 120
LONGEST_TIMEOUT_S = 120  # five requests and their waits fit into the time of a task
HOTTEST = 2

_WORDS = re.compile(r"[a-z]+[0-9]*").findall
_PRICE = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,8})?", re.ASCII)


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
    base_url: str
    price: Price | None = None
    timeout_s: int = TIMEOUT_S
    temperature: Decimal | None = None  # not sent where None: newer models refuse it
    most_tokens: int = 16_000  # of an answer, what the model thinks before it included


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
    allows_same_vendor: bool = False,
) -> Panel:
    """Make the panel of the settings' values; a seat without a key is not configured.

    ``values`` has, by seat, the fields of `Seat` as text, number or None, where empty means
    the default; ``price`` is text such as ``3/15`` or ``2.50/10/1.25``. ``reader`` names the
    seat that reads alone, the first configured one where it is empty. Raises `BadSeats` where
    a value is odd, and where two seats have one vendor unless ``allows_same_vendor``.
    """
    seats = tuple(_seat(name, values[name]) for name in SeatName if values.get(name, {}).get("key"))
    if not allows_same_vendor:
        _refuse_same_vendor(seats)
    if reader and reader not in set(SeatName):
        raise BadSeats(f"BOUTS_READER_SEAT is {reader!r}; expected one of {', '.join(SeatName)}.")
    panel = Panel(seats, next(iter(seats), None))
    if reader and seats:
        chosen = panel.seat(reader)
        if chosen is None:
            raise BadSeats(f"BOUTS_READER_SEAT is {reader}, which has no key.")
        panel = Panel(seats, chosen)
    return panel


def vendor_of(model: str) -> str:
    """Return who makes a model, by its name; empty where the name does not tell.

    A gateway's name is read too: ``anthropic/claude-sonnet`` is Anthropic's.
    """
    words = set(_WORDS(model.lower()))
    words |= {word.rstrip("0123456789") for word in words}  # llama3, qwen3
    return next((house for house, telling in HOUSES.items() if telling & words), "")


def price_of(text: str) -> Price:
    """Read ``input/output`` or ``input/output/cached``, dollars a million tokens. Raises ValueError."""
    parts = text.split("/")
    if len(parts) not in {2, 3} or not all(map(_PRICE.fullmatch, parts)):
        raise ValueError("expected input/output or input/output/cached, such as 2.50/10/1.25")
    return Price(*map(Decimal, parts))


def _seat(name: SeatName, values: Mapping[str, Any]) -> Seat:
    prefix = f"BOUTS_SEAT_{name.upper()}"
    model = values.get("model") or ""
    if not model:
        raise BadSeats(f"{prefix}_MODEL is not set, and the seat has a key.")
    wire = values.get("wire") or name.value
    if wire not in set(Wire):
        raise BadSeats(f"{prefix}_WIRE is {wire!r}; expected one of {', '.join(Wire)}.")
    timeout_s = int(values.get("timeout_s") or TIMEOUT_S)
    if timeout_s > LONGEST_TIMEOUT_S:
        raise BadSeats(f"{prefix}_TIMEOUT_S is {timeout_s}; expected at most {LONGEST_TIMEOUT_S}.")
    try:
        price = price_of(values["price"]) if values.get("price") else None
    except ValueError as error:
        raise BadSeats(f"{prefix}_PRICE is {values['price']!r}; {error}.") from None
    return Seat(
        name=name,
        vendor=values.get("vendor") or vendor_of(model) or name.value,
        wire=Wire(wire),
        model=model,
        key=values["key"],
        base_url=(values.get("base_url") or BASE_URLS[Wire(wire)]).rstrip("/"),
        price=price,
        timeout_s=timeout_s,
        temperature=_temperature(prefix, values.get("temperature") or ""),
    )


def _temperature(prefix: str, text: str) -> Decimal | None:
    if not text:
        return None
    if not _PRICE.fullmatch(text) or Decimal(text) > HOTTEST:
        raise BadSeats(f"{prefix}_TEMPERATURE is {text!r}; expected a number from 0 to {HOTTEST}.")
    return Decimal(text)


def _refuse_same_vendor(seats: Sequence[Seat]) -> None:
    """Three seats that share a maker would share its blind spots, and agree for that reason."""
    first: dict[str, Seat] = {}
    for seat in seats:
        other = first.setdefault(seat.vendor, seat)
        if other is not seat:
            raise BadSeats(
                f"The seats {other.name} ({other.model}) and {seat.name} ({seat.model}) have one "
                f"vendor, {seat.vendor}: a panel of less diversity. Give them models of different "
                "vendors, or set BOUTS_PANEL_SAME_VENDOR=1 to have it so; if the vendors do "
                f"differ, say so with BOUTS_SEAT_{seat.name.upper()}_VENDOR."
            )
