"""From a bundle to rows: all of it or nothing, unreadable never zero, hidden words known."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.base import File
from django.core.files.storage import default_storage

from bouts import blobs, chunks
from bouts.actions import uploads
from bouts.bundles import hidden
from bouts.bundles.errors import Refused
from bouts.models import Agent, Artifact, Blob, Bundle, Challenge, Match, TestResult, Upload
from judging.models import Scorecard
from tests import matches
from tests.matches import CANARY, judge, store, write_bundle

pytestmark = pytest.mark.django_db


def stored_files() -> set[str]:
    folders, _ = default_storage.listdir("") if default_storage.exists("") else ([], [])
    return {name for folder in folders for name in default_storage.listdir(folder)[1]}


def test_a_bundle_is_stored_with_its_artifacts_results_and_contents(tmp_path: Path) -> None:
    bundle = store(tmp_path)
    states = dict(bundle.artifacts.values_list("path", "state"))
    assert states["static-1.xml"] == states["final.diff"] == Artifact.State.READ
    assert TestResult.objects.filter(artifact__bundle=bundle).count() == 4
    diff = bundle.artifacts.get(path="final.diff")
    assert [change.path for change in chunks.read(diff)] == ["refunds.py"]
    with blobs.opened(diff.blob) as stream:
        assert stream.read().decode() == matches.DIFF


def test_a_content_cut_short_by_a_crash_is_not_taken_for_whole(tmp_path: Path) -> None:
    class Crash(Exception):
        pass

    class HalfAFile(File):
        def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
            yield b"half"
            raise Crash

    with pytest.raises(Crash):
        default_storage.save("ab/abcd.zst", HalfAFile(None))
    assert not default_storage.exists("ab/abcd.zst")
    assert not [name for name in default_storage.listdir("ab")[1] if "abcd" in name]


def test_the_same_content_again_changes_nothing(tmp_path: Path) -> None:
    first = judge(tmp_path)
    outcome = uploads.upload(tmp_path / "bundle", name="again", by=None)
    assert outcome.state is Upload.State.UNCHANGED
    assert outcome.bundle == first
    assert Bundle.objects.count() == 1
    assert Scorecard.objects.count() == 1


def test_new_content_supersedes_the_old_which_stays(tmp_path: Path) -> None:
    first = judge(tmp_path / "1")
    second = judge(tmp_path / "2", static=[{**matches.STATIC, "tests.test_a::test_twice": False}])
    first.refresh_from_db()
    assert (first.is_live, second.is_live, second.number) == (False, True, 2)
    assert Match.objects.get().bundles.count() == 2
    cards = Scorecard.objects.order_by("number")
    assert [card.is_live for card in cards] == [False, True]
    assert cards[0].bundle == first


def test_a_match_can_change_neither_its_agent_nor_its_challenge(tmp_path: Path) -> None:
    store(tmp_path / "1")
    with pytest.raises(Refused) as refusal:
        store(tmp_path / "2", agent={"name": "Wren"})
    assert [(fault.field, fault.found) for fault in refusal.value.faults] == [
        ("agent", "northbank, Wren 2.3")
    ]
    assert not Agent.objects.filter(name="Wren").exists()
    assert Bundle.objects.count() == 1


def test_evidence_that_points_nowhere_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    kept = stored_files()
    finding = matches.found("judge_injection", "static-1.log", "line:99")
    with pytest.raises(Refused) as refusal:
        store(tmp_path, findings=[finding], files={"one.log": ("log", f"{tmp_path}")})
    (fault,) = refusal.value.faults
    assert (fault.file, fault.found) == ("verdicts.json", "line:99")
    assert fault.field == "verdicts[3].findings[0].evidence[0].place"
    assert not Match.objects.exists()
    assert not Blob.objects.exists()
    assert stored_files() == kept


def test_check_finds_the_same_faults_and_stores_nothing(tmp_path: Path) -> None:
    store(tmp_path / "known")
    finding = matches.found("judge_injection", "final.diff", "diff:refunds.py:99")
    folder = write_bundle(tmp_path / "b", match="m-2", findings=[finding])
    with pytest.raises(Refused):
        uploads.upload(folder, name="b", by=None, is_check=True)
    fine = write_bundle(tmp_path / "c", match="m-2")
    assert uploads.upload(fine, name="c", by=None, is_check=True).state is Upload.State.VALID
    assert not Match.objects.filter(slug="m-2").exists()


def test_entity_xml_is_stored_as_unreadable_and_scores_nothing(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aa">]><testsuite><testcase name="&a;"/></testsuite>'
    bundle = judge(tmp_path, hidden=[bomb])
    artifact = bundle.artifacts.get(path="hidden-1.xml")
    assert artifact.state == Artifact.State.UNREADABLE
    assert artifact.reason
    assert not artifact.test_results.exists()
    scorecard = Scorecard.objects.get()
    assert scorecard.total is None
    assert scorecard.breakdown["judges"]["objective"]["reason"] == "unreadable"


def test_nul_bytes_in_a_log_are_kept_and_noted(tmp_path: Path) -> None:
    bundle = judge(tmp_path, files={"agent.log": ("log", b"before\0after\n")})
    artifact = bundle.artifacts.get(path="agent.log")
    assert artifact.state == Artifact.State.READ
    assert artifact.counts["nul_bytes"] == 1
    assert any("NUL" in note["text"] for note in artifact.notes)
    with blobs.opened(artifact.blob) as stream:
        assert stream.read() == b"before\0after\n"


def test_files_that_tell_of_hidden_tests_are_marked(tmp_path: Path) -> None:
    told = {
        "notes.md": ("deliverable", f"I read {CANARY}_key and passed it."),
        "ok.md": ("deliverable", "fine"),
    }
    bundle = store(tmp_path, files=told)
    quotes = {a.path: a.facts["quotes_hidden"] for a in bundle.artifacts.all()}
    assert quotes["notes.md"] and quotes["hidden-1.xml"] and quotes["hidden-1.log"]
    assert not quotes["ok.md"] and not quotes["static-1.xml"]


def test_a_quotation_is_found_in_utf_16_and_across_the_blocks_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden, "BLOCK", 64)
    spread = "\u200b".join(f"{CANARY}_key")
    told = {
        "redirected.log": ("log", f"\ufeff{CANARY}_key failed".encode("utf-16-le")),
        **{f"at-{at}.log": ("log", f"{'.' * at}{spread}") for at in range(40, 60)},
    }
    bundle = store(tmp_path, files=told)
    quotes = {a.path: a.facts["quotes_hidden"] for a in bundle.artifacts.all()}
    assert [path for path in told if not quotes[path]] == []


def packed(text: str, name: str = "1") -> bytes:
    """An Inspect log whose member says this, so that the bytes of the file do not."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"padding": "x" * 500}))
        archive.writestr(f"samples/{name}_epoch_1.json", json.dumps({"input": text}))
    return written.getvalue()


