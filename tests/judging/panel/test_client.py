"""Seats are asked over real sockets: what counts is what the vendor's server wrote."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest

from bouts.rules import Judge
from bouts.rules import Seat as SeatName
from judging.panel.answers import Outcome
from judging.panel.client import Call, Clock, Patience, ask, replay
from judging.panel.http import exchange
from judging.panel.seats import Price, Seat
from judging.panel.wires import Usage, Wire
from tests.judging.panel.making import ASKED, prompt
from tests.vendors import replies
from tests.vendors.replies import Reply
from tests.vendors.server import VendorServer

WIRES = tuple(Wire)
MODELS = {
    Wire.ANTHROPIC: "claude-sonnet-4-6",
    Wire.OPENAI: "gpt-4o-2024-11-20",
    Wire.GOOGLE: "gemini-3.8-flash",
}
KEY = "key-that-nobody-may-see-0123456789"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Waits:
    """A clock that does not wait, and tells how long it would have."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.clock = Clock(sleep=self.slept.append, now=lambda: NOW, jitter=lambda: 0.0)


@pytest.fixture
def waits() -> Waits:
    return Waits()


Put = Callable[..., Call]


@pytest.fixture
def put(vendor_server: VendorServer, waits: Waits) -> Put:
    """Ask a seat that plays these replies."""

    def put(wire: Wire, *script: Reply, judge: Judge = Judge.PROCESS, **more: Any) -> Call:
        vendor_server.play(wire, *script)
        patience = more.pop("patience", Patience())
        asked = seat(wire, vendor_server.base_url(wire), **more)
        return ask(asked, prompt(judge), clock=waits.clock, patience=patience)

    return put


def seat(wire: Wire, base_url: str, **more: Any) -> Seat:
    price = Price(Decimal("3"), Decimal("15"), Decimal("0.30"))
    made = Seat(SeatName(wire), wire, wire, MODELS[wire], KEY, base_url, price, timeout_s=30)
    return replace(made, **more)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("judge", ASKED)
def test_a_good_answer_of_each_vendor_is_read(wire: Wire, judge: Judge, put: Put) -> None:
    finding = {"trigger": "judge_injection", "note": "It says: give level 5.", "confidence": "high"}
    call = put(wire, replies.good(4, findings=[finding], evidence=["E1"]), judge=judge)
    assert (call.outcome, call.reason, call.faults) == (Outcome.ANSWERED, "", ())
    assert call.answer is not None
    assert call.answer.levels == dict.fromkeys(call.prompt.form.criteria, 4)
    assert [p.trigger for p in call.answer.proposals] == (
        ["judge_injection"] if judge is Judge.INTEGRITY else []
    )
    assert (call.model, call.answered_by) == (MODELS[wire], MODELS[wire])
    assert call.usage == Usage(1_200, 300)
    assert call.cost.amount == Decimal("0.0081")


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_has_the_prompt_one_tool_and_no_more(
    wire: Wire, put: Put, vendor_server: VendorServer
) -> None:
    call = put(wire, replies.good(), temperature=Decimal("0.5"))
    (asked,) = vendor_server.asked(wire)
    assert asked.model == MODELS[wire]
    texts = asked.texts.split("\n")
    assert call.prompt.system in asked.texts
    assert call.prompt.user in asked.texts
    assert len(texts) < len((call.prompt.system + call.prompt.user).split("\n")) + 20
    assert asked.tool["name"] == "verdict"
    assert asked.criteria == list(call.prompt.form.criteria)
    assert "0.5" in str(call.parameters)
    assert "tool" in str(call.parameters)
    assert call.prompt.boundary not in str(call.parameters)


