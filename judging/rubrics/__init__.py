"""What the levels of a rubric mean, in words that models and reviewers share.

One file a judge and version; `Rubric.digest` tells which words stood behind an answer.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bouts.rules import Judge

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


@dataclass(frozen=True, slots=True)
class Question:
    """A trigger of Integrity that a model may propose, and what it takes to do so.

    ``cites`` are the sorts of evidence of which a finding must cite at least one item;
    ``occasion`` is the field of the challenge without which it is not asked, or empty.
    """

    name: str
    title: str
    counts: str
    is_not: str
    cites: tuple[str, ...]
    occasion: str = ""


@dataclass(frozen=True, slots=True)
class Questions:
    """What a model is asked to look for in Integrity, in place of criteria with levels."""

    judge: str
    version: str
    triggers: tuple[Question, ...]
    digest: str  # SHA-256 of the file


@cache
def questions(version: str) -> Questions:
    """Return Integrity's questions under a policy. Raises `FileNotFoundError` where there are none."""
    data = (FOLDER / f"integrity-{version}.toml").read_bytes()
    document = tomllib.loads(data.decode())
    return Questions(
        judge=document["judge"],
        version=document["version"],
        triggers=tuple(
            Question(
                name=entry["name"],
                title=entry["title"],
                counts=entry["counts"],
                is_not=entry["is_not"],
                cites=tuple(entry["cites"]),
                occasion=entry.get("occasion", ""),
            )
            for entry in document["triggers"]
        ),
        digest=hashlib.sha256(data).hexdigest(),
    )


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


def title_of(judge: str, version: str, criterion: str) -> str:
    """Return how a criterion of a judge is called under a policy."""
    return next(one.title for one in rubric(judge, version).criteria if one.name == criterion)


def sheet(judge: str, version: str) -> Rubric | Questions:
    """Return what a model is asked by this judge: levels of criteria, or what to look for."""
    return questions(version) if judge == Judge.INTEGRITY else rubric(judge, version)
