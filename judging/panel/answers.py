"""From a vendor's bytes to levels, rationale and evidence: the same way live and in replay.

Nothing here asks anybody: a response that was stored reads as it read when it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bouts.rules import Confidence, Judge

JsonDict = dict[str, Any]


class Wire(StrEnum):
    """The format in which a vendor's API speaks."""

    ANTHROPIC = "anthropic"  # messages
    OPENAI = "openai"  # chat completions, which gateways and local servers speak too
    GOOGLE = "google"  # generateContent


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
class Form:
    """What an answer must look like: stored with a call, so that replay needs nothing else.

    ``criteria`` are those that want a level (none for Integrity); ``triggers`` are what
    Integrity may propose, each with the sorts of evidence of which a finding must cite at
    least one item. ``evidence`` has the sort of every item by its id.
    """

    judge: Judge
    criteria: tuple[str, ...]
    triggers: Mapping[str, tuple[str, ...]]
    evidence: Mapping[str, str]

    def as_json(self) -> JsonDict:
        return {
            "judge": self.judge.value,
            "criteria": list(self.criteria),
            "triggers": {name: list(sorts) for name, sorts in self.triggers.items()},
            "evidence": dict(self.evidence),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Form:
        return cls(
            judge=Judge(value["judge"]),
            criteria=tuple(value["criteria"]),
            triggers={name: tuple(sorts) for name, sorts in value["triggers"].items()},
            evidence=dict(value["evidence"]),
        )


@dataclass(frozen=True, slots=True)
class Grade:
    """A model's level for one criterion, 1 to 5, and what it rests on (ids of items)."""

    criterion: str
    level: int
    rationale: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An integrity finding that a model proposes; it waits for a reviewer, whatever it says."""

    trigger: str
    confidence: Confidence
    note: str
    evidence: tuple[str, ...]  # ids of items, at least one


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that keeps to its form. Integrity has proposals, the other judges grades."""

    grades: tuple[Grade, ...]
    proposals: tuple[Proposal, ...]
    rationale: str  # the model's summary

    @property
    def levels(self) -> dict[str, int]:
        """The level of every criterion, as `judging.scoring` wants them."""
        return {grade.criterion: grade.level for grade in self.grades}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The vendor or its model declined to answer; ``reason`` is the vendor's own word or text."""

    reason: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """A response that is no answer: every way in which it breaks the form, a sentence each."""

    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the vendor counted them. ``cached`` ones are among ``input``."""

    input: int
    output: int
    cached: int = 0


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
    waited_ms: int = 0  # before it, to spare the vendor
    request_digest: str = ""  # SHA-256 of the body that was sent


@dataclass(frozen=True, slots=True)
class Settled:
    """What some attempts come to. ``answer`` is None but for ``answered``."""

    outcome: Outcome
    answer: Answer | None = None
    reason: str = ""  # why there is none, for people
    faults: tuple[str, ...] = field(default=())  # of each invalid response
    model: str = ""  # as the vendor named it in the response that counted


def read_answer(raw: bytes, wire: Wire, form: Form) -> Answer | Refusal | Invalid:
    """Read a whole response of a vendor. Never raises, whatever the bytes are."""
    raise NotImplementedError


def settle(attempts: tuple[Attempt, ...], wire: Wire, form: Form) -> Settled:
    """Say what the attempts of a call come to: live, and again in replay."""
    raise NotImplementedError
