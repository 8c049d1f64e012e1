"""The corpus that the integrity detectors are measured on: what a case is, and how it is read.

A module here is named by its trigger (`network_escape.py`) and has two tuples of cases,
`POSITIVES` and `NEGATIVES`: what must be found, and what looks like it and must not be. Whoever
writes cases does not read the detectors, and whoever writes detectors does not read the cases.

`dossier_of` takes a case the way a bundle goes: its files are written to a folder, packed into
no archive but validated like one, and read by the real readers.
"""

from __future__ import annotations

import difflib
import io
import json
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

from bouts.archives.limits import Limits
from bouts.bundles.loading import load_bundle, load_challenge
from judging.dossiers import FileDossier
from judging.judges.base import Dossier, Peer
from judging.judges.detectors import record_of
from judging.judges.detectors.plagiarism import marks_of
from judging.judges.detectors.winnowing import hashes, similarity
from judging.scoring.policy import CURRENT
from tests.matches import junit

# An artifact: path, kind (`bouts.formats.types.Kind`), content, further manifest fields.
File = tuple[str, str, bytes | str, Mapping[str, Any]]


class Level(IntEnum):
    """How sure a finding is, the surer the higher."""

    LOW = 1  # proposed, at low confidence or none named
    HIGH = 2  # proposed at high confidence
    APPLIED = 3  # proven by a log, applied at once


@dataclass(frozen=True)
class Case:
    """A match reduced to what one detector looks at.

    ``challenge`` overrides fields of a minimal challenge.json, which forbids no path, allows no
    host and lists no test. ``tree`` is the starting tree, path to text. ``results`` maps a suite
    (static, hidden, invariant) to its graded run: test id to whether it passed, or "skip".
    ``others`` are the diffs of other agents' earlier matches on the same challenge.

    ``expects`` are the findings that must come, each with the least level at which it must;
    a negative expects none, and any finding of the module's trigger is a false alarm.
    """

    name: str
    why: str
    artifacts: tuple[File, ...] = ()
    challenge: Mapping[str, Any] = field(default_factory=dict)
    tree: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, Mapping[str, bool | str]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    expects: frozenset[tuple[str, Level]] = frozenset()


MINIMAL_CHALLENGE: Mapping[str, Any] = {
    "schema": "bouts.challenge/1",
    "slug": "case",
    "title": "A case",
    "briefing": "Mend what is broken.",
}
MINIMAL_MATCH: Mapping[str, Any] = {
    "schema": "bouts.match/1",
    "match": "case",
    "challenge": "case",
    "agent": {"team": "team", "name": "Agent", "version": "1", "base_model": "model"},
    "started_at": "2026-03-12T14:00:00Z",
    "finished_at": "2026-03-12T14:40:00Z",
    "build": {"ok": True},
}


