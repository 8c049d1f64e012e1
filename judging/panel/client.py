"""Asking a seat: through pydantic-ai, with every byte of the vendor's kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from judging.panel.answers import Answer, Attempt, Outcome, Settled, Usage, Wire, settle
from judging.panel.prompts import Prompt
from judging.panel.seats import Seat


@dataclass(frozen=True, slots=True)
class Clock:
    """How a call waits and measures; tests bring their own."""

    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a call goes on. Seconds."""

    attempts: int = 4  # requests, all in all
    first_wait_s: float = 2
    longest_wait_s: float = 60  # whoever is told to wait longer gives up, and says so


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
    prompt: Prompt
    attempts: tuple[Attempt, ...]
    outcome: Outcome
    answer: Answer | None
    reason: str  # why there is no answer, for people
    usage: Usage | None  # of all attempts together; None where the vendor reports none
    cost: Cost
    latency_ms: int  # from the first request to the last response, waiting included
    settled: Settled = field(repr=False)


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
    raise NotImplementedError


def replay(wire: Wire, prompt_form: Any, attempts: tuple[Attempt, ...]) -> Settled:
    """Read a stored call again: the very function that settled it live, without a network."""
    return settle(attempts, wire, prompt_form)
