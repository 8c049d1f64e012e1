"""Asking a seat: when to try again, when to give up, and all that there is to store of it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any

from judging.panel.answers import TIMEOUT, Attempt, Outcome, Refusal, Settled, read_answer, settle
from judging.panel.exchange import Exchange, TooLong, written_by
from judging.panel.forms import Answer, Form, Invalid
from judging.panel.prompts import Prompt
from judging.panel.seats import Seat
from judging.panel.wires import Usage, Wire, read_usage

MILLION = Decimal(1_000_000)

# Failures after which a vendor is asked again, and those of which nobody knows the cost.
PASSING = frozenset({TIMEOUT, "connection", "cut_off", "rate_limited", "server_error"})
UNBILLED = frozenset({"rate_limited", "server_error", "rejected"})

# A shorter one is none: servers of one's own take any word.
SHORTEST_KEY = 8

REMARK = "\n\nYour last answer could not be used. Answer again, in full, and mend this:\n{faults}\n"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """How a call waits and measures; tests bring their own."""

    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _now
    jitter: Callable[[], float] = random.random  # from 0 to 1


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a call goes on.

    A wait doubles from one failure to the next, and is shortened by up to half at random, so
    that matches that failed together do not come back together. A vendor that asks for more
    than ``longest_wait_s`` is not asked again.
    """

    failures: int = 4  # requests that may fail
    first_wait_s: float = 2
    longest_wait_s: float = 60

    def longest_s(self, seat: Seat) -> float:
        """The longest that a call can take: for whoever holds a lease meanwhile."""
        waits = (self.failures - 1) * self.longest_wait_s
        return (self.failures + 1) * seat.timeout_s + waits

    def wait_s(self, failures: int, told: float | None, jitter: float) -> float | None:
        """Return how long to wait after so many failures; None to give up."""
        if told is not None:
            return told if told <= self.longest_wait_s else None
        wait: float = min(self.first_wait_s * 2 ** (failures - 1), self.longest_wait_s)
        return wait * (1 - jitter / 2)


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, exact. ``amount`` is None where it is not known, and ``reason`` says why.

    ``least`` is what is known to have been spent: budgets count that.
    """

    amount: Decimal | None
    reason: str = ""
    least: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Call:
    """All of SCORING.md, 7 about one call, ready to store; plain values throughout.

    ``parameters`` are what the request really said beside the prompt (temperature, limits,
    the schema of the answer). ``model`` is what was asked for, ``answered_by`` what the
    vendor says answered, empty where it does not say. No key and no header is in it.
    """

    seat: str
    vendor: str
    wire: Wire
    base_url: str
    model: str
    answered_by: str
    parameters: Mapping[str, Any]
    written_by: str  # the libraries that wrote the requests, with their versions
    prompt: Prompt
    attempts: tuple[Attempt, ...]
    outcome: Outcome
    answer: Answer | None
    reason: str  # why there is no answer, for people
    faults: tuple[str, ...]  # of each invalid response, also where a later one was valid
    usage: Usage | None  # of all attempts together; None where the vendor reports none
    cost: Cost
    latency_ms: int  # from the first request to the last response, waiting included


def ask(
    seat: Seat,
    prompt: Prompt,
    *,
    clock: Clock = Clock(),
    patience: Patience = Patience(),
) -> Call:
    """Ask a seat and return what came of it, whatever that is.

    429, 5xx, timeouts and broken connections are tried again with growing waits; an answer
    that breaks its form is asked for once more. Then the outcome is a state, never a number.
    Raises nothing that a vendor could cause.
    """
    began = clock.monotonic()
    asking = _Asking(seat, prompt, clock, patience)
    attempts = asking.attempts()
    latency_ms = _ms(clock.monotonic() - began)
    settled = replay(seat.wire, prompt.form, attempts)
    usages = [read_usage(a.response, seat.wire) for a in attempts if not a.failure]
    return Call(
        seat=seat.name.value,
        vendor=seat.vendor,
        wire=seat.wire,
        base_url=seat.base_url,
        model=seat.model,
        answered_by=settled.model,
        parameters=asking.parameters,
        written_by=written_by(seat.wire),
        prompt=prompt,
        attempts=attempts,
        outcome=settled.outcome,
        answer=settled.answer,
        reason=settled.reason,
        faults=settled.faults,
        usage=_sum(usages),
        cost=cost_of(seat, attempts),
        latency_ms=latency_ms,
    )


def replay(wire: Wire, form: Form, attempts: Sequence[Attempt]) -> Settled:
    """Read a stored call again: by the function that settled it live, without a network."""
    return settle(attempts, wire, form)


class _Asking:
    """One call while it goes on."""

    def __init__(self, seat: Seat, prompt: Prompt, clock: Clock, patience: Patience) -> None:
        self._seat = seat
        self._prompt = prompt
        self._clock = clock
        self._patience = patience
        self.parameters: Mapping[str, Any] = {}

    def attempts(self) -> tuple[Attempt, ...]:
        attempts: list[Attempt] = []
        failures, remark, wait = 0, "", 0.0
        while True:
            if wait:
                self._clock.sleep(wait)
            attempt, told = self._attempt(len(attempts) + 1, remark, wait)
            attempts.append(attempt)
            wait = 0.0
            if not attempt.failure:
                reading = read_answer(attempt.response, self._seat.wire, self._prompt.form)
                if not isinstance(reading, Invalid) or remark:
                    return tuple(attempts)
                remark = REMARK.format(faults="\n".join(f"- {fault}" for fault in reading.faults))
                continue
            failures += 1
            if attempt.failure not in PASSING or failures >= self._patience.failures:
                return tuple(attempts)
            longer = self._patience.wait_s(failures, told, self._clock.jitter())
            if longer is None:
                return tuple(attempts)
            wait = longer

    def _attempt(self, number: int, remark: str, waited: float) -> tuple[Attempt, float | None]:
        """Ask once; return what came of it, and how long the vendor says to wait."""
        # The vendors' libraries take seconds and much memory to import: only who asks pays.
        from judging.panel.http import exchange

        began = self._clock.monotonic()
        seen = exchange(self._seat, self._prompt, remark)
        latency_ms = _ms(self._clock.monotonic() - began)
        self.parameters = self.parameters or seen.parameters
        told = _told(seen.retry_after, self._clock.now())
        failure, detail = _failure(seen, self._seat, told)
        response = bytes(seen.response)
        if seen.status == 400 and not failure:
            # Some vendors refuse by this status; any other is a request that they do not take.
            reading = read_answer(response, self._seat.wire, self._prompt.form)
            if not isinstance(reading, Refusal):
                failure, detail = "rejected", "The vendor did not take the request (status 400)."
        attempt = Attempt(
            number=number,
            status=seen.status,
            response=_without_key(response, self._seat) if failure else response,
            is_whole=seen.is_whole,
            latency_ms=latency_ms,
            failure=failure,
            detail=detail,
            remark=remark,
            waited_ms=_ms(waited),
            request_digest=seen.request_digest,
        )
        return attempt, told


def _failure(seen: Exchange, seat: Seat, told: float | None) -> tuple[str, str]:
    """Say why there is no response to read: a code and a sentence; empty where there is one."""
    status = seen.status
    if isinstance(seen.error, TooLong):
        return "cut_off", "The answer did not end."
    if not seen.is_whole:
        if seen.is_late:
            return TIMEOUT, f"There was no whole answer within {seat.timeout_s} s."
        if status is None:
            return "connection", "The vendor could not be reached."
        return "cut_off", "The connection broke in the middle of the answer."
    assert status is not None
    if status == 429:
        asks = "" if told is None else f", and asks to wait {told:g} s"
        return "rate_limited", f"The vendor takes no more requests now (429{asks})."
    if status >= 500:
        return "server_error", f"The vendor failed (status {status})."
    if status == 408:
        return TIMEOUT, "The vendor gave up waiting (status 408)."
    if status in {401, 403}:
        return "rejected", f"The vendor does not accept the key (status {status})."
    if status == 404:
        return "rejected", f"The vendor knows no model {seat.model} (status 404)."
    if status >= 300 and status != 400:
        return "rejected", f"The vendor did not take the request (status {status})."
    return "", ""


def _without_key(response: bytes, seat: Seat) -> bytes:
    """Take the key out of an error: some servers repeat what they were sent."""
    key = seat.key.encode()
    return response if len(key) < SHORTEST_KEY else response.replace(key, b"[key]")


def _told(retry_after: str, now: datetime) -> float | None:
    """Read a Retry-After header: seconds or a date; None where it is neither."""
    text = retry_after.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max((until - now).total_seconds(), 0)


# What it cost


def cost_of(seat: Seat, attempts: Sequence[Attempt]) -> Cost:
    """Price the tokens of all attempts, invalid answers included: they are billed as well."""
    if seat.price is None:
        return Cost(None, f"no price is set for {seat.model}")
    least, unknown = Decimal(0), ""
    billed = [attempt for attempt in attempts if attempt.failure not in UNBILLED]
    for attempt in billed:
        usage = read_usage(attempt.response, seat.wire) if not attempt.failure else None
        if attempt.failure:
            unknown = unknown or f"attempt {attempt.number} broke off: what it cost is not known"
        elif usage is None:
            unknown = unknown or f"attempt {attempt.number} reports no tokens"
        elif usage.cached and seat.price.cached is None:
            unknown = unknown or "no price is set for cached tokens"
            least += usage.output * seat.price.output / MILLION
        else:
            least += _dollars(usage, seat)
    if not billed:
        return Cost(None, "no request was answered")
    return Cost(None, unknown, least) if unknown else Cost(least, least=least)


def _dollars(usage: Usage, seat: Seat) -> Decimal:
    assert seat.price is not None
    cached = usage.cached * (seat.price.cached or Decimal(0))
    fresh = (usage.input - usage.cached) * seat.price.input
    return (fresh + cached + usage.output * seat.price.output) / MILLION


def _sum(usages: Sequence[Usage | None]) -> Usage | None:
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return Usage(
        input=sum(usage.input for usage in known),
        output=sum(usage.output for usage in known),
        cached=sum(usage.cached for usage in known),
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)
