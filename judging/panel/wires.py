"""What the vendors' servers write, each in its own format: an answer, a refusal, a count of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from bouts.formats.text import visible
from judging.panel.forms import TOOL, quoted

LONGEST_REASON = 2_000  # characters
LONGEST_NAME = 200


class Wire(StrEnum):
    """The format in which a vendor's API speaks."""

    ANTHROPIC = "anthropic"  # messages
    OPENAI = "openai"  # chat completions, which gateways and local servers speak too
    GOOGLE = "google"  # generateContent


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the vendor counted them. ``cached`` ones are among ``input``."""

    input: int
    output: int
    cached: int = 0


class Unreadable(Exception):
    """There is no answer in the response; the message says why, as a sentence."""


class Refused(Exception):
    """The response says that there will be none; the message is the vendor's."""


def said_in(raw: bytes, wire: Wire) -> Any:
    """Return what a model gave its tool in a whole response. Raises `Refused` and `Unreadable`."""
    return _SAID[wire](_document(raw))


def read_usage(raw: bytes, wire: Wire) -> Usage | None:
    """Return the tokens that a response counts; None where it does not count them."""
    try:
        document = _document(raw)
    except Unreadable:
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
    except Unreadable:
        return ""
    return visible(name)[:LONGEST_NAME] if isinstance(name, str) else ""


# Why Gemini stops that is a refusal to go on, in its own words.
_BLOCKED = frozenset(
    {"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII", "LANGUAGE"}
)
_FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})


def _document(raw: bytes) -> Mapping[str, Any]:
    if not raw:
        raise Unreadable("The response is empty.")
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Unreadable("The response is no JSON, or only a part of it.") from None
    if not isinstance(document, dict):
        raise Unreadable("The response is no JSON object.")
    return document


def _anthropic(document: Mapping[str, Any]) -> Any:
    if document.get("stop_reason") == "refusal":
        raise Refused(_reason(document, "stop_reason: refusal"))
    if _said(document.get("stop_reason")) in {"max_tokens", "model_context_window_exceeded"}:
        raise Unreadable("The answer was cut off at the most tokens that it may have.")
    blocks = [_mapping(block) for block in _list(document.get("content"))]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    return _the_call([(call.get("name"), call.get("input")) for call in calls])


def _openai(document: Mapping[str, Any]) -> Any:
    error = _mapping(document.get("error"))
    if (code := _said(error.get("code"))) in _FILTERED:
        raise Refused(_said(error.get("message")) or code)
    choice = _mapping(next(iter(_list(document.get("choices"))), None))
    message = _mapping(choice.get("message"))
    if message.get("refusal"):
        raise Refused(_said(message["refusal"]) or "refusal")
    if choice.get("finish_reason") == "content_filter":
        raise Refused("finish_reason: content_filter")
    if choice.get("finish_reason") == "length":
        raise Unreadable("The answer was cut off at the most tokens that it may have.")
    calls = [_mapping(_mapping(call).get("function")) for call in _list(message.get("tool_calls"))]
    arguments = _the_call([(call.get("name"), call.get("arguments")) for call in calls])
    try:
        return orjson.loads(arguments) if isinstance(arguments, str) else None
    except orjson.JSONDecodeError:
        raise Unreadable("The answer is no JSON, or only a part of it.") from None


def _google(document: Mapping[str, Any]) -> Any:
    feedback = _mapping(document.get("promptFeedback"))
    if feedback.get("blockReason"):
        raise Refused(f"blockReason: {_said(feedback['blockReason'])}")
    candidate = _mapping(next(iter(_list(document.get("candidates"))), None))
    why = _said(candidate.get("finishReason"))
    if why in _BLOCKED:
        raise Refused(_said(candidate.get("finishMessage")) or f"finishReason: {why}")
    if why == "MAX_TOKENS":
        raise Unreadable("The answer was cut off at the most tokens that it may have.")
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
        raise Unreadable("The model wrote no answer in the form that it was given.")
    if len(calls) > 1:
        raise Unreadable(f"The model answered {len(calls)} times at once.")
    name, arguments = calls[0]
    if name != TOOL:
        raise Unreadable(f"The model called {quoted(name)}, which there is not.")
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
