"""What tests look for in pages."""

from __future__ import annotations

import re

# Tokens against forged requests. They are drawn anew for each answer, so that any short word
# may stand in one by chance.
TOKEN = re.compile(r'(?<="X-CSRFToken": ")\w{64}|(?<="csrfmiddlewaretoken" value=")\w{64}')


def without_tokens(html: str) -> str:
    return TOKEN.sub("", html)
