"""What is seen of one request to a vendor, as bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version

import orjson

from judging.panel.forms import JsonDict
from judging.panel.wires import Wire

# Where a prompt stands in a request: all else in it are parameters.
_PROMPT_FIELDS = frozenset({"system", "messages", "contents", "systemInstruction"})

# What writes a request, beside pydantic-ai: the same prompt in another version's bytes.
_LIBRARIES: Mapping[Wire, str] = {
    Wire.ANTHROPIC: "anthropic",
    Wire.OPENAI: "openai",
    Wire.GOOGLE: "google-genai",
}


@cache
def written_by(wire: Wire) -> str:
    """Name the libraries that write a request in this format, with their versions."""
    names = ("pydantic-ai-slim", _LIBRARIES[wire])
    return ", ".join(f"{name} {version(name)}" for name in names)


class TooLong(Exception):
    """A vendor goes on writing beyond all measure."""


@dataclass(slots=True)
class Exchange:
    """What was seen of one request. ``status`` is None where no response came."""

    request: bytes | None = None
    status: int | None = None
    retry_after: str = ""
    response: bytearray = field(default_factory=bytearray)
    is_whole: bool = False
    is_late: bool = False
    error: Exception | None = None

    @property
    def request_digest(self) -> str:
        return "" if self.request is None else hashlib.sha256(self.request).hexdigest()

    @property
    def parameters(self) -> JsonDict:
        """What was sent beside the prompt."""
        if self.request is None:
            return {}
        body = orjson.loads(self.request)
        return {name: value for name, value in body.items() if name not in _PROMPT_FIELDS}
