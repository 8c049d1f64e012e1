"""Values in chunks: read one after another, or all at once where that is little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bouts import chunks
from bouts.models import Artifact
from tests import matches

pytestmark = pytest.mark.django_db


def telemetry(folder: Path, steps: int, text: str = "on it") -> Artifact:
    """Store a match whose agent said something so many times."""
    said: list[dict[str, Any]] = [
        {"step_id": number, "source": "agent", "message": text} for number in range(1, steps + 1)
    ]
    document = {"schema_version": "ATIF-v1.4", "session_id": "s", "steps": said}
    document["agent"] = {"name": "Heron", "version": "1"}
    bundle = matches.store(folder, files={"run.json": ("telemetry", json.dumps(document))})
    return bundle.artifacts.get(path="run.json")


def test_at_once_come_the_values_that_come_one_by_one(tmp_path: Path) -> None:
    artifact = telemetry(tmp_path, 2 * chunks.SIZE + 1)
    assert artifact.chunks.count() == 3
    values = chunks.whole([artifact])
    assert values is not None
    assert values[artifact.pk] == list(chunks.read(artifact))
    assert [event.seq for event in values[artifact.pk]] == list(range(1, 2 * chunks.SIZE + 2))


def test_of_an_artifact_without_values_there_are_none(tmp_path: Path) -> None:
    artifact = telemetry(tmp_path, 1)
    artifact.chunks.all().delete()
    assert chunks.whole([artifact]) == {artifact.pk: []}


def test_too_many_or_too_large_ones_do_not_come_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = telemetry(tmp_path, 2 * chunks.SIZE + 1)
    monkeypatch.setattr(chunks, "MOST_AT_ONCE", 2)
    assert chunks.whole([artifact]) is None
    monkeypatch.setattr(chunks, "MOST_AT_ONCE", 3)
    assert chunks.whole([artifact]) is not None
    monkeypatch.setattr(chunks, "LARGEST", 1_000)  # of which three are less than this is
    assert chunks.whole([artifact]) is None
