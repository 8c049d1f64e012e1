"""Reading accesses for tests of sandbox readers."""

from __future__ import annotations

from bouts.formats.types import Access, Reader
from tests.bouts.formats.reading import read


def accesses(reader: Reader, *lines: str) -> list[Access]:
    return read(reader, "".join(f"{line}\n" for line in lines))[0]


def told(found: list[Access]) -> list[tuple[str, str, bool | None]]:
    return [(access.action, access.target, access.allowed) for access in found]
