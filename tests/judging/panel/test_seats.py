"""Seats come from settings: a vendor each, a pinned model, and no key, no seat."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from judging.panel.seats import BadSeats, Panel, Price, panel_of, price_of, vendor_of
from judging.panel.wires import Wire

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-4o-2024-11-20",
    "google": "gemini-3.8-flash",
}


def panel(seats: tuple[str, ...] = tuple(MODELS), /, **changes: Any) -> Panel:
    options = {
        name: changes.pop(name) for name in ("reader", "allows_same_vendor") if name in changes
    }
    values = {
        name: {"key": "secret", "model": model, **changes.get(name, {})}
        if name in seats
        else {"key": "", "model": model}
        for name, model in MODELS.items()
    }
    return panel_of(values, **options)


def test_a_seat_is_a_vendor_with_an_exact_model() -> None:
    made = panel(openai={"price": "2.50/10/1.25", "temperature": "0", "timeout_s": 30})
    assert [(seat.name, seat.vendor, seat.wire, seat.model) for seat in made.seats] == [
        (name, name, Wire(name), model) for name, model in MODELS.items()
    ]
    seat = made.seat("openai")
    assert seat is not None
    assert seat.price == Price(Decimal("2.50"), Decimal(10), Decimal("1.25"))
    assert (seat.temperature, seat.timeout_s) == (Decimal(0), 30)
    assert seat.base_url == "https://api.openai.com/v1"


def test_without_a_key_a_seat_is_not_configured() -> None:
    assert panel(()).seats == ()
    assert panel(()).reader is None
    only = panel(("google",))
    assert [seat.name for seat in only.seats] == ["google"]
    assert only.reader is only.seats[0]
    assert only.seat("openai") is None


def test_the_reader_is_the_first_seat_unless_one_is_named() -> None:
    assert panel().reader is not None
    assert panel().reader.name == "anthropic"  # type: ignore[union-attr]
    assert panel(reader="google").reader.name == "google"  # type: ignore[union-attr]
    with pytest.raises(BadSeats, match="BOUTS_READER_SEAT is 'claude'"):
        panel(reader="claude")
    with pytest.raises(BadSeats, match="BOUTS_READER_SEAT is google, which has no key"):
        panel(("openai",), reader="google")
    assert panel((), reader="google").reader is None


@pytest.mark.parametrize(
    "google",
    [
        {"model": "openai/gpt-5.2", "wire": "openai"},
        {"model": "gpt-4o-mini"},
        {"model": "house-model", "vendor": "openai"},
    ],
)
def test_two_seats_of_one_vendor_are_refused_unless_allowed(google: dict[str, str]) -> None:
    with pytest.raises(BadSeats, match="have one vendor, openai") as refused:
        panel(google=google)
    assert "BOUTS_PANEL_SAME_VENDOR=1" in str(refused.value)
    assert "BOUTS_SEAT_GOOGLE_VENDOR" in str(refused.value)
    assert len(panel(google=google, allows_same_vendor=True).seats) == 3
    # A seat without a key shares nothing with anybody.
    assert len(panel(("anthropic", "openai"), google=google).seats) == 2


def test_a_server_of_ones_own_takes_a_seat_by_its_address() -> None:
    local = {"model": "qwen3:32b", "wire": "openai", "base_url": "http://127.0.0.1:11434/v1/"}
    seat = panel(google={**local, "vendor": "alibaba"}).seat("google")
    assert seat is not None
    assert (seat.vendor, seat.wire) == ("alibaba", Wire.OPENAI)
    assert seat.base_url == "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("claude-opus-5", "anthropic"),
        ("bedrock/anthropic.claude-3", "anthropic"),
        ("gpt-4o", "openai"),
        ("o3-mini", "openai"),
        ("models/gemini-2.5-pro", "google"),
        ("qwen3:32b", "alibaba"),
        ("meta-llama/llama3.1-70b", "meta"),
        ("deepseek-v3", ""),
        ("egpt", ""),
        ("octo1", ""),
    ],
)
def test_a_models_name_tells_who_made_it(model: str, vendor: str) -> None:
    assert vendor_of(model) == vendor


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("price", "3"),
        ("price", "3/15/0.3/1"),
        ("price", "-3/15"),
        ("price", "3,0/15"),
        ("price", "nan/15"),
        ("price", "1e3/15"),
        ("temperature", "warm"),
        ("temperature", "3"),
        ("wire", "grpc"),
        ("timeout_s", 121),
        ("model", ""),
    ],
)
def test_an_odd_value_names_its_variable(field: str, value: object) -> None:
    with pytest.raises(BadSeats, match=f"BOUTS_SEAT_OPENAI_{field.upper()} is "):
        panel(openai={field: value})


def test_prices_are_exact() -> None:
    assert price_of("0.1/0.30") == Price(Decimal("0.1"), Decimal("0.30"))