def test_what_is_packed_in_a_log_tells_of_hidden_tests_too(tmp_path: Path) -> None:
    told = {
        "told.eval": ("telemetry", packed(f"I read {CANARY}_key. " * 20)),
        "named.eval": ("telemetry", packed("I read nothing. " * 20, f"{CANARY}_key")),
        "fine.eval": ("telemetry", packed("I read nothing. " * 20)),
        "cut.eval": ("telemetry", packed("I read nothing. " * 20)[:-30]),
    }
    assert CANARY.encode() not in told["told.eval"][1]
    bundle = store(tmp_path, files=told)
    quotes = {a.path: a.facts["quotes_hidden"] for a in bundle.artifacts.all()}
    assert {path: quotes[path] for path in told} == {
        "told.eval": True,
        "named.eval": True,  # by the name of a member
        "fine.eval": False,
        "cut.eval": True,  # what cannot be opened may hold anything
    }


def test_what_a_hidden_failure_said_is_a_secret_too(tmp_path: Path) -> None:
    results = {**matches.HIDDEN, f"hidden.t::{CANARY}_key": False}
    told = {"notes.md": ("deliverable", "It says: expected one refund, got two")}
    bundle = store(tmp_path, hidden=[results], files=told)
    assert bundle.artifacts.get(path="notes.md").facts["quotes_hidden"]


def test_a_frozen_challenge_takes_no_bundle(tmp_path: Path) -> None:
    store(tmp_path / "1")
    Challenge.objects.update(state=Challenge.State.FROZEN)
    folder = write_bundle(tmp_path / "b", match="m-2")
    with pytest.raises(Refused) as refusal:
        uploads.upload(folder, name="b", by=None)
    assert "frozen" in refusal.value.faults[0].expected
    assert not Match.objects.filter(slug="m-2").exists()
