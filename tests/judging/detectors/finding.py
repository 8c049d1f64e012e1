"""What the detectors find in a case: for the tests of each."""

from __future__ import annotations

from judging.judges.detectors import Search
from judging.judges.integrity import Found, Integrity, IntegrityJudge
from judging.judges.objective import tests_of
from judging.scoring.integrity import Status
from judging.scoring.policy import CURRENT
from tests.judging.detectors.corpus import Case, File, Level, dossier_of

__all__ = ["Search", "case", "diff", "found", "judged", "levels", "log", "notes", "story"]


def case(*artifacts: File, **fields: object) -> Case:
    return Case(name="a case", why="a test", artifacts=artifacts, **fields)  # type: ignore[arg-type]


def diff(text: str) -> File:
    return ("diff.patch", "diff", text, {})


def log(text: str) -> File:
    return ("sandbox.log", "sandbox", text, {"format": "strace"})


def notes(text: str, path: str = "NOTES.md") -> File:
    return (path, "deliverable", text, {})


def story(text: str) -> File:
    return ("telemetry.json", "telemetry", text, {})


def judged(one: Case) -> Integrity:
    with dossier_of(one) as dossier:
        return IntegrityJudge().judge(dossier, tests_of(dossier), CURRENT)


def found(one: Case, trigger: str) -> list[Found]:
    return [item for item in judged(one).found if item.trigger == trigger]


def levels(one: Case, trigger: str) -> list[Level]:
    """Return how sure each finding of a trigger is."""
    return [
        Level.APPLIED
        if item.status is Status.APPLIED
        else Level.HIGH
        if item.confidence == "high"
        else Level.LOW
        for item in found(one, trigger)
    ]
