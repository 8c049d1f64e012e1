"""One request to a vendor, through pydantic-ai, with the bytes that really went over the wire.

pydantic-ai builds the request and speaks the vendor's format. What it makes of the response
is not used: a verdict rests on bytes that are stored and can be read again.

Importing this module takes seconds and more than a hundred megabytes, for the vendors'
libraries: `judging.panel.client` does so when it asks, and nobody else should.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from judging.panel.exchange import Exchange, TooLong
from judging.panel.forms import TOOL, schema_of
from judging.panel.prompts import Prompt
from judging.panel.seats import Seat
from judging.panel.wires import Wire

LARGEST_RESPONSE = 10_000_000  # bytes; an answer has some thousands


class _NotSent(Exception):
    """A request was written, and that was all that was wanted."""


class _Nowhere(httpx2.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise _NotSent


def exchange(seat: Seat, prompt: Prompt, remark: str) -> Exchange:
    """Put a prompt to a seat once. ``remark`` is added to it where an answer was invalid.

    Whatever a vendor does ends up in the exchange. Raises only what keeps the request from
    being made, which is a fault of ours.
    """
    return _exchange(seat, prompt, remark, None)


def write(seat: Seat, prompt: Prompt, remark: str) -> Exchange:
    """Write the request that `exchange` would send, and send it nowhere."""
    return _exchange(seat, prompt, remark, _Nowhere())


def _exchange(
    seat: Seat, prompt: Prompt, remark: str, transport: httpx2.AsyncBaseTransport | None
) -> Exchange:
    seen = Exchange()
    try:
        asyncio.run(_within(seat, prompt, remark, seen, transport))
    except Exception as error:
        if seen.request is None:
            raise
        # What a library thinks of the response does not count, as long as there is one.
        seen.error = error
        seen.is_late = seen.is_late or _is_timeout(error)
    return seen


async def _within(
    seat: Seat,
    prompt: Prompt,
    remark: str,
    seen: Exchange,
    transport: httpx2.AsyncBaseTransport | None,
) -> None:
    """Ask within the seat's time: a slow answer, each byte in time, has to end as well."""
    try:
        async with asyncio.timeout(seat.timeout_s):
            await _request(seat, prompt, remark, seen, transport)
    except TimeoutError:
        seen.is_late = not seen.is_whole
        raise


async def _request(
    seat: Seat,
    prompt: Prompt,
    remark: str,
    seen: Exchange,
    transport: httpx2.AsyncBaseTransport | None,
) -> None:
    async def sent(request: httpx2.Request) -> None:
        seen.request = await request.aread()

    async def answered(response: httpx2.Response) -> None:
        seen.status = response.status_code
        seen.retry_after = response.headers.get("retry-after", "")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Recorded(response.stream, seen)

    settings = ModelSettings(
        max_tokens=seat.most_tokens,
        timeout=seat.timeout_s,
        max_retries=0,
        parallel_tool_calls=False,
    )
    if seat.temperature is not None:
        settings["temperature"] = float(seat.temperature)
    tool = ToolDefinition(
        name=TOOL,
        description="Takes your verdict.",
        parameters_json_schema=schema_of(prompt.form),
        kind="output",
        strict=False,  # what the schema cannot say is checked anyway, by the same rules for all
    )
    async with httpx2.AsyncClient(
        transport=transport,
        timeout=seat.timeout_s,
        # What is stored is to be what was written, not a compressed form of it.
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [sent], "response": [answered]},
    ) as http:
        await model_request(
            _model(seat, http),
            [ModelRequest([UserPromptPart(prompt.user + remark)], instructions=prompt.system)],
            model_settings=settings,
            model_request_parameters=ModelRequestParameters(
                output_mode="tool", output_tools=[tool], allow_text_output=False
            ),
        )


def _model(seat: Seat, http: httpx2.AsyncClient) -> Model[Any]:
    # Keys and addresses are always given, so that no library takes them from the environment.
    key, url = seat.key, seat.base_url
    match seat.wire:
        case Wire.ANTHROPIC:
            anthropic = AnthropicProvider(api_key=key, base_url=url, http_client=http)
            return AnthropicModel(seat.model, provider=anthropic)
        case Wire.OPENAI:
            openai = OpenAIProvider(api_key=key, base_url=url, http_client=http)
            return OpenAIChatModel(seat.model, provider=openai)
        case Wire.GOOGLE:
            google = GoogleProvider(api_key=key, base_url=url, http_client=http)
            return GoogleModel(seat.model, provider=google)


class _Recorded(httpx2.AsyncByteStream):
    """A response's body that is kept as it passes, as far as it comes."""

    def __init__(self, stream: httpx2.AsyncByteStream, seen: Exchange) -> None:
        self._stream = stream
        self._seen = seen

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._seen.response += chunk
            if len(self._seen.response) > LARGEST_RESPONSE:
                raise TooLong
            yield chunk
        self._seen.is_whole = True

    async def aclose(self) -> None:
        await self._stream.aclose()


def _is_timeout(error: BaseException | None) -> bool:
    """Whether a timeout is what made a library give up."""
    while error is not None:
        if isinstance(error, TimeoutError | httpx2.TimeoutException):
            return True
        error = error.__cause__ or error.__context__
    return False
