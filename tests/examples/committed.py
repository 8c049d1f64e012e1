"""The committed examples, for tests to read."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from bouts.archives.limits import Limits
from bouts.bundles.loading import load_bundle, load_challenge
from examples.bundle import unpack
from judging.offline import score_files

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BUNDLES = sorted((EXAMPLES / "bundles").glob("*.zip"))
CHALLENGES = sorted(path.parent for path in EXAMPLES.glob("challenges/*/challenge.json"))
TEAMS = {team["slug"]: team["name"] for team in json.loads((EXAMPLES / "teams.json").read_text())}

# What a bundle must not tell of the machine that made it.
MACHINE = re.compile(
    r"(?<![\w.])/(?:work|root|home|srv|opt)/|\.venv|\.pyenv|/tmp/tmp|/tmp/bouts-examples-"
)


@cache
def files(bundle: Path) -> dict[str, str]:
    return unpack(bundle)


@cache
def manifest(bundle: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(files(bundle)["match.json"])
    return document


@cache
def verdicts(bundle: Path) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = json.loads(files(bundle)["verdicts.json"])["verdicts"]
    return answers


@cache
def challenge(slug: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        (EXAMPLES / "challenges" / slug / "challenge.json").read_text()
    )
    return document


@cache
def breakdown(bundle: Path) -> dict[str, Any]:
    """The breakdown as `manage.py score` prints it. Raises `Refused` for dangling evidence."""
    folder = EXAMPLES / "challenges" / manifest(bundle)["challenge"]
    with (
        load_bundle(bundle, name=bundle.name, limits=Limits()) as loaded,
        load_challenge(folder, name=folder.name, limits=Limits()) as spec,
    ):
        body: dict[str, Any] = score_files(loaded, spec)
    return body


def prose(bundle: Path) -> str:
    """All that the sample judges say of a match."""
    said = []
    for verdict in verdicts(bundle):
        said += [verdict.get("rationale", ""), verdict.get("reason", "")]
        said += [finding["note"] for finding in verdict.get("findings", ())]
    return "\n".join(said)
