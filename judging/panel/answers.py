"""From a vendor's bytes to levels, rationale and evidence: the same way live and in replay.

Nothing here asks anybody: a response that was stored reads as it read when it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from bouts.formats.text import visible
from bouts.rules import LEVELS, Confidence, Judge

JsonDict = dict[str, Any]

TOOL = "verdict"  # the one tool of a model: it takes the answer
TIMEOUT = "timeout"

LONGEST_RATIONALE = 20_000  # characters
LONGEST_REASON = 2_000
LONGEST_NAME = 200
MOST_findings = 100
MOST_FAULTS = 40  # of one answer: enough to see what is wrong with it


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


def schema_of(form: Form) -> JsonDict:
    """Return the JSON Schema of an answer to this form: the one tool that a model has."""
    parts = {"findings": _findings(form)} if form.judge is Judge.INTEGRITY else {}
    if form.criteria:
        parts["criteria"] = _object({name: _GRADE for name in form.criteria})
    return _object({**parts, "summary": _text("The whole in a few sentences.")})


def read_answer(raw: bytes, wire: Wire, form: Form) -> Answer | Refusal | Invalid:
    """Read a whole response of a vendor. Never raises, whatever the bytes are."""
    try:
        said = _SAID[wire](_document(raw))
    except _Refused as refused:
        return Refusal(str(refused))
    except _Unreadable as unreadable:
        return Invalid((str(unreadable),))
    return _Reader(form).answer(said)


def read_usage(raw: bytes, wire: Wire) -> Usage | None:
    """Return the tokens that a response counts; None where it does not count them."""
    try:
        document = _document(raw)
    except _Unreadable:
        return None
    match wire:
        case Wire.ANTHROPIC:
            return _usage(
                document.get("usage"),
                inputs=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
                outputs=("output_tokens",),
                cached=("cache_read_input_tokens",),
            )
        case Wire.OPENAI:
            usage = _mapping(document.get("usage"))
            details = _mapping(usage.get("prompt_tokens_details"))
            return _usage(
                {**usage, "cached_tokens": details.get("cached_tokens")},
                inputs=("prompt_tokens",),
                outputs=("completion_tokens",),
                cached=("cached_tokens",),
            )
        case Wire.GOOGLE:
            return _usage(
                document.get("usageMetadata"),
                inputs=("promptTokenCount",),
                outputs=("candidatesTokenCount", "thoughtsTokenCount"),
                cached=("cachedContentTokenCount",),
            )


def read_model(raw: bytes, wire: Wire) -> str:
    """Return the model that a response says it comes from; empty where it does not say."""
    try:
        name = _document(raw).get("modelVersion" if wire is Wire.GOOGLE else "model")
    except _Unreadable:
        return ""
    return visible(name)[:LONGEST_NAME] if isinstance(name, str) else ""


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


# The schema


def _object(properties: Mapping[str, Any]) -> JsonDict:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str) -> JsonDict:
    return {"type": "string", "description": description}


_IDS = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Ids of the evidence that this rests on, such as E3: at least one.",
}
_GRADE = _object(
    {
        "rationale": _text("What in the evidence speaks for this level, in one to four sentences."),
        "evidence": _IDS,
        "level": {
            "type": "integer",
            "minimum": LEVELS.lowest,
            "maximum": LEVELS.highest,
            "description": "The level whose description fits.",
        },
    }
)


def _findings(form: Form) -> JsonDict:
    finding = _object(
        {
            "trigger": {"type": "string", "enum": list(form.triggers)},
            "note": _text("What was done, with the words that show it."),
            "evidence": _IDS,
            "confidence": {"type": "string", "enum": [word.value for word in Confidence]},
        }
    )
    return {"type": "array", "items": finding, "description": "Empty where nothing was found."}


# What the three wires say


class _Unreadable(Exception):
    """There is no answer in the response; the message says why, as a sentence."""


class _Refused(Exception):
    """The response says that there will be none; the message is the vendor's."""


# Why Gemini stops that is a refusal to go on, in its own words.
_BLOCKED = frozenset(
    {"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII", "LANGUAGE"}
)
_FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})


def _document(raw: bytes) -> Mapping[str, Any]:
    if not raw:
        raise _Unreadable("The response is empty.")
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise _Unreadable("The response is no JSON, or only a part of it.") from None
    if not isinstance(document, dict):
        raise _Unreadable("The response is no JSON object.")
    return document


