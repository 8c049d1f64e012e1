"""`manage.py upload`: files and folders, many at once, all faults of each."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from bouts.actions import uploads
from bouts.bundles.errors import Refused
from bouts.formats.diff import DiffReader
from bouts.models import Artifact, Blob, Bundle, ChallengeVersion, Match, User
from tests import matches
from tests.factories import make_team
from tests.faulty import KINDS, good
from tests.matches import write_bundle

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(tmp_path: Path) -> None:
    make_team()
    matches.store_challenge(tmp_path / "challenge")


def upload(*paths: Path, **options: object) -> tuple[str, str]:
    """Return what was said of successes, and of the rest; raise nothing."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("upload", *paths, stdout=out, stderr=err, **options)
    except CommandError as error:
        err.write(f"{error}\n")
    return out.getvalue(), err.getvalue()


def test_archives_and_folders_are_stored_many_at_once(
    known: None, tmp_path: Path, operator: User
) -> None:
    folder = write_bundle(tmp_path / "m-1", match="m-1")
    archive = tmp_path / "m-2.zip"
    archive.write_bytes(good(tmp_path / "m-2", match="m-2"))
    out, err = upload(folder, archive, by="tomas")
    assert out == f"{folder}: stored, m-1, bundle 1\n{archive}: stored, m-2, bundle 1\n"
    assert err == ""
    assert {bundle.uploaded_by for bundle in Bundle.objects.all()} == {operator}


def test_the_same_is_read_anew_by_a_reader_that_has_changed(
    known: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_bundle(tmp_path / "bundle")
    upload(folder)
    before = Artifact.objects.get(kind="diff")
    monkeypatch.setattr(DiffReader, "version", DiffReader.version + 1)
    assert upload(folder)[0] == f"{folder}: stored, m-1, bundle 2\n"
    assert upload(folder)[0] == f"{folder}: unchanged, m-1, bundle 2\n"
    after = Artifact.objects.get(kind="diff", bundle__is_live=True)
    assert after.reader_version == before.reader_version + 1
    assert after.blob_id == before.blob_id


def test_the_same_again_is_unchanged(known: None, tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "m-1")
    upload(folder)
    assert upload(folder)[0] == f"{folder}: unchanged, m-1, bundle 1\n"
    assert Bundle.objects.count() == 1


def test_a_check_stores_nothing(known: None, tmp_path: Path, storage: Path) -> None:
    folder = write_bundle(tmp_path / "m-1")
    assert upload(folder, check=True)[0] == f"{folder}: valid, nothing stored\n"
    assert not Match.objects.exists()
    assert list(storage.iterdir()) == []


def test_one_that_is_refused_holds_the_others_up_in_nothing(known: None, tmp_path: Path) -> None:
    bad = write_bundle(tmp_path / "bad", agent={"team": "northbnk"}, finished_at="yesterday")
    fine = write_bundle(tmp_path / "fine")
    out, err = upload(bad, tmp_path / "nothing", fine)
    assert out == f"{fine}: stored, m-1, bundle 1\n"
    assert err.splitlines() == [
        f"{bad}: refused, 2 faults, nothing stored",
        "  match.json: agent.team: found northbnk. Expected: A known team: northbank.",
        "  match.json: finished_at: found yesterday. Expected: A time with a zone, such as"
        " 2026-03-12T14:40:11Z.",
        f"{tmp_path / 'nothing'}: No such file or directory",
        "2 of 3 refused",
    ]


@pytest.mark.parametrize("check", [False, True], ids=["upload", "check"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_fault_is_told_and_nothing_is_stored(
    kind: str, check: bool, known: None, tmp_path: Path, storage: Path
) -> None:
    wrong = KINDS[kind](tmp_path / "b")
    path = tmp_path / wrong.name
    path.write_bytes(wrong.content)
    versions = ChallengeVersion.objects.count()
    _, err = upload(path, check=check)
    with pytest.raises(Refused) as refused:
        uploads.upload(path, name=path.name, by=None)
    assert wrong.is_among(fault.as_json() for fault in refused.value.faults)
    assert err.splitlines()[1:-1] == [f"  {line}" for line in refused.value.lines()]
    assert not any(model.objects.exists() for model in (Match, Bundle, Artifact, Blob))
    assert ChallengeVersion.objects.count() == versions
    assert list(storage.iterdir()) == []


def test_an_unknown_uploader_is_refused_before_anything_is_stored(
    known: None, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="--by nobody: no such user"):
        call_command("upload", write_bundle(tmp_path / "m-1"), by="nobody")
    assert not Match.objects.exists()


def test_a_challenge_brings_its_starting_tree_from_beside_it(tmp_path: Path) -> None:
    tree = tmp_path / "tree.zip"
    tree.write_bytes(good(tmp_path / "m-1"))
    path = tmp_path / "challenge.json"
    path.write_text(json.dumps(matches.challenge(starting_tree="tree.zip")))
    assert "stored, Retry-safe refunds, version 1" in upload(path)[0]
    assert ChallengeVersion.objects.get().starting_tree
