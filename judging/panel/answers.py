"""From a vendor's bytes to levels, rationale and evidence: the same way live and in replay.

Nothing here asks anybody: a response that was stored reads as it read when it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from judging.panel import forms
from judging.panel.forms import Answer, Form, Invalid
from judging.panel.wires import Refused, Unreadable, Wire, read_model, said_in

TIMEOUT = "timeout"


class Outcome(StrEnum):
    """What came of a call. All but ``answered`` are states of the seat, never a number.

    The others are spelt as `bouts.rules.SeatState` spells them.
    """

    ANSWERED = "answered"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The vendor or its model declined to answer; ``reason`` is the vendor's own word or text."""

    reason: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request and what came of it, as stored.

    ``status`` is None where no response came. ``response`` is the body as the vendor wrote
    it, as far as it came: ``is_whole`` says whether that is all. ``failure`` is a code
    (``timeout``, ``connection``, ``cut_off``, ``rate_limited``, ``server_error``,
    ``rejected``) where there is no response to read, else empty; ``detail`` says it in a
    sentence. ``remark`` is what the prompt said of the attempt before, which was invalid.
    """

    number: int  # from 1
    status: int | None
    response: bytes
    is_whole: bool
    latency_ms: int
    failure: str = ""
    detail: str = ""
    remark: str = ""
    waited_ms: int = 0  # before it
    request_digest: str = ""  # SHA-256 of the body that was sent


@dataclass(frozen=True, slots=True)
class Settled:
    """What some attempts come to. ``answer`` is None but for ``answered``."""

    outcome: Outcome
    answer: Answer | None = None
    reason: str = ""  # why there is none, for people
    faults: tuple[str, ...] = ()  # of each invalid response
    model: str = ""  # as the vendor named it in the response that counted


def read_answer(raw: bytes, wire: Wire, form: Form) -> Answer | Refusal | Invalid:
    """Read a whole response of a vendor. Never raises, whatever the bytes are."""
    try:
        said = said_in(raw, wire)
    except Refused as refused:
        return Refusal(str(refused))
    except Unreadable as unreadable:
        return Invalid((str(unreadable),))
    return forms.read(said, form)


def settle(attempts: Sequence[Attempt], wire: Wire, form: Form) -> Settled:
    """Say what the attempts of a call come to: the last one decides, live and in replay.

    Raises `ValueError` where there is none.
    """
    if not attempts:
        raise ValueError("a call has at least one attempt")
    readings = {
        attempt.number: read_answer(attempt.response, wire, form)
        for attempt in attempts
        if not attempt.failure
    }
    faults = tuple(
        fault
        for reading in readings.values()
        if isinstance(reading, Invalid)
        for fault in reading.faults
    )
    last = attempts[-1]
    match readings.get(last.number):
        case Answer() as answer:
            model = read_model(last.response, wire)
            return Settled(Outcome.ANSWERED, answer, faults=faults, model=model)
        case Refusal(reason):
            model = read_model(last.response, wire)
            return Settled(Outcome.REFUSED, reason=reason, faults=faults, model=model)
        case Invalid(why):
            model = read_model(last.response, wire)
            reason = "; ".join(why)
            return Settled(Outcome.INVALID, reason=reason, faults=faults, model=model)
    state = Outcome.TIMEOUT if last.failure == TIMEOUT else Outcome.UNAVAILABLE
    return Settled(state, reason=last.detail, faults=faults)