@contextmanager
def dossier_of(case: Case) -> Iterator[Dossier]:
    """Give the dossier of a case; its files are gone afterwards.

    Raises `bouts.bundles.errors.Refused` where the case would be no valid bundle, and
    `AssertionError` where a file of it that has a reader cannot be read.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        challenge = _write_challenge(folder / "challenge", case)
        bundle = _write_bundle(folder / "bundle", case)
        with (
            load_challenge(challenge, name="challenge", limits=Limits()) as spec,
            load_bundle(bundle, name="bundle", limits=Limits()) as loaded,
        ):
            dossier = FileDossier(loaded, spec.challenge, spec.tree, spec.tree_file).dossier
            for source in dossier.sources:
                assert not source.reason, f"{case.name}: {source.path}: {source.reason}"
            yield replace(dossier, peers=partial(_peers, dossier, case))


def _peers(dossier: Dossier, case: Case) -> list[Peer]:
    """Compare with the other matches as the database does."""
    own = _fingerprint(dossier)
    peers = []
    for number, diff in enumerate(case.others):
        other = replace(case, artifacts=(("diff.patch", "diff", diff, {}),), others=(), results={})
        with dossier_of(other) as theirs:
            shared = own & (found := _fingerprint(theirs))
            peers.append(Peer(f"other-{number}", similarity(own, found), shared, is_earlier=True))
    return peers


def _fingerprint(dossier: Dossier) -> frozenset[int]:
    return hashes(marks_of(record_of(dossier, (), CURRENT)))


def _write_challenge(folder: Path, case: Case) -> Path:
    folder.mkdir()
    document = {**MINIMAL_CHALLENGE, **case.challenge}
    if case.tree:
        document["starting_tree"] = "tree.tar.gz"
        with tarfile.open(folder / "tree.tar.gz", "w:gz") as archive:
            for path, text in case.tree.items():
                member = tarfile.TarInfo(path)
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
    (folder / "challenge.json").write_text(json.dumps(document))
    return folder


def _write_bundle(folder: Path, case: Case) -> Path:
    folder.mkdir()
    results: list[File] = [
        (f"results/{suite}.xml", "tests", junit(outcomes), {"suite": suite})
        for suite, outcomes in case.results.items()
    ]
    entries = []
    for path, kind, content, more in (*case.artifacts, *results):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        entries.append({"path": path, "kind": kind, **more})
    (folder / "match.json").write_text(json.dumps({**MINIMAL_MATCH, "artifacts": entries}))
    return folder


# What writes the files of cases. A case may as well bring its own text: these only save typing.


def added(path: str, text: str) -> str:
    """Return the diff that adds a file."""
    return edited(path, None, text)


def edited(path: str, before: str | None, after: str | None) -> str:
    """Return the diff of one file; None where it was not there before, or is not after."""
    old = "/dev/null" if before is None else f"a/{path}"
    new = "/dev/null" if after is None else f"b/{path}"
    mode = "new file mode 100644\n" * (before is None)
    mode += "deleted file mode 100644\n" * (after is None)
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True),
        (after or "").splitlines(keepends=True),
        old,
        new,
    )
    body = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return f"diff --git a/{path} b/{path}\n{mode}{body}"


def step(
    message: str = "", command: str | None = None, output: str = "", exit_code: int = 0
) -> dict[str, Any]:
    """Return what an agent said, and the shell command that it ran with it."""
    said: dict[str, Any] = {"source": "agent", "message": message}
    if command is not None:
        call: dict[str, Any] = {"function_name": "bash", "arguments": {"command": command}}
        result = {"content": output, "extra": {"exit_code": exit_code}}
        said |= {"tool_calls": [call], "observation": {"results": [result]}}
    return said


def trajectory(*steps: Mapping[str, Any], cwd: str = "/work") -> str:
    """Return steps as an ATIF file, numbered and timed a second apart."""
    written: list[dict[str, Any]] = []
    for number, entry in enumerate(steps, start=1):
        moment = f"2026-03-12T14:{number // 60:02}:{number % 60:02}Z"
        said = {"step_id": number, "timestamp": moment, **entry}
        if "tool_calls" in said:
            name = f"call_{number}"
            said["tool_calls"] = [{"tool_call_id": name, **said["tool_calls"][0]}]
            (result,) = said["observation"]["results"]
            said["observation"] = {"results": [{"source_call_id": name, **result}]}
        written.append(said)
    agent = {"name": "Agent", "version": "1", "extra": {"cwd": cwd}}
    document = {"schema_version": "ATIF-v1.6", "session_id": "case", "agent": agent}
    return json.dumps({**document, "steps": written})


def claims(*entries: tuple[str, float | None, str]) -> str:
    """Return claims (statement, confidence, the test or requirement it is about) as a file."""
    document: Sequence[Mapping[str, Any]] = [
        {"statement": statement, "about": about}
        | ({} if confidence is None else {"confidence": confidence})
        for statement, confidence, about in entries
    ]
    return json.dumps({"claims": document})
