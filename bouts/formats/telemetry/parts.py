"""What the messages and calls of many formats are made of: parts of text, arguments, counts."""

from __future__ import annotations

from typing import Any

import orjson

LARGEST_COUNT = 2**63 - 1  # what the database stores


def text_of(written: Any) -> str:
    """Return a message or a result as text; pictures and sounds are named, never opened."""
    if isinstance(written, str):
        return written
    if not isinstance(written, list):
        return ""
    texts: list[str] = []
    for part in written:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            texts.append(text if isinstance(text, str) else f"[{part.get('type')!s:.20}]")
    return "\n".join(texts)


def word(written: Any) -> str:
    """Return what is text, such as the name of a kind; empty for all else."""
    return written if isinstance(written, str) else ""


def arguments_of(written: Any) -> Any:
    """Return arguments that are JSON in a string as the object that they mean."""
    if not isinstance(written, str):
        return written if isinstance(written, dict) else {}
    try:
        parsed = orjson.loads(written)
    except orjson.JSONDecodeError:
        return written
    return parsed if isinstance(parsed, dict) else written


def token_count(written: Any) -> int | None:
    """Return a whole number from 0 on; None for all else, a boolean among it."""
    is_count = type(written) is int and 0 <= written <= LARGEST_COUNT
    return written if is_count else None


def is_number(written: object) -> bool:
    return isinstance(written, int | float) and not isinstance(written, bool)


def mapping(written: Any, *keys: str) -> dict[str, Any]:
    """Return the object that lies at these keys, an empty one where none does."""
    for key in keys:
        written = written.get(key) if isinstance(written, dict) else None
    return written if isinstance(written, dict) else {}


def joined(*texts: str) -> str:
    """Return texts as paragraphs, without those that say nothing or the same again."""
    return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))
