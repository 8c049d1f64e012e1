"""What the levels of a rubric mean, in words that models and reviewers share.

One file a judge and version; `Rubric.digest` tells which words stood behind an answer.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a criterion: a few words for a form, and what the work then shows."""

    number: int  # from 1
    short: str
    behaviour: str


@dataclass(frozen=True, slots=True)
class Criterion:
    name: str
    title: str
    question: str
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Rubric:
    judge: str
    version: str
    criteria: tuple[Criterion, ...]
    digest: str  # SHA-256 of the file


@cache
def rubric(judge: str, version: str) -> Rubric:
    """Return a judge's rubric under a policy. Raises `FileNotFoundError` where there is none."""
    data = (FOLDER / f"{judge}-{version}.toml").read_bytes()
    document = tomllib.loads(data.decode())
    return Rubric(
        judge=document["judge"],
        version=document["version"],
        criteria=tuple(
            Criterion(
                name=entry["name"],
                title=entry["title"],
                question=entry["question"],
                levels=tuple(
                    Level(number, short, behaviour)
                    for number, (short, behaviour) in enumerate(entry["levels"], start=1)
                ),
            )
            for entry in document["criteria"]
        ),
        digest=hashlib.sha256(data).hexdigest(),
    )