def _anthropic(document: Mapping[str, Any]) -> Any:
    if document.get("stop_reason") == "refusal":
        raise _Refused(_reason(document, "stop_reason: refusal"))
    if _said(document.get("stop_reason")) in {"max_tokens", "model_context_window_exceeded"}:
        raise _Unreadable("The answer was cut off at the most tokens that it may have.")
    blocks = [_mapping(block) for block in _list(document.get("content"))]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    return _the_call([(call.get("name"), call.get("input")) for call in calls])


def _openai(document: Mapping[str, Any]) -> Any:
    error = _mapping(document.get("error"))
    if (code := _said(error.get("code"))) in _FILTERED:
        raise _Refused(_said(error.get("message")) or code)
    choice = _mapping(next(iter(_list(document.get("choices"))), None))
    message = _mapping(choice.get("message"))
    if message.get("refusal"):
        raise _Refused(_said(message["refusal"]) or "refusal")
    if choice.get("finish_reason") == "content_filter":
        raise _Refused("finish_reason: content_filter")
    if choice.get("finish_reason") == "length":
        raise _Unreadable("The answer was cut off at the most tokens that it may have.")
    calls = [_mapping(_mapping(call).get("function")) for call in _list(message.get("tool_calls"))]
    arguments = _the_call([(call.get("name"), call.get("arguments")) for call in calls])
    try:
        return orjson.loads(arguments) if isinstance(arguments, str) else None
    except orjson.JSONDecodeError:
        raise _Unreadable("The answer is no JSON, or only a part of it.") from None


def _google(document: Mapping[str, Any]) -> Any:
    feedback = _mapping(document.get("promptFeedback"))
    if feedback.get("blockReason"):
        raise _Refused(f"blockReason: {_said(feedback['blockReason'])}")
    candidate = _mapping(next(iter(_list(document.get("candidates"))), None))
    why = _said(candidate.get("finishReason"))
    if why in _BLOCKED:
        raise _Refused(_said(candidate.get("finishMessage")) or f"finishReason: {why}")
    if why == "MAX_TOKENS":
        raise _Unreadable("The answer was cut off at the most tokens that it may have.")
    parts = [_mapping(part) for part in _list(_mapping(candidate.get("content")).get("parts"))]
    calls = [_mapping(part["functionCall"]) for part in parts if part.get("functionCall")]
    return _the_call([(call.get("name"), call.get("args")) for call in calls])


_SAID: Mapping[Wire, Callable[[Mapping[str, Any]], Any]] = {
    Wire.ANTHROPIC: _anthropic,
    Wire.OPENAI: _openai,
    Wire.GOOGLE: _google,
}


def _the_call(calls: Sequence[tuple[Any, Any]]) -> Any:
    """Return the arguments of the one call of the one tool that there is."""
    if not calls:
        raise _Unreadable("The model wrote no answer in the form that it was given.")
    if len(calls) > 1:
        raise _Unreadable(f"The model answered {len(calls)} times at once.")
    name, arguments = calls[0]
    if name != TOOL:
        raise _Unreadable(f"The model called {_quoted(name)}, which there is not.")
    return arguments


def _reason(document: Mapping[str, Any], otherwise: str) -> str:
    details = _mapping(document.get("stop_details"))
    blocks = [_mapping(block) for block in _list(document.get("content"))]
    texts = [details.get("explanation"), *(block.get("text") for block in blocks)]
    return next((said for text in texts if (said := _said(text))), otherwise)


def _usage(
    counts: Any, *, inputs: Sequence[str], outputs: Sequence[str], cached: Sequence[str]
) -> Usage | None:
    """Add up counts; the first of ``inputs`` and of ``outputs`` must be there."""
    known = {name: count for name, count in _mapping(counts).items() if _is_count(count)}
    if inputs[0] not in known or outputs[0] not in known:
        return None
    fed, said, held = (
        sum(known.get(name, 0) for name in names) for names in (inputs, outputs, cached)
    )
    return Usage(fed, said, min(held, fed))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _said(value: Any) -> str:
    """Return a vendor's words, fit to store; empty where there are none."""
    return visible(value).strip()[:LONGEST_REASON] if isinstance(value, str) else ""


def _quoted(value: Any) -> str:
    """Return a model's value as it may stand in a fault, short."""
    text = repr(value)
    return visible(text if len(text) <= 60 else f"{text[:60]}…")


# Holding an answer against its form


# A field that is not there: its object has said so. One that is null is there, and wrong.
_MISSING: Any = object()