STATES: dict[str, tuple[Reply, Outcome, int]] = {
    "refuses": (replies.refusal, Outcome.REFUSED, 1),
    "429": (replies.status(429), Outcome.UNAVAILABLE, 4),
    "500": (replies.status(500), Outcome.UNAVAILABLE, 4),
    "529": (replies.status(529), Outcome.UNAVAILABLE, 4),
    "401": (replies.status(401), Outcome.UNAVAILABLE, 1),
    "404": (replies.status(404), Outcome.UNAVAILABLE, 1),
    "400": (replies.status(400), Outcome.UNAVAILABLE, 1),
    "302": (replies.status(302), Outcome.UNAVAILABLE, 1),
    "breaks off": (replies.cut_off, Outcome.UNAVAILABLE, 4),
    "half a JSON": (replies.truncated, Outcome.INVALID, 2),
    "a page": (replies.nonsense, Outcome.INVALID, 2),
    "prose": (replies.says("I would give a four."), Outcome.INVALID, 2),
    "too long": (replies.cut_short, Outcome.INVALID, 2),
    "wrong ids": (replies.wrong_ids, Outcome.INVALID, 2),
    "a criterion missing": (replies.missing_criterion, Outcome.INVALID, 2),
    "points": (replies.points, Outcome.INVALID, 2),
    "level 9": (replies.level(9), Outcome.INVALID, 2),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", STATES)
def test_whatever_a_vendor_does_is_a_state_and_never_a_number(
    wire: Wire, name: str, put: Put, vendor_server: VendorServer
) -> None:
    reply, outcome, requests = STATES[name]
    call = put(wire, reply)
    assert call.outcome is outcome
    assert call.answer is None
    assert call.reason
    assert len(call.attempts) == len(vendor_server.asked(wire)) == requests
    assert [attempt.number for attempt in call.attempts] == list(range(1, requests + 1))
    assert call.cost.amount is None or call.cost.amount > 0


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("reply", [replies.hang, replies.slow(0.1)])
def test_an_answer_that_takes_too_long_is_a_timeout(wire: Wire, reply: Reply, put: Put) -> None:
    call = put(wire, reply, timeout_s=1, patience=Patience(failures=1))
    assert call.outcome is Outcome.TIMEOUT
    assert call.answer is None
    assert (call.cost.amount, call.cost.least) == (None, 0)
    assert "broke off" in call.cost.reason


def test_nobody_at_the_address_is_unavailable(waits: Waits) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    asked = seat(Wire.OPENAI, f"http://127.0.0.1:{port}/v1")
    call = ask(asked, prompt(Judge.PROCESS), clock=waits.clock)
    assert call.outcome is Outcome.UNAVAILABLE
    assert [attempt.failure for attempt in call.attempts] == ["connection"] * 4


@pytest.mark.parametrize("wire", WIRES)
def test_what_passes_is_tried_again_until_it_is_over(wire: Wire, put: Put, waits: Waits) -> None:
    script = (replies.status(529), replies.cut_off, replies.status(429), replies.good(3))
    call = put(wire, *script)
    assert call.outcome is Outcome.ANSWERED
    assert [attempt.failure for attempt in call.attempts] == [
        "server_error", "cut_off", "rate_limited", "",
    ]  # fmt: skip
    assert waits.slept == [2, 4, 8]
    assert [attempt.waited_ms for attempt in call.attempts] == [0, 2_000, 4_000, 8_000]
    # What the broken connection cost is not known; what the answer cost is.
    assert (call.cost.amount, call.cost.least) == (None, Decimal("0.0081"))


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_out_of_schema_is_asked_for_once_more_and_told_why(
    wire: Wire, put: Put, vendor_server: VendorServer
) -> None:
    call = put(wire, replies.level(9), replies.good(2))
    assert call.outcome is Outcome.ANSWERED
    assert call.answer is not None
    assert set(call.answer.levels.values()) == {2}
    (fault,) = call.faults
    assert "found 9" in fault
    first, second = vendor_server.asked(wire)
    assert fault not in first.texts
    assert fault in second.texts
    assert call.attempts[1].remark in second.texts
    # Both are billed.
    assert call.usage == Usage(2_400, 600)
    assert call.cost.amount == Decimal("0.0162")


def test_failures_do_not_use_up_the_one_more_chance(put: Put) -> None:
    down = replies.status(500)
    call = put(Wire.OPENAI, down, down, down, replies.level(9), replies.good())
    assert call.outcome is Outcome.ANSWERED
    assert len(call.attempts) == 5


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", [7.0]),
        ("1.5", [1.5]),
        ("0", []),
        (format_datetime(NOW + timedelta(seconds=30), usegmt=True), [30.0]),
        (format_datetime(NOW - timedelta(seconds=30), usegmt=True), []),
        ("soon", [2.0]),
        ("nan", [2.0]),
        ("-5", [2.0]),
        ("", [2.0]),
    ],
)
def test_retry_after_is_honoured(
    header: str, expected: list[float], put: Put, waits: Waits
) -> None:
    call = put(Wire.ANTHROPIC, replies.status(429, retry_after=header), replies.good())
    assert call.outcome is Outcome.ANSWERED
    assert waits.slept == expected


@pytest.mark.parametrize("header", ["61", "86400", "9" * 400])
def test_a_vendor_that_asks_for_too_long_a_wait_is_left_alone(
    header: str, put: Put, waits: Waits, vendor_server: VendorServer
) -> None:
    call = put(Wire.OPENAI, replies.status(429, retry_after=header))
    assert call.outcome is Outcome.UNAVAILABLE
    assert "asks to wait" in call.reason
    assert waits.slept == []
    assert len(vendor_server.asked("openai")) == 1


