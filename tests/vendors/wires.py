"""What each vendor's API says, as bytes: written after its published reference.

Anthropic: Messages. OpenAI: Chat Completions. Google: generateContent of the Gemini API.
"""

from __future__ import annotations

import json
import re
from typing import Any

JsonDict = dict[str, Any]

# What a rationale may cite, as a prompt has it at the head of each item.
_ID = re.compile(r"^### (E[0-9]+)\b", re.MULTILINE)


def wire_of(path: str) -> str:
    """Tell a vendor's format by the path that is asked for."""
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/chat/completions"):
        return "openai"
    if path.endswith(":generateContent"):
        return "google"
    raise ValueError(f"no vendor has {path}")


class Asked:
    """A request as a vendor reads it."""

    def __init__(self, path: str, body: bytes) -> None:
        self.path = path
        self.wire = wire_of(path)
        self.raw = body
        self.body: JsonDict = json.loads(body)

    @property
    def model(self) -> str:
        if self.wire == "google":
            return self.path.rpartition("/")[2].partition(":")[0]
        return str(self.body["model"])

    @property
    def tool(self) -> JsonDict:
        """The one tool of the request: its name and the schema of what it takes."""
        (tool,) = self.body["tools"]
        match self.wire:
            case "anthropic":
                return {"name": tool["name"], "schema": tool["input_schema"]}
            case "openai":
                function = tool["function"]
                return {"name": function["name"], "schema": function["parameters"]}
        (function,) = tool["functionDeclarations"]
        # A JSON name in either spelling is one name to this vendor.
        schema = function.get("parametersJsonSchema") or function["parameters_json_schema"]
        return {"name": function["name"], "schema": schema}

    @property
    def texts(self) -> str:
        """Every text of the request, wherever it stands."""
        return "\n".join(_texts({**self.body, "tools": None}))

    @property
    def evidence_ids(self) -> list[str]:
        return _ID.findall(self.texts)

    @property
    def criteria(self) -> list[str]:
        criteria = self.tool["schema"]["properties"].get("criteria")
        return list(criteria["properties"]) if criteria else []

    @property
    def triggers(self) -> list[str]:
        findings = self.tool["schema"]["properties"].get("findings")
        return list(findings["items"]["properties"]["trigger"]["enum"]) if findings else []


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
    return []


def call(asked: Asked, arguments: Any, *, usage: bool = True) -> JsonDict:
    """Return a response in which the model calls its tool with ``arguments``."""
    name = asked.tool["name"]
    match asked.wire:
        case "anthropic":
            block = {"type": "tool_use", "id": "toolu_01", "name": name, "input": arguments}
            return _anthropic(asked, [block], "tool_use", usage=usage)
        case "openai":
            function = {"name": name, "arguments": json.dumps(arguments)}
            tool_call = {"id": "call_01", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [tool_call]}
            return _openai(asked, message, "tool_calls", usage=usage)
    part = {"functionCall": {"name": name, "args": arguments}}
    return _google(asked, [part], "STOP", usage=usage)


def prose(asked: Asked, text: str) -> JsonDict:
    """Return a response in which the model talks and calls nothing."""
    match asked.wire:
        case "anthropic":
            return _anthropic(asked, [{"type": "text", "text": text}], "end_turn")
        case "openai":
            return _openai(asked, {"role": "assistant", "content": text}, "stop")
    return _google(asked, [{"text": text}], "STOP")


def refusal(asked: Asked) -> JsonDict:
    """Return a refusal, each vendor's own way."""
    match asked.wire:
        case "anthropic":
            return _anthropic(asked, [], "refusal")
        case "openai":
            message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
            return _openai(asked, message, "stop")
    return {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 1_000, "totalTokenCount": 1_000},
        "modelVersion": asked.model,
        "responseId": "resp-01",
    }


def cut_short(asked: Asked) -> JsonDict:
    """Return a response that ran into the limit of tokens."""
    match asked.wire:
        case "anthropic":
            return _anthropic(asked, [{"type": "text", "text": "The"}], "max_tokens")
        case "openai":
            return _openai(asked, {"role": "assistant", "content": "The"}, "length")
    return _google(asked, [{"text": "The"}], "MAX_TOKENS")


def error(wire: str, status: int, text: str) -> JsonDict:
    """Return the body of an error, as each vendor words it."""
    match wire:
        case "anthropic":
            kinds = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}
            kind = kinds.get(status, "api_error")
            return {"type": "error", "error": {"type": kind, "message": text}}
        case "openai":
            return {"error": {"message": text, "type": "error", "param": None, "code": None}}
    return {"error": {"code": status, "message": text, "status": "UNAVAILABLE"}}


# 1,200 tokens in and 300 out, whoever counts.


def _anthropic(asked: Asked, content: list[JsonDict], why: str, *, usage: bool = True) -> JsonDict:
    said = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": why,
        "stop_sequence": None,
    }
    return said | ({"usage": {"input_tokens": 1_200, "output_tokens": 300}} if usage else {})


def _openai(asked: Asked, message: JsonDict, why: str, *, usage: bool = True) -> JsonDict:
    said: JsonDict = {
        "id": "chatcmpl-01",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": why}],
    }
    counts = {"prompt_tokens": 1_200, "completion_tokens": 300, "total_tokens": 1_500}
    return said | ({"usage": counts} if usage else {})


def _google(asked: Asked, parts: list[JsonDict], why: str, *, usage: bool = True) -> JsonDict:
    content = {"role": "model", "parts": parts}
    said: JsonDict = {
        "candidates": [{"content": content, "finishReason": why, "index": 0}],
        "modelVersion": asked.model,
        "responseId": "resp-01",
    }
    counts = {"promptTokenCount": 1_200, "candidatesTokenCount": 200, "thoughtsTokenCount": 100}
    return said | ({"usageMetadata": counts} if usage else {})
