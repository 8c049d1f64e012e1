"""A played and graded match to a bundle: `match.json`, its artifacts, and a zip that is always the same."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from examples.grader import Grades
from examples.roster import Match

STAMP = (2026, 11, 2, 9, 0, 0)  # of every member, so that equal contents give equal archives
HANDED_IN = {"NOTES.md": "deliverable", "PLAN.md": "plan", "claims.json": "claims"}
VERDICTS = "verdicts.json"


def assemble(
    match: Match,
    record: dict[str, Any],
    outbox: Path,
    grades: Grades,
    trace: tuple[str, str],
) -> dict[str, str]:
    """All files of a bundle but the verdicts, by path. ``record`` is what `play` printed."""
    grades.add("telemetry.json", _text(record["trajectory"]), "telemetry")
    grades.add("sandbox.log", trace[0], "sandbox")
    grades.add("logs/sandbox.txt", trace[1], "log")
    for name, kind in HANDED_IN.items():
        if (outbox / name).exists():
            grades.add(name, (outbox / name).read_text(), kind)
    grades.artifacts.append({"path": VERDICTS, "kind": "verdicts"})
    steps = record["trajectory"]["steps"]
    fighter = match.fighter
    manifest = {
        "schema": "bouts.match/1",
        "match": match.id,
        "bout": match.bout,
        "challenge": match.challenge,
        "agent": {
            "team": fighter.team,
            "name": fighter.name,
            "version": fighter.version,
            "base_model": fighter.base_model,
            "scaffold": fighter.scaffold,
        },
        "started_at": steps[0]["timestamp"],
        "finished_at": steps[-1]["timestamp"],
        "build": {"ok": grades.built, "log": "build.log"},
        "artifacts": grades.artifacts,
    }
    return {"match.json": _text(manifest), **grades.files}


def pack(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, text in files.items():
            info = zipfile.ZipInfo(path, STAMP)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, text)
    return buffer.getvalue()


def unpack(bundle: Path) -> dict[str, str]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _text(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
