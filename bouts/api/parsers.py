"""How bodies of requests are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError


class JSONParser(parsers.JSONParser):
    """Reads JSON; what Python can read but not keep is the sender's fault, not ours.

    That is what is nested too deep, and half a character: ``"\\ud800"`` can neither be stored nor
    be repeated in the answer that says what is wrong with it.
    """

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            read = super().parse(stream, media_type, parser_context)
            json.dumps(read, ensure_ascii=False).encode()
        except RecursionError:
            raise ParseError("The JSON is nested too deep.") from None
        except UnicodeEncodeError as half:
            found = ord(half.object[half.start])
            raise ParseError(f"The JSON holds half a character, a lone \\u{found:04x}.") from None
        return read
