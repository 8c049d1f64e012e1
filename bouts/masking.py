"""Keys and tokens that an agent left in what it wrote: nobody reads them here.

What is stored stays as it came, so that digests hold; every page, export and download shows
the beginning of a secret and the word that the rest is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

MASK = "…[masked]"
SHOWN = 4  # characters of a secret that stay, so that its owner knows which to revoke

# Each has the shape that its issuer documents. A shape that ordinary text has too, such as
# forty hexadecimal digits, is left alone: it would mask every commit.
_SHAPES = (
    r"\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}\b",  # AWS
    r"(?i:aws_?secret_?(?:access_?)?key['\"]?\s*[=:]\s*['\"]?)[A-Za-z0-9/+=]{40}",
    r"\bgh[pousr]_[A-Za-z0-9]{36,}",  # GitHub
    r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",  # GitLab
    r"\bAIza[0-9A-Za-z_-]{35}",  # Google
    r"\bya29\.[0-9A-Za-z_-]{20,}",
    r"\bsk-[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"\bhttps://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"\b[rs]k_live_[A-Za-z0-9]{16,}",  # Stripe
    r"\bhf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"\bnpm_[A-Za-z0-9]{36}",
    r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",  # JSON Web Token
)
_KEY_BEGINS = r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
_KEY_ENDS = r"-----END (?:[A-Z]+ )*PRIVATE KEY-----"

_SECRET = re.compile(f"{'|'.join(_SHAPES)}|{_KEY_BEGINS}[\\s\\S]*?(?:{_KEY_ENDS}|\\Z)")
_SECRET_BYTES = re.compile("|".join(_SHAPES).encode())
_KEY_BEGINS_BYTES = re.compile(_KEY_BEGINS.encode())
_KEY_ENDS_BYTES = re.compile(_KEY_ENDS.encode())

# A line is looked at in pieces of this length, with an overlap, so that one line of a hundred
# megabytes costs no more memory than many.
PIECE = 1 << 20


def mask(text: str) -> str:
    """Return the text with every key and token in it cut to its beginning."""
    return _SECRET.sub(lambda found: found[0][:SHOWN] + MASK, text)


def masked_pieces(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a file's content with its secrets masked, in pieces of bounded size.

    The body of a private key is masked line by line until its end mark. A secret that lies
    across two pieces of one overlong line is the one thing that is missed.
    """
    inside_key = False
    while line := stream.readline(PIECE):
        if inside_key:
            end = _KEY_ENDS_BYTES.search(line)
            inside_key = end is None
            if end:
                yield _masked(line[end.start() :])
        elif begin := _KEY_BEGINS_BYTES.search(line):
            rest = line[begin.end() :]
            end = _KEY_ENDS_BYTES.search(rest)
            inside_key = end is None
            tail = _masked(rest[end.start() :]) if end else b"\n"
            yield _masked(line[: begin.end()]) + MASK.encode() + tail
        else:
            yield _masked(line)


def _masked(line: bytes) -> bytes:
    return _SECRET_BYTES.sub(lambda found: found[0][:SHOWN] + MASK.encode(), line)
