"""Parts of pages that are compressed once and stand in many answers.

A gzip stream is deflated blocks one after the other. A part that was deflated by itself and
flushed to a whole byte refers to nothing before it, and may stand between any others.
"""

from __future__ import annotations

import re
import secrets
import zlib
from dataclasses import dataclass
from typing import Self

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

LEVEL = 6
RAW = -zlib.MAX_WBITS  # deflated blocks alone, without a head and a sum
HEAD = b"\x1f\x8b\x08\x08" + bytes(5) + b"\xff"  # gzip, with a name, at no time, by no system
ACCEPTED = re.compile(r"\bgzip\b")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of HTML in UTF-8, as it is and deflated."""

    html: bytes
    packed: bytes

    @classmethod
    def of(cls, html: str) -> Self:
        data = html.encode()
        return cls(data, _deflated(data))


class PartedResponse(HttpResponse):
    """A page with a part that is compressed already."""

    def __init__(self, before: bytes, part: Part, after: bytes) -> None:
        super().__init__(b"".join([before, part.html, after]))
        self.pieces = before, part, after


class PackingMiddleware(GZipMiddleware):
    """Compress answers, without compressing again the part of a `PartedResponse`.

    As Django's own does, it puts a name of random length before the content, so that the
    length of an answer tells nobody what of a request is repeated in it.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        accepts = ACCEPTED.search(request.headers.get("Accept-Encoding", ""))
        if not (isinstance(response, PartedResponse) and accepts):
            return super().process_response(request, response)
        before, part, after = response.pieces
        name = b"a" * secrets.randbelow(self.max_random_bytes) + b"\0"
        total = zlib.crc32(after, zlib.crc32(part.html, zlib.crc32(before)))
        size = len(response.content) & 0xFFFFFFFF
        response.content = b"".join(
            [
                HEAD, name, _deflated(before), part.packed, _deflated(after, zlib.Z_FINISH),
                total.to_bytes(4, "little"), size.to_bytes(4, "little"),
            ]
        )  # fmt: skip
        patch_vary_headers(response, ["Accept-Encoding"])
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.content))
        return response


def _deflated(data: bytes, end: int = zlib.Z_FULL_FLUSH) -> bytes:
    """Deflate data by itself: to the end of a stream, or so that more may follow."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)
    return packer.compress(data) + packer.flush(end)
