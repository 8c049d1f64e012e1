"""Keys and tokens that an agent left in what it wrote: nobody reads them here.

What is stored stays as it came, so that digests hold; every page, export and download shows
the beginning of a secret and the word that the rest is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
_BEGIN = r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
_END = r"-----END (?:[A-Z]+ )*PRIVATE KEY-----"

_SECRET = re.compile(f"{'|'.join(_SHAPES)}|{_BEGIN}[\\s\\S]*?(?:{_END}|\\Z)")
_SECRET_BYTES = re.compile("|".join(_SHAPES).encode())
_EDGE = re.compile(f"{_BEGIN}|{_END}")
_KEY_BEGINS = re.compile(_BEGIN.encode())
_KEY_ENDS = re.compile(_END.encode())

# A line is looked at in pieces of this length, with an overlap, so that one line of a hundred
# megabytes costs no more memory than many.
PIECE = 1 << 20
SENT = 1 << 16  # bytes that go out together: a line by itself costs as much as hundreds


def mask(text: str) -> str:
    """Return the text with every key and token in it cut to its beginning."""
    return _SECRET.sub(lambda found: found[0][:SHOWN] + MASK, text)


class KeyWatch:
    """Tells, line after line, whether a private key's body is being read."""

    MASKED = MASK

    def __init__(self) -> None:
        self._is_inside = False

    def sees(self, line: bytes) -> bool:
        """Take the next line; return whether it holds some of a key and must not be shown."""
        if b"PRIVATE KEY-----" not in line:
            return self._is_inside
        was_inside = self._is_inside
        last_begin = max((found.end() for found in _KEY_BEGINS.finditer(line)), default=-1)
        last_end = max((found.end() for found in _KEY_ENDS.finditer(line)), default=-1)
        if last_begin >= 0 or last_end >= 0:
            self._is_inside = last_begin > last_end
        return was_inside or last_begin >= 0


def without_keys(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines with those that hold some of a private key masked whole.

    They may be a stretch out of the middle: a key that ends in it and began before it is
    masked from the first line on.
    """
    edges = (_EDGE.search(line) for line in lines if "PRIVATE KEY-----" in line)
    first = next(filter(None, edges), None)
    if first is None:
        return lines
    watch = KeyWatch()
    if first[0].startswith("-----END"):
        watch.sees(b"-----BEGIN PRIVATE KEY-----")
    return [MASK if watch.sees(line.encode()) else line for line in lines]


def masked_pieces(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a file's content with its secrets masked, in pieces that are worth sending.

    Lines that hold a private key are masked whole. A secret that lies across two pieces of
    one overlong line is the one thing that is missed.
    """
    watch, piece = KeyWatch(), bytearray()
    while line := stream.readline(PIECE):
        if watch.sees(line):
            piece += MASK.encode() + (b"\n" if line.endswith(b"\n") else b"")
        else:
            piece += _SECRET_BYTES.sub(lambda found: found[0][:SHOWN] + MASK.encode(), line)
        if len(piece) >= SENT:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)
