"""Make bundles for tests: plain dicts of files, packed by the real tools of the library."""

from __future__ import annotations

import copy
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import zstandard

from bouts.archives.limits import Limits
from bouts.bundles.archive import unpack
from bouts.bundles.errors import Fault, Refused
from bouts.bundles.loading import LoadedBundle, load_bundle

LIMITS = Limits()
KILOBYTE = 1_000

MATCH: dict[str, Any] = {
    "schema": "bouts.match/1",
    "match": "m-20260312-0417",
    "challenge": "retry-safe-refunds",
    "agent": {
        "team": "northbank",
        "name": "Heron",
        "version": "2.3",
        "base_model": "quill-4",
        "scaffold": "loop",
    },
    "started_at": "2026-03-12T14:00:11Z",
    "finished_at": "2026-03-12T15:40:11+01:00",
    "build": {"ok": True, "log": "build.log"},
    "artifacts": [
        {"path": "hidden.xml", "kind": "tests", "suite": "hidden", "run": 1, "log": "hidden.log"},
        {"path": "trajectory.json", "kind": "telemetry"},
        {"path": "final.diff", "kind": "diff"},
        {"path": "verdicts.json", "kind": "verdicts"},
        {"path": "claims.json", "kind": "claims"},
    ],
}
VERDICTS: dict[str, Any] = {
    "schema": "bouts.verdicts/1",
    "source": "sample",
    "verdicts": [
        {
            "judge": "strategy",
            "seat": seat,
            "model": f"{seat}-1",
            "at": "2026-03-12T15:00:00Z",
            "rationale": "Looked before it leapt.",
            "evidence": [{"artifact": "trajectory.json", "place": "event:3"}],
            "score": 57.14,
        }
        for seat in ("anthropic", "openai", "google")
    ]
    + [
        {
            "judge": "integrity",
            "findings": [
                {
                    "trigger": "process_abuse",
                    "points": -4,
                    "evidence": [{"artifact": "final.diff", "place": "diff:x:1"}],
                }
            ],
        }
    ],
}
CLAIMS: dict[str, Any] = {
    "claims": [{"statement": "All tests pass.", "confidence": 0.9, "about": "R1"}]
}
CHALLENGE: dict[str, Any] = {
    "schema": "bouts.challenge/1",
    "slug": "retry-safe-refunds",
    "title": "Retry-safe refunds",
    "family": "payments",
    "briefing": "Refund once, whatever is retried.",
    "time_budget_s": 3600,
    "ratio_base": "budget",
    "weights": {"objective": 45, "process": 20, "strategy": 20, "recovery": 15},
    "tests": [
        {"id": "tests.test_refunds::test_once", "suite": "static", "severity": "critical"},
        {"id": "tests.test_refunds::test_once", "suite": "hidden", "fails_at_start": True},
    ],
    "benchmark": {"name": "test_speed", "baseline_s": 0.036204},
}


def changed(document: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Copy a document with some of its top fields replaced; None takes a field away."""
    result = {**copy.deepcopy(dict(document)), **changes}
    return {key: value for key, value in result.items() if value is not None}


def bundle_files(
    match: Any = MATCH, verdicts: Any = VERDICTS, claims: Any = CLAIMS, **more: bytes
) -> dict[str, bytes]:
    """The files of a bundle. Documents are given as values, or as text to be taken literally."""
    documents = {"match.json": match, "verdicts.json": verdicts, "claims.json": claims}
    return {
        **{name: as_bytes(value) for name, value in documents.items()},
        "hidden.xml": b"<testsuite/>",
        "hidden.log": b"collected 3 items\n",
        "trajectory.json": b'{"schema_version": "ATIF-v1.4"}',
        "final.diff": b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n",
        "build.log": b"built\n",
        **more,
    }


def as_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")


def zipped(files: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in dict(files).items() if isinstance(files, Mapping) else files:
            archive.writestr(name, content)
    return out


def tarred(files: Mapping[str, bytes], **options: Any) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **options) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def gzipped_tar(files: Mapping[str, bytes], **options: Any) -> io.BytesIO:
    return io.BytesIO(gzip.compress(tarred(files, **options)))


def zstd_tar(files: Mapping[str, bytes], **options: Any) -> io.BytesIO:
    return io.BytesIO(zstandard.ZstdCompressor().compress(tarred(files, **options)))


def as_folder(files: Mapping[str, bytes], root: Path) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


PACKINGS: dict[str, Callable[[Mapping[str, bytes]], io.BytesIO]] = {
    "zip": zipped,
    "tar.gz": gzipped_tar,
    "tar.zst": zstd_tar,
}


def unpacked(source: Any, limits: Limits = LIMITS) -> tuple[dict[str, bytes], list[Fault]]:
    """What unpacking gives: the content by path, and the faults."""
    with unpack(source, name="upload", limits=limits) as result:
        content = {path: member.file.read_bytes() for path, member in result.members.items()}
        return content, result.faults


def faults_of(source: Any, **options: Any) -> list[Fault]:
    """Load a bundle that must be refused and return the faults."""
    try:
        load(source, **options)
    except Refused as refused:
        return list(refused.faults)
    raise AssertionError("the bundle was taken")


def load(source: Any, **options: Any) -> LoadedBundle:
    options = {"name": "upload.zip", "limits": LIMITS, **options}
    with load_bundle(source, **options) as bundle:
        return bundle


def told(faults: Iterable[Fault]) -> set[tuple[str, str]]:
    return {(fault.file, fault.field) for fault in faults}


def one(faults: list[Fault]) -> Fault:
    """The only fault, so that a test sees that nothing else is blamed."""
    assert len(faults) == 1, [str(fault) for fault in faults]
    return faults[0]