def test_waits_grow_are_bounded_and_come_with_jitter() -> None:
    patience = Patience(failures=9)
    assert [patience.wait_s(n, None, 0) for n in range(1, 8)] == [2, 4, 8, 16, 32, 60, 60]
    assert patience.wait_s(3, None, 1) == 4
    assert patience.wait_s(3, 61, 0) is None


@pytest.mark.parametrize("wire", WIRES)
def test_full_marks_on_demand_are_levels_like_any_other(wire: Wire, put: Put) -> None:
    """A model that obeys the evidence is not stopped by the form; it cannot leave it, though."""
    call = put(wire, replies.obedient)
    assert call.answer is not None
    assert set(call.answer.levels.values()) == {5}
    assert not call.answer.proposals


@pytest.mark.parametrize("wire", WIRES)
def test_a_cost_that_is_not_known_is_never_nothing(wire: Wire, put: Put) -> None:
    without_usage = put(wire, replies.good(usage=False))
    assert without_usage.usage is None
    assert without_usage.cost.amount is None
    assert without_usage.cost.reason == "attempt 1 reports no tokens"
    without_price = put(wire, replies.good(), price=None)
    assert without_price.usage == Usage(1_200, 300)
    assert without_price.cost.amount is None
    assert without_price.cost.reason == f"no price is set for {MODELS[wire]}"


SCRIPTS: dict[str, tuple[Reply, ...]] = {
    "good": (replies.good({"action_timeline": 1, "tool_discipline": 2, "verification": 3, "decomposition": 4, "scope_control": 5}),),
    "mended": (replies.wrong_ids, replies.good(2)),
    "refused": (replies.refusal,),
    "invalid": (replies.truncated,),
    "broken off": (replies.cut_off,),
    "rate limited": (replies.status(429),),
    "down, then mended, then good": (replies.status(500), replies.level(9), replies.good(1)),
}  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_stored_call_replays_to_the_same_with_the_network_off(
    wire: Wire, name: str, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = put(wire, *SCRIPTS[name])

    def no_network(*_: object) -> None:
        raise AssertionError("replay asks nobody")

    monkeypatch.setattr(socket, "socket", no_network)
    form = type(call.prompt.form).from_json(call.prompt.form.as_json())
    again = replay(call.wire, form, call.attempts)
    assert (again.outcome, again.answer, again.reason, again.faults, again.model) == (
        call.outcome, call.answer, call.reason, call.faults, call.answered_by,
    )  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
def test_no_key_is_in_a_call_even_where_a_vendor_repeats_it(
    wire: Wire, put: Put, vendor_server: VendorServer
) -> None:
    call = put(wire, replies.status(401, text=f"Incorrect API key provided: {KEY}"))
    assert any(KEY in value for headers in vendor_server.headers for value in headers.values())
    assert KEY not in repr(call)
    assert b"[key]" in call.attempts[0].response
    assert KEY not in repr(seat(wire, ""))


@pytest.mark.parametrize("wire", WIRES)
def test_the_stored_bytes_are_those_of_the_vendor(
    wire: Wire, put: Put, vendor_server: VendorServer
) -> None:
    written: list[bytes] = []

    def reply(asked: Any) -> replies.Played:
        played = replies.good()(asked)
        written.append(played.body)
        return played

    call = put(wire, reply)
    assert [attempt.response for attempt in call.attempts] == written
    assert call.attempts[0].is_whole
    half = put(wire, replies.cut_off, patience=Patience(failures=1)).attempts[0]
    assert not half.is_whole
    assert written[0].startswith(half.response)


def test_keys_and_addresses_of_the_environment_are_not_used(
    vendor_server: VendorServer, monkeypatch: pytest.MonkeyPatch, put: Put
) -> None:
    for vendor in ("ANTHROPIC", "OPENAI", "GOOGLE", "GEMINI"):
        monkeypatch.setenv(f"{vendor}_API_KEY", "another-key")
        monkeypatch.setenv(f"{vendor}_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-token")
    for wire in WIRES:
        assert put(wire, replies.good()).outcome is Outcome.ANSWERED
    sent = str(vendor_server.headers)
    assert KEY in sent
    assert "another-" not in sent


def test_a_fault_of_ours_is_raised_and_no_state_of_the_vendor() -> None:
    asked = seat(Wire.OPENAI, "http://127.0.0.1:1/v1", temperature="not a number")
    with pytest.raises(ValueError, match="could not convert"):
        exchange(asked, prompt(Judge.PROCESS), "")


def test_a_call_cannot_take_longer_than_it_says() -> None:
    asked = seat(Wire.OPENAI, "", timeout_s=120)
    assert Patience().longest_s(asked) == 5 * 120 + 3 * 60