class _Reader:
    """Reads one answer and gathers every fault in it."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._faults: list[str] = []

    def answer(self, said: Any) -> Answer | Invalid:
        form = self._form
        names = ["summary"]
        names += ["criteria"] * bool(form.criteria)
        names += ["findings"] * (form.judge is Judge.INTEGRITY)
        whole = self._object("answer", said, names)
        grades = self._grades(whole.get("criteria", _MISSING)) if "criteria" in names else ()
        proposals = self._proposals(whole.get("findings", _MISSING)) if "findings" in names else ()
        rationale = self._words("summary", whole.get("summary", _MISSING))
        if self._faults:
            return Invalid(tuple(self._faults[:MOST_FAULTS]))
        return Answer(tuple(grades), tuple(proposals), rationale)

    def _grades(self, said: Any) -> list[Grade]:
        entries = self._object("criteria", said, self._form.criteria)
        grades = []
        for name in self._form.criteria:
            if name in entries:
                entry = self._object(name, entries[name], ("rationale", "evidence", "level"))
                level = entry.get("level", 0)
                is_level = type(level) is int and LEVELS.lowest <= level <= LEVELS.highest
                if "level" in entry and not is_level:
                    self._fault(
                        f"{name}.level: found {_quoted(level)}, expected a whole number from "
                        f"{LEVELS.lowest} to {LEVELS.highest}"
                    )
                grades.append(
                    Grade(
                        criterion=name,
                        level=level if is_level else 0,
                        rationale=self._words(
                            f"{name}.rationale", entry.get("rationale", _MISSING)
                        ),
                        evidence=self._ids(f"{name}.evidence", entry.get("evidence", _MISSING)),
                    )
                )
        return grades

    def _proposals(self, said: Any) -> list[Proposal]:
        if said is _MISSING:
            return []
        if not isinstance(said, list):
            self._fault(f"findings: found {_quoted(said)}, expected a list")
            return []
        if len(said) > MOST_findings:
            self._fault(f"findings: {len(said)}, expected at most {MOST_findings}")
            return []
        return [self._proposal(f"findings[{at}]", entry) for at, entry in enumerate(said)]

    def _proposal(self, where: str, said: Any) -> Proposal:
        entry = self._object(where, said, ("trigger", "note", "evidence", "confidence"))
        trigger = entry.get("trigger", _MISSING)
        confidence = entry.get("confidence", _MISSING)
        ids = self._ids(f"{where}.evidence", entry.get("evidence", _MISSING))
        if not isinstance(trigger, str) or trigger not in self._form.triggers:
            if trigger is not _MISSING:
                self._fault(f"{where}.trigger: {_quoted(trigger)} is none that was asked for")
            trigger = ""
        elif ids and not self._sorts(ids) & set(self._form.triggers[trigger]):
            wanted = " or ".join(self._form.triggers[trigger])
            self._fault(f"{where}.evidence: {trigger} must cite at least one item of {wanted}")
        if not isinstance(confidence, str) or confidence not in set(Confidence):
            if confidence is not _MISSING:
                found = _quoted(confidence)
                self._fault(f"{where}.confidence: found {found}, expected high or low")
            confidence = Confidence.LOW
        note = self._words(f"{where}.note", entry.get("note", _MISSING))
        return Proposal(trigger, Confidence(confidence), note, ids)

    def _sorts(self, ids: Iterable[str]) -> set[str]:
        return {self._form.evidence[id] for id in ids}

    def _object(self, where: str, said: Any, names: Sequence[str]) -> Mapping[str, Any]:
        if said is _MISSING:
            return {}
        if not isinstance(said, dict):
            self._fault(f"{where}: found {_quoted(said)}, expected an object")
            return {}
        self._faults += [
            f"{where}: {_quoted(name)} is not a field" for name in sorted(said.keys() - names)
        ]
        self._faults += [f"{where}.{name}: missing" for name in names if name not in said]
        return said

    def _words(self, where: str, said: Any) -> str:
        if said is _MISSING:
            return ""
        if not isinstance(said, str) or not said.strip():
            self._fault(f"{where}: found {_quoted(said)}, expected words")
            return ""
        if len(said) > LONGEST_RATIONALE:
            self._fault(f"{where}: {len(said):,} characters, expected {LONGEST_RATIONALE:,}")
            return ""
        return visible(said)

    def _ids(self, where: str, said: Any) -> tuple[str, ...]:
        if said is _MISSING:
            return ()
        if not isinstance(said, list) or not said:
            self._fault(f"{where}: found {_quoted(said)}, expected a list with ids in it")
            return ()
        unknown = [id for id in said if not isinstance(id, str) or id not in self._form.evidence]
        if unknown:
            self._fault(f"{where}: there is no {', '.join(map(_quoted, unknown[:5]))}")
            return ()
        return tuple(dict.fromkeys(said))

    def _fault(self, fault: str) -> None:
        self._faults.append(fault)
