"""Sample verdicts: written by hand in `verdicts/MATCH.toml`, their evidence found in the match.

Where something stands changes whenever a match is played again, so a verdict names what it
rests on by its words, and this module finds the place or stops:

    event MARK            the event that the agent's script calls MARK
    diff PATH | TEXT      the first line with TEXT that the diff adds to PATH
    line FILE | TEXT      the first line with TEXT in a file of the bundle
    test SUITE | ID       a test in the first run of its suite
    json FILE | POINTER   a value in a JSON file
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "verdicts"
SOURCE = "Sample verdicts, written by hand for the scripted matches in examples/"
CRITERIA = {  # SCORING.md, 4 and 5; in this order in the files
    "strategy": (
        "decomposition",
        "prioritization",
        "tradeoffs",
        "architecture",
        "communication",
        "ambiguity",
        "search",
    ),
    "process": (
        "action_timeline",
        "tool_discipline",
        "verification",
        "decomposition",
        "scope_control",
    ),
    "recovery": ("error_detection", "diagnosis", "recovery_strategy", "reversion_quality"),
}
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)")


class NotThere(LookupError):
    """A verdict rests on something that the match does not have."""


def verdicts(match_id: str, files: dict[str, str], marks: dict[str, int], at: str) -> str:
    """The `verdicts.json` of a match whose other files are these."""
    text = (FOLDER / f"{match_id}.toml").read_text()
    written = tomllib.loads(text)
    find = Finder(match_id, files, marks)
    answers: list[dict[str, Any]] = []
    for seat, answer in written.get("strategy", {}).items():
        answers.append(_answer("strategy", answer, find, at) | {"seat": seat})
    for judge in ("process", "recovery"):
        if judge in written:
            answers.append(_answer(judge, written[judge], find, at))
    if "integrity" in written:
        answers.append(_integrity(written["integrity"], find, at))
    document = {"schema": "bouts.verdicts/1", "source": SOURCE, "verdicts": answers}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _answer(judge: str, written: dict[str, Any], find: Finder, at: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"judge": judge, "model": written.get("model", "sample"), "at": at}
    if "state" in written:
        return answer | {"state": written["state"], "reason": written["reason"]}
    levels = dict(zip(CRITERIA[judge], written["levels"], strict=True))
    return answer | {
        "levels": levels,
        "rationale": _flowing(written["rationale"]),
        "evidence": [find(words) for words in written["evidence"]],
    }


def _integrity(written: dict[str, Any], find: Finder, at: str) -> dict[str, Any]:
    findings = []
    for finding in written.get("finding", ()):
        findings.append(
            finding
            | {
                "note": _flowing(finding["note"]),
                "evidence": [find(words) for words in finding["evidence"]],
            }
        )
    return {
        "judge": "integrity",
        "model": written.get("model", "sample"),
        "at": at,
        "rationale": _flowing(written["rationale"]),
        "findings": findings,
    }


def _flowing(text: str) -> str:
    """Paragraphs whose lines were broken for the editor only."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


class Finder:
    """Turns the words that name a piece of evidence into an anchor."""

    def __init__(self, match_id: str, files: dict[str, str], marks: dict[str, int]) -> None:
        self.match_id = match_id
        self.files = files
        self.marks = marks

    def __call__(self, words: str) -> dict[str, str]:
        form, _, rest = words.partition(" ")
        first, _, second = (part.strip() for part in rest.partition("|"))
        try:
            match form:
                case "event":
                    return _anchor("telemetry.json", f"event:{self.marks[first]}")
                case "diff":
                    number = added_line(self.files["diff.patch"], first, second)
                    return _anchor("diff.patch", f"diff:{first}:{number}")
                case "line":
                    return _anchor(first, f"line:{self._line(first, second)}")
                case "test":
                    return _anchor(f"results/{first}-1.xml", f"test:{first}/{second}")
                case "json":
                    return _anchor(first, f"json:{second}")
        except LookupError as error:
            raise NotThere(f"{self.match_id}: no {words!r}") from error
        raise NotThere(f"{self.match_id}: {form!r} is no form of evidence")

    def _line(self, path: str, text: str) -> int:
        for number, line in enumerate(self.files[path].split("\n"), 1):
            if text in line:
                return number
        raise LookupError(text)


def added_line(diff: str, path: str, text: str) -> int:
    """The number, in the new file, of the first added line that has this text."""
    current, number = "", 0
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            current = line.removeprefix("+++ b/")
        elif hunk := HUNK.match(line):
            number = int(hunk[1])
        elif line.startswith("+") and current == path and text in line:
            return number
        if line.startswith(("+", " ")) and not line.startswith("+++ "):
            number += 1
    raise LookupError(text)


def _anchor(artifact: str, place: str) -> dict[str, str]:
    return {"artifact": artifact, "place": place}
